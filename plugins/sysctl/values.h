#pragma once

#include <optional>
#include <string>

namespace reconciler::plugins::sysctl {

struct BadValue {
  std::string wanted = {};  // "a whole number from 0 to 200"
  std::string hint = {};
};

// What the kernel would refuse, or read as something else, of a value of one key; nullopt: nothing
// that is known here. `key` is canonical, `value` has single blanks. An empty value is wrong for
// any key, everything else for the keys of the table alone.
std::optional<BadValue> JudgeValue(const std::string& key, const std::string& value);

// The key of the table that `key` is probably a slip of, in its case or in its last part; nullopt
// where it is in the table, or none of them is near. `key` is canonical.
std::optional<std::string> FindMeantKey(const std::string& key);

}  // namespace reconciler::plugins::sysctl

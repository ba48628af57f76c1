#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace reconciler {

// What a function made last of two texts, for each thing that it is about. Many nodes have the same
// long texts (the lines of all nodes in /etc/hosts), one after another: to compare them costs
// little beside making the same again.
template <class T>
class LastResult {
 public:
  template <class Make>  // Make: T(), of these two texts and nothing else
  const T& Get(const std::string& about, std::string_view a, std::string_view b, Make make) {
    const auto [at, is_new] = last_.try_emplace(about);
    Entry& entry = at->second;
    if (is_new || entry.a != a || entry.b != b) {
      entry.result = make();
      entry.a = a;
      entry.b = b;
    }
    return entry.result;
  }

 private:
  struct Entry {
    std::string a = {};
    std::string b = {};
    T result = {};
  };
  std::map<std::string, Entry> last_;
};

}  // namespace reconciler

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace reconciler::plugins::nccl {

// How NCCL reads a variable's value.
enum class Form {
  kText,        // anything
  kNumber,      // strtoll, base 0: a word is 0 without any message
  kWord,        // one of `choices`, separated by '/'; case counts
  kWordNoCase,  // the same, but case does not count
  kTokens,      // a list of `choices`, also per function ("allreduce:tree;broadcast:ring")
  kMatcher,     // [^][=]name,name: HCAs or interfaces
  kNames,       // name,name: whole names, which other libraries than NCCL read
};

enum class Standing {
  kRead,      // NCCL reads it and it does something here
  kNever,     // no NCCL reads it; the note says what to use
  kPatched,   // private patches only
  kNoEffect,  // NCCL reads it, and it changes nothing on a DGX Spark; the note says why
};

struct Rule {
  std::string_view name;
  Form form = Form::kText;
  std::int64_t least = 0;  // of a number
  std::int64_t most = 0;
  std::string_view choices = {};
  Standing standing = Standing::kRead;
  std::string_view note = {};
  std::string_view since = {};  // the first version that reads it, where that is news
};

const Rule* FindRule(std::string_view name);  // nullptr: no rule

// Names that some NCCL reads, with a rule or without.
const std::vector<std::string>& ListKnownVariables();
bool IsKnownName(std::string_view name);

// Whether ranks with different values of it hang or slow each other down. Names of a node's own
// parts (HCAs, interfaces) and what is printed may differ.
bool MustAgree(std::string_view name);

}  // namespace reconciler::plugins::nccl

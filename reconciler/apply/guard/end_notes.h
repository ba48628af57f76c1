#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace reconciler {

// What a node kept elsewhere or lost in the revert or the commit of one apply, by what its guard
// said (see guard.sh): another program's text, a file that could not be restored, an address.
class EndNotes {
 public:
  // `said`: of one try, or of several, oldest first. What a try could not restore, the next one
  // may.
  void Read(std::string_view said);

  // Printable lines, each once, few and of a bounded length.
  std::vector<std::string> List() const;

 private:
  std::vector<std::string> kept_ = {};
  std::vector<std::string> gone_ = {};
  std::vector<std::string> failed_ = {};  // in the latest try
};

// Why a guard could not end an apply, in one printable line of a bounded length, by what it said:
// what could not be reverted, where it said that; otherwise its last lines. Empty: it said nothing.
std::string ExplainFailedEnd(std::string_view said);

}  // namespace reconciler

#include "reconciler/apply/guard/revert_notes.h"

#include <algorithm>
#include <iterator>

#include "reconciler/base/text.h"
#include "reconciler/planning/layout.h"

namespace reconciler {
namespace {

constexpr std::size_t kMostNotes = 5;           // of one sort; a person reads no more
constexpr std::size_t kMostNoteColumns = 400;   // of each: a path, or a command
constexpr std::size_t kMostBytesPerColumn = 4;  // of UTF-8
constexpr std::string_view kFailedState = "revert-failed";

bool SaysKept(std::string_view line) {
  return line.find(" was changed by another program: its text is kept in ") !=
         std::string_view::npos;
}

bool SaysLost(std::string_view line) {
  constexpr std::string_view kBegins[] = {
      "cannot restore ",
      "cannot set back: ", "kernel settings that did not stay: ", "lost since the apply began: "};
  return line.ends_with(" is gone: there is nothing to restore") ||
         std::any_of(std::begin(kBegins), std::end(kBegins),
                     [&](std::string_view begin) { return line.starts_with(begin); });
}

std::string MakeNote(std::string_view line) {
  return ShortenTo(MakePrintable(line.substr(0, kMostNoteColumns * kMostBytesPerColumn)),
                   kMostNoteColumns);
}

// One more than the most shows that there were others.
void AddNote(std::string_view line, std::vector<std::string>& notes) {
  if (notes.size() > kMostNotes) return;
  std::string note = MakeNote(line);
  if (std::find(notes.begin(), notes.end(), note) == notes.end()) notes.push_back(std::move(note));
}

std::vector<std::string> LimitNotes(std::vector<std::string> notes) {
  if (notes.size() > kMostNotes) notes.back() = "more is in revert.log, in the apply's journal";
  return notes;
}

}  // namespace

void RevertNotes::Read(std::string_view said) {
  for (const std::string& line : SplitLines(said)) {
    if (line == kFailedState) lost_.clear();
    if (SaysKept(line)) AddNote(line, kept_);
    if (SaysLost(line)) AddNote(line, lost_);
  }
}

std::vector<std::string> RevertNotes::List() const {
  std::vector<std::string> notes = LimitNotes(kept_);
  for (std::string& note : LimitNotes(lost_)) notes.push_back(std::move(note));
  return notes;
}

std::string ExplainFailedEnd(std::string_view said) {
  std::vector<std::string> lines = SplitLines(Trim(said));
  std::vector<std::string> notes;
  for (const std::string& line : lines) {
    if (SaysLost(line)) AddNote(line, notes);
  }
  if (!notes.empty()) return Join(LimitNotes(std::move(notes)), "; ");
  if (lines.size() > 1 && lines.back() == kFailedState) lines.pop_back();
  const std::size_t first = lines.size() - std::min(lines.size(), kMostNotes);
  for (std::size_t i = first; i < lines.size(); ++i) {
    if (const std::string_view line = Trim(lines[i]); !line.empty()) AddNote(line, notes);
  }
  return Join(notes, "; ");
}

}  // namespace reconciler

#include "reconciler/apply/guard/end_notes.h"

#include <algorithm>
#include <initializer_list>

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

bool BeginsWithAny(std::string_view line, std::initializer_list<std::string_view> begins) {
  return std::any_of(begins.begin(), begins.end(),
                     [&](std::string_view begin) { return line.starts_with(begin); });
}

// What makes the revert fail, so that it is tried again.
bool SaysFailed(std::string_view line) {
  return BeginsWithAny(line, {"cannot restore ", "cannot set back: ", "cannot remove "});
}

// What is lost although the revert succeeds. A try that follows another may not look for it again.
bool SaysGone(std::string_view line) {
  return line.ends_with(" is gone: there is nothing to restore") ||
         BeginsWithAny(line,
                       {"kernel settings that did not stay: ", "lost since the apply began: "});
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

void EndNotes::Read(std::string_view said) {
  for (const std::string& line : SplitLines(said)) {
    if (line == kFailedState) failed_.clear();
    if (SaysKept(line)) AddNote(line, kept_);
    if (SaysGone(line)) AddNote(line, gone_);
    if (SaysFailed(line)) AddNote(line, failed_);
  }
}

std::vector<std::string> EndNotes::List() const {
  std::vector<std::string> notes = LimitNotes(kept_);
  for (const auto* others : {&gone_, &failed_}) {
    for (std::string& note : LimitNotes(*others)) notes.push_back(std::move(note));
  }
  return notes;
}

std::string ExplainFailedEnd(std::string_view said) {
  std::vector<std::string> lines = SplitLines(Trim(said));
  std::vector<std::string> notes;
  for (const std::string& line : lines) {
    if (SaysFailed(line)) AddNote(line, notes);
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

#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reconciler/model/value.h"

namespace reconciler {

// A manifest's lines while they are edited. Lines count from 0 and keep their numbers, so that the
// positions of the loaded document stay right; in a line that was edited they hold up to the place
// of the edit only.
class LineEditor {
 public:
  explicit LineEditor(std::string_view text);

  std::size_t Count() const { return lines_.size(); }
  const std::string& At(std::size_t line) const { return lines_[line].text; }
  void Replace(std::size_t line, std::string text) { lines_[line].text = std::move(text); }
  void Remove(std::size_t line) { lines_[line].is_removed = true; }
  // After what was inserted there before. `line`: up to Count(). The text has no line end.
  void InsertBefore(std::size_t line, std::string text);

  // Whether `text` stands at that place.
  bool Has(Position position, std::string_view text) const;
  // Behind the text of this value, which ends on its line; npos: it does not stand there as it is
  // (escapes in quotes, several lines).
  std::size_t FindEnd(const Value& value) const;
  // Whether nothing but blanks and a comment stands there or behind it.
  bool EndsAt(std::size_t line, std::size_t column) const;

  // With the line ends of the text, and one at the end where the text has one.
  std::string Join() const;

 private:
  struct Line {
    std::string text = {};
    std::vector<std::string> before = {};
    bool is_removed = false;
  };

  std::vector<Line> lines_ = {};
  std::vector<std::string> last_ = {};  // inserted before Count()
  std::string ending_ = {};             // "\r" in a file whose lines end as on Windows
  bool has_final_newline_ = true;
  bool has_added_ending_ = false;  // to the last line, which has none of its own
};

// The line of a position, from 0.
std::size_t GetLine(Position position);

// The lines of one entry of a block list, from 0; `end` is behind the last one.
struct EntryLines {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::size_t dash = 0;  // columns before the "-"
};

// Nothing where the entry does not stand behind a "- " of its own.
std::optional<EntryLines> FindEntryLines(const LineEditor& editor, Position position);

// Whether the map says this key itself, and does not have it from a default.
bool IsWritten(const LineEditor& editor, const Member& member);
// nullptr: the map does not say it itself.
const Member* FindWritten(const LineEditor& editor, const Value& map, std::string_view key);

// A member with a value of one word: its line, or what it is of a map in braces. False: it stands
// in another way, and nothing is changed.
bool RemoveWord(LineEditor& editor, const Member& member);
// A key with a value of one word, behind such a member.
bool AddWord(LineEditor& editor, const Member& after, std::string_view key, std::string_view value);

}  // namespace reconciler

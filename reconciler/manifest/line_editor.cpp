#include "reconciler/manifest/line_editor.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "reconciler/base/text.h"

namespace reconciler {
namespace {

std::size_t GetColumn(Position position) { return static_cast<std::size_t>(position.column - 1); }

// Whether the line begins with the member's key.
bool BeginsLine(const LineEditor& editor, const Member& member) {
  const std::string& line = editor.At(GetLine(member.key_position));
  return line.find_first_not_of(' ') == GetColumn(member.key_position);
}

bool IsEmptyOrComment(std::string_view line) {
  const std::string_view text = Trim(line);
  return text.empty() || text.front() == '#';
}

std::size_t CountIndent(std::string_view line) {
  return std::min(line.find_first_not_of(' '), line.size());
}

}  // namespace

std::size_t GetLine(Position position) { return static_cast<std::size_t>(position.line - 1); }

LineEditor::LineEditor(std::string_view text) : has_final_newline_(text.ends_with('\n')) {
  for (std::string& line : SplitLines(text)) lines_.push_back({.text = std::move(line)});
  if (!lines_.empty() && lines_.front().text.ends_with('\r')) ending_ = "\r";
  if (!has_final_newline_ && !ending_.empty() && !lines_.back().text.ends_with('\r')) {
    lines_.back().text += ending_;
    has_added_ending_ = true;
  }
}

void LineEditor::InsertBefore(std::size_t line, std::string text) {
  (line < lines_.size() ? lines_[line].before : last_).push_back(std::move(text) + ending_);
}

bool LineEditor::Has(Position position, std::string_view text) const {
  if (position.line < 1 || position.column < 1 || GetLine(position) >= lines_.size()) return false;
  const std::string_view line = At(GetLine(position));
  return GetColumn(position) < line.size() && line.substr(GetColumn(position)).starts_with(text);
}

std::size_t LineEditor::FindEnd(const Value& value) const {
  const std::string text = value.ScalarText();
  for (const std::string& written : {text, '"' + text + '"', '\'' + text + '\''}) {
    if (Has(value.position, written)) return GetColumn(value.position) + written.size();
  }
  return std::string::npos;
}

bool LineEditor::EndsAt(std::size_t line, std::size_t column) const {
  const std::string_view rest = Trim(std::string_view(At(line)).substr(column));
  return rest.empty() || rest.front() == '#';
}

std::string LineEditor::Join() const {
  std::string text;
  for (const Line& line : lines_) {
    for (const std::string& one : line.before) text += one + '\n';
    if (!line.is_removed) text += line.text + '\n';
  }
  for (const std::string& one : last_) text += one + '\n';
  if (!has_final_newline_ && !text.empty()) text.pop_back();
  if (has_added_ending_ && text.ends_with('\r')) text.pop_back();
  return text;
}

std::optional<EntryLines> FindEntryLines(const LineEditor& editor, Position position) {
  if (position.line < 1 || GetLine(position) >= editor.Count()) return std::nullopt;
  const std::size_t begin = GetLine(position);
  const std::string_view first = editor.At(begin);
  const std::size_t dash = CountIndent(first);
  if (dash == first.size()) return std::nullopt;
  const std::size_t text = first.find_first_not_of(' ', dash + 1);
  if (first.substr(dash, 2) != "- " || text + 1 != static_cast<std::size_t>(position.column)) {
    return std::nullopt;
  }
  std::size_t end = begin + 1;
  std::size_t own = end;  // what follows the last line with text belongs to what comes next
  for (; end < editor.Count(); ++end) {
    if (IsEmptyOrComment(editor.At(end))) continue;
    if (CountIndent(editor.At(end)) <= dash) break;
    own = end + 1;
  }
  return EntryLines{begin, own, dash};
}

bool IsWritten(const LineEditor& editor, const Member& member) {
  return editor.Has(member.key_position, member.key) &&
         editor.FindEnd(member.value) != std::string::npos;
}

const Member* FindWritten(const LineEditor& editor, const Value& map, std::string_view key) {
  for (const Member& member : map.Members()) {
    if (member.key == key && IsWritten(editor, member)) return &member;
  }
  return nullptr;
}

bool RemoveWord(LineEditor& editor, const Member& member) {
  const std::size_t number = GetLine(member.key_position);
  const std::size_t end = editor.FindEnd(member.value);
  if (GetLine(member.value.position) != number || end == std::string::npos) return false;
  if (BeginsLine(editor, member) && editor.EndsAt(number, end)) {
    editor.Remove(number);
    return true;
  }
  std::string line = editor.At(number);
  const std::size_t begin = GetColumn(member.key_position);
  const std::size_t before = begin == 0 ? std::string::npos : line.find_last_not_of(' ', begin - 1);
  const std::size_t behind = line.find_first_not_of(' ', end);
  if (before == std::string::npos || behind == std::string::npos) return false;
  if (line[before] == ',') {
    editor.Replace(number, line.erase(before, end - before));
    return true;
  }
  if (line[before] != '{' || line[behind] != ',') return false;
  const std::size_t next = std::min(line.find_first_not_of(' ', behind + 1), line.size());
  editor.Replace(number, line.erase(begin, next - begin));
  return true;
}

bool AddWord(LineEditor& editor, const Member& after, std::string_view key,
             std::string_view value) {
  const std::size_t number = GetLine(after.value.position);
  const std::size_t end = editor.FindEnd(after.value);
  if (end == std::string::npos) return false;
  std::string line = editor.At(number);
  if (editor.EndsAt(number, end)) {
    editor.InsertBefore(
        number + 1,
        fmt::format("{}{}: {}", std::string(GetColumn(after.key_position), ' '), key, value));
    return true;
  }
  const std::size_t behind = line.find_first_not_of(' ', end);
  if (line[behind] != ',' && line[behind] != '}') return false;
  editor.Replace(number, line.insert(end, fmt::format(", {}: {}", key, value)));
  return true;
}

}  // namespace reconciler

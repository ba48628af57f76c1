#include "reconciler/manifest/edit_sections.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

namespace reconciler {
namespace {

// From 0; behind the last character of something.
struct TextEnd {
  std::size_t line = 0;
  std::size_t column = 0;
};

// Something that a section says, and that goes.
struct Removal {
  Position begin = {};
  std::optional<TextEnd> end = {};  // of what may stand in brackets; nothing: it cannot be found
};

bool BeginsQuote(char c, char before) {
  return (c == '"' || c == '\'') && std::isalnum(static_cast<unsigned char>(before)) == 0;
}

// Behind the bracket that closes the one at `begin`. Nothing where there is none.
std::optional<TextEnd> FindClose(const LineEditor& editor, Position begin) {
  if (!editor.Has(begin, "{") && !editor.Has(begin, "[")) return std::nullopt;
  int depth = 0;
  char quote = '\0';  // that is open
  for (std::size_t line = GetLine(begin); line < editor.Count(); ++line) {
    const std::string& text = editor.At(line);
    const bool is_first = line == GetLine(begin);
    std::size_t i = is_first ? static_cast<std::size_t>(begin.column - 1) : 0;
    for (; i < text.size(); ++i) {
      const char c = text[i];
      const char before = i == 0 ? ' ' : text[i - 1];
      if (quote != '\0') {
        if (c == quote) quote = '\0';
        if (c == '\\' && quote == '"') ++i;
      } else if (BeginsQuote(c, before)) {
        quote = c;
      } else if (c == '#' && (before == ' ' || before == '\t')) {
        break;
      } else if (c == '{' || c == '[') {
        ++depth;
      } else if ((c == '}' || c == ']') && --depth == 0) {
        return TextEnd{line, i + 1};
      }
    }
  }
  return std::nullopt;
}

// What stands on one line: alone there, or in brackets with a comma beside it. False: it stands in
// another way, and nothing is changed.
bool RemoveText(LineEditor& editor, const Removal& removal) {
  const std::size_t number = GetLine(removal.begin);
  if (!removal.end || removal.end->line != number) return false;
  std::string line = editor.At(number);
  const auto begin = static_cast<std::size_t>(removal.begin.column - 1);
  const std::size_t end = removal.end->column;
  const std::size_t before = begin == 0 ? std::string::npos : line.find_last_not_of(' ', begin - 1);
  const std::size_t behind = line.find_first_not_of(' ', end);
  const bool has_comma = behind != std::string::npos && line[behind] == ',';
  const bool begins_line = before == std::string::npos;
  if (begins_line && editor.EndsAt(number, has_comma ? behind + 1 : end)) {
    editor.Remove(number);
  } else if (!begins_line && line[before] == ',') {
    editor.Replace(number, line.erase(before, end - before));
  } else if (has_comma) {
    const bool is_last = editor.EndsAt(number, behind + 1);
    const std::size_t next = is_last ? behind + 1 : line.find_first_not_of(' ', behind + 1);
    editor.Replace(number, line.erase(begin, next - begin));
  } else if (begins_line && behind != std::string::npos) {
    editor.Replace(number, line.erase(begin, end - begin));  // the last one before a bracket
  } else {
    return false;
  }
  return true;
}

// An entry of a list, or a member of a map.
bool RemoveItem(LineEditor& editor, const Removal& removal) {
  const auto lines = FindEntryLines(editor, removal.begin);
  if (!lines) return RemoveText(editor, removal);
  for (std::size_t line = lines->begin; line < lines->end; ++line) editor.Remove(line);
  return true;
}

std::optional<TextEnd> FindEndOf(const LineEditor& editor, const Value& word) {
  const std::size_t end = editor.FindEnd(word);
  if (end == std::string::npos) return std::nullopt;
  return TextEnd{GetLine(word.position), end};
}

// The node's name in one `nodes`, be it a map or a list.
std::vector<Removal> FindInNodes(const LineEditor& editor, const Value& nodes,
                                 const NodeName& name) {
  std::vector<Removal> found;
  for (const Member& one : nodes.Members()) {
    if (one.key == name) found.push_back({one.key_position, FindEndOf(editor, one.value)});
  }
  for (const Value& one : nodes.List()) {
    if (one.ScalarText() == name) found.push_back({one.position, FindEndOf(editor, one)});
  }
  return found;
}

bool IsBehind(const Removal& one, const Removal& other) {
  return std::pair(one.begin.line, one.begin.column) >
         std::pair(other.begin.line, other.begin.column);
}

// What goes of one section, the last one first: in a line that was edited, positions hold up to the
// place of the edit. Whole entries are counted.
std::vector<Removal> FindInSection(const LineEditor& editor, const Value& section,
                                   const NodeName& name, std::size_t& entries) {
  std::vector<Removal> found;
  for (const Value& entry : section.List()) {
    const Value* nodes = entry.Find("nodes");
    if (nodes == nullptr) continue;
    std::vector<Removal> in_nodes = FindInNodes(editor, *nodes, name);
    if (in_nodes.empty()) continue;
    if (in_nodes.size() == nodes->Members().size() + nodes->List().size()) {
      ++entries;
      in_nodes = {{entry.position, FindClose(editor, entry.position)}};
    }
    found.insert(found.end(), in_nodes.begin(), in_nodes.end());
  }
  std::sort(found.begin(), found.end(), IsBehind);
  return found;
}

// The key of a section and, of a list in brackets, the list.
bool RemoveSection(LineEditor& editor, const Member& section, const std::vector<Removal>& entries) {
  const std::size_t key = GetLine(section.key_position);
  if (section.key_position.column != 1 || !editor.Has(section.key_position, section.key + ":")) {
    return false;
  }
  if (editor.Has(section.value.position, "[")) {
    const auto end = FindClose(editor, section.value.position);
    if (!end || !editor.EndsAt(end->line, end->column)) return false;
    for (std::size_t line = key; line <= end->line; ++line) editor.Remove(line);
    return true;
  }
  if (!editor.EndsAt(key, section.key.size() + 1)) return false;
  editor.Remove(key);
  return std::all_of(entries.begin(), entries.end(),
                     [&](const Removal& entry) { return RemoveItem(editor, entry); });
}

// A member of a map, with all that it holds. A block goes line by line: comments in it stay.
bool RemoveMember(LineEditor& editor, const Member& member) {
  const Position begin = member.key_position;
  if (!member.value.IsMap()) return RemoveText(editor, {begin, FindEndOf(editor, member.value)});
  if (const auto end = FindClose(editor, member.value.position)) {
    return GetLine(member.value.position) == GetLine(begin) && RemoveText(editor, {begin, end});
  }
  const std::size_t line = GetLine(begin);
  const auto column = static_cast<std::size_t>(begin.column - 1);
  const bool is_alone = editor.Has(begin, member.key + ":") &&
                        editor.At(line).find_first_not_of(' ') == column &&
                        editor.EndsAt(line, column + member.key.size() + 1);
  if (!is_alone) return false;
  editor.Remove(line);
  const std::vector<Member>& inner = member.value.Members();
  return std::all_of(inner.begin(), inner.end(),
                     [&](const Member& one) { return RemoveMember(editor, one); });
}

const Member* FindMemberOf(const Value& map, std::string_view key) {
  const auto found = std::find_if(map.Members().begin(), map.Members().end(),
                                  [&](const Member& one) { return one.key == key; });
  return found == map.Members().end() ? nullptr : &*found;
}

Error MakeFormError(const ClusterSpec& spec, const std::string& section, const NodeName& name,
                    Position where) {
  return {.kind = ErrorKind::kManifest,
          .message = fmt::format("`{}` names {} in a form that cannot be edited", section, name),
          .where = spec.Mark(where),
          .hint = "take it out there by hand, then remove the node"};
}

}  // namespace

Result<void> RemoveFromSections(LineEditor& editor, const ClusterSpec& spec, const NodeName& name) {
  std::set<std::pair<int, int>> seen;  // what an alias stands for is at the place of its anchor
  for (const Member& section : spec.settings.Members()) {
    std::size_t entries = 0;
    std::vector<Removal> found = FindInSection(editor, section.value, name, entries);
    std::erase_if(found, [&](const Removal& one) {
      return !seen.emplace(one.begin.line, one.begin.column).second;
    });
    if (found.empty()) continue;
    const bool is_done = entries == section.value.List().size()
                             ? RemoveSection(editor, section, found)
                             : std::all_of(found.begin(), found.end(), [&](const Removal& one) {
                                 return RemoveItem(editor, one);
                               });
    if (is_done) continue;
    return Fail(MakeFormError(spec, section.key, name, found.back().begin));
  }
  return {};
}

Result<std::string> RemoveFromMoved(LineEditor& editor, const ClusterSpec& spec,
                                    const NodeName& name) {
  const Member* moved = FindMemberOf(spec.settings, "moved");
  const Member* nodes = moved == nullptr ? nullptr : FindMemberOf(moved->value, "nodes");
  if (nodes == nullptr) return {};
  const std::vector<Member>& renamed = nodes->value.Members();
  const auto own = std::find_if(renamed.begin(), renamed.end(), [&](const Member& one) {
    return one.value.ScalarText() == name;  // a node has one old name
  });
  if (own == renamed.end()) return {};
  const Member* removed = &*own;
  if (renamed.size() == 1) removed = nodes;
  if (renamed.size() == 1 && moved->value.Members().size() == 1) removed = moved;
  if (RemoveMember(editor, *removed)) return own->key;
  return Fail(MakeFormError(spec, moved->key, name, own->value.position));
}

}  // namespace reconciler

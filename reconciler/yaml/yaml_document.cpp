#include "reconciler/yaml/yaml_document.h"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <array>
#include <optional>
#include <sstream>

#include "reconciler/base/manifest_error.h"
#include "reconciler/base/text.h"
#include "reconciler/yaml/lookalike.h"
#include "reconciler/yaml/message_text.h"
#include "reconciler/yaml/source_text.h"
#include "reconciler/yaml/value_builder.h"

namespace reconciler {
namespace {

constexpr std::size_t kMostInput = 1u << 20;  // bytes

// yaml-cpp takes the end of the file for a closing quote. `text` begins where the scalar does,
// with its anchor and tag.
bool IsUnclosedQuote(std::string_view text) {
  while (text.starts_with('&') || text.starts_with('!')) {
    text.remove_prefix(std::min(text.find_first_of(" \t\r\n"), text.size()));
    text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
  }
  if (!text.starts_with('"') && !text.starts_with('\'')) return false;
  const char quote = text[0];
  for (std::size_t i = 1; i < text.size(); ++i) {
    if (quote == '"' && text[i] == '\\') {
      ++i;
    } else if (text[i] == quote) {
      if (quote == '"' || i + 1 == text.size() || text[i + 1] != quote) return false;
      ++i;
    }
  }
  return true;
}

bool IsWrittenNull(std::string_view text) {
  const std::string_view word = text.substr(0, text.find_first_of(" \t\r\n,]}"));
  return word == "~" || word == "null" || word == "Null" || word == "NULL";
}

// Of an entry that holds nothing: the '-' at the end of the text before `mark`, but for blanks and
// comments.
std::optional<Position> FindDashBefore(const SourceText& source, const YAML::Mark& mark) {
  for (int line = mark.line; line >= 0; --line) {
    std::string_view text = source.From(line, 0);
    text =
        text.substr(0, line == mark.line ? static_cast<std::size_t>(mark.column) : text.find('\n'));
    if (Trim(text).starts_with('#')) continue;
    text = text.substr(0, text.find(" #"));
    const std::size_t last = text.find_last_not_of(" \t\r\n");
    if (last == std::string_view::npos) continue;
    if (text[last] != '-') return std::nullopt;
    return source.PositionAt(line, static_cast<int>(last));
  }
  return std::nullopt;
}

class Events : public YAML::EventHandler {
 public:
  explicit Events(const SourceText& source) : source_(source) {}

  ValueBuilder& builder() { return builder_; }

  void RefuseUnclosedQuote() {
    if (!last_scalar_ || !IsUnclosedQuote(source_.From(last_scalar_->line, last_scalar_->column))) {
      return;
    }
    builder_.Refuse(Place(*last_scalar_), "wanted a closing quote, found the end of the file");
  }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (documents_++ == 0) return;
    if (source_.From(mark.line, mark.column).starts_with("---")) {
      builder_.Refuse(Place(mark), "wanted one document, found another one");
    } else {
      builder_.Refuse(Place(mark), "wanted the end of the document, found more text",
                      "indent it like the lines that it belongs to");
    }
  }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    std::optional<Position> place;
    if (IsWrittenNull(source_.From(mark.line, mark.column))) {
      place = Place(mark);
    } else if (builder_.IsInList()) {
      place = FindDashBefore(source_, mark);
    }
    builder_.AddNull(Place(mark), place, anchor);
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    builder_.AddAlias(Place(mark), anchor);
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& text) override {
    last_scalar_ = mark;
    const bool is_text = tag == "!" || tag == "tag:yaml.org,2002:str";
    if (!is_text && tag != "?") return RefuseTag(mark, tag);
    builder_.AddScalar(Place(mark), text,
                       is_text ? ValueBuilder::Style::kText : ValueBuilder::Style::kPlain, anchor);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    if (tag != "?" && !tag.empty()) return RefuseTag(mark, tag);
    builder_.BeginList(Place(mark), anchor);
  }
  void OnSequenceEnd() override { builder_.End(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    if (tag != "?" && !tag.empty()) return RefuseTag(mark, tag);
    builder_.BeginMap(Place(mark), anchor);
  }
  void OnMapEnd() override { builder_.End(); }

 private:
  Position Place(const YAML::Mark& mark) const {
    return source_.PositionAt(mark.line, mark.column);
  }
  void RefuseTag(const YAML::Mark& mark, const std::string& tag) {
    builder_.Refuse(Place(mark), "wanted a value without a tag, found " + Quoted(tag),
                    "leave the tag out");
  }

  const SourceText& source_;
  ValueBuilder builder_;
  int documents_ = 0;
  std::optional<YAML::Mark> last_scalar_;
};

struct Rewording {
  std::string_view theirs;  // how yaml-cpp's message begins
  std::string_view message;
  std::string_view hint;
};

constexpr std::array<Rewording, 8> kRewordings = {{
    {"illegal map value", "found ':' where no key can stand",
     "check the indentation, a ':' missing above, and text with ': ' outside quotes"},
    {"illegal block entry", "found '-' where no list entry can stand",
     "begin the list on a line of its own"},
    {"illegal flow end", "found a closing bracket without its opening one", ""},
    {"the referenced anchor is not defined", "found an alias without its anchor",
     "put text that begins with '*' in quotes"},
    {"unknown token", "found a character that no value can begin with", "put the text in quotes"},
    {"unknown escape character", "found a backslash that escapes nothing",
     "use single quotes for text with backslashes"},
    {"end of map not found", "wanted a key with a ':', found other text", ""},
    {"end of sequence not found", "wanted a list entry '- …', found other text", ""},
}};

// A key and its value with a false blank between them are text, which goes on to the next line: the
// parser sees what is wrong there.
std::optional<Refusal> FindFalseBlankAt(int line, const SourceText& source) {
  for (const int at : {line - 1, line}) {
    const std::string_view text = source.From(at, 0);
    const auto blank = FindFalseBlank(text.substr(0, text.find('\n')));
    if (!blank) continue;
    return Refusal{source.PositionAt(at, static_cast<int>(blank->offset)),
                   "wanted a blank, found " + blank->name, "type an ordinary blank there"};
  }
  return std::nullopt;
}

Refusal Reword(const YAML::Exception& exception, const SourceText& source,
               const ValueBuilder& builder) {
  if (auto blank = FindFalseBlankAt(exception.mark.line, source)) return *std::move(blank);
  const Position position = source.PositionAt(exception.mark.line, exception.mark.column);
  const std::string& theirs = exception.msg;
  const std::string_view line = source.From(exception.mark.line, 0);
  const std::size_t tab = line.substr(0, line.find_first_not_of(" \t")).find('\t');
  if (tab != std::string_view::npos) {
    return {source.PositionAt(exception.mark.line, static_cast<int>(tab)),
            "wanted blanks before this line, found a tab", "YAML indents with blanks only"};
  }
  if (theirs == "end of sequence flow not found") {
    return {builder.OpenSince().value_or(position), "wanted a closing ']', found none", ""};
  }
  if (theirs == "end of map flow not found") {
    return {builder.OpenSince().value_or(position), "wanted a closing '}', found none", ""};
  }
  for (const Rewording& rewording : kRewordings) {
    if (theirs.starts_with(rewording.theirs)) {
      return {position, std::string(rewording.message), std::string(rewording.hint)};
    }
  }
  return {position, "not YAML: " + MakePrintable(theirs), ""};
}

// C0 but for blanks and line breaks, DEL, and C1 (in UTF-8: C2 80 to C2 9F).
bool IsControl(std::string_view text, std::size_t i) {
  const auto byte = static_cast<unsigned char>(text[i]);
  if (byte < 0x20) return byte != '\t' && byte != '\r' && byte != '\n';
  if (byte == 0x7F) return true;
  return byte == 0xC2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xA0;
}

// As PowerShell and some editors of Windows save text.
bool IsUtf16(std::string_view text) {
  return text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF") ||
         (text.size() > 1 && (text[0] == '\0') != (text[1] == '\0'));
}

// Bytes that no YAML text may hold, whatever the parser thinks of them.
std::optional<Refusal> CheckBytes(std::string_view text) {
  if (text.size() > kMostInput) {
    return Refusal{{}, fmt::format("wanted at most 1 MiB, found {} bytes", text.size()), ""};
  }
  if (IsUtf16(text))
    return Refusal{{1, 0}, "wanted UTF-8 text, found UTF-16", "save the file as UTF-8"};
  int line = 0;
  std::size_t line_start = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\n') {
      if (!IsValidUtf8(text.substr(line_start, i - line_start))) break;
      ++line;
      line_start = i + 1;
    } else if (IsControl(text, i)) {
      return Refusal{SourceText(text).PositionAt(line, static_cast<int>(i - line_start)),
                     "found the control character " + MakePrintable(text.substr(i, 1)), ""};
    } else if (const std::size_t length = FindDirectionControl(text, i); length > 0) {
      return Refusal{SourceText(text).PositionAt(line, static_cast<int>(i - line_start)),
                     "found " + MakePrintable(text.substr(i, length)) +
                         ", which changes the direction of text",
                     "remove it: with it the line reads otherwise than it is"};
    }
  }
  if (IsValidUtf8(text.substr(line_start))) return std::nullopt;
  return Refusal{{line + 1, 0}, "wanted UTF-8 text, found other bytes", "save the file as UTF-8"};
}

std::optional<Refusal> Parse(const std::string& text, const SourceText& source, Events& events) {
  try {
    std::istringstream stream(text);
    YAML::Parser parser(stream);
    while (!events.builder().refusal() && parser.HandleNextDocument(events)) {
    }
    events.RefuseUnclosedQuote();
  } catch (const YAML::Exception& exception) {
    events.RefuseUnclosedQuote();
    if (!events.builder().refusal()) return Reword(exception, source, events.builder());
  }
  return events.builder().refusal();
}

}  // namespace

Result<Value> ParseYaml(std::string_view text, const std::string& file) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  std::string whole(text);
  if (!whole.ends_with('\n')) whole += '\n';  // else yaml-cpp puts some errors past the last line
  const SourceText source(whole);
  Events events(source);
  std::optional<Refusal> refusal = CheckBytes(text);
  if (!refusal) refusal = Parse(whole, source, events);
  if (!refusal) {
    Value value = events.builder().TakeValue();
    if (value.position.line == 0) value.position = {1, 1};
    return value;
  }
  Error error = MakeManifestError("manifest-not-yaml", SourceMark{file, refusal->position},
                                  std::move(refusal->message), std::move(refusal->hint));
  if (error.where->position.column > 0) source.Attach(error);
  return Fail(std::move(error));
}

}  // namespace reconciler

#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace reconciler {

std::vector<std::string> SplitLines(std::string_view text);  // a final newline adds no empty line
std::vector<std::string> Split(std::string_view text, char separator);
std::string Join(const std::vector<std::string>& parts, std::string_view separator);
std::string_view Trim(std::string_view text);  // blanks, tabs and newlines, both ends
std::string ToLower(std::string_view text);    // ASCII letters
std::string FirstLabel(
    std::string_view host);  // of a host name, in lower case: "Leaf-1.lab" is "leaf-1"
std::string GetBasename(std::string_view path);  // what follows the last slash
std::string FormatPlural(std::size_t count, std::string_view one,
                         std::string_view many);  // "1 node"

// Optimal string alignment distance: insert, delete, replace and swap of neighbours cost 1 each.
std::size_t ComputeEditDistance(std::string_view a, std::string_view b);

// The candidate nearest to `word`, when it is near enough to be a slip of the keyboard
// (distance at most 2, and less than half of the word's length).
std::optional<std::string> FindClosestMatch(std::string_view word,
                                            const std::vector<std::string>& candidates);

// `text` as one POSIX shell word that no shell expands: the only quoting in the project.
// Precondition: no NUL byte (no shell word can hold one).
std::string QuoteForShell(std::string_view text);
std::string JoinForShell(const std::vector<std::string>& argv);

// Bytes that a terminal may be shown: control characters and bytes that are not UTF-8 come out as
// \xNN, and characters that change the direction of text as \uNNNN, so that text from a node can
// neither move the cursor nor forge a line.
std::string MakePrintable(std::string_view bytes);

// The length in bytes of the character at `i`, if it changes the direction of the text behind it
// (Unicode's Bidi_Control): with it a line reads otherwise than it is. 0: it is another one.
std::size_t FindDirectionControl(std::string_view bytes, std::size_t i);

// Columns on a terminal: one per code point, which is right for everything that we print.
std::size_t CountColumns(std::string_view text);

// Rows in columns that are as wide as their widest cell, two spaces apart; each line begins with
// `indent` and ends without spaces.
std::string FormatTable(const std::vector<std::vector<std::string>>& rows,
                        std::string_view indent = {});

std::string FindLastLine(std::string_view text);  // of trimmed text, printable; empty: none

bool IsValidUtf8(std::string_view bytes);

}  // namespace reconciler

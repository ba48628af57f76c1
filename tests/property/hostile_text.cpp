#include "tests/property/hostile_text.h"

#include <rapidcheck.h>

#include <nlohmann/json.hpp>
#include <vector>

namespace reconciler::test {
namespace {

const std::string kTouch = std::string("touch ") + kInjected;

const std::vector<std::string> kHostileOnALine = {"$(" + kTouch + ")",
                                                  "`" + kTouch + "`",
                                                  "; " + kTouch + ";",
                                                  "' ; " + kTouch + " '",
                                                  "'",
                                                  "'\\''",
                                                  "\"",
                                                  "\\",
                                                  "$0",
                                                  "$*",
                                                  "${HOME}",
                                                  "-n",
                                                  "--",
                                                  "-e",
                                                  "*",
                                                  "~",
                                                  "&",
                                                  "|",
                                                  "||true",
                                                  "<(",
                                                  "!",
                                                  "#",
                                                  " ",
                                                  "%s",
                                                  "%n",
                                                  "EOF",
                                                  "}",
                                                  "{",
                                                  "é",
                                                  "—",
                                                  "base64:",
                                                  "??",
                                                  "\\n",
                                                  "\\x1b[2J",
                                                  "= 1"};

std::string Join(const std::vector<std::string>& pieces) {
  std::string text;
  for (const std::string& piece : pieces) text += piece;
  return text;
}

std::string Pieces(std::vector<std::string> hostile, int first_byte, int last_byte) {
  const auto byte = rc::gen::map(rc::gen::inRange(first_byte, last_byte + 1),
                                 [](int one) { return std::string(1, static_cast<char>(one)); });
  const auto piece =
      rc::gen::weightedOneOf<std::string>({{1, byte}, {2, rc::gen::elementOf(std::move(hostile))}});
  return Join(*rc::gen::resize(12, rc::gen::container<std::vector<std::string>>(piece)));
}

}  // namespace

namespace {

std::string HostilePieces(int first_byte) {
  std::vector<std::string> hostile = kHostileOnALine;
  for (const char* more : {"\n", "\r\n", "\t", "\x1b[31m", "\xff\xfe", "\xc3", "\xe2\x82",
                           "\xc2\x85", "\n# END spark-reconcile lab hosts\n",
                           "# BEGIN spark-reconcile lab ssh-mesh\n", "\nHost *\n"}) {
    hostile.emplace_back(more);
  }
  return Pieces(std::move(hostile), first_byte, 255);
}

}  // namespace

std::string HostileBytes() {
  const int nul = *rc::gen::weightedElement<int>({{4, 0}, {1, 1}});
  std::string text = HostilePieces(0);
  // One byte of 256 is rare: now and then it is put where it hurts.
  if (nul == 1) text.insert(*rc::gen::inRange<std::size_t>(0, text.size() + 1), 1, '\0');
  return text;
}

std::string HostileBytesButNul() { return HostilePieces(1); }

std::string HostileLine() { return Pieces(kHostileOnALine, 0x20, 0x7e); }

std::string HostileUtf8() {
  std::vector<std::string> hostile = kHostileOnALine;
  for (const char* more : {"\n", "\t", "\nEOF\n", "\n\n", "\n'\n"}) hostile.emplace_back(more);
  return Pieces(std::move(hostile), 0x20, 0x7e);
}

std::string Quoted(const std::string& text) { return nlohmann::json(text).dump(); }

}  // namespace reconciler::test

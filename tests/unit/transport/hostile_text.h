#pragma once

#include <rapidcheck.h>

#include <string>
#include <vector>

namespace reconciler {

// Words that a shell would love to misread: any byte but NUL, and known troublemakers.
inline rc::Gen<std::string> HostileWord() {
  const auto any_byte = rc::gen::map(
      rc::gen::inRange(1, 256), [](int byte) { return std::string(1, static_cast<char>(byte)); });
  const auto run_error = rc::gen::element<std::string>(
      "'", "\"", "\\", "\n", "$(touch /tmp/no)", "`id`", "$HOME", "-n", "--", "-e", "*", "~", ";",
      "&", "'\\''", "\r", "\x1b[2J", "\xff\xfe", "\xc3", "\xe2\x82", "\x81", "\x88", "!", "#", " ",
      "\t", "%s", "EOF", "}", "{");
  const auto piece = rc::gen::weightedOneOf<std::string>({{2, any_byte}, {1, run_error}});
  return rc::gen::map(rc::gen::container<std::vector<std::string>>(piece),
                      [](const std::vector<std::string>& pieces) {
                        std::string word;
                        for (const std::string& part : pieces) word += part;
                        return word;
                      });
}

inline std::string EveryByteButNul() {
  std::string bytes;
  for (int byte = 1; byte < 256; ++byte) bytes.push_back(static_cast<char>(byte));
  return bytes;
}

// A script that prints its words, each followed by a NUL, and what it must print.
struct EchoScript {
  std::string script = "printf '%s\\0'";
  std::string expected = {};

  void Add(const std::string& quoted, const std::string& plain) {
    script += " " + quoted;
    expected += plain + '\0';
  }
};

}  // namespace reconciler

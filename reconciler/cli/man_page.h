#pragma once

#include <string>
#include <string_view>

namespace CLI {
class App;
}

namespace reconciler::cli {

// The manual page (section 1, roff for `man -l -`) of the program, with the options of all
// commands, or of one command; from what --help is made of. `date`: "2026-11-24".
std::string FormatManPage(const CLI::App& app, std::string_view version, std::string_view date);

}  // namespace reconciler::cli

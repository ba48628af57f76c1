#include "reconciler/cli/man_page.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "reconciler/base/text.h"
#include "reconciler/cli/command_texts.h"

namespace reconciler::cli {
namespace {

// One line of text that no request or escape of roff hides in.
std::string EscapeRoff(std::string_view text) {
  std::string escaped;
  for (const char one : text) {
    if (one == '\\') {
      escaped += "\\e";
    } else if (one == '-') {
      escaped += "\\-";
    } else {
      escaped += one;
    }
  }
  const bool is_request = escaped.starts_with('.') || escaped.starts_with('\'');
  return (is_request ? "\\&" : "") + escaped;
}

// " TEXT:{a,b}=a", where a line may break after each comma: lists of values are wider than a line.
std::string EscapeValues(std::string_view text) {
  std::string escaped;
  for (const char one : EscapeRoff(text)) {
    escaped += one;
    if (one == ',') escaped += "\\:";
  }
  return escaped;
}

std::string EscapeLines(const std::string& text) {
  std::string escaped;
  for (const std::string& line : SplitLines(text)) escaped += EscapeRoff(line) + '\n';
  return escaped;
}

// "spark-reconcile lock list"
std::string FindCalledName(const CLI::App& app) {
  const std::string& own = app.get_name();
  return app.get_parent() == nullptr ? own : FindCalledName(*app.get_parent()) + " " + own;
}

std::string FormatSynopsis(const CLI::App& app) {
  const CLI::Formatter formatter;
  const std::string usage(Trim(formatter.make_usage(&app, FindCalledName(app))));
  constexpr std::string_view kBegin = "Usage: ";
  return usage.starts_with(kBegin) ? usage.substr(kBegin.size()) : usage;
}

std::string FormatOptions(const CLI::App& app) {
  const CLI::Formatter formatter;
  std::string text;
  for (const bool positional : {true, false}) {
    const auto options = app.get_options([&](const CLI::Option* option) {
      return option->get_positional() == positional && !option->get_group().empty();
    });
    for (const CLI::Option* option : options) {
      text += fmt::format(".TP\n\\fB{}\\fR{}\n{}",
                          EscapeRoff(formatter.make_option_name(option, positional)),
                          EscapeValues(formatter.make_option_opts(option)),
                          EscapeLines(formatter.make_option_desc(option)));
    }
  }
  return text;
}

std::string FormatCommands(const CLI::App& app) {
  std::string text;
  for (const CLI::App* command : ListCommands(app)) {
    text += fmt::format(".SS \"{}\"\n{}{}", EscapeRoff(FormatSynopsis(*command)),
                        EscapeLines(command->get_description()), FormatOptions(*command));
    text += FormatCommands(*command);
  }
  return text;
}

}  // namespace

std::string FormatManPage(const CLI::App& app, std::string_view version, std::string_view date) {
  std::string name = FindCalledName(app);
  for (char& one : name) one = one == ' ' ? '-' : one;
  // Left-adjusted: roff cannot stretch a line of a long list of values, and warns of it.
  std::string text = fmt::format(
      ".TH \"{}\" 1 {} \"spark\\-reconcile {}\"\n.ad l\n.SH NAME\n{} \\- {}", EscapeRoff(name),
      date, version, EscapeRoff(name), EscapeLines(app.get_description()));
  text += fmt::format(".SH SYNOPSIS\n{}.SH OPTIONS\n{}", EscapeLines(FormatSynopsis(app)),
                      FormatOptions(app));
  const std::string commands = FormatCommands(app);
  if (!commands.empty()) text += ".SH COMMANDS\n" + commands;
  return text + ".SH NOTES\n.nf\n" + EscapeLines(app.get_footer()) + ".fi\n";
}

}  // namespace reconciler::cli

#pragma once

#include <string>
#include <string_view>

namespace reconciler {

// What a node says must not become a table, HTML, a link or a mention of a user.
std::string EscapeMarkdown(std::string_view text);

}  // namespace reconciler

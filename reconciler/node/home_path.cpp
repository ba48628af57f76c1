#include "reconciler/node/home_path.h"

#include "reconciler/base/text.h"

namespace reconciler {

std::string_view GetHomePathFunction() {
  return R"sh(
home_user=
resolve() {
  case "$1" in
    '~'*)
      u=${1#'~'}; u=${u%%/*}
      if [ "$u" != "$home_user" ]; then
        home=; home_user=$u
        IFS=: read -r _ _ _ _ _ home _ <<EOF
$(getent passwd -- "$u")
EOF
        printf 'home %s %s\n' "$u" "$home" >&2
      fi
      if [ -n "$home" ]; then T=$2$home/${1#*/}; else T=; fi ;;
    *) T=$2$1 ;;
  esac
}
)sh";
}

HomeMap ParseHomes(std::string_view stderr_text) {
  HomeMap homes;
  for (const std::string& line : SplitLines(stderr_text)) {
    if (!line.starts_with("home ")) continue;
    const std::size_t blank = line.find(' ', 5);
    if (blank == std::string::npos || blank + 1 == line.size()) continue;
    homes[line.substr(5, blank - 5)] = line.substr(blank + 1);
  }
  return homes;
}

std::string ReadHomeUser(std::string_view path) {
  const std::size_t slash = path.find('/');
  return std::string(path.substr(1, slash == std::string_view::npos ? slash : slash - 1));
}

std::optional<std::string> ResolveHome(std::string_view path, const HomeMap& homes) {
  const auto home = homes.find(ReadHomeUser(path));
  const std::size_t slash = path.find('/');
  if (home == homes.end() || slash == std::string_view::npos) return std::nullopt;
  return home->second + std::string(path.substr(slash));
}

}  // namespace reconciler

#include "reconciler/transport/name_error.h"

#include <fmt/format.h>
#include <netdb.h>

#include <cctype>
#include <utility>

namespace reconciler {

NameError ExplainNameError(std::optional<int> code, int limit_s) {
  if (!code || *code == EAI_AGAIN) {
    const std::string within = code ? "" : fmt::format(" within {} s", limit_s);
    return {"no answer from the name service" + within,
            "does this machine reach its name server? An IP address as `address` needs none"};
  }
  std::string what = gai_strerror(*code);
  what[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(what[0])));
  return {std::move(what), "give the machine's IP address, or a Host entry of ~/.ssh/config"};
}

}  // namespace reconciler

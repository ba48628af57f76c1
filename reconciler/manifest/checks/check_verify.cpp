#include <fmt/format.h>

#include <set>

#include "reconciler/base/size.h"
#include "reconciler/manifest/checks/cross_check.h"

namespace reconciler {
namespace {

void CheckSize(const Value& verify, Problems& problems) {
  const Value* size = verify.Find("size");
  const std::string* text = size != nullptr ? size->AsString() : nullptr;
  const auto bytes = text != nullptr ? ParseSize(*text) : std::nullopt;
  constexpr std::uint64_t kLeast = std::uint64_t{1} << 20;
  constexpr std::uint64_t kMost = std::uint64_t{16} << 30;
  if (!bytes || (*bytes >= kLeast && *bytes <= kMost)) return;
  problems.Add(size->position, fmt::format("wanted a size from 1MiB to 16GiB, found {}", *text),
               "less proves nothing of a link, and more has frozen machines");
}

void CheckTwice(const Value& verify, Problems& problems) {
  const Value* collectives = verify.Find("collectives");
  if (collectives == nullptr) return;
  std::set<std::string> seen;
  for (const Value& entry : collectives->List()) {
    const std::string* name = entry.AsString();
    if (name == nullptr || seen.insert(*name).second) continue;
    problems.Add(entry.position, fmt::format("{} is listed twice", *name));
  }
}

}  // namespace

void CheckVerify(const Value& document, Problems& problems) {
  const Value* verify = document.Find("verify");
  if (verify == nullptr || !verify->IsMap()) return;
  CheckSize(*verify, problems);
  CheckTwice(*verify, problems);
}

}  // namespace reconciler

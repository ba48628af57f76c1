#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "reconciler/gather/gather_script.h"
#include "tests/property/hostile_text.h"

// Whatever a node answers to the gather script, it is facts or an error, and no crash.
namespace reconciler {
namespace {

constexpr std::string_view kNonce = "0123456789abcdef0123456789abcdef";

const std::vector<Read> kReads = {ReadFile{"/etc/hosts"}, ReadFile{"~nvidia/.ssh/config"},
                                  ReadListed{"/var/lib/list"}, ReadValue{"/proc/sys/a"},
                                  RunProbe{"probe", {"true"}}};

// Records as the script ends them, some of them empty, cut off or of another kind.
std::string AnyRecords() {
  const auto piece = rc::gen::weightedOneOf<std::string>(
      {{2, rc::gen::element<std::string>(
               "F /etc/hosts", "L /etc/x", "U /etc/y", "D /var/lib/list",
               "5 644 root root 0 0 7 2026-01-01 00:00:00.0 +0000 /etc/hosts",
               "99999999 644 root root 0 0 7 2026-01-01 00:00:00.0 +0000 /etc/hosts", "/proc/sys/a",
               "", "F", "F ", " ")},
       {1, rc::gen::exec([] { return test::HostileBytes(); })}});
  std::string text;
  for (const std::string& one : *rc::gen::container<std::vector<std::string>>(piece)) {
    text += one;
    text.append(*rc::gen::inRange<std::size_t>(0, 3), '\0');
    if (*rc::gen::inRange(0, 4) == 0) text += '\n';
  }
  return text;
}

RC_GTEST_PROP(HostileReply, IsFactsOrAnError, ()) {
  ScriptReply reply;
  for (const char* label : {"session", "files", "stat", "content", "again", "values",
                            "command probe", "exit 0", "end"}) {
    if (*rc::gen::inRange(0, 40) == 0) continue;
    const std::string marker = "\n" + std::string(kNonce) + " " + label + "\n";
    reply.out += marker + AnyRecords();
    reply.err += marker + AnyRecords();
  }
  const auto facts = ParseGatherReply(reply, kReads, kNonce);
  if (!facts) RC_ASSERT(!facts.error().message.empty());
}

}  // namespace
}  // namespace reconciler

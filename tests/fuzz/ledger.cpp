// What a node remembers of us: its ledger, up to the plan that prunes by it, and a generation.
#include "reconciler/model/ledger.h"
#include "reconciler/apply/history.h"
#include "tests/fuzz/pair.h"
#include "tests/fuzz/target.h"

namespace reconciler::fuzz {
namespace {

void RunLedger(const std::string& text) {
  const auto ledger = ParseLedger(text);
  if (!ledger) return CheckError(ledger.error());
  const auto back = ParseLedger(FormatLedger(*ledger));
  if (!back) throw std::logic_error(FormatError(back.error()));
  Must(*back == *ledger, "a ledger comes back from its text");
  FormatOwnedList(*ledger);
}

void RunGeneration(const std::string& text) {
  const auto info = ParseGeneration(text);
  if (!info) return CheckError(info.error());
  const std::string formatted = FormatGeneration(*info);
  const auto back = ParseGeneration(formatted);
  if (!back) throw std::logic_error(FormatError(back.error()));
  Must(FormatGeneration(*back) == formatted, "a generation comes back from its text");
  Histories histories;
  histories.nodes["spark-1"] = {{1, text}, {2, formatted}};
  histories.nodes["spark-2"] = {{1, formatted}, {2, text}};
  for (const int number : {-1, 1, 2, 3}) {
    const auto chosen = ChooseGeneration(histories, number);
    if (!chosen) CheckError(chosen.error());
    const auto rollback = ChooseForRollback(histories, number);
    if (!rollback) {
      CheckError(rollback.error());
    } else {
      Must(IsPlainText(DescribeRollback(histories, *rollback)), "a rollback is plain text");
    }
  }
}

}  // namespace

void Run(std::string_view input) {
  const std::string text(input);
  RunLedger(text);
  RunGeneration(text);
  static const ProbeReply bare = AnswerBare(0);
  ProbeReply reply = bare;
  reply.files[std::string(kLedgerFile)] = FileState{.content = text};
  PlanPair(ParseReply(0, reply));
}

}  // namespace reconciler::fuzz

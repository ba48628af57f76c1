#include "reconciler/verify/links/run/reply.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>

#include "reconciler/base/number.h"
#include "reconciler/base/text.h"
#include "reconciler/node/frames.h"
#include "reconciler/verify/links/host_names.h"
#include "reconciler/verify/links/port_errors.h"
#include "reconciler/verify/links/run/neighbours.h"

namespace reconciler {
namespace {

constexpr int kTimedOut = 124;  // timeout(1): the limit ended the program
constexpr int kKilled = 137;    // … which had to be killed for it
constexpr int kNotInstalled = 127;

struct ScriptAnswer {
  int exit_code = -1;  // -1: not a number
  std::string out = {};
  std::string err = {};

  bool HasText(std::string_view text) const {
    return err.find(text) != std::string::npos || out.find(text) != std::string::npos;
  }
};

using Answers = std::map<std::string, ScriptAnswer>;

Answers ReadAnswers(const ScriptReply& reply, std::string_view nonce) {
  Answers answers;
  for (Frame& frame : ParseFrames(reply, nonce)) {
    ScriptAnswer answer{.err = std::move(frame.err)};
    const std::size_t newline = frame.out.find('\n');
    answer.exit_code =
        ParseNumber<int>(std::string_view(frame.out).substr(0, newline)).value_or(-1);
    if (newline != std::string::npos) answer.out = frame.out.substr(newline + 1);
    answers[std::move(frame.label)] = std::move(answer);
  }
  return answers;
}

// At most the first few lines that say something, each cut to a length that fits a report.
std::vector<std::string> Lines(std::string_view text, std::size_t count) {
  constexpr std::size_t kWidth = 200;
  std::vector<std::string> lines;
  for (const std::string& line : SplitLines(text)) {
    const std::string_view trimmed = Trim(line);
    if (trimmed.empty() || trimmed.find_first_not_of('@') == std::string_view::npos) continue;
    if (lines.size() < count) lines.push_back(MakePrintable(trimmed.substr(0, kWidth)));
  }
  return lines;
}

struct Counts {
  int sent = 0;
  int received = 0;
};

// "2 packets transmitted, 1 received, 50% packet loss, time 201ms"
std::optional<Counts> ReadCounts(const ScriptAnswer& answer) {
  for (const std::string& line : SplitLines(answer.out)) {
    constexpr std::string_view kBetween = " packets transmitted, ";
    std::string_view rest = line;
    const auto sent = ConsumeNumber<int>(rest);
    if (!sent || !rest.starts_with(kBetween)) continue;
    rest.remove_prefix(kBetween.size());
    if (const auto received = ConsumeNumber<int>(rest)) return Counts{*sent, *received};
  }
  return std::nullopt;
}

void MarkNotMeasured(Check& check, Symptom symptom, std::string why) {
  check.outcome = Outcome::kCouldNotMeasure;
  check.symptom = symptom;
  check.why = std::move(why);
}

void MarkFailed(Check& check, Symptom symptom, std::string measured) {
  check.outcome = Outcome::kFail;
  check.symptom = symptom;
  check.measured = std::move(measured);
}

// What keeps a program from measuring anything. True: it did.
bool MarkIfProgramDidNotRun(Check& check, const ScriptAnswer& answer, std::string_view program) {
  if (answer.exit_code == kNotInstalled) {
    MarkNotMeasured(check, Symptom::kProgramMissing, fmt::format("{} is not installed", program));
    return true;
  }
  if (answer.exit_code < 0) {
    MarkNotMeasured(check, Symptom::kNoAnswer,
                    fmt::format("the answer of {} was cut short", program));
    return true;
  }
  return false;
}

void AddPingEvidence(Check& check, const ScriptAnswer& answer) {
  check.evidence = Lines(answer.err, 2);
  for (const std::string& line : SplitLines(answer.out)) {
    const bool explains =
        line.starts_with("From ") || line.find("packets transmitted") != line.npos;
    if (explains && check.evidence.size() < 4) check.evidence.push_back(MakePrintable(Trim(line)));
  }
}

// True: the path itself is refused, as when a port or an address is missing; that is a failure.
bool IsPathRefused(const ScriptAnswer& answer) {
  return answer.HasText("unreachable") || answer.HasText("No such device") ||
         answer.HasText("Cannot assign requested address") || answer.HasText("unknown iface") ||
         answer.HasText("Network is down") || answer.HasText("No route to host");
}

// Whether each packet came back.
bool IsWhole(const ScriptAnswer& answer) {
  const auto counts = ReadCounts(answer);
  return answer.exit_code == 0 && counts && counts->received >= counts->sent;
}

bool JudgePing(Check& check, const ScriptAnswer& answer, Symptom lost, std::string_view size) {
  if (MarkIfProgramDidNotRun(check, answer, "ping")) {
    check.evidence = Lines(answer.err, 2);
    return false;
  }
  const auto counts = ReadCounts(answer);
  if (answer.exit_code == 0 && counts && counts->received >= counts->sent) return true;
  AddPingEvidence(check, answer);
  if (answer.exit_code == 0 && counts) {
    const bool had_to_wake = lost == Symptom::kNothingBack || lost == Symptom::kPathSilent;
    if (had_to_wake) return true;  // the neighbour entry, no more
    MarkFailed(check, lost == Symptom::kPathMtuLow ? Symptom::kPathLoses : Symptom::kSomeLost,
               fmt::format("{} of {} {} packets came back", counts->received, counts->sent, size));
  } else if (answer.HasText("essage too long")) {
    MarkFailed(check, Symptom::kTooLongForSender,
               "the sender's kernel refuses packets of this size");
  } else if (answer.exit_code == 1 || IsPathRefused(answer) ||
             (answer.exit_code == kTimedOut && counts)) {
    MarkFailed(check, lost,
               size == "small" ? "nothing comes back, small packets neither"
                               : "small packets come back, full-size ones do not");
  } else if (answer.exit_code == kTimedOut || answer.exit_code == kKilled) {
    MarkNotMeasured(check, Symptom::kProbeFailed, "ping did not end within its time limit");
  } else {
    MarkNotMeasured(check, Symptom::kProbeFailed,
                    fmt::format("ping ended with {}", answer.exit_code));
  }
  return false;
}

Check JudgePingAnswer(const NodeProbes& probes, const PingProbe& ping) {
  return {.level = VerifyLevel::kPing,
          .what = "jumbo-ping",
          .from = probes.from,
          .to = ping.to,
          .rail = ping.rail,
          .expected = fmt::format("packets of {} bytes come back unfragmented", ping.mtu)};
}

Check JudgeSshAnswer(const NodeProbes& probes, const SshProbe& login) {
  return {.level = VerifyLevel::kSsh,
          .what = "ssh",
          .from = probes.from,
          .to = login.to,
          .rail = login.rail,
          .expected = fmt::format("ssh {} logs in without a question", login.host)};
}

Check JudgePathAnswer(const NodeProbes& probes, const PathProbe& path) {
  return {.level = VerifyLevel::kPing,
          .what = "path",
          .from = probes.from,
          .subject = path.address,
          .expected = fmt::format("packets of {} bytes to {} come back unfragmented", path.mtu,
                                  path.address)};
}

struct SshText {
  std::string_view text;
  Symptom symptom;
  std::string_view measured;
};

// In this order: a changed host key also says that verification failed.
constexpr SshText kSshTexts[] = {
    {"IDENTIFICATION HAS CHANGED", Symptom::kSshHostKeyChanged, "the peer's host key has changed"},
    {"Host key verification failed", Symptom::kSshHostKeyUnknown, "the peer's host key is unknown"},
    {"host key is known for", Symptom::kSshHostKeyUnknown, "the peer's host key is unknown"},
    // Before the refusal that follows from it.
    {"UNPROTECTED PRIVATE KEY FILE", Symptom::kSshKeyUnprotected,
     "ssh does not use the key: others may read its file"},
    {"are too open", Symptom::kSshKeyUnprotected,
     "ssh does not use the key: others may read its file"},
    {"Permission denied (", Symptom::kSshDenied, "the peer accepts no key of ours"},
    {"Could not resolve hostname", Symptom::kSshNameUnknown, "the name is not known"},
    {"Connection refused", Symptom::kSshRefused, "connection refused"},
    {"timed out", Symptom::kSshNoConnection, "no answer from port 22"},
    {"No route to host", Symptom::kSshNoConnection, "no route to the peer"},
    {"Network is unreachable", Symptom::kSshNoConnection, "no route to the peer"},
    {"kex_exchange_identification", Symptom::kSshDropped, "closed before the login"},
    {"Connection closed by", Symptom::kSshDropped, "closed before the login"},
    {"Connection reset by", Symptom::kSshDropped, "closed before the login"},
};

void JudgeSsh(Check& check, const ScriptAnswer& answer) {
  if (answer.exit_code == 0) {
    check.measured = "logged in";
    return;
  }
  check.evidence = Lines(answer.err, 3);
  if (MarkIfProgramDidNotRun(check, answer, "ssh")) return;
  if (answer.err.starts_with("runuser:")) {
    return MarkNotMeasured(check, Symptom::kProbeFailed, "could not become the user of the mesh");
  }
  if (answer.err.starts_with("mktemp:")) {
    return MarkNotMeasured(check, Symptom::kProbeFailed,
                           "the user of the mesh may not make a folder for temporary files");
  }
  if (answer.exit_code == kTimedOut || answer.exit_code == kKilled) {
    return MarkFailed(check, Symptom::kSshNoConnection,
                      "the login did not end within its time limit");
  }
  // Only ssh itself ends with 255; another code comes from the peer's shell, after the login.
  for (const SshText& known : kSshTexts) {
    if (answer.exit_code == 255 && answer.HasText(known.text)) {
      return MarkFailed(check, known.symptom, std::string(known.measured));
    }
  }
  MarkFailed(check, Symptom::kSshFailed, fmt::format("ssh ended with {}", answer.exit_code));
}

}  // namespace

std::vector<Check> ReadReply(const NodeProbes& probes, const ScriptReply& reply,
                             std::string_view nonce) {
  const Answers answers = ReadAnswers(reply, nonce);
  const auto find = [&answers](std::string_view kind, std::size_t i) -> const ScriptAnswer* {
    const auto found = answers.find(fmt::format("{}.{}", kind, i));
    return found == answers.end() ? nullptr : &found->second;
  };
  const auto no_answer = [&reply](Check& check) {
    MarkNotMeasured(
        check, Symptom::kNoAnswer,
        fmt::format("the script ended with {} without an answer for this", reply.exit_code));
    check.evidence = Lines(reply.err, 3);
  };
  std::vector<Check> checks;
  for (std::size_t i = 0; i < probes.pings.size(); ++i) {
    Check check = JudgePingAnswer(probes, probes.pings[i]);
    const ScriptAnswer* small = find("small", i);
    const ScriptAnswer* jumbo = find("jumbo", i);
    // Where all full-size packets come back, no small ones are sent.
    if (small == nullptr && (jumbo == nullptr || !IsWhole(*jumbo))) {
      no_answer(check);
    } else if (small == nullptr || JudgePing(check, *small, Symptom::kNothingBack, "small")) {
      check.evidence.clear();
      if (jumbo == nullptr) {
        no_answer(check);
      } else if (JudgePing(check, *jumbo, Symptom::kJumboLost, "full-size")) {
        check.measured = fmt::format("{} bytes both ways", probes.pings[i].mtu);
      }
    }
    checks.push_back(std::move(check));
  }
  for (std::size_t i = 0; i < probes.logins.size(); ++i) {
    Check check = JudgeSshAnswer(probes, probes.logins[i]);
    if (const ScriptAnswer* answer = find("ssh", i)) {
      JudgeSsh(check, *answer);
    } else {
      no_answer(check);
    }
    checks.push_back(std::move(check));
  }
  for (std::size_t i = 0; i < probes.paths.size(); ++i) {
    Check check = JudgePathAnswer(probes, probes.paths[i]);
    const ScriptAnswer* small = find("path", i);
    const ScriptAnswer* whole = find("fullpath", i);
    if (small == nullptr) {
      no_answer(check);
    } else if (JudgePing(check, *small, Symptom::kPathSilent, "small")) {
      if (whole == nullptr) {
        no_answer(check);
      } else if (JudgePing(check, *whole, Symptom::kPathMtuLow, "full-size")) {
        check.measured = fmt::format("{} bytes both ways", probes.paths[i].mtu);
      }
    }
    if (check.symptom == Symptom::kTooLongForSender) check.symptom = Symptom::kPathMtuLow;
    checks.push_back(std::move(check));
  }
  if (const auto names = answers.find("names"); names != answers.end()) {
    std::vector<Check> wrong = JudgeNames(probes, names->second.out);
    std::move(wrong.begin(), wrong.end(), std::back_inserter(checks));
  }
  if (const auto neighbours = answers.find("neighbours"); neighbours != answers.end()) {
    std::vector<Check> wrong = JudgeNeighbours(probes, neighbours->second.out);
    std::move(wrong.begin(), wrong.end(), std::back_inserter(checks));
  }
  const auto before = answers.find("errors.before");
  const auto after = answers.find("errors.after");
  if (before != answers.end() && after != answers.end()) {
    std::vector<Check> errors = JudgeErrors(probes, before->second.out, after->second.out);
    std::move(errors.begin(), errors.end(), std::back_inserter(checks));
  }
  return checks;
}

std::vector<Check> MakeNotMeasuredChecks(const NodeProbes& probes, Symptom symptom,
                                         const std::string& why) {
  std::vector<Check> checks;
  for (const PingProbe& ping : probes.pings) checks.push_back(JudgePingAnswer(probes, ping));
  for (const SshProbe& login : probes.logins) checks.push_back(JudgeSshAnswer(probes, login));
  for (const PathProbe& path : probes.paths) checks.push_back(JudgePathAnswer(probes, path));
  for (Check& check : checks) MarkNotMeasured(check, symptom, why);
  return checks;
}

}  // namespace reconciler

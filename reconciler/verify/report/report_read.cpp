#include <fmt/format.h>

#include <array>
#include <optional>
#include <set>
#include <utility>

#include "reconciler/base/text.h"
#include "reconciler/verify/report/read_parts.h"
#include "reconciler/verify/report/report.h"

namespace reconciler {
namespace {

// More than any cluster has: what a report is drawn into grows with the square of them.
constexpr std::size_t kMostNodes = 512;
constexpr std::size_t kMostCables = 1024;
constexpr std::size_t kMostFindings = 4096;

std::string ReadOptionalLine(const JsonReader& reader, const std::string& key) {
  return reader.Has(key) ? ReadLine(reader.At(key)) : "";
}

std::optional<double> ReadOptionalNumber(const JsonReader& reader, const std::string& key) {
  return reader.Has(key) ? std::optional(ReadNumber(reader.At(key))) : std::nullopt;
}

std::vector<std::string> ReadLines(const JsonReader& reader) {
  std::vector<std::string> lines;
  reader.ForEachItem([&](const JsonReader& item) { lines.push_back(ReadLine(item)); });
  return lines;
}

VerifyLevel ReadLevel(const JsonReader& reader) { return ReadWord(reader, kVerifyLevels); }

// As the catalogue has them.
std::string ReadCode(const JsonReader& reader) {
  std::string code = ReadName(reader);
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyz0123456789-";
  if (code.empty() || code.find_first_not_of(kLetters) != std::string::npos) {
    reader.Fail("wanted a code such as \"path-mtu\", found \"" + code + "\"");
  }
  return code;
}

// One that this program does not know, as in a report of another version, is none.
Symptom ReadSymptom(const JsonReader& reader) {
  const std::string code = ReadCode(reader);
  for (int i = 1; i <= static_cast<int>(Symptom::kInvalidFigure); ++i) {
    if (ToString(static_cast<Symptom>(i)) == code) return static_cast<Symptom>(i);
  }
  return Symptom::kNone;
}

Check ReadCheck(const JsonReader& reader) {
  Check check{.level = ReadLevel(reader.At("level")),
              .what = ReadName(reader.At("what")),
              .from = ReadName(reader.At("from"))};
  if (reader.Has("to")) check.to = ReadName(reader.At("to"));
  if (reader.Has("rail")) check.rail = ReadRail(reader.At("rail"));
  check.subject = ReadOptionalLine(reader, "subject");
  check.outcome = ReadWord(reader.At("outcome"), kOutcomes);
  if (reader.Has("symptom")) check.symptom = ReadSymptom(reader.At("symptom"));
  check.expected = ReadOptionalLine(reader, "expected");
  check.measured = ReadOptionalLine(reader, "measured");
  check.gbps = ReadOptionalNumber(reader, "gbps");
  check.roofline_gbps = ReadOptionalNumber(reader, "roofline_gbps");
  check.latency_us = ReadOptionalNumber(reader, "latency_us");
  check.why = ReadOptionalLine(reader, "why");
  if (reader.Has("evidence")) check.evidence = ReadLines(reader.At("evidence"));
  return check;
}

Finding ReadFinding(const JsonReader& reader) {
  Finding finding{.code = ReadCode(reader.At("code")),
                  .outcome = ReadWord(reader.At("outcome"), kOutcomesOfFindings),
                  .level = ReadLevel(reader.At("level")),
                  .nodes = ReadLines(reader.At("nodes")),
                  .expected = ReadLine(reader.At("expected")),
                  .measured = ReadLine(reader.At("measured")),
                  .evidence = ReadLines(reader.At("evidence")),
                  .cause = ReadLine(reader.At("cause")),
                  .next_step = ReadLine(reader.At("next_step")),
                  .explains = ReadCount<std::size_t>(reader.At("explains"), kMostCounted)};
  reader.At("rails").ForEachItem(
      [&](const JsonReader& rail) { finding.rails.insert(ReadRail(rail)); });
  return finding;
}

Drawing::Device ReadDevice(const JsonReader& reader) {
  constexpr int kMostLevels = 16;
  constexpr std::size_t kMostPorts = 256;
  Drawing::Device device{.name = ReadName(reader.At("name")),
                         .model = ReadName(reader.At("model")),
                         .is_switch = reader.At("switch").Bool(),
                         .level = ReadCount<int>(reader.At("level"), kMostLevels)};
  reader.At("ports").ForEachItem([&](const JsonReader& port) {
    device.ports.push_back({.cage = ReadName(port.At("cage")),
                            .rail = ReadRail(port.At("rail")),
                            .address = ReadName(port.At("address")),
                            .netdev = ReadName(port.At("netdev"))});
    if (device.ports.size() > kMostPorts) port.Fail("too many ports");
  });
  return device;
}

std::size_t ReadIndex(const JsonReader& reader, const Drawing& drawing) {
  const auto index = ReadCount<std::size_t>(reader, kMostCounted);
  if (index >= drawing.devices.size()) {
    reader.Fail(fmt::format("wanted the place of a device, of which there are {}, found {}",
                            drawing.devices.size(), index));
  }
  return index;
}

Drawing ReadFabric(const JsonReader& reader) {
  constexpr int kMostGbps = 1'000'000;
  Drawing drawing{.title = ReadName(reader.At("title"))};
  reader.At("devices").ForEachItem([&](const JsonReader& item) {
    drawing.devices.push_back(ReadDevice(item));
    if (drawing.devices.size() > 2 * kMostNodes) item.Fail("too many devices");
  });
  reader.At("cables").ForEachItem([&](const JsonReader& item) {
    Drawing::Cable cable{.from = ReadIndex(item.At("from"), drawing),
                         .to = ReadIndex(item.At("to"), drawing),
                         .from_port = ReadName(item.At("from_port")),
                         .to_port = ReadName(item.At("to_port")),
                         .gbps = ReadCount<int>(item.At("gbps"), kMostGbps)};
    if (cable.from == cable.to) item.Fail("wanted two devices, found one");
    if (drawing.devices[cable.from].level > drawing.devices[cable.to].level) {
      std::swap(cable.from, cable.to);
      std::swap(cable.from_port, cable.to_port);
    }
    drawing.cables.push_back(std::move(cable));
    if (drawing.cables.size() > kMostCables) item.Fail("too many cables");
  });
  return drawing;
}

ReportedFacts ReadFacts(const JsonReader& reader) {
  ReportedFacts facts;
  reader.ForEachMember([&](const std::string& name, const JsonReader& value) {
    facts[MakePrintable(name)] = ReadLine(value);
  });
  return facts;
}

// The matrices have a row and a column for each.
void CheckNodes(const Report& report, const JsonReader& reader) {
  std::set<NodeName> nodes;
  for (const Check& check : report.checks) {
    nodes.insert(check.from);
    if (!check.to.empty()) nodes.insert(check.to);
    if (nodes.size() > kMostNodes) {
      reader.At("checks").Fail(fmt::format("wanted at most {} nodes, found more", kMostNodes));
    }
  }
}

Report ReadReport(const JsonReader& reader) {
  constexpr std::string_view kFormat = "spark-reconcile/report/1";
  const std::string format = reader.At("format").PlainText();
  if (format != kFormat) {
    reader.At("format").Fail(fmt::format("wanted {}, found {}", kFormat, MakePrintable(format)));
  }
  Report report{.cluster = ReadName(reader.At("cluster")), .level = ReadLevel(reader.At("level"))};
  reader.At("unreachable").ForEachItem([&](const JsonReader& item) {
    report.unreachable[ReadName(item.At("node"))] = ReadLine(item.At("why"));
  });
  reader.At("findings").ForEachItem([&](const JsonReader& item) {
    report.findings.push_back(ReadFinding(item));
    if (report.findings.size() > kMostFindings) item.Fail("too many findings");
  });
  reader.At("checks").ForEachItem(
      [&](const JsonReader& item) { report.checks.push_back(ReadCheck(item)); });
  CheckNodes(report, reader);
  if (reader.Has("not_measured")) {
    const JsonReader left_out = reader.At("not_measured");
    report.not_measured =
        NotMeasured{ReadLevel(left_out.At("level")), ReadLine(left_out.At("why"))};
  }
  if (reader.Has("nccl")) report.nccl = ReadNccl(reader.At("nccl"));
  if (reader.Has("run")) {
    const JsonReader run = reader.At("run");
    report.run = ReportRun{ReadName(run.At("began")), ReadNumber(run.At("seconds")),
                           ReadName(run.At("program"))};
  }
  if (reader.Has("facts")) {
    reader.At("facts").ForEachMember([&](const std::string& node, const JsonReader& facts) {
      report.facts[MakePrintable(node)] = ReadFacts(facts);
    });
  }
  if (reader.Has("fabric")) report.fabric = ReadFabric(reader.At("fabric"));
  return report;
}

}  // namespace

Result<Report> ParseReport(std::string_view text) { return ReadDocument<Report>(text, ReadReport); }

}  // namespace reconciler

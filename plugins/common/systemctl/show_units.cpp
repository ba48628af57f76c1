#include "plugins/common/systemctl/show_units.h"

#include <optional>
#include <utility>

#include "plugins/common/commands/failure.h"
#include "reconciler/base/text.h"

namespace reconciler::plugins {
namespace {

constexpr int kShowLimitS = 5;
constexpr const char* kProperties =
    "--property=Id,Names,LoadState,UnitFileState,ActiveState,Result,NeedDaemonReload,Type,"
    "RemainAfterExit,Triggers,Accept,LimitMEMLOCK,LimitMEMLOCKSoft";

}  // namespace

RunProbe MakeUnitsProbe(std::vector<std::string> units) {
  return {.id = kUnits,
          .argv = {"systemctl", "show", "--no-pager", kProperties, "--"},
          .time_limit_s = kShowLimitS,
          .operands = std::move(units)};
}

ShownUnits ParseUnits(const CommandReply& reply) {
  std::optional<Unknown> failed;
  if (reply.exit_code != 0) failed = ExplainFailure(reply, "systemctl show", kShowLimitS);
  if (reply.exit_code == 124) return {.count = *failed};
  ShownUnits shown;
  // Blocks are separated by an empty line; properties come in systemd's own order. A unit may be
  // requested by any of its names, while Id is the one that it was given first.
  UnitProperties block;
  int count = 0;
  const auto finish = [&] {
    if (block["Id"] == kDefaultsUnit) {
      shown.defaults = std::move(block);
    } else {
      for (const std::string& name : Split(block["Names"] + " " + block["Id"], ' ')) {
        if (!name.empty()) shown.units[name] = block;
      }
      if (!block["Id"].empty()) ++count;
    }
    block.clear();
  };
  for (const std::string& line : SplitLines(reply.out)) {
    const std::size_t equals = line.find('=');
    if (line.empty()) {
      finish();
    } else if (equals != std::string::npos) {
      block[line.substr(0, equals)] = line.substr(equals + 1);
    }
  }
  finish();
  shown.count = failed ? Observed<int>(*failed) : Observed<int>(count);
  return shown;
}

}  // namespace reconciler::plugins

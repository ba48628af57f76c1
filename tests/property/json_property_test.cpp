#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <nlohmann/json.hpp>

#include "reconciler/model/json/json.h"
#include "tests/property/hostile_text.h"

namespace reconciler {
namespace {

using test::HostileBytes;

template <class Function>
auto Several(Function one) {
  std::vector<decltype(one())> items;
  const int count = *rc::gen::inRange(0, 4);
  for (int i = 0; i < count; ++i) items.push_back(one());
  return items;
}

FileState AnyFile() {
  return {.content = HostileBytes(),
          .mode = *rc::gen::inRange(0u, 010000u),
          .owner = HostileBytes(),
          .group = HostileBytes()};
}

template <class T, class Function>
Observed<T> AnyObserved(Function known) {
  switch (*rc::gen::inRange(0, 5)) {
    case 0:
      return Absent{};
    case 1:
      return Unknown{HostileBytes()};
    case 2:
      return Unsupported{HostileBytes()};
  }
  return known();
}

LinkFact AnyLink() {
  return {.mac = HostileBytes(),
          .mtu = *rc::gen::inRange(0, 65537),
          .admin_up = *rc::gen::arbitrary<bool>(),
          .carrier = *rc::gen::arbitrary<bool>(),
          .operstate = HostileBytes(),
          .ipv4 = Several([] {
            return Ipv4Prefix{{*rc::gen::arbitrary<std::uint32_t>()}, *rc::gen::inRange(0, 33)};
          }),
          .ipv6 = Several(HostileBytes),
          .manager = *rc::gen::element(LinkManager::kNone, LinkManager::kNetworkd,
                                       LinkManager::kNetworkManager),
          .phys_port_name = HostileBytes(),
          .speed_mbps = *rc::gen::element(-1, 10000, 200000)};
}

// Digests and plugin names are made by us and never hold anything else.
std::string AnyDigest() { return fmt::format("{:016x}", *rc::gen::arbitrary<std::uint64_t>()); }

std::string AnyPlugin() { return *rc::gen::element<std::string>("netplan", "hosts", "ssh"); }

HcaFact AnyHca() {
  const auto number = [] { return *rc::gen::inRange(0, 1000000); };
  HcaFact hca{.netdev = HostileBytes(),
              .firmware = HostileBytes(),
              .state = HostileBytes(),
              .rate_mbps = number(),
              .device = {.slot = HostileBytes(), .mts = number(), .lanes = number()},
              .upstream = {.max_mts = number(), .max_lanes = number()},
              .verbs = {.active_mtu = number(), .dmabuf = AnyObserved<bool>([] { return true; })}};
  hca.gids = Several([&] {
    return GidFact{number(), HostileBytes(), HostileBytes(), HostileBytes()};
  });
  for (const std::string& name : Several(HostileBytes)) hca.counters[name] = number();
  return hca;
}

NodeFacts AnyNodeFacts(const NodeName& name) {
  NodeFacts facts{.node = name,
                  .session = {.address = HostileBytes(), .interface = HostileBytes()}};
  facts.host = AnyObserved<HostFact>([] {
    return HostFact{.hostname = HostileBytes(), .machine_id = HostileBytes(), .os = HostileBytes()};
  });
  for (const std::string& link : Several(HostileBytes)) facts.links[link] = AnyLink();
  for (const std::string& hca : Several(HostileBytes)) facts.hcas[hca] = AnyHca();
  for (const std::string& path : Several(HostileBytes)) {
    facts.files[path] = AnyObserved<FileState>(AnyFile);
  }
  for (const std::string& key : Several(HostileBytes)) {
    facts.sysctl.keys[key] = AnyObserved<std::string>(HostileBytes);
    facts.gpudirect.modules[key] = AnyObserved<ModuleState>([] { return ModuleState::kAvailable; });
    facts.units.states[key] = {.load = HostileBytes(), .stale = true};
    facts.network.pci[key] = HostileBytes();
    facts.network.ports[key].fec =
        AnyObserved<std::vector<std::string>>([] { return Several(HostileBytes); });
    facts.nccl.gids[key].gid = AnyObserved<std::string>(HostileBytes);
  }
  facts.memlock.session = AnyObserved<MemoryLimit>(
      [] { return MemoryLimit{*rc::gen::inRange<std::int64_t>(0, MemoryLimit::kUnlimited)}; });
  facts.ssh.directory = AnyObserved<FileAccess>([] { return FileAccess{{0700}, HostileBytes()}; });
  facts.nccl.library = AnyObserved<NcclLibrary>([] {
    return NcclLibrary{HostileBytes(), HostileBytes(), {HostileBytes()}};
  });
  facts.apply.undecided = Several(HostileBytes);
  return facts;
}

RunCommand AnyCommand() {
  return {.argv = Several(HostileBytes),
          .time_limit_s = *rc::gen::inRange(1, 1000),
          .user = HostileBytes(),
          .id = HostileBytes(),
          .must_succeed = *rc::gen::arbitrary<bool>(),
          .at_boot = *rc::gen::arbitrary<bool>(),
          .after_boot = *rc::gen::arbitrary<bool>(),
          .sets = HostileBytes(),
          .makes = Several(HostileBytes),
          .without_reload = *rc::gen::arbitrary<bool>()};
}

Trial AnyTrial() { return {.path = HostileBytes(), .generator = Several(HostileBytes)}; }

Action AnyAction() {
  switch (*rc::gen::inRange(0, 3)) {
    case 0:
      return WriteFile{HostileBytes(), AnyFile(), AnyTrial()};
    case 1:
      return RemoveFile{HostileBytes(), AnyTrial()};
  }
  return AnyCommand();
}

Change AnyChange() {
  return {.change = *rc::gen::element(ChangeKind::kAdd, ChangeKind::kModify, ChangeKind::kRemove,
                                      ChangeKind::kBlocked),
          .kind = HostileBytes(),
          .name = HostileBytes(),
          .is_link = *rc::gen::arbitrary<bool>(),
          .node = HostileBytes(),
          .plugin = HostileBytes(),
          .detail = HostileBytes(),
          .code = HostileBytes(),
          .owner = {.name = HostileBytes(),
                    .claims = Several(HostileBytes),
                    .settings_lost = Several(HostileBytes)},
          .diff = HostileBytes(),
          .actions = Several(AnyAction),
          .revert = Several(AnyAction),
          .triggers = Several(AnyCommand),
          .impact = *rc::gen::element(Impact::kNone, Impact::kServiceRestart, Impact::kLinkFlap,
                                      Impact::kReboot),
          .deferred = *rc::gen::arbitrary<bool>(),
          .fingerprint = AnyDigest(),
          .where = {HostileBytes(), {*rc::gen::inRange(0, 999), *rc::gen::inRange(0, 999)}},
          .desired = *rc::gen::arbitrary<bool>() ? std::optional(HostileBytes()) : std::nullopt,
          .cause = {.kind = static_cast<CauseKind>(
                        *rc::gen::inRange(0, static_cast<int>(CauseKind::kNotRequired) + 1)),
                    .generation = *rc::gen::inRange(0, 1000),
                    .applied = *rc::gen::arbitrary<bool>() ? std::optional(HostileBytes())
                                                           : std::nullopt}};
}

RC_GTEST_PROP(Json, AnyFactsComeBackAsTheyWere, ()) {
  ClusterFacts facts;
  for (const NodeName& name : Several(HostileBytes)) facts.nodes[name] = AnyNodeFacts(name);
  for (const NodeName& name : Several(HostileBytes)) {
    facts.unreachable[name] = {
        .kind = ErrorKind::kTransport, .message = HostileBytes(), .hint = HostileBytes()};
  }
  const auto back = ParseFacts(Dump(ToJson(facts)));
  if (!back) RC_FAIL(FormatError(back.error()));
  RC_ASSERT(*back == facts);
}

RC_GTEST_PROP(Json, AnyPlanComesBackAsItWas, ()) {
  Plan plan{.cluster = HostileBytes(),
            .summary = HostileBytes(),
            .manifest = HostileBytes(),
            .spec_digest = AnyDigest(),
            .id = AnyDigest()};
  plan.allow_half_cables = *rc::gen::arbitrary<bool>();
  plan.nodes = Several([] {
    return PlanNode{.name = HostileBytes(),
                    .address = HostileBytes(),
                    .session_interface = HostileBytes(),
                    .generation = *rc::gen::inRange(0, 1000),
                    .unreachable = HostileBytes(),
                    .dropped = Several(HostileBytes)};
  });
  plan.stages = Several([] { return Stage{Several(AnyPlugin), Several(AnyChange)}; });
  plan.diagnostics = Several([] {
    return Diagnostic{
        .severity = *rc::gen::element(Severity::kBlocks, Severity::kWarns, Severity::kInforms),
        .code = HostileBytes(),
        .message = HostileBytes(),
        .next_step = HostileBytes(),
        .where = {HostileBytes(), {*rc::gen::inRange(0, 999), *rc::gen::inRange(0, 999)}},
        .subject = HostileBytes(),
        .plugin = HostileBytes(),
        .change = HostileBytes(),
        .nodes = Several(HostileBytes)};
  });
  const auto back = ParsePlan(Dump(ToJson(plan)));
  if (!back) RC_FAIL(FormatError(back.error()));
  RC_ASSERT(*back == plan);
}

}  // namespace
}  // namespace reconciler

#include "reconciler/model/json/json.h"
#include "reconciler/model/json/json_parts.h"

namespace reconciler {
namespace {

using nlohmann::ordered_json;

constexpr std::string_view kManagers[] = {"none", "networkd", "NetworkManager"};

ordered_json HostToJson(const Observed<HostFact>& observed) {
  const HostFact* host = Known(observed);
  if (host == nullptr) return NotKnownToJson(observed);
  return {{"hostname", EncodeText(host->hostname)}, {"machine_id", EncodeText(host->machine_id)},
          {"boot_id", EncodeText(host->boot_id)},   {"kernel", EncodeText(host->kernel)},
          {"arch", EncodeText(host->arch)},         {"os", EncodeText(host->os)},
          {"product", EncodeText(host->product)}};
}

Observed<HostFact> ReadHost(const JsonReader& reader) {
  return ReadObserved<HostFact>(reader, [](const JsonReader& host) {
    return HostFact{.hostname = host.At("hostname").Text(),
                    .machine_id = host.At("machine_id").Text(),
                    .boot_id = host.At("boot_id").Text(),
                    .kernel = host.At("kernel").Text(),
                    .arch = host.At("arch").Text(),
                    .os = host.At("os").Text(),
                    .product = host.At("product").Text()};
  });
}

ordered_json LinkToJson(const LinkFact& link) {
  ordered_json ipv4 = ordered_json::array();
  for (const Ipv4Prefix& address : link.ipv4) ipv4.push_back(ToString(address));
  ordered_json ipv6 = ordered_json::array();
  for (const std::string& address : link.ipv6) ipv6.push_back(EncodeText(address));
  return {{"mac", EncodeText(link.mac)},
          {"mtu", link.mtu},
          {"admin_up", link.admin_up},
          {"carrier", link.carrier},
          {"operstate", EncodeText(link.operstate)},
          {"ipv4", ipv4},
          {"ipv6", ipv6},
          {"manager", kManagers[static_cast<int>(link.manager)]},
          {"phys_port_name", EncodeText(link.phys_port_name)},
          {"speed_mbps", link.speed_mbps}};
}

LinkManager ReadManager(const JsonReader& reader) {
  const std::string text = reader.Text();
  for (const LinkManager manager :
       {LinkManager::kNone, LinkManager::kNetworkd, LinkManager::kNetworkManager}) {
    if (text == kManagers[static_cast<int>(manager)]) return manager;
  }
  reader.Fail("wanted none, networkd or NetworkManager, found \"" + text + "\"");
}

LinkFact ReadLink(const JsonReader& reader) {
  LinkFact link;
  link.mac = reader.At("mac").Text();
  link.mtu = static_cast<int>(reader.At("mtu").Integer());
  link.admin_up = reader.At("admin_up").Bool();
  link.carrier = reader.At("carrier").Bool();
  link.operstate = reader.At("operstate").Text();
  reader.At("ipv4").ForEachItem([&](const JsonReader& item) {
    const auto address = ParseIpv4Prefix(item.Text());
    if (!address) item.Fail("wanted an address such as 192.168.177.1/24, found " + item.Text());
    link.ipv4.push_back(*address);
  });
  reader.At("ipv6").ForEachItem([&](const JsonReader& item) { link.ipv6.push_back(item.Text()); });
  link.manager = ReadManager(reader.At("manager"));
  link.phys_port_name = reader.At("phys_port_name").Text();
  link.speed_mbps = static_cast<int>(reader.At("speed_mbps").Integer());
  return link;
}

// Keys are text from nodes too (file names found by a pattern).
std::string Key(const std::string& key) { return EncodeText(key).get<std::string>(); }

ordered_json NodeToJson(const NodeFacts& facts) {
  ordered_json links = ordered_json::object();
  for (const auto& [name, link] : facts.links) links[Key(name)] = LinkToJson(link);
  ordered_json hcas = ordered_json::object();
  for (const auto& [name, hca] : facts.hcas) hcas[Key(name)] = HcaToJson(hca);
  ordered_json files = ordered_json::object();
  for (const auto& [path, file] : facts.files) {
    const FileState* state = Known(file);
    files[Key(path)] = state != nullptr ? FileStateToJson(*state) : NotKnownToJson(file);
  }
  ordered_json values = ordered_json::object();
  for (const auto& [key, value] : facts.values) {
    const std::string* text = Known(value);
    values[Key(key)] = text != nullptr ? EncodeText(*text) : NotKnownToJson(value);
  }
  const Ledger* ledger = Known(facts.ledger);
  return {{"host", HostToJson(facts.host)},
          {"session",
           {{"address", EncodeText(facts.session_address)},
            {"interface", EncodeText(facts.session_interface)}}},
          {"links", links},
          {"hcas", hcas},
          {"files", files},
          {"values", values},
          {"ledger", ledger != nullptr ? LedgerToJson(*ledger) : NotKnownToJson(facts.ledger)}};
}

NodeFacts ReadNode(const NodeName& name, const JsonReader& reader) {
  NodeFacts facts;
  facts.node = name;
  facts.host = ReadHost(reader.At("host"));
  facts.session_address = reader.At("session").At("address").Text();
  facts.session_interface = reader.At("session").At("interface").Text();
  reader.At("links").ForEachMember(
      [&](const std::string& key, const JsonReader& value) { facts.links[key] = ReadLink(value); });
  if (reader.Has("hcas")) {
    reader.At("hcas").ForEachMember(
        [&](const std::string& key, const JsonReader& value) { facts.hcas[key] = ReadHca(value); });
  }
  reader.At("files").ForEachMember([&](const std::string& key, const JsonReader& value) {
    facts.files[key] = ReadObserved<FileState>(value, ReadFileState);
  });
  reader.At("values").ForEachMember([&](const std::string& key, const JsonReader& value) {
    facts.values[key] =
        ReadObserved<std::string>(value, [](const JsonReader& text) { return text.Text(); });
  });
  if (reader.Has("ledger")) facts.ledger = ReadObserved<Ledger>(reader.At("ledger"), ReadLedger);
  return facts;
}

}  // namespace

ordered_json ToJson(const ClusterFacts& facts) {
  ordered_json nodes = ordered_json::object();
  for (const auto& [name, node] : facts.nodes) nodes[Key(name)] = NodeToJson(node);
  ordered_json unreachable = ordered_json::object();
  for (const auto& [name, error] : facts.unreachable) {
    unreachable[Key(name)] = {{"message", EncodeText(error.message)},
                              {"hint", EncodeText(error.hint)}};
  }
  return {{"format", "spark-reconcile/facts/1"}, {"nodes", nodes}, {"unreachable", unreachable}};
}

Result<ClusterFacts> ParseFacts(std::string_view json) {
  return ReadDocument<ClusterFacts>(json, [](const JsonReader& reader) {
    ClusterFacts facts;
    const JsonReader format = reader.At("format");
    if (format.Text() != "spark-reconcile/facts/1") {
      format.Fail("wanted \"spark-reconcile/facts/1\", found \"" + format.Text() + "\"");
    }
    reader.At("nodes").ForEachMember([&](const std::string& key, const JsonReader& value) {
      facts.nodes[key] = ReadNode(key, value);
    });
    reader.At("unreachable").ForEachMember([&](const std::string& key, const JsonReader& value) {
      facts.unreachable[key] = {.kind = ErrorKind::kTransport,
                                .message = value.At("message").Text(),
                                .hint = value.At("hint").Text()};
    });
    return facts;
  });
}

}  // namespace reconciler

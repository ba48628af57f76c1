#include "reconciler/cabling/view.h"

#include "reconciler/base/text.h"

namespace reconciler {
namespace {

PortState ParsePortState(const std::string& word) {
  if (word == "link") return PortState::kLink;
  if (word == "no-carrier") return PortState::kNoCarrier;
  if (word == "down") return PortState::kDown;
  return PortState::kMissing;
}

}  // namespace

void ReadLines(std::string_view text, CablingView& view) {
  std::map<std::pair<std::string, std::string>, std::string> macs;
  for (const std::string& line : SplitLines(text)) {
    const std::vector<std::string> words = Split(line, ' ');
    if (words.size() == 2 && words[0] == "host") view.hostname = words[1];
    if (words.size() == 2 && words[0] == "bridge" && !words[1].empty()) {
      view.bridges.insert(ToLower(words[1]));
    }
    if (words.size() < 3) continue;
    if (words[0] == "port") {
      PortView& port = view.ports[words[1]];
      port.state = ParsePortState(words[2]);
      if (words.size() > 3) port.mac = words[3];
    } else if (words[0] == "own") {
      view.ports[words[1]].addresses.insert(words[2]);
    } else if (words[0] == "heard") {
      view.ports[words[1]].heard.try_emplace(words[2]);
    } else if (words[0] == "neighbour" && words.size() == 4) {
      macs[{words[1], words[2]}] = words[3];
    }
  }
  for (auto& [netdev, port] : view.ports) {
    for (auto& [address, mac] : port.heard) {
      const auto found = macs.find({netdev, address});
      if (found != macs.end()) mac = found->second;
    }
  }
}

}  // namespace reconciler

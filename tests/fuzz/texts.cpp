// Texts of others that no probe of a plugin reads: who answers on a network, and what is adopted.
#include "plugins/netplan/adopt/keyfile.h"
#include "plugins/netplan/adopt/unit.h"
#include "plugins/ssh/public_key.h"
#include "reconciler/apply/guard/beacon_proof.h"
#include "reconciler/cabling/lldp.h"
#include "reconciler/cabling/view.h"
#include "reconciler/discovery/hosts.h"
#include "tests/fuzz/target.h"

namespace reconciler::fuzz {

void Run(std::string_view input) {
  ParseLldp(input);
  CablingView view;
  ReadLines(input, view);
  ParseDefaultInterface(input);
  for (const HostRecords& records : {ParseMdns(input), ParseKnownHosts(input)}) {
    const FoundHosts found = ChooseHosts(records, "s*");
    FormatHosts(found.chosen);
    FormatHosts(found.left_out);
  }
  ParseBeaconReply({{"spark-2", "enp1s0f1np1"}}, input);
  plugins::ssh::ParsePublicKey(input);
  plugins::netplan::ReadKeyfile(input);
  plugins::netplan::ReadUnit(input);
}

}  // namespace reconciler::fuzz

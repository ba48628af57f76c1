#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace reconciler {

struct HostAddress {
  std::string address = {};  // IPv4
  std::string network = {};  // our interface that it was seen on; empty: not known
};

// What one source says of one machine.
struct HostRecord {
  std::string machine = {};                 // equal: the same machine
  std::vector<std::string> names = {};      // "spark-1a2b"; empty: it has addresses only
  std::vector<HostAddress> addresses = {};  // empty: only its names are known
};

struct HostRecords {
  std::vector<HostRecord> records = {};
  std::size_t hashed = 0;  // lines whose names cannot be read back
};

// Output of `avahi-browse --parsable --resolve --terminate _ssh._tcp`: a machine per host name.
// Lines of another form, loopback addresses and IPv6 are left out.
HostRecords ParseMdns(std::string_view output);

// A file of known_hosts (sshd(8)): a machine per key. Revoked keys, certificate authorities,
// patterns and other ports than 22 are left out.
HostRecords ParseKnownHosts(std::string_view text);

// The interface of the first default route in /proc/net/route: lines of "INTERFACE DESTINATION
// GATEWAY …", with tabs between, the addresses in hexadecimal. Empty: there is none.
std::string ParseDefaultInterface(std::string_view routes);

// A machine that may be a node.
struct FoundHost {
  std::string name = {};                 // one that matches, else the first; empty: not known
  std::string address = {};              // what the manifest gets: IPv4, else the name
  std::vector<std::string> others = {};  // further addresses
};

struct FoundHosts {
  std::vector<FoundHost> chosen = {};    // each sorted by address
  std::vector<FoundHost> left_out = {};  // no name or address matches
};

// Machines of which a name or an address matches the shell pattern (fnmatch(3)). Of several
// addresses the one on the preferred network is taken (our interface; empty: none), else on the one
// with the most of these machines, else in the /24 with the most of them, and a link-local one
// last.
FoundHosts ChooseHosts(const HostRecords& found, const std::string& pattern,
                       const std::string& preferred = {});

// A table: name, address, and the others in brackets.
std::string FormatHosts(const std::vector<FoundHost>& hosts);

}  // namespace reconciler

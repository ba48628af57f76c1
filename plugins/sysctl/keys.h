#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace reconciler::plugins::sysctl {

// A key may be written with dots or with slashes between its parts; whichever comes first is the
// separator, and the other one then stands for itself turned around: net.ipv4.conf.eth0/5.mtu and
// net/ipv4/conf/eth0.5/mtu are the same. The dotted form is the canonical one; nullopt for what is
// no key (one part only, an empty part, "..", or characters other than letters, digits and _-./).
std::optional<std::string> NormalizeKey(std::string_view key);

// Between the canonical key and its file below /proc/sys.
std::string MakeKeyPath(std::string_view canonical);
std::string ReadKeyFromPath(std::string_view path);  // precondition: begins with /proc/sys/

// The key of one setting of one interface: ("enp1s0f1np1", "arp_ignore").
std::string MakeInterfaceKey(std::string_view netdev, std::string_view setting,
                             std::string_view family = "ipv4");

// The interface that a key is about ("eth0.5" of net.ipv4.conf.eth0/5.arp_ignore); empty: none, or
// all of them.
std::string FindInterface(std::string_view canonical);

// Several numbers may stand in one value, with blanks or tabs between: with single blanks.
std::string NormalizeValue(std::string_view value);

}  // namespace reconciler::plugins::sysctl

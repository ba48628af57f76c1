#include "plugins/common/systemctl/login_units.h"

#include <algorithm>
#include <array>

namespace reconciler::plugins {
namespace {

// Names without their type; aliases too.
constexpr std::array<std::string_view, 20> kLogin = {"NetworkManager",
                                                     "dbus",
                                                     "dbus-broker",
                                                     "dbus-org.freedesktop.NetworkManager",
                                                     "dbus-org.freedesktop.login1",
                                                     "dbus-org.freedesktop.network1",
                                                     "dbus-org.freedesktop.resolve1",
                                                     "network-manager",
                                                     "networking",
                                                     "ssh",
                                                     "sshd",
                                                     "sshd-vsock",
                                                     "systemd-logind",
                                                     "systemd-networkd",
                                                     "systemd-networkd-varlink",
                                                     "systemd-resolved",
                                                     "systemd-resolved-varlink",
                                                     "systemd-user-sessions",
                                                     "user",
                                                     "wpa_supplicant"};

// "ssh" of "ssh@3.service".
std::string_view GetStem(std::string_view name) {
  const std::string_view stem = name.substr(0, name.rfind('.'));
  return stem.substr(0, stem.find('@'));
}

// A slice of one user: its stop ends that user's logins.
bool IsUserSlice(std::string_view name) {
  return name.starts_with("user-") && name.ends_with(".slice");
}

}  // namespace

bool CarriesLogin(std::string_view unit) {
  return std::find(kLogin.begin(), kLogin.end(), GetStem(unit)) != kLogin.end() ||
         IsUserSlice(unit);
}

}  // namespace reconciler::plugins

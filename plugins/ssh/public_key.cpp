#include "plugins/ssh/public_key.h"

#include <algorithm>
#include <array>

#include "reconciler/base/base64.h"
#include "reconciler/base/text.h"

namespace reconciler::plugins::ssh {
namespace {

constexpr std::array<std::string_view, 5> kTypes = {
    "ssh-ed25519", "ecdsa-sha2-nistp256", "ecdsa-sha2-nistp384", "ecdsa-sha2-nistp521", "ssh-rsa"};
constexpr std::size_t kLongestBase64 = 4096;  // an RSA key of 16384 bits takes 2.8 KiB
constexpr std::size_t kEd25519Bytes = 32;

// Takes one length-prefixed string (RFC 4251) off the front of `wire`.
std::optional<std::string_view> ReadString(std::string_view& wire) {
  if (wire.size() < 4) return std::nullopt;
  std::size_t length = 0;
  for (const char c : wire.substr(0, 4)) length = length << 8 | static_cast<unsigned char>(c);
  wire.remove_prefix(4);
  if (length > wire.size()) return std::nullopt;
  const std::string_view taken = wire.substr(0, length);
  wire.remove_prefix(length);
  return taken;
}

bool WireFits(std::string_view type, std::string_view wire) {
  if (ReadString(wire) != type) return false;
  if (type != "ssh-ed25519") return !wire.empty();
  const auto point = ReadString(wire);
  return point && point->size() == kEd25519Bytes && wire.empty();
}

}  // namespace

std::optional<PublicKey> ParsePublicKey(std::string_view text) {
  if (text.ends_with('\n')) text.remove_suffix(1);
  const bool control = std::any_of(text.begin(), text.end(), [](char c) {
    return static_cast<unsigned char>(c) < 0x20 || c == 0x7F;
  });
  if (control) return std::nullopt;
  const std::vector<std::string> fields = Split(text, ' ');
  if (fields.size() < 2 || fields[1].size() > kLongestBase64) return std::nullopt;
  if (std::find(kTypes.begin(), kTypes.end(), fields[0]) == kTypes.end()) return std::nullopt;
  const auto wire = DecodeBase64(fields[1]);
  if (!wire || !WireFits(fields[0], *wire)) return std::nullopt;
  return PublicKey{.type = fields[0], .base64 = fields[1]};
}

}  // namespace reconciler::plugins::ssh

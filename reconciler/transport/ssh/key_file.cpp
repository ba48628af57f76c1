#include "reconciler/transport/ssh/key_file.h"

#include <unistd.h>

#include <utility>

#include "reconciler/transport/text_file.h"

namespace reconciler {
namespace {

SshKey ImportPublicHalf(const std::string& path) {
  ssh_key key = nullptr;
  return SshKey(ssh_pki_import_pubkey_file(path.c_str(), &key) == SSH_OK ? key : nullptr);
}

bool IsSecurityKey(ssh_key key) {
  const ssh_keytypes_e type = ssh_key_type(key);
  return type == SSH_KEYTYPE_SK_ECDSA || type == SSH_KEYTYPE_SK_ED25519;
}

// Of a file that is no private key that libssh can use.
KeyFile::Kind FindKeyFileKind(const std::string& path) {
  const SshKey own = ImportPublicHalf(path);
  if (!own) return KeyFile::Kind::kUnreadable;
  if (!ReadTextFile(path).value_or("").starts_with("-----BEGIN")) return KeyFile::Kind::kPublic;
  return IsSecurityKey(own.get()) ? KeyFile::Kind::kSecurityKey : KeyFile::Kind::kUnreadable;
}

}  // namespace

KeyFile LoadKeyFile(const std::string& path) {
  // libssh calls it for an encrypted key; without it OpenSSL would prompt on the terminal.
  const auto no_passphrase = [](const char*, char*, std::size_t, int, int, void* prompted) {
    *static_cast<bool*>(prompted) = true;
    return -1;
  };
  bool prompted = false;
  ssh_key found = nullptr;
  const int rc =
      ssh_pki_import_privkey_file(path.c_str(), nullptr, no_passphrase, &prompted, &found);
  SshKey key(rc == SSH_OK ? found : nullptr);
  if (key && !IsSecurityKey(key.get())) {
    std::string public_half = EncodePublicHalf(key.get());
    return {KeyFile::Kind::kUsable, std::move(key), std::move(public_half)};
  }
  if (access(path.c_str(), F_OK) != 0) return {};
  return {prompted ? KeyFile::Kind::kEncrypted : FindKeyFileKind(path),
          {},
          EncodePublicHalf(ReadPublicHalf(path).get())};
}

SshKey ReadPublicHalf(const std::string& path) {
  SshKey own = ImportPublicHalf(path);
  return own ? std::move(own) : ImportPublicHalf(path + ".pub");
}

std::string EncodePublicHalf(ssh_key key) {
  char* base64 = nullptr;
  if (key == nullptr || ssh_pki_export_pubkey_base64(key, &base64) != SSH_OK) return {};
  return CopySshString(base64);
}

}  // namespace reconciler

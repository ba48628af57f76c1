#include "reconciler/transport/ssh/agent.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "reconciler/base/base64.h"
#include "reconciler/transport/ssh/handles.h"

namespace reconciler {
namespace {

// The first byte of a message.
constexpr char kFailure = 5;             // SSH_AGENT_FAILURE
constexpr char kRequestIdentities = 11;  // SSH_AGENTC_REQUEST_IDENTITIES
constexpr char kIdentitiesAnswer = 12;   // SSH_AGENT_IDENTITIES_ANSWER
constexpr char kSignRequest = 13;        // SSH_AGENTC_SIGN_REQUEST
constexpr char kSignResponse = 14;       // SSH_AGENT_SIGN_RESPONSE

// What libssh takes.
constexpr std::size_t kMostBytes = 256u << 10;
constexpr std::size_t kMostKeys = 1024;

// One that answers no one meanwhile may have as many waiting as it takes: EAGAIN.
UniqueFd ConnectAgent(const std::string& path, Deadline deadline, bool& is_silent) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof address.sun_path) return {};
  path.copy(address.sun_path, path.size());
  UniqueFd fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const auto* generic = reinterpret_cast<const sockaddr*>(&address);
  while (fd.Open() && connect(fd.Get(), generic, sizeof address) != 0) {
    is_silent = errno == EAGAIN && ComputeMillisecondsLeft(deadline) == 0;
    if (errno != EAGAIN || is_silent) return {};
    std::this_thread::sleep_for(Milliseconds(20));
  }
  return fd;
}

// Whether the descriptor is ready for `events`, or at its end, by the deadline.
bool WaitFor(int fd, short events, Deadline deadline) {
  pollfd waiting = {.fd = fd, .events = events, .revents = 0};
  return poll(&waiting, 1, ComputeMillisecondsLeft(deadline)) != 0;
}

bool ReadExactly(int fd, char* into, std::size_t size, Deadline deadline) {
  while (size > 0) {
    if (!WaitFor(fd, POLLIN, deadline)) return false;
    const ssize_t count = read(fd, into, size);
    if (count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR)) return false;
    if (count < 0) continue;
    into += count;
    size -= static_cast<std::size_t>(count);
  }
  return true;
}

bool WriteExactly(int fd, std::string_view bytes, Deadline deadline) {
  while (!bytes.empty()) {
    if (!WaitFor(fd, POLLOUT, deadline)) return false;
    const ssize_t count = send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (count < 0 && errno != EAGAIN && errno != EINTR) return false;
    if (count > 0) bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

// Numbers are of 4 bytes, big endian; a string is its length and its bytes.
std::string PackNumber(std::size_t number) {
  std::string bytes;
  for (const int shift : {24, 16, 8, 0}) bytes.push_back(static_cast<char>(number >> shift & 0xff));
  return bytes;
}

std::string PackString(std::string_view text) { return PackNumber(text.size()).append(text); }

std::optional<std::size_t> TakeNumber(std::string_view& bytes) {
  if (bytes.size() < 4) return std::nullopt;
  std::size_t number = 0;
  for (int i = 0; i < 4; ++i) number = number << 8 | static_cast<unsigned char>(bytes[i]);
  bytes.remove_prefix(4);
  return number;
}

std::optional<std::string_view> TakeString(std::string_view& bytes) {
  const auto size = TakeNumber(bytes);
  if (!size || *size > bytes.size()) return std::nullopt;
  const std::string_view text = bytes.substr(0, *size);
  bytes.remove_prefix(*size);
  return text;
}

std::optional<std::string> ReadMessage(int fd, Deadline deadline) {
  std::array<char, 4> length;
  if (!ReadExactly(fd, length.data(), length.size(), deadline)) return std::nullopt;
  std::string_view number(length.data(), length.size());
  const std::size_t size = TakeNumber(number).value_or(0);
  if (size == 0 || size > kMostBytes) return std::nullopt;
  std::string message(size, '\0');
  if (!ReadExactly(fd, message.data(), size, deadline)) return std::nullopt;
  return message;
}

bool WriteMessage(int fd, std::string_view message, Deadline deadline) {
  return WriteExactly(fd, PackString(message), deadline);
}

bool CanBeRead(const AgentKey& key) {
  std::string_view rest = key.blob;
  const ssh_keytypes_e type =
      ssh_key_type_from_name(std::string(TakeString(rest).value_or("")).c_str());
  ssh_key read = nullptr;
  const bool is_key =
      type != SSH_KEYTYPE_UNKNOWN &&
      (ssh_pki_import_pubkey_base64(key.public_half.c_str(), type, &read) == SSH_OK ||
       ssh_pki_import_cert_base64(key.public_half.c_str(), type, &read) == SSH_OK);
  const SshKey freed(read);
  return is_key;
}

// The keys of an IDENTITIES_ANSWER, up to one that is cut off.
std::vector<AgentKey> ParseKeys(std::string_view message) {
  message.remove_prefix(1);
  const std::size_t count = std::min(TakeNumber(message).value_or(0), kMostKeys);
  std::vector<AgentKey> keys;
  for (std::size_t i = 0; i < count; ++i) {
    const auto blob = TakeString(message);
    if (!blob || !TakeString(message)) break;  // the second one is a comment
    AgentKey key{.blob = std::string(*blob), .public_half = EncodeBase64(*blob)};
    if (CanBeRead(key)) keys.push_back(std::move(key));
  }
  return keys;
}

std::string FormatKeys(const std::vector<AgentKey>& keys) {
  std::string message = kIdentitiesAnswer + PackNumber(keys.size());
  for (const AgentKey& key : keys) message += PackString(key.blob) + PackString("");
  return message;
}

}  // namespace

std::optional<SshAgent> SshAgent::Connect(const std::string& socket, Deadline deadline,
                                          bool& is_silent) {
  is_silent = false;
  SshAgent agent(ConnectAgent(socket, deadline, is_silent));
  if (!agent.fd_.Open()) return std::nullopt;
  const auto answer = agent.Exchange(std::string_view(&kRequestIdentities, 1), deadline);
  is_silent = !answer && ComputeMillisecondsLeft(deadline) == 0;
  if (!answer || answer->front() != kIdentitiesAnswer) return std::nullopt;
  agent.keys_ = ParseKeys(*answer);
  return agent;
}

std::optional<std::string> SshAgent::Exchange(std::string_view request, Deadline deadline) const {
  if (!WriteMessage(fd_.Get(), request, deadline)) return std::nullopt;
  return ReadMessage(fd_.Get(), deadline);
}

AgentRelay::~AgentRelay() {
  if (end_.Open()) shutdown(end_.Get(), SHUT_RDWR);  // the thread waits for it
  if (thread_.joinable()) thread_.join();
}

bool AgentRelay::Serve(ssh_session session) {
  std::array<int, 2> ends;
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) return false;
  end_ = UniqueFd(ends[0]);
  UniqueFd theirs(ends[1]);
  fcntl(end_.Get(), F_SETFL, O_NONBLOCK);
  if (ssh_set_agent_socket(session, theirs.Get()) != SSH_OK) return false;
  theirs.Release();  // libssh closes it with the session
  thread_ = std::thread([this] { AnswerAll(); });
  return true;
}

void AgentRelay::AnswerAll() {
  while (const auto request = ReadMessage(end_.Get(), Deadline::max())) {
    if (!WriteMessage(end_.Get(), Answer(*request), Deadline::max())) return;
  }
}

std::string AgentRelay::Answer(std::string_view request) {
  if (request.front() == kRequestIdentities) return FormatKeys(keys_);
  if (request.front() == kSignRequest) return Sign(request);
  return {kFailure};
}

std::string AgentRelay::Sign(std::string_view request) {
  auto reply = agent_.Exchange(request, deadline_);
  if (reply && reply->front() == kSignResponse) {
    last_signing_ = Signing::kSigned;
    return std::move(*reply);
  }
  const bool too_late = !reply && ComputeMillisecondsLeft(deadline_) == 0;
  if (!too_late) PassOver(request);
  last_signing_ = too_late ? Signing::kTooLate : Signing::kRefused;
  return {kFailure};
}

void AgentRelay::PassOver(std::string_view sign_request) {
  sign_request.remove_prefix(1);
  const std::string_view blob = TakeString(sign_request).value_or("");
  const auto refused = std::find_if(keys_.begin(), keys_.end(),
                                    [&](const AgentKey& key) { return key.blob == blob; });
  const std::lock_guard<std::mutex> lock(mutex_);
  last_refused_ = refused == keys_.end() ? "" : refused->public_half;
  keys_.erase(keys_.begin(), refused == keys_.end() ? refused : refused + 1);
}

std::string AgentRelay::LastRefused() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return last_refused_;
}

}  // namespace reconciler

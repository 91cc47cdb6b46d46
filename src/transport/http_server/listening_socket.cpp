/// Opens listening sockets: TCP, a Unix socket file, or inherited from a supervisor such as systemd.
#include "transport/http_server/listening_socket.hpp"

#include <fcntl.h>
#include <grp.h>
#include <netinet/in.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "transport/http_server/peer_address.hpp"

namespace hondana::transport::http_server {
namespace {

constexpr int backlog = 4096;

tl::unexpected<failure> cannot(const std::string& target, const std::string& reason, errc code = errc::source_unavailable) {
  return fail(code, "Cannot listen on " + target + ": " + reason);
}

std::string describe_bind_error(int error) {
  switch (error) {
    case EADDRINUSE:
      return "the port is already in use. Stop the program that uses it, or choose another port with --port (0 takes any free "
             "one).";
    case EACCES:
      return "this user may not use the port. Choose one above 1023 with --port.";
    case EADDRNOTAVAIL:
      return "this machine does not have the address. Use 127.0.0.1.";
    default:
      return std::string(std::strerror(error)) + ". Choose another address or port.";
  }
}

/// Closes a descriptor at the end of the scope.
class descriptor_guard {
 public:
  explicit descriptor_guard(int descriptor) noexcept : descriptor_(descriptor) {}
  ~descriptor_guard() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  descriptor_guard(const descriptor_guard&) = delete;
  descriptor_guard& operator=(const descriptor_guard&) = delete;
  [[nodiscard]] int get() const noexcept { return descriptor_; }

 private:
  int descriptor_;
};

/// Removes the socket of an ended server at `path`. The caller must hold the lock of the folder.
result<void> remove_stale_socket(const std::string& path, const sockaddr_un& address) {
  struct stat status{};
  if (::lstat(path.c_str(), &status) != 0) {
    if (errno == ENOENT) return {};
    return cannot(path, std::string(std::strerror(errno)) + ". Choose another path with --socket.");
  }
  if (!S_ISSOCK(status.st_mode)) return cannot(path, "the path exists and is not a socket. Choose another path with --socket.");
  const descriptor_guard probe(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (probe.get() < 0) return cannot(path, std::string(std::strerror(errno)) + ". Try again.");
  // A full backlog gives EAGAIN: the program is running, only busy.
  if (::connect(probe.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 || errno == EAGAIN) {
    return cannot(path, "another program answers there. Stop it, or choose another path with --socket.");
  }
  if (errno != ECONNREFUSED) {
    return cannot(path, "cannot find out whether another program answers there: " + std::string(std::strerror(errno)) +
                            ". Remove the file if none does.");
  }
  if (::unlink(path.c_str()) != 0 && errno != ENOENT) {
    return cannot(path, "an old socket exists and cannot be removed: " + std::string(std::strerror(errno)) + '.');
  }
  return {};
}

}  // namespace

listening_socket::~listening_socket() {
  if (!path_.empty()) {
    struct stat status{};
    if (::lstat(path_.c_str(), &status) == 0 && status.st_dev == device_ && status.st_ino == inode_) ::unlink(path_.c_str());
  }
  if (descriptor_ >= 0) ::close(descriptor_);
}

listening_socket::listening_socket(listening_socket&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      address_(std::move(other.address_)),
      port_(other.port_),
      is_exposed_(other.is_exposed_),
      path_(std::exchange(other.path_, {})),
      device_(other.device_),
      inode_(other.inode_) {}

result<void> listening_socket::read_address() {
  const auto bound = peer_address::of_socket(descriptor_);
  if (!bound) return fail(errc::source_unavailable, "Cannot listen: the socket has no address.");
  port_ = bound->port();
  is_exposed_ = bound->is_network() && !bound->is_loopback();
  if (bound->is_network() && !bound->is_wildcard()) address_ = bound->text();
  return {};
}

result<listening_socket> listening_socket::bind_address(const std::string& address, std::uint16_t port) {
  const auto endpoint = peer_address::parse(address, port);
  if (!endpoint) {
    return fail(errc::invalid_argument,
                "Cannot listen on \"" + address + "\": that is not a literal address. Use one such as 127.0.0.1 or ::1.");
  }
  const auto display = endpoint->text_with_port();
  listening_socket created(::socket(endpoint->family(), SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (created.descriptor_ < 0) return cannot(display, describe_bind_error(errno));
  const int enabled = 1;
  // SO_REUSEPORT is not set: a second server would start unnoticed.
  bool is_ready = ::setsockopt(created.descriptor_, SOL_SOCKET, SO_REUSEADDR, &enabled, sizeof enabled) == 0;
  if (endpoint->family() == AF_INET6)
    is_ready = is_ready && ::setsockopt(created.descriptor_, IPPROTO_IPV6, IPV6_V6ONLY, &enabled, sizeof enabled) == 0;
  is_ready = is_ready && ::bind(created.descriptor_, endpoint->data(), endpoint->size()) == 0 &&
             ::listen(created.descriptor_, backlog) == 0;
  if (!is_ready) {
    auto error = cannot(display, describe_bind_error(errno));
    error.value().private_text = std::strerror(errno);
    return error;
  }
  HONDANA_TRY(created.read_address());
  return created;
}

result<gid_t> find_group(const std::string& name) {
  gid_t number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (error == std::errc() && end == name.data() + name.size()) return number;
  group entry{};
  group* match = nullptr;
  std::vector<char> buffer(64u << 10);
  if (name.find('\0') == std::string::npos && ::getgrnam_r(name.c_str(), &entry, buffer.data(), buffer.size(), &match) == 0 &&
      match != nullptr)
    return match->gr_gid;
  return fail(errc::invalid_argument, "this machine has no group \"" + name + "\"");
}

result<void> set_socket_access(const std::string& path, std::uint64_t device, std::uint64_t inode,
                               const socket_access& access) {
  const descriptor_guard file(::open(path.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
  struct stat status{};
  if (file.get() < 0 || ::fstat(file.get(), &status) != 0) return cannot(path, std::strerror(errno));
  if (!S_ISSOCK(status.st_mode) || status.st_uid != ::geteuid() || status.st_dev != device || status.st_ino != inode)
    return cannot(
        path,
        "the socket was replaced by another file. With --socket, choose a path in a folder that only this user can write.");
  if (!access.group.empty()) {
    const auto group = find_group(access.group);
    if (!group) return cannot(path, group.error().public_text + '.', errc::invalid_argument);
    if (::fchownat(file.get(), "", static_cast<uid_t>(-1), *group, AT_EMPTY_PATH) != 0)
      return cannot(path, "its group cannot be set to " + access.group + ": " + std::strerror(errno) +
                              ". Only root and members of that group may do that.");
  }
  if ((status.st_mode & 0777) == access.mode && access.group.empty()) return {};
  // Set the mode last, so that it never applies to the wrong group. Before Linux 6.6, fchmod does not work on such descriptors.
  if (::chmod(("/proc/self/fd/" + std::to_string(file.get())).c_str(), access.mode) != 0)
    return cannot(path, std::strerror(errno));
  return {};
}

result<listening_socket> listening_socket::bind_path(const std::string& path, socket_access access) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof address.sun_path || path.find('\0') != std::string::npos) {
    return cannot('"' + path + '"',
                  "the path of a Unix socket must have 1 to " + std::to_string(sizeof address.sun_path - 1) +
                      " bytes. Choose another one with --socket.",
                  errc::invalid_argument);
  }
  std::memcpy(address.sun_path, path.data(), path.size());
  const auto slash = path.rfind('/');
  const auto folder = slash == std::string::npos ? std::string(".") : slash == 0 ? std::string("/") : path.substr(0, slash);
  // Locked while an old socket is replaced, so that two servers that start at once do not both replace it.
  const descriptor_guard lock(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (lock.get() < 0) {
    return cannot(path,
                  "cannot open its folder: " + std::string(std::strerror(errno)) + ". Choose another path with --socket.");
  }
  if (::flock(lock.get(), LOCK_EX) != 0) return cannot(path, std::string(std::strerror(errno)) + ". Try again.");
  HONDANA_TRY(remove_stale_socket(path, address));
  listening_socket created(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (created.descriptor_ < 0) return cannot(path, std::strerror(errno));
  // The file gets its mode from the socket, so that it never exists with a wider mode.
  const bool is_bound = ::fchmod(created.descriptor_, 0600) == 0 &&
                        ::bind(created.descriptor_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  if (!is_bound) return cannot(path, std::string(std::strerror(errno)) + ". Choose another path with --socket.");
  created.path_ = path;
  struct stat status{};
  if (::lstat(path.c_str(), &status) != 0) return cannot(path, std::strerror(errno));
  created.device_ = status.st_dev;
  created.inode_ = status.st_ino;
  HONDANA_TRY(set_socket_access(path, created.device_, created.inode_, access));
  if (::listen(created.descriptor_, backlog) != 0) return cannot(path, std::strerror(errno));
  return created;
}

result<listening_socket> listening_socket::from_descriptor(int descriptor) {
  listening_socket created(descriptor);
  const auto display = "the inherited descriptor " + std::to_string(descriptor);
  int type = 0;
  int listens = 0;
  socklen_t size = sizeof type;
  if (::getsockopt(descriptor, SOL_SOCKET, SO_TYPE, &type, &size) != 0 || type != SOCK_STREAM) {
    return cannot(display, "it is not a stream socket. Use ListenStream= in the socket unit.", errc::invalid_argument);
  }
  size = sizeof listens;
  if (::getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) != 0 || listens == 0) {
    return cannot(display, "it does not listen. Use Accept=no in the socket unit.", errc::invalid_argument);
  }
  const auto bound = peer_address::of_socket(descriptor);
  if (!bound || (!bound->is_network() && bound->family() != AF_UNIX)) {
    return cannot(display, "it is neither TCP nor a Unix socket.", errc::invalid_argument);
  }
  ::fcntl(descriptor, F_SETFL, ::fcntl(descriptor, F_GETFL) | O_NONBLOCK);
  ::fcntl(descriptor, F_SETFD, FD_CLOEXEC);
  HONDANA_TRY(created.read_address());
  return created;
}

result<bool> is_loopback(const std::string& address) {
  const auto literal = peer_address::parse(address, 0);
  if (!literal) {
    return fail(errc::invalid_argument,
                "Cannot listen on \"" + address + "\": that is not a literal address. Use one such as 127.0.0.1 or ::1.");
  }
  return literal->is_loopback();
}

}  // namespace hondana::transport::http_server

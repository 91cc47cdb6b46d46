/// Listening sockets: TCP, a Unix socket file, or inherited from a supervisor.
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

tl::unexpected<failure> cannot(const std::string& where, const std::string& why, errc code = errc::source_unavailable) {
  return fail(code, "Cannot listen on " + where + ": " + why);
}

std::string explain_bind(int error) {
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
class held {
 public:
  explicit held(int descriptor) noexcept : descriptor_(descriptor) {}
  ~held() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  held(const held&) = delete;
  held& operator=(const held&) = delete;
  [[nodiscard]] int get() const noexcept { return descriptor_; }

 private:
  int descriptor_;
};

/// Removes the socket of an ended server at `path`. The caller must hold the lock of the folder.
result<void> make_way(const std::string& path, const sockaddr_un& address) {
  struct stat there{};
  if (::lstat(path.c_str(), &there) != 0) {
    if (errno == ENOENT) return {};
    return cannot(path, std::string(std::strerror(errno)) + ". Choose another path with --socket.");
  }
  if (!S_ISSOCK(there.st_mode)) return cannot(path, "the path exists and is not a socket. Choose another path with --socket.");
  const held probe(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
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
    struct stat there{};
    if (::lstat(path_.c_str(), &there) == 0 && there.st_dev == device_ && there.st_ino == inode_) ::unlink(path_.c_str());
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

result<void> listening_socket::look() {
  const auto bound = peer_address::of_socket(descriptor_);
  if (!bound) return fail(errc::source_unavailable, "Cannot listen: the socket has no address.");
  port_ = bound->port();
  is_exposed_ = bound->is_network() && !bound->is_loopback();
  if (bound->is_network() && !bound->is_any()) address_ = bound->text();
  return {};
}

result<listening_socket> listening_socket::on_address(const std::string& address, std::uint16_t port) {
  const auto to = peer_address::parse(address, port);
  if (!to) {
    return fail(errc::invalid_argument,
                "Cannot listen on \"" + address + "\": that is not a literal address. Use one such as 127.0.0.1 or ::1.");
  }
  const auto where = to->text_with_port();
  listening_socket made(::socket(to->family(), SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (made.descriptor_ < 0) return cannot(where, explain_bind(errno));
  const int on = 1;
  // SO_REUSEPORT is not set: a second server would start unnoticed.
  bool done = ::setsockopt(made.descriptor_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == 0;
  if (to->family() == AF_INET6) done = done && ::setsockopt(made.descriptor_, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on) == 0;
  done = done && ::bind(made.descriptor_, to->data(), to->size()) == 0 && ::listen(made.descriptor_, backlog) == 0;
  if (!done) {
    auto why = cannot(where, explain_bind(errno));
    why.value().private_text = std::strerror(errno);
    return why;
  }
  HONDANA_TRY(made.look());
  return made;
}

result<gid_t> group_named(const std::string& name) {
  gid_t number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (error == std::errc() && end == name.data() + name.size()) return number;
  group entry{};
  group* found = nullptr;
  std::vector<char> room(64u << 10);
  if (name.find('\0') == std::string::npos && ::getgrnam_r(name.c_str(), &entry, room.data(), room.size(), &found) == 0 &&
      found != nullptr)
    return found->gr_gid;
  return fail(errc::invalid_argument, "this machine has no group \"" + name + "\"");
}

result<void> let_in(const std::string& path, std::uint64_t device, std::uint64_t inode, const socket_access& who) {
  const held file(::open(path.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
  struct stat there{};
  if (file.get() < 0 || ::fstat(file.get(), &there) != 0) return cannot(path, std::strerror(errno));
  if (!S_ISSOCK(there.st_mode) || there.st_uid != ::geteuid() || there.st_dev != device || there.st_ino != inode)
    return cannot(
        path,
        "the socket was replaced by another file. With --socket, choose a path in a folder that only this user can write.");
  if (!who.group.empty()) {
    const auto group = group_named(who.group);
    if (!group) return cannot(path, group.error().public_text + '.', errc::invalid_argument);
    if (::fchownat(file.get(), "", static_cast<uid_t>(-1), *group, AT_EMPTY_PATH) != 0)
      return cannot(path, "its group cannot be set to " + who.group + ": " + std::strerror(errno) +
                              ". Only root and members of that group may do that.");
  }
  if ((there.st_mode & 0777) == who.mode && who.group.empty()) return {};
  // Set the mode last, so that it never applies to the wrong group. Before Linux 6.6, fchmod does not work on such descriptors.
  if (::chmod(("/proc/self/fd/" + std::to_string(file.get())).c_str(), who.mode) != 0)
    return cannot(path, std::strerror(errno));
  return {};
}

result<listening_socket> listening_socket::on_path(const std::string& path, socket_access who) {
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
  const held lock(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (lock.get() < 0) {
    return cannot(path,
                  "cannot open its folder: " + std::string(std::strerror(errno)) + ". Choose another path with --socket.");
  }
  if (::flock(lock.get(), LOCK_EX) != 0) return cannot(path, std::string(std::strerror(errno)) + ". Try again.");
  HONDANA_TRY(make_way(path, address));
  listening_socket made(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (made.descriptor_ < 0) return cannot(path, std::strerror(errno));
  // The file gets its mode from the socket, so that it never exists with a wider mode.
  const bool bound = ::fchmod(made.descriptor_, 0600) == 0 &&
                     ::bind(made.descriptor_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  if (!bound) return cannot(path, std::string(std::strerror(errno)) + ". Choose another path with --socket.");
  made.path_ = path;
  struct stat there{};
  if (::lstat(path.c_str(), &there) != 0) return cannot(path, std::strerror(errno));
  made.device_ = there.st_dev;
  made.inode_ = there.st_ino;
  HONDANA_TRY(let_in(path, made.device_, made.inode_, who));
  if (::listen(made.descriptor_, backlog) != 0) return cannot(path, std::strerror(errno));
  return made;
}

result<listening_socket> listening_socket::inherited(int descriptor) {
  listening_socket made(descriptor);
  const auto where = "the inherited descriptor " + std::to_string(descriptor);
  int type = 0;
  int listens = 0;
  socklen_t size = sizeof type;
  if (::getsockopt(descriptor, SOL_SOCKET, SO_TYPE, &type, &size) != 0 || type != SOCK_STREAM) {
    return cannot(where, "it is not a stream socket. Use ListenStream= in the socket unit.", errc::invalid_argument);
  }
  size = sizeof listens;
  if (::getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) != 0 || listens == 0) {
    return cannot(where, "it does not listen. Use Accept=no in the socket unit.", errc::invalid_argument);
  }
  const auto bound = peer_address::of_socket(descriptor);
  if (!bound || (!bound->is_network() && bound->family() != AF_UNIX)) {
    return cannot(where, "it is neither TCP nor a Unix socket.", errc::invalid_argument);
  }
  ::fcntl(descriptor, F_SETFL, ::fcntl(descriptor, F_GETFL) | O_NONBLOCK);
  ::fcntl(descriptor, F_SETFD, FD_CLOEXEC);
  HONDANA_TRY(made.look());
  return made;
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

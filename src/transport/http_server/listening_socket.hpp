/// Opens listening sockets: TCP, a Unix socket file, or inherited from a supervisor such as systemd.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>

#include <hondana/error.hpp>

namespace hondana::transport::http_server {

/// Access rights of the file of a Unix socket.
struct socket_access {
  unsigned mode = 0600;
  std::string group{};  ///< A name or number; empty: not changed.
};

/// A non-blocking listening socket; closed on destruction.
class listening_socket {
 public:
  /// Listens on a literal address. `port` 0: any free port. Errors: invalid_argument (not a literal address),
  /// source_unavailable (cannot be bound).
  [[nodiscard]] static result<listening_socket> bind_address(const std::string& address, std::uint16_t port);
  /// Listens on a Unix socket at `path`. Only the owner has access until group and mode of `access` are set. Replaces an old
  /// socket file on which no program answers. The destructor removes the file if it is still the same. Errors: invalid_argument
  /// (path empty or too long, no such group), source_unavailable.
  [[nodiscard]] static result<listening_socket> bind_path(const std::string& path, socket_access access = {});
  /// Takes ownership of an inherited descriptor, also on failure. Errors: invalid_argument (not a listening TCP or Unix stream
  /// socket).
  [[nodiscard]] static result<listening_socket> from_descriptor(int descriptor);

  ~listening_socket();
  listening_socket(listening_socket&& other) noexcept;
  listening_socket(const listening_socket&) = delete;
  listening_socket& operator=(const listening_socket&) = delete;
  listening_socket& operator=(listening_socket&&) = delete;

  [[nodiscard]] int descriptor() const noexcept { return descriptor_; }
  /// The port; 0 for a Unix socket.
  [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
  /// The literal address, without port; empty for a Unix socket, and if it listens on all addresses.
  [[nodiscard]] const std::string& bound_address() const noexcept { return address_; }
  /// Whether it listens on an address other than loopback; false for a Unix socket.
  [[nodiscard]] bool is_exposed() const noexcept { return is_exposed_; }

 private:
  explicit listening_socket(int descriptor) noexcept : descriptor_(descriptor) {}
  /// Sets the members that describe the address. Errors: source_unavailable.
  [[nodiscard]] result<void> read_address();

  int descriptor_ = -1;
  std::string address_;
  std::uint16_t port_ = 0;
  bool is_exposed_ = false;
  std::string path_;  // of the file to remove; empty: none
  std::uint64_t device_ = 0;
  std::uint64_t inode_ = 0;
};

/// Sets group and mode of a Unix socket file, which must have this device and inode and belong to this user. Errors:
/// source_unavailable (the path is another file now, or a system call fails); invalid_argument (no such group).
[[nodiscard]] result<void> set_socket_access(const std::string& path, std::uint64_t device, std::uint64_t inode,
                                             const socket_access& access);

/// Returns the number of a group. `name`: its name, or the number itself. Errors: invalid_argument.
[[nodiscard]] result<gid_t> find_group(const std::string& name);

/// Whether a literal address is a loopback address. Errors: invalid_argument (not a literal address).
[[nodiscard]] result<bool> is_loopback(const std::string& address);

}  // namespace hondana::transport::http_server

/// Sockets that a server listens on: TCP, a Unix socket's file, or handed over by a supervisor.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>

#include <hondana/error.hpp>

namespace hondana::transport::http_server {

/// Whom the file of a Unix socket lets in.
struct socket_access {
  unsigned mode = 0600;
  std::string group{};  ///< A name or a number; empty: as the system sets it.
};

/// A socket that listens, non-blocking; closed at the end.
class listening_socket {
 public:
  /// Binds a literal address. Errors: invalid_argument (no literal), source_unavailable (cannot be bound).
  [[nodiscard]] static result<listening_socket> on_address(const std::string& address, std::uint16_t port);
  /// Binds `path`, for its owner only until it has group and mode of `who`. A socket left behind there is replaced if nobody
  /// answers on it; the file is removed at the end if it is still this one. Errors: invalid_argument (too long),
  /// source_unavailable.
  [[nodiscard]] static result<listening_socket> on_path(const std::string& path, socket_access who = {});
  /// Takes a descriptor over, also when it fails. Errors: invalid_argument (no listening stream socket of TCP or Unix).
  [[nodiscard]] static result<listening_socket> inherited(int descriptor);

  ~listening_socket();
  listening_socket(listening_socket&& other) noexcept;
  listening_socket(const listening_socket&) = delete;
  listening_socket& operator=(const listening_socket&) = delete;
  listening_socket& operator=(listening_socket&&) = delete;

  [[nodiscard]] int descriptor() const noexcept { return descriptor_; }
  /// 0 for a Unix socket.
  [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
  /// Empty for a Unix socket, and when it listens on all addresses.
  [[nodiscard]] const std::string& bound_address() const noexcept { return address_; }
  /// Listens on an address that is not a loopback one.
  [[nodiscard]] bool is_exposed() const noexcept { return is_exposed_; }

 private:
  explicit listening_socket(int descriptor) noexcept : descriptor_(descriptor) {}
  [[nodiscard]] result<void> look();

  int descriptor_ = -1;
  std::string address_;
  std::uint16_t port_ = 0;
  bool is_exposed_ = false;
  std::string path_;  // of the file to remove; empty: none
  std::uint64_t device_ = 0;
  std::uint64_t inode_ = 0;
};

/// Gives the file of a Unix socket, which must be that one and this user's, its group and mode. Errors: source_unavailable
/// (something else is there by now, or the system refuses); invalid_argument (there is no such group).
[[nodiscard]] result<void> let_in(const std::string& path, std::uint64_t device, std::uint64_t inode, const socket_access& who);

/// The number of a group by its name or number. Errors: invalid_argument.
[[nodiscard]] result<gid_t> group_named(const std::string& name);

/// Whether a literal address is a loopback one. Errors: invalid_argument (no literal).
[[nodiscard]] result<bool> is_loopback(const std::string& address);

}  // namespace hondana::transport::http_server

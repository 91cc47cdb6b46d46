/// Opens the sockets that `http_options` names, and accepts connections on them.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include <hondana/error.hpp>
#include <hondana/server.hpp>

#include "os/disk/file_descriptor.hpp"
#include "os/reactor/reactor.hpp"
#include "transport/http_server/io_loop.hpp"
#include "transport/http_server/listening_socket.hpp"
#include "transport/http_server/peer_address.hpp"
#include "transport/http_server/routes.hpp"

namespace hondana::transport::http_server {

/// A listening socket, and what it serves.
struct bound_site {
  listening_socket socket;
  std::shared_ptr<const site> served_site;
};

/// Opens all sockets; those for messages come first. Takes ownership of inherited descriptors, also on failure.
///
/// An address that other machines can reach requires `allowed_hosts`, and an authenticator or `without_authentication`. Errors:
/// invalid_argument (malformed or not allowed), source_unavailable (cannot be bound).
[[nodiscard]] result<std::vector<bound_site>> open_sockets(const http_options& options);

/// Accepts connections on one socket. Threads: the loop's. The constructor, `start` and the destructor may be called on another
/// thread while the loop does not run.
class listener final : private reactor::event_handler {
 public:
  /// Receives an accepted, non-blocking descriptor.
  using accept_callback = std::function<void(disk::handle descriptor, const peer_address& peer)>;

  /// `retry_delay`: the pause after a shortage of descriptors or memory. `log` gets one line per shortage; must not be null.
  listener(std::shared_ptr<io_loop> loop, listening_socket socket, std::chrono::milliseconds retry_delay, accept_callback admit,
           std::function<void(std::string_view)> log);
  ~listener() = default;
  listener(const listener&) = delete;
  listener& operator=(const listener&) = delete;

  /// Begins to accept connections.
  void start();
  /// Closes the socket, so that the kernel rejects further connections. May be called repeatedly.
  void stop();

 private:
  void on_ready(bool input, bool output) override;
  void on_timer() override;
  void accept();
  [[nodiscard]] bool accept_some();
  bool log_shortage(std::string_view reason);

  std::shared_ptr<io_loop> loop_;
  listening_socket socket_;
  std::chrono::milliseconds retry_delay_;
  accept_callback admit_;
  std::function<void(std::string_view)> log_;
  reactor::readiness readiness_;  // of `socket_`
  reactor::timer timer_;
  bool has_shortage_ = false;  // the last accept failed because of a shortage
  bool is_stopped_ = false;
};

}  // namespace hondana::transport::http_server

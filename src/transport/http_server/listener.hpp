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

/// A socket, and the requests that it serves.
struct place {
  listening_socket socket;
  std::shared_ptr<const site> at;
};

/// Opens all sockets; the first is for messages. Takes ownership of inherited descriptors, also on failure.
///
/// An address that other machines can reach requires `hosts`, its allowed names, and an authenticator or
/// `without_authentication`. Errors: invalid_argument (malformed or not allowed), source_unavailable (cannot be bound).
[[nodiscard]] result<std::vector<place>> open_places(const http_options& options);

/// Accepts connections on one socket. Threads: the loop's, except for the constructor, `start` and the destructor, which must
/// not overlap with it.
class listener final : private reactor::waiter {
 public:
  /// Receives a connected, non-blocking descriptor.
  using admit_function = std::function<void(disk::handle descriptor, const peer_address& from)>;

  /// `pause`: wait after a shortage, which is logged once.
  listener(std::shared_ptr<loop> on, listening_socket with, std::chrono::milliseconds pause, admit_function admit,
           std::function<void(std::string_view)> log);
  ~listener() = default;
  listener(const listener&) = delete;
  listener& operator=(const listener&) = delete;

  void start();
  /// Closes the socket; the kernel rejects further connections. May be called repeatedly.
  void stop();

 private:
  void ready(bool input, bool output) override;
  void due() override;
  void accept();
  [[nodiscard]] bool accept_some();
  bool note_shortage(std::string_view why);

  std::shared_ptr<loop> loop_;
  listening_socket socket_;
  std::chrono::milliseconds pause_time_;
  admit_function admit_;
  std::function<void(std::string_view)> log_;
  reactor::readiness readiness_;  // of `socket_`
  reactor::timer timer_;
  bool is_short_ = false;  // the last accept failed because of a shortage
  bool stopped_ = false;
};

}  // namespace hondana::transport::http_server

/// Accepts connections of one listening socket.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string_view>

#include "os/disk/handle.hpp"
#include "os/reactor/reactor.hpp"
#include "transport/http_server/listening_socket.hpp"
#include "transport/http_server/loop.hpp"
#include "transport/http_server/peer_address.hpp"

namespace hondana::transport::http_server {

/// Threads: the loop's, but for the constructor, `start`, and the destructor, which must not overlap with it.
class listener final : private reactor::waiter {
 public:
  /// Takes over a connected, non-blocking descriptor.
  using admit_function = std::function<void(disk::handle descriptor, const peer_address& from)>;

  /// `pause`: before accepting again after a shortage, which `log` is told once.
  listener(std::shared_ptr<loop> on, listening_socket with, std::chrono::milliseconds pause, admit_function admit,
           std::function<void(std::string_view)> log);
  ~listener() = default;
  listener(const listener&) = delete;
  listener& operator=(const listener&) = delete;

  void start();
  /// Accepts no more; whoever connects from here on is refused by the kernel. Harmless when repeated.
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
  bool is_short_ = false;  // the last accept found no room in the process
  bool stopped_ = false;
};

}  // namespace hondana::transport::http_server

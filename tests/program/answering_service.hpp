/// A service over HTTP that the program asks: an exporter, a Prometheus, a collector of traces.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace program_test {

/// One request as it came.
struct asked {
  std::string method;
  std::string target;
  std::string head;  ///< With the request line.
  std::string body;
};

/// `content` as plain text, or as what `fields` say; each of these ends with CRLF.
std::string page(std::string_view content, std::string_view status = "200 OK", std::string_view fields = {});

/// On a free port of 127.0.0.1, one connection after the other. Threads: its own, and the test's.
class answering_service {
 public:
  /// Gives the whole answer, as `page` makes it.
  using script = std::function<std::string(const asked&)>;
  explicit answering_service(script plays);
  ~answering_service();
  answering_service(const answering_service&) = delete;
  answering_service& operator=(const answering_service&) = delete;

  [[nodiscard]] std::string url(std::string_view path = "/metrics") const;
  [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
  [[nodiscard]] std::size_t count() const;
  /// All so far, when there are `count` of them; fewer when they do not come in time.
  [[nodiscard]] std::vector<asked> requests(std::size_t count) const;
  /// Waits for so many more than there are now; false when they do not come in time.
  [[nodiscard]] bool is_asked_again(std::size_t times) const;

 private:
  void serve();
  void answer(int peer);

  script plays_;
  int socket_ = -1;
  std::uint16_t port_ = 0;
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  std::vector<asked> heard_;
  std::thread serving_;
};

}  // namespace program_test

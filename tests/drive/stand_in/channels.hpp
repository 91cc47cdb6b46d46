/// Channels of changes.watch, and the notices that go out on them.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

namespace drive_test {

struct channel {
  std::string id{};
  std::string resource{};
  std::string resource_uri{};
  std::string token{};
  std::string address{};
  std::string user{};
  std::string log{};          ///< A shared drive; empty: the user's own.
  std::int64_t expires = 0;   ///< Milliseconds since 1970.
  std::int64_t messages = 0;  ///< So many have been sent.
};

/// Sends notices one after the other on a thread of its own. What cannot be delivered is left.
class courier {
 public:
  courier();
  ~courier();
  courier(const courier&) = delete;
  courier& operator=(const courier&) = delete;

  /// `port` of 127.0.0.1, `request` as it goes over the wire.
  void send(std::uint16_t port, std::string request);
  /// That were answered with 2xx.
  [[nodiscard]] std::size_t delivered() const;

 private:
  void run();

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::pair<std::uint16_t, std::string>> queue_;
  std::size_t delivered_ = 0;
  bool is_stopping_ = false;
  int socket_ = -1;
  std::thread thread_;
};

/// A notice as Google sends it: the state is "sync" or "change".
std::string notice(const channel& on, const std::string& state);
/// The port of a loopback address; 0 for any other.
std::uint16_t loopback_port(const std::string& address);

}  // namespace drive_test

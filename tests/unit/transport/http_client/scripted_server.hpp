/// A TCP server that says exactly what a test says, also what no server should.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "protocol/channel/channel.hpp"
#include "unit/protocol/channel/kept_words.hpp"
#include "unit/transport/http_client/tls_identity.hpp"

namespace hondana_test {

/// One request as it came.
struct heard_request {
  std::string method;
  std::string target;
  std::map<std::string, std::string> fields;  ///< Names in lower case.
  std::string body;
  std::chrono::steady_clock::time_point at;
  [[nodiscard]] std::string field(const std::string& name) const {
    const auto found = fields.find(name);
    return found == fields.end() ? "" : found->second;
  }
};

/// The server's side of one connection.
class scripted_connection {
 public:
  explicit scripted_connection(int socket, std::shared_ptr<const tls_identity> identity = {})
      : socket_(socket), identity_(std::move(identity)) {}
  ~scripted_connection();
  scripted_connection(const scripted_connection&) = delete;
  scripted_connection& operator=(const scripted_connection&) = delete;

  /// False when the client has gone.
  bool send(std::string_view bytes);
  /// A whole answer with a length.
  bool answer(int status, std::string_view content_type, std::string_view body, std::string_view more_fields = {});
  /// The head of a stream that ends with the connection.
  bool open_stream(std::string_view more_fields = {});
  /// Waits until the client closes; false when it has not in time.
  bool sees_the_end();
  void close();
  /// With a reset.
  void vanish();
  /// Nothing when the client has closed.
  std::optional<heard_request> next_request();
  /// Where there is an identity: false when the client does not trust it.
  bool shake_hands();
  /// Wakes whoever waits on it. Threads: any.
  void interrupt();

 private:
  bool fill();
  int socket_;
  std::shared_ptr<const tls_identity> identity_;
  SSL* tls_ = nullptr;
  std::string input_;
  bool is_closed_ = false;
};

class scripted_server {
 public:
  /// Answers one request; returns true when the connection may bring another. Threads: one a connection.
  using script = std::function<bool(const heard_request&, scripted_connection&)>;

  /// `socket`: the path of a Unix socket instead of a port.
  explicit scripted_server(script plays, const std::string& socket = {}, std::shared_ptr<const tls_identity> identity = {});
  ~scripted_server();
  scripted_server(const scripted_server&) = delete;
  scripted_server& operator=(const scripted_server&) = delete;

  [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
  [[nodiscard]] std::string url(std::string_view path = "/mcp") const;
  /// Waits until `count` requests have come, and gives them all.
  [[nodiscard]] std::vector<heard_request> requests(std::size_t count);
  /// Of those that match; waits until there are `count`.
  [[nodiscard]] std::vector<heard_request> requests(const std::string& method, std::size_t count);
  /// All that have come so far, for servers that live long.
  void forget();
  [[nodiscard]] std::size_t connections() const noexcept { return connections_; }

 private:
  void accept_all();
  void serve(scripted_connection& one);

  script plays_;
  std::shared_ptr<const tls_identity> identity_;
  int listening_ = -1;
  std::uint16_t port_ = 0;
  std::atomic<std::size_t> connections_{0};
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<heard_request> heard_;
  bool is_stopping_ = false;
  std::deque<std::unique_ptr<scripted_connection>> open_;
  std::vector<std::thread> threads_;
  std::thread accepting_;
};

/// A request as text, and its answer.
std::string asking(std::uint64_t id, std::string_view method = "ping");
std::string answering(std::uint64_t id, std::string_view result = "{}");
hondana::channel::outgoing_message call(std::uint64_t id, std::string_view method = "ping");
hondana::channel::outgoing_message notice(std::string_view method = "notifications/initialized");
/// One event of a stream.
std::string event(std::string_view data, std::string_view id = {});

}  // namespace hondana_test

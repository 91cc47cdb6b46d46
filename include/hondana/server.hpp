/// An MCP resource server to embed: add providers, then serve over stdio, HTTP or memory.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/error.hpp>
#include <hondana/provider.hpp>

namespace hondana::inline v0 {

/// What a server says of itself and the limits it keeps.
struct server_options {
  std::string name = "hondana";
  std::string version = "0.1.0";
  std::string title{};
  std::string instructions{};                       ///< For models: how to use these resources. Empty: not sent.
  std::size_t page_size = 500;                      ///< Entries a page.
  std::uint64_t read_limit = 64ull << 20;           ///< Content bytes a read.
  std::chrono::milliseconds call_deadline{30'000};  ///< Until a request is answered with an error.
  std::chrono::milliseconds stall_limit{60'000};    ///< Until a peer that takes no bytes is dropped.
  /// Receives one line a noteworthy event; may be empty. Threads: any.
  std::function<void(std::string_view)> log{};
};

class core;

/// The server: an ordered set of providers and the options. Threads: `add` from one thread before serving.
class server {
 public:
  explicit server(server_options options = {});
  ~server();
  server(server&&) noexcept;
  server& operator=(server&&) noexcept;

  /// Adds a source. Errors: invalid_argument when its prefixes or templates are malformed or overlap an earlier provider's;
  /// the text names both.
  result<void> add(std::shared_ptr<provider> source);

  /// Replaces sources and options as one step; requests under way finish on what they started with. Errors: as `add`,
  /// and then nothing changes. Threads: any, also while serving.
  result<void> replace(server_options options, std::vector<std::shared_ptr<provider>> sources);

  /// For transports: the engine behind this server. Never null.
  [[nodiscard]] const std::shared_ptr<hondana::core>& engine() const noexcept;

 private:
  std::shared_ptr<hondana::core> core_;
};

/// Serves one peer over standard input and output until end of input or `stop_serving_stdio`, and returns an exit code:
/// 0 after end of input or a stop, 1 when input or output failed or an answer had to be cut off.
///
/// After the end of input, requests read before it have one second, and what is answered is written as long as the peer takes
/// a byte a second; after a stop, everything has five seconds. Nothing but messages goes to standard output. Input lines may
/// have up to 16 MiB. Threads: one call at a time; blocks.
[[nodiscard]] int serve_stdio(server& server);
/// Makes the present or the next `serve_stdio` finish and return. Threads: any, but not a signal handler itself.
void stop_serving_stdio();

/// A peer inside the process: whole messages in, whole messages out. Threads: any.
class memory_peer {
 public:
  explicit memory_peer(server& server);
  ~memory_peer();
  memory_peer(const memory_peer&) = delete;
  memory_peer& operator=(const memory_peer&) = delete;

  /// Sends one JSON-RPC message.
  void send(std::string_view message);
  /// The next message from the server; nothing when none came before `deadline`, or when it had to be cut off half-way.
  [[nodiscard]] std::optional<std::string> receive(std::chrono::steady_clock::time_point deadline);

 private:
  struct state;
  std::unique_ptr<state> state_;
};

/// Where and how to listen for HTTP.
struct http_options {
  std::string address = "127.0.0.1";  ///< A literal address; only loopback ones until authentication exists.
  std::uint16_t port = 7325;          ///< 0: any free port.
  std::size_t max_body_bytes = 16u << 20;
  std::size_t max_connections = 1024;
};

/// A listening HTTP server with `/mcp` and `/healthz`. Destruction stops it at once.
class http_service {
 public:
  /// Binds and serves on threads of its own. Errors: invalid_argument for an address that is not a literal loopback one;
  /// source_unavailable when it cannot be bound, and for a port in use the text says so.
  [[nodiscard]] static result<http_service> start(server& server, http_options options = {});
  ~http_service();
  http_service(http_service&&) noexcept;
  http_service& operator=(http_service&&) noexcept;

  [[nodiscard]] std::uint16_t port() const noexcept;
  /// Stops accepting, lets requests under way finish until `limit` has passed, then closes everything.
  void drain(std::chrono::milliseconds limit);

 private:
  struct state;
  explicit http_service(std::unique_ptr<state> state) noexcept;
  std::unique_ptr<state> state_;
};

}  // namespace hondana::inline v0

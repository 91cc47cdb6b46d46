/// Where a client finds its server.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <hondana/token_source.hpp>

namespace hondana::inline v0 {

class server;

/// A child process that the client starts, and communicates with over standard input and output.
///
/// To stop it, the client closes the child's input, sends SIGTERM after `shutdown_timeout`, and SIGKILL after the same time
/// again. If the child exits by itself, the next call restarts it. Spec: basic/transports/stdio#shutdown.
struct child_target {
  /// The program, which is searched in PATH, and its arguments. Not passed through a shell.
  std::vector<std::string> command{};
  std::vector<std::pair<std::string, std::string>> environment{};  ///< Set in addition to the variables of this process.
  std::optional<std::string> working_directory{};                  ///< nullopt: that of this process.
  /// Receives the child's standard error, line by line, each at most 4 KiB. Empty: the child writes to this process's standard
  /// error. Threads: one of the client's.
  std::function<void(std::string_view line)> on_stderr{};
  std::chrono::milliseconds shutdown_timeout{2'000};
  /// Called when the child exits by itself; may be empty. `outcome`: "ended with code 1", "was killed by SIGSEGV".
  /// `quick_exits`: how many times in a row it exited within five seconds after its start. Threads: one of the client's.
  std::function<void(std::string_view outcome, unsigned quick_exits)> on_exit{};
};

/// A server with a URL: Streamable HTTP, or HTTP+SSE if the server has nothing newer.
struct http_target {
  std::string url{};                         ///< http: or https:. Certificates are verified, see `ca_file`.
  std::optional<std::string> socket_path{};  ///< Path of a Unix socket to connect to, instead of the URL's host.
  /// Sent with each request to the URL's origin, and never to another one. Names and values must not contain line breaks.
  std::vector<std::pair<std::string, std::string>> headers{};
  /// URL of a proxy. nullopt: the variables http_proxy, https_proxy and no_proxy decide. "none": no proxy.
  std::optional<std::string> proxy{};
  /// PEM file of the authorities that may sign the server's certificate. nullopt: those of the system.
  std::optional<std::string> ca_file{};
  /// PEM file with a client certificate and its intermediates, for servers that request one.
  std::optional<std::string> certificate_file{};
  std::optional<std::string> key_file{};  ///< PEM file with the key of the client certificate. nullopt: in `certificate_file`.
  std::chrono::milliseconds connect_timeout{10'000};
  /// The source of the token for each request (`Authorization: Bearer`). If the server rejects a request (401, or 403 for
  /// missing scopes), the client calls `token_source::obtain` and repeats it, up to three times. Null: send no token; calls
  /// fail with the rejection. Do not combine it with an Authorization in `headers`. The timeout of a call also runs during
  /// `obtain`, which goes on after the timeout if other calls wait for it. Spec: basic/authorization.
  std::shared_ptr<token_source> tokens{};
};

/// A server in this process, which must outlive the client.
struct memory_target {
  hondana::server* server = nullptr;
};

using client_target = std::variant<child_target, http_target, memory_target>;

}  // namespace hondana::inline v0

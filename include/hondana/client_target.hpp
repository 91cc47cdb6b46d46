/// Where a client finds its server.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <hondana/token_source.hpp>

namespace hondana::inline v0 {

class server;

/// A server that the client starts, and talks to over its standard input and output.
///
/// At the end its input is closed; after `leaving_time` it gets SIGTERM, after that time again SIGKILL. One that ends by itself
/// is started again at the next call. Spec: basic/transports/stdio#shutdown.
struct child_target {
  std::vector<std::string> command{};  ///< The program, looked up in PATH, and its arguments. No shell sees them.
  std::vector<std::pair<std::string, std::string>> environment{};  ///< Set besides the variables of this process.
  std::string folder{};                                            ///< Where it runs; empty: here.
  /// Takes its standard error line by line, each of at most 4 KiB; empty: it goes where this process's goes. Threads: one of
  /// the client's.
  std::function<void(std::string_view line)> on_stderr{};
  std::chrono::milliseconds leaving_time{2'000};
  /// Hears that the program has ended by itself: how ("ended with code 1", "was killed by SIGSEGV"), and how many times in a
  /// row it did so within five seconds of its start. Threads: one of the client's.
  std::function<void(std::string_view how, unsigned quick_ends)> on_end{};
};

/// A server behind a URL: Streamable HTTP, or HTTP+SSE where there is no other.
struct http_target {
  std::string url{};     ///< http: or https:. Certificates are checked, see `authorities`.
  std::string socket{};  ///< The path of a Unix socket to connect to, whatever host the URL names. Empty: none.
  /// Sent with each request to the URL's origin and never to another. Names and values without line breaks.
  std::vector<std::pair<std::string, std::string>> headers{};
  /// The URL of a proxy; empty: what http_proxy, https_proxy and no_proxy say; "none": no proxy.
  std::string proxy{};
  /// PEM file of the authorities that may have signed the server's certificate; empty: those the system trusts.
  std::string authorities{};
  std::string certificate{};  ///< PEM file with our own and those that lead to an authority, shown when asked; empty: none.
  std::string key{};          ///< PEM file with its key; empty: it is in the same file.
  std::chrono::milliseconds connect_time{10'000};  ///< Until a connection stands.
  /// Says the token of each request (`Authorization: Bearer`), and is asked for a better one when the server refuses it (401,
  /// or 403 for a lack of scopes), up to three times a request. Null: refusals are errors of the calls. Not beside an
  /// Authorization among `headers`. The time of a call goes on meanwhile; when it is over, a log-in goes on as long as other
  /// calls wait for it. Spec: basic/authorization.
  std::shared_ptr<token_source> tokens{};
};

/// A server in this process, which outlives the client.
struct memory_target {
  hondana::server* server = nullptr;
};

using client_target = std::variant<child_target, http_target, memory_target>;

}  // namespace hondana::inline v0

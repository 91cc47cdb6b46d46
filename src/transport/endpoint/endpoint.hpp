/// Sends requests to an HTTP service from the configuration, such as an exporter or a trace collector.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <hondana/error.hpp>

#include "transport/http_client/progress_limits.hpp"

namespace hondana::endpoint {

/// Settings of a service. Each request reads the secrets from their files, so that they can be replaced. A secret file must
/// have one line, and only its owner and group may have access, see `disk::read_private`.
struct settings {
  /// `http:` or `https:`, without user name and fragment; addresses in their usual form. Its query is sent with each request.
  std::string url{};
  std::string bearer_file{};  ///< A file with a token; empty: none.
  std::string user{};         ///< For Basic authentication, with `password_file`.
  std::string password_file{};
  std::string ca_file{};           ///< A PEM file of certificates to trust instead of the system's.
  std::string certificate_file{};  ///< A PEM file with the client certificate; empty: none.
  std::string key_file{};          ///< Empty: it is in the same file.
  std::string socket_path{};       ///< A Unix socket to connect to, instead of the URL's host; empty: none.
  /// The URL of a proxy, which is then responsible for the rules for addresses. Empty: from http_proxy, https_proxy and
  /// no_proxy, but no proxy for services of this machine and for secrets over `http:`. "none": no proxy.
  std::string proxy{};
  std::vector<std::pair<std::string, std::string>> headers{};  ///< Must not contain secrets.
  /// Allows credentials over `http:` to another machine. Otherwise `endpoint::create` rejects such settings.
  bool allows_plaintext_secrets = false;
  std::chrono::milliseconds timeout{10'000};  ///< Timeout of one request.
  std::size_t max_idle_connections = 2;       ///< Idle connections to keep, at most 8.
};

/// The answer of a service.
struct response {
  int status = 0;
  std::string content_type{};  ///< As sent by the server, like the next three.
  std::string content_range{};
  std::string date{};
  std::string location{};
  /// Empty if it went to a sink, and for a redirect. For an HTTP error, at most 64 KiB.
  std::string body{};
  std::optional<std::chrono::milliseconds> retry_after{};  ///< `Retry-After`, at most one day.
};

/// A request to a service.
struct request {
  /// Appended to the path of the URL. Begins with `/`, is already escaped, and has no dot segments. Empty: the URL itself.
  std::string path{};
  std::vector<std::pair<std::string, std::string>> query{};  ///< Not escaped; the endpoint escapes it.
  std::vector<std::pair<std::string, std::string>> headers{};
  std::optional<std::string> body{};  ///< If set, the request is a POST; `headers` must contain its Content-Type.
  bool posts_query = false;           ///< POSTs the query as a form, instead of `body`.
  std::size_t max_bytes = 16u << 20;  ///< Limit of the answer, after decompression.
  std::optional<std::chrono::steady_clock::time_point> deadline{};  ///< In addition to `settings::timeout`.
  transport::http_client::progress_limits progress{};
  bool accepts_compressed = true;  ///< Accept compressed answers. Ranges refer to the compressed form.
  bool follows_redirects = true;   ///< False: redirects are returned as the answer.
  /// Called with the header before the first piece of a successful body goes to the sink. An error ends the request with it.
  /// Not called if there is no body.
  std::function<result<void>(const response& head)> on_head{};
};

/// Sends requests to one service, and keeps connections for the next requests. Threads: any; at most 8 requests at once,
/// further ones wait.
///
/// The service may be on this machine and on private networks. Link-local (169.254.0.0/16, fe80::/10), multicast and
/// unspecified addresses are rejected, unless the URL contains that literal address. Cloud metadata addresses (169.254.169.254)
/// are always rejected. A proxy or Unix socket in the settings switches these checks off. Addresses are checked when the socket
/// is opened, so DNS rebinding has no effect. Redirects are followed only within the origin (scheme, host, port), at most 3. A
/// POST does not follow them, but returns them.
class endpoint {
 public:
  /// Checks the settings; sends nothing. Errors: invalid_argument, naming the invalid part; source_unavailable without libcurl.
  [[nodiscard]] static result<std::shared_ptr<endpoint>> create(settings options);
  ~endpoint();
  endpoint(const endpoint&) = delete;
  endpoint& operator=(const endpoint&) = delete;

  /// Receives a piece of a successful (2xx) body, decompressed. An error ends the request with it.
  using sink = std::function<result<void>(std::string_view)>;

  /// Sends a request and returns the answer, with any status. Blocks. Errors: invalid_argument for an invalid path, header or
  /// secret file; access_denied for an address that is not allowed, a redirect to another origin, or a secret file that others
  /// can read; timed_out; cancelled; source_unavailable; protocol_error; response_too_large; those of `on_head` and of the
  /// sink. Otherwise no error text contains a query, a header or a secret.
  [[nodiscard]] result<response> send(const request& request, const std::stop_token& stop, const sink& body_sink = {}) const;
  /// `http://host:port`, for messages.
  [[nodiscard]] const std::string& origin() const noexcept;
  /// The URL without its query, for messages.
  [[nodiscard]] std::string url() const;
  /// The `host:port` or socket path that requests connect to, for `system_requirements::sockets`. "*:*" if a proxy may be used,
  /// because its address is not known.
  [[nodiscard]] std::string address() const;
  /// The files that requests read, for `system_requirements::folders`.
  [[nodiscard]] std::vector<std::string> files() const;

 private:
  struct state;
  explicit endpoint(std::unique_ptr<state> initial) noexcept;
  std::unique_ptr<state> state_;
};

}  // namespace hondana::endpoint

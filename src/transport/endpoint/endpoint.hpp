/// An HTTP service from the configuration, such as an exporter or a collector of traces.
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

namespace hondana::endpoint {

/// As configured. Secrets are read from their files each time they are wanted, so that they can be exchanged: one line, of
/// files that nobody but this user and the group may read.
struct settings {
  /// `http:` or `https:`, without user name and fragment; addresses in their usual form. Its query goes with each request.
  std::string url{};
  std::string bearer_file{};  ///< A file with a token; empty: none.
  std::string user{};         ///< With `password_file`: Basic.
  std::string password_file{};
  std::string authorities{};  ///< A PEM file to trust instead of the system's.
  std::string certificate{};  ///< A PEM file to show; empty: none.
  std::string key{};          ///< Empty: in the same file.
  std::string socket{};       ///< A Unix socket to go through instead.
  /// The URL of a proxy, whose business the rules for addresses are then. Empty: what http_proxy, https_proxy and no_proxy say,
  /// but none for this machine's own services and for secrets by `http:`. "none": no proxy.
  std::string proxy{};
  std::vector<std::pair<std::string, std::string>> headers{};  ///< That hold no secret.
  /// Credentials may go by `http:` to a host that is not this machine. Otherwise such settings are refused.
  bool sends_secrets_in_the_clear = false;
  std::chrono::milliseconds time{10'000};  ///< Of one request.
  std::size_t idle = 2;                    ///< Connections that are kept for later requests, at most 8.
};

struct answer {
  int status = 0;
  std::string content_type{};   ///< As the server spelled it.
  std::string content_range{};  ///< So is this, and the next two.
  std::string date{};
  std::string location{};
  /// Empty when a sink has taken them. Of a status that is no success, at most 64 KiB.
  std::string bytes{};
  std::optional<std::chrono::milliseconds> retry{};  ///< `Retry-After`, at most a day.
};

/// How slow an answer may be besides the time that it has altogether. What the sink takes of it does not count.
struct pace {
  std::chrono::milliseconds head{0};  ///< Until status and header fields are there; 0: as the rest.
  std::chrono::milliseconds time{0};  ///< In each such while of the body,
  std::size_t bytes = 0;              ///< so many bytes, as they travel, must come; 0: it may stand still.
};

struct request {
  /// Appended to the path of the URL; begins with `/`, escaped already, without dot segments; empty: the URL itself.
  std::string path{};
  std::vector<std::pair<std::string, std::string>> query{};  ///< Encoded by us.
  std::vector<std::pair<std::string, std::string>> headers{};
  std::optional<std::string> body{};   ///< Set: POSTed; its Content-Type is among the headers.
  bool posts_query = false;            ///< The query is the body, as a form.
  std::size_t most_bytes = 16u << 20;  ///< Of the answer, unpacked.
  std::optional<std::chrono::steady_clock::time_point> until{};
  pace speed{};
  bool is_packed = true;          ///< The answer may come compressed; ranges are of what travels.
  bool follows_redirects = true;  ///< False: they are the answer, wherever they lead.
  /// Hears what the head says before the first piece of a successful body goes to the sink. An error ends the request with it.
  /// Not called where there is no body.
  std::function<result<void>(const answer& head)> on_head{};
};

/// Keeps a connection for the next request, where the service does. Threads: any; requests wait for each other only for
/// connections.
///
/// What the configuration names may be on this machine and on private networks. Never link-local addresses (169.254.0.0/16,
/// fe80::/10), multicast or unspecified ones, unless the URL itself has that literal address; looked at when the socket is
/// opened, whatever the name was looked up to before. Never where clouds tell machines their secrets (169.254.169.254).
/// Redirects are followed only within the origin (scheme, host, port), at most 3, and never with a POST, of which they are the
/// answer. At most 8 requests at once; further ones wait.
class endpoint {
 public:
  /// Errors: invalid_argument, naming the part that is wrong.
  [[nodiscard]] static result<std::shared_ptr<endpoint>> of(settings from);
  ~endpoint();
  endpoint(const endpoint&) = delete;
  endpoint& operator=(const endpoint&) = delete;

  /// Takes a piece of a successful (2xx) body, unpacked. An error ends the request with it.
  using sink = std::function<result<void>(std::string_view)>;

  /// Any status is an answer. Answers may be compressed (gzip). Errors: access_denied for an address that is not allowed, or a
  /// redirect elsewhere; timed_out; cancelled; source_unavailable; broken_protocol; response_too_large; the sink's own. No text
  /// holds a query, a header or a secret.
  [[nodiscard]] result<answer> ask(const request& what, const std::stop_token& stop, const sink& into = {}) const;
  /// `http://host:port`, for people.
  [[nodiscard]] const std::string& origin() const noexcept;
  /// The URL without its query, for people.
  [[nodiscard]] std::string url() const;
  /// `host:port` or the socket's path, as `needs::sockets` has it; "*:*" where a proxy may be asked, which may be anywhere.
  [[nodiscard]] std::string place() const;
  /// Files that it reads each time, for `needs::folders`.
  [[nodiscard]] std::vector<std::string> files() const;

 private:
  struct state;
  explicit endpoint(std::unique_ptr<state> made) noexcept;
  std::unique_ptr<state> state_;
};

}  // namespace hondana::endpoint

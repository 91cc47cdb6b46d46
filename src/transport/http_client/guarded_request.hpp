/// Sends HTTP requests to URLs that are not trusted, with rules for the addresses that they may reach.
#pragma once

#include <sys/socket.h>

#include <chrono>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/clock.hpp>
#include <hondana/error.hpp>

#include "transport/http_client/curl.hpp"
#include "transport/http_client/response_head.hpp"

namespace hondana::transport::http_client {

/// Sends requests one after another, each on a new connection. Threads: one at a time.
class guarded_request {
 public:
  using clock = monotonic_clock;

  struct rules {
    const char* action = "fetch";   ///< For errors: "cannot fetch URL: …".
    const char* schemes = "https";  ///< In libcurl's form: "http,https".
    /// Decides for each address whether a socket may be opened for it; null: `is_public`. Not called if `proxy` is set, because
    /// the proxy connects to the server.
    std::function<bool(const sockaddr&)> allows_address{};
    std::string rejection_reason{};       ///< Error text for a rejected address.
    std::string ca_file{};                ///< A PEM file of certificates to trust instead of the system's.
    std::string certificate_file{};       ///< A PEM file with the client certificate; empty: none.
    std::string key_file{};               ///< A PEM file with its key; empty: it is in the same file.
    std::string proxy{};                  ///< Empty: no proxy, unless `uses_environment_proxy` is set.
    bool uses_environment_proxy = false;  ///< Use the proxies of the environment. `allows_address` must then allow them.
    std::chrono::milliseconds connect_timeout{10'000};
    std::chrono::milliseconds timeout{30'000};  ///< Limit from the construction to the end of the last request.
    bool limits_each_wait = false;              ///< `timeout` limits each wait for more data instead.
    /// Limit from the construction to the end of the last request, also with `limits_each_wait`.
    std::chrono::milliseconds total_timeout = std::chrono::hours(24 * 365);
  };
  struct message {
    std::string url{};
    std::vector<std::string> header_lines{};
    std::optional<std::string> body{};  ///< If set, the request is a POST.
  };
  /// Receives a piece of the body, after the header. Returns false to stop reading, which is not an error.
  using body_callback = std::function<bool(std::string_view)>;

  guarded_request(rules request_rules, body_callback callback, std::stop_token stop)
      : rules_(std::move(request_rules)), callback_(std::move(callback)), stop_(std::move(stop)) {}

  /// Sends a request; follows no redirects. Succeeds with any HTTP status. Blocks. Errors: access_denied for a rejected
  /// address; timed_out; cancelled; source_unavailable; protocol_error.
  [[nodiscard]] result<void> perform(const message& message);
  /// The header of the last answer.
  [[nodiscard]] const response_head& head() const noexcept { return head_.head(); }
  /// Makes a failure with the text "cannot ACTION URL: REASON", see `rules::action`.
  [[nodiscard]] tl::unexpected<failure> cannot(errc code, const std::string& url, const std::string& reason) const;

 private:
  result<void> set_options(CURL* easy, curl_slist* lines, const message& message);
  result<void> wait_for_end(CURLM* multi, const std::string& url);
  result<void> to_result(CURL* easy, CURLcode code, const std::string& url) const;
  static std::size_t on_header(char* bytes, std::size_t item_size, std::size_t item_count, void* user_data) noexcept;
  static std::size_t on_body(char* bytes, std::size_t item_size, std::size_t item_count, void* user_data) noexcept;
  static curl_socket_t open_socket(void* user_data, curlsocktype, curl_sockaddr* address) noexcept;

  const rules rules_;
  const body_callback callback_;
  const std::stop_token stop_;
  const clock::time_point started_at_ = clock::now();
  clock::time_point last_activity_ = started_at_;  // when the last data arrived
  head_reader head_{};
  std::string error_text_ = std::string(CURL_ERROR_SIZE, '\0');
  bool is_rejected_ = false;  // an address was rejected
  bool is_head_too_long_ = false;
};

}  // namespace hondana::transport::http_client

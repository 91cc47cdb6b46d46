/// Sends requests one after another over one connection, and waits for their answers.
#pragma once

#include <sys/socket.h>

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

#include <hondana/clock.hpp>
#include <hondana/error.hpp>

#include "transport/http_client/checked_target.hpp"
#include "transport/http_client/curl.hpp"
#include "transport/http_client/easy_request.hpp"
#include "transport/http_client/progress_limits.hpp"
#include "transport/http_client/response_head.hpp"

namespace hondana::transport::http_client {

/// Rules that several requests share.
struct request_rules {
  checked_target target{};             ///< Only its socket, proxy, connect_timeout and TLS files are used.
  const char* schemes = "http,https";  ///< In libcurl's form.
  /// Decides for each address whether a socket may be opened for it, so that a second DNS answer has no effect. Null: all may.
  /// Not called for Unix sockets. With a proxy, the address is that of the proxy.
  std::function<bool(const sockaddr&)> allows_address{};
  std::string rejection_reason{};  ///< Error text for a rejected address.
  std::string trust_advice{};      ///< See `request_names`; empty: the default.
};

/// Keeps the network connection between requests. Threads: one at a time.
class blocking_connection {
 public:
  using clock = monotonic_clock;

  struct message {
    std::string action{};  ///< For errors, see `request_names`: "cannot call http://127.0.0.1:9100".
    std::string url{};
    std::vector<std::string> header_lines{};
    std::optional<std::string> body{};  ///< If set, the request is a POST.
    std::string user{}, password{};     ///< For Basic authentication; empty `user`: none.
    progress_limits progress{};
  };
  /// Receives a piece of the body, after the header. Returns false to stop reading, which is not an error.
  using body_callback = std::function<bool(const response_head&, std::string_view)>;

  /// Opens no connection yet. Errors: source_unavailable without memory or libcurl.
  [[nodiscard]] static result<std::unique_ptr<blocking_connection>> make();
  ~blocking_connection() = default;
  blocking_connection(const blocking_connection&) = delete;
  blocking_connection& operator=(const blocking_connection&) = delete;

  /// Sends a request, passes the body to `callback`, and returns the header, with any HTTP status; follows no redirects.
  /// Blocks. After an error, or if the callback stopped it, the connection must not be used again. Errors: access_denied for a
  /// rejected address; timed_out; cancelled; those of `explain_failure`. The texts begin with `message::action`.
  [[nodiscard]] result<response_head> perform(const request_rules& rules, const message& message, const body_callback& callback,
                                              clock::time_point deadline, const std::stop_token& stop);

 private:
  blocking_connection(multi_handle multi, easy_handle easy) noexcept : multi_(std::move(multi)), easy_(std::move(easy)) {}
  result<void> wait_for_end(clock::time_point deadline, const std::stop_token& stop);
  /// Returns the time of the next check. Errors: timed_out if the answer is too slow.
  result<clock::time_point> check_progress(clock::time_point deadline);
  result<void> to_result(CURLcode code) const;
  [[nodiscard]] tl::unexpected<failure> cannot(errc code, const std::string& reason) const;
  // Callbacks of libcurl; `user_data` is the connection.
  static std::size_t on_header(char* bytes, std::size_t item_size, std::size_t item_count, void* user_data) noexcept;
  static std::size_t on_body(char* bytes, std::size_t item_size, std::size_t item_count, void* user_data) noexcept;
  static curl_socket_t open_socket(void* user_data, curlsocktype purpose, curl_sockaddr* address) noexcept;

  multi_handle multi_;
  easy_handle easy_;
  std::string error_text_ = std::string(CURL_ERROR_SIZE, '\0');
  // Of the current request:
  const request_rules* rules_ = nullptr;
  const message* message_ = nullptr;
  const body_callback* callback_ = nullptr;
  std::chrono::milliseconds connect_timeout_{0};
  head_reader head_{};
  bool is_rejected_ = false;            // an address was rejected
  bool is_stopped_ = false;             // the callback stopped the request
  clock::time_point last_activity_{};   // start of the request, or the last received data
  clock::time_point interval_start_{};  // start of the request, or of the current interval of `progress_limits`
  std::size_t interval_bytes_ = 0;      // bytes in the current interval
};

}  // namespace hondana::transport::http_client

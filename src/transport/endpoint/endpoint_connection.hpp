/// Sends requests over one connection to a service, and decompresses bodies.
#pragma once

#include <sys/socket.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/clock.hpp>
#include <hondana/error.hpp>

#include "transport/endpoint/endpoint.hpp"
#include "transport/http_client/checked_target.hpp"
#include "transport/http_client/curl.hpp"
#include "transport/http_client/response_head.hpp"

namespace hondana::endpoint {

/// Decompresses gzip data piece by piece; it may have several members. libcurl is not used for this, because it does not report
/// truncated data. Threads: one at a time.
class gzip_decoder {
 public:
  /// Receives decompressed data, at most 64 KiB at once. Returns false to stop.
  using output_callback = std::function<bool(std::string_view)>;

  gzip_decoder();
  ~gzip_decoder();
  gzip_decoder(const gzip_decoder&) = delete;
  gzip_decoder& operator=(const gzip_decoder&) = delete;

  /// Decompresses a piece. False if `on_output` returned false. Errors: protocol_error for invalid gzip; source_unavailable
  /// without memory. After an error or false, do not call it again.
  [[nodiscard]] result<bool> decode(std::string_view compressed, const output_callback& on_output);
  /// Whether the data so far ends with a complete member, or is empty.
  [[nodiscard]] bool is_complete() const noexcept;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

/// What all requests to a service share.
struct connection_context {
  transport::http_client::checked_target target;
  /// Decides for each address whether a socket may be opened for it. Not called for Unix sockets.
  std::function<bool(const sockaddr&)> allows_address;
  std::string rejection_reason;  ///< Error text for a rejected address.
};

/// Sends one request after another. Keeps the network connection between requests. Threads: one at a time.
class connection {
 public:
  using clock = monotonic_clock;
  using head = transport::http_client::response_head;

  struct message {
    std::string url{};
    std::vector<std::string> header_lines{};
    std::optional<std::string> body{};  ///< If set, the request is a POST.
    std::string user{}, password{};     ///< For Basic authentication; empty `user`: none.
    progress_limits progress{};
  };
  /// Receives a piece of the body, after the header. Returns false to stop reading, which is not an error.
  using body_callback = std::function<bool(const head&, std::string_view)>;

  /// Null without memory or libcurl.
  [[nodiscard]] static std::unique_ptr<connection> make();
  ~connection();
  connection(const connection&) = delete;
  connection& operator=(const connection&) = delete;

  /// Sends a request, passes the body to `callback`, and returns the header; follows no redirects. Blocks. After an error, or
  /// if the callback stopped it, the connection must not be used again. Errors: access_denied for a rejected address;
  /// timed_out; cancelled; source_unavailable; protocol_error. The texts are those of `cannot_call`.
  [[nodiscard]] result<head> perform(const connection_context& context, const message& message, const body_callback& callback,
                                     clock::time_point deadline, const std::stop_token& stop);

 private:
  connection(CURLM* multi, CURL* easy) noexcept : multi_(multi), easy_(easy) {}
  bool set_options(const connection_context& context, const message& message, curl_slist* lines, clock::time_point deadline);
  result<void> wait_for_end(const connection_context& context, clock::time_point deadline, const std::stop_token& stop);
  /// Returns the time of the next check. Errors: timed_out if the answer is too slow.
  result<clock::time_point> check_progress(const connection_context& context, clock::time_point deadline);
  result<void> to_result(const connection_context& context, CURLcode curl_code) const;
  // Callbacks of libcurl; `user_data` is the connection.
  static std::size_t on_header(char* bytes, std::size_t item_size, std::size_t item_count, void* user_data) noexcept;
  static std::size_t on_body(char* bytes, std::size_t item_size, std::size_t item_count, void* user_data) noexcept;
  static curl_socket_t open_socket(void* user_data, curlsocktype purpose, curl_sockaddr* address) noexcept;

  CURLM* multi_;
  CURL* easy_;
  const connection_context* context_ = nullptr;
  const body_callback* callback_ = nullptr;
  transport::http_client::head_reader head_{};
  std::string error_text_ = std::string(CURL_ERROR_SIZE, '\0');
  bool is_rejected_ = false;  // an address was rejected
  bool is_head_too_long_ = false;
  bool is_stopped_ = false;  // the callback stopped the request
  progress_limits progress_{};
  clock::time_point interval_start_{};  // start of the request, or of the current interval of `progress_limits`
  std::size_t interval_bytes_ = 0;      // bytes in the current interval
};

/// Makes a failure with the text "cannot call ORIGIN: REASON".
[[nodiscard]] tl::unexpected<failure> cannot_call(errc code, const std::string& origin, std::string_view reason,
                                                  std::string private_text = {});

}  // namespace hondana::endpoint

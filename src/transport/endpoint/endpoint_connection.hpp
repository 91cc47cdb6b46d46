/// One connection to a service: its requests, and compressed bodies.
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

/// Decompresses gzip piece by piece, also with several members. libcurl is not used for this, because it does not report
/// truncated data. Threads: one at a time.
class unpacker {
 public:
  /// Receives decompressed data, at most 64 KiB at once. Returns false to stop.
  using taker = std::function<bool(std::string_view)>;

  unpacker();
  ~unpacker();
  unpacker(const unpacker&) = delete;
  unpacker& operator=(const unpacker&) = delete;

  /// Decompresses a piece. False if the taker stopped. Errors: broken_protocol for invalid gzip; source_unavailable without
  /// memory or zlib. The texts begin with "its answer".
  [[nodiscard]] result<bool> take(std::string_view packed, const taker& to);
  /// True if all members are complete, also if there are none.
  [[nodiscard]] bool is_whole() const noexcept;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

/// What all requests to a service share.
struct ground {
  transport::http_client::checked_target target;
  /// Decides for each address that a socket connects to, at the time it is opened.
  std::function<bool(const sockaddr&)> admits;
  std::string refusal;  ///< Error text for a rejected address.
};

/// A pair of libcurl handles, which keep the connection between two requests. Threads: one at a time; blocks.
class connection {
 public:
  using clock = monotonic_clock;
  using head = transport::http_client::response_head;

  struct message {
    std::string url{};
    std::vector<std::string> header_lines{};
    std::optional<std::string> body{};  ///< If set, the request is a POST.
    std::string user{}, password{};     ///< For Basic authentication; empty user: none.
    pace speed{};
  };
  /// Receives a piece of the body, after the header. Returns false to stop reading, which is not an error.
  using body_hearer = std::function<bool(const head&, std::string_view)>;

  /// Null if memory is short.
  [[nodiscard]] static std::unique_ptr<connection> make();
  ~connection();
  connection(const connection&) = delete;
  connection& operator=(const connection&) = delete;

  /// Sends a request. After an error, or if the callback stopped it, the connection must not be used again. Errors:
  /// access_denied for a rejected address; timed_out; cancelled; source_unavailable; broken_protocol. The texts are "cannot
  /// call ORIGIN: WHY".
  [[nodiscard]] result<head> perform(const ground& on, const message& what, const body_hearer& hears, clock::time_point until,
                                     const std::stop_token& stop);

 private:
  connection(CURLM* multi, CURL* easy) noexcept : multi_(multi), easy_(easy) {}
  bool set_options(const ground& on, const message& what, curl_slist* lines, clock::time_point until);
  result<void> wait_for_end(const ground& on, clock::time_point until, const std::stop_token& stop);
  /// The time of the next check of the pace. Errors: timed_out if the answer is too slow.
  result<clock::time_point> look_at_pace(const ground& on, clock::time_point until);
  result<void> judge(const ground& on, CURLcode how) const;
  static std::size_t on_header(char* bytes, std::size_t one, std::size_t size, void* self) noexcept;
  static std::size_t on_body(char* bytes, std::size_t one, std::size_t size, void* self) noexcept;
  static curl_socket_t open_socket(void* self, curlsocktype purpose, curl_sockaddr* to) noexcept;

  CURLM* multi_;
  CURL* easy_;
  const ground* on_ = nullptr;
  const body_hearer* hears_ = nullptr;
  transport::http_client::head_reader head_{};
  std::string error_text_ = std::string(CURL_ERROR_SIZE, '\0');
  bool is_refused_ = false;  // an address was rejected
  bool is_head_too_long_ = false;
  bool is_enough_ = false;  // the callback stopped the request
  pace speed_{};
  clock::time_point since_{};  // start of the request, or of the current interval of `pace`
  std::size_t come_ = 0;       // bytes in the current interval
};

/// "cannot call ORIGIN: WHY".
[[nodiscard]] tl::unexpected<failure> cannot_ask(errc code, const std::string& origin, std::string_view why,
                                                 std::string private_text = {});

}  // namespace hondana::endpoint

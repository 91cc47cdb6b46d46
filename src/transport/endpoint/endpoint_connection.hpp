/// One connection to a service: its requests, and bodies that arrive compressed.
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

/// Unpacks gzip piece by piece, several members one after the other too. libcurl would not say that one is cut off. Threads:
/// one at a time.
class unpacker {
 public:
  /// Takes what was unpacked, at most 64 KiB at once. False: no more is wanted.
  using taker = std::function<bool(std::string_view)>;

  unpacker();
  ~unpacker();
  unpacker(const unpacker&) = delete;
  unpacker& operator=(const unpacker&) = delete;

  /// False when the taker wants no more. Errors: broken_protocol for what is no gzip; source_unavailable without memory or
  /// zlib. The texts are without a subject: "it is no gzip".
  [[nodiscard]] result<bool> take(std::string_view packed, const taker& to);
  /// Everything that was begun has ended; also when there was nothing at all.
  [[nodiscard]] bool is_whole() const noexcept;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

/// What is the same for all requests to a service.
struct ground {
  transport::http_client::checked_target target;
  /// Each address that a socket is opened to, whatever a name was looked up to before.
  std::function<bool(const sockaddr&)> admits;
  std::string refusal;  ///< Why an address is not admitted.
};

/// libcurl's handles, which keep what stands between two requests. Threads: one at a time; blocks.
class connection {
 public:
  using clock = monotonic_clock;
  using head = transport::http_client::response_head;

  struct message {
    std::string url{};
    std::vector<std::string> header_lines{};
    std::optional<std::string> body{};  ///< Set: POSTed.
    std::string user{}, password{};     ///< Basic, unless the user is empty.
    pace speed{};
  };
  /// Takes a piece of the body; the head is there by then. False: no more is wanted, which is no error.
  using body_hearer = std::function<bool(const head&, std::string_view)>;

  /// Null: no memory.
  [[nodiscard]] static std::unique_ptr<connection> make();
  ~connection();
  connection(const connection&) = delete;
  connection& operator=(const connection&) = delete;

  /// After an error, or when no more was wanted, it is not used again. Errors: access_denied for an address that is not
  /// admitted; timed_out; cancelled; source_unavailable; broken_protocol. "cannot call ORIGIN: WHY".
  [[nodiscard]] result<head> perform(const ground& on, const message& what, const body_hearer& hears, clock::time_point until,
                                     const std::stop_token& stop);

 private:
  connection(CURLM* multi, CURL* easy) noexcept : multi_(multi), easy_(easy) {}
  bool set_options(const ground& on, const message& what, curl_slist* lines, clock::time_point until);
  result<void> wait_for_end(const ground& on, clock::time_point until, const std::stop_token& stop);
  /// When to look next whether it is too slow. Errors: timed_out when it is.
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
  bool is_refused_ = false;  // an address
  bool is_head_too_long_ = false;
  bool is_enough_ = false;  // the hearer's own end of it
  pace speed_{};
  clock::time_point since_{};  // the request, and then the present while of its pace
  std::size_t come_ = 0;       // bytes in that while
};

/// "cannot call ORIGIN: WHY".
[[nodiscard]] tl::unexpected<failure> cannot_ask(errc code, const std::string& origin, std::string_view why,
                                                 std::string private_text = {});

}  // namespace hondana::endpoint

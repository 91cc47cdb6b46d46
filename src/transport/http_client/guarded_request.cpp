/// Sends HTTP requests to URLs that are not trusted, with rules for the addresses that they may reach.
#include "transport/http_client/guarded_request.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include <hondana/clock.hpp>

#include "transport/http_client/checked_target.hpp"
#include "transport/http_client/curl.hpp"
#include "transport/http_client/public_address.hpp"
#include "transport/http_client/transfer_loop.hpp"

namespace hondana::transport::http_client {
namespace {

constexpr long receive_buffer_bytes = 64L << 10;

struct easy_deleter {
  void operator()(CURL* handle) const noexcept { curl().easy_cleanup(handle); }
};
struct multi_deleter {
  void operator()(CURLM* handle) const noexcept { curl().multi_cleanup(handle); }
};

}  // namespace

tl::unexpected<failure> guarded_request::cannot(errc code, const std::string& url, const std::string& reason) const {
  return fail(code, std::string("cannot ") + rules_.action + ' ' + display_url(url) + ": " + reason);
}

std::size_t guarded_request::on_header(char* bytes, std::size_t item_size, std::size_t item_count, void* user_data) noexcept {
  auto& request = *static_cast<guarded_request*>(user_data);
  request.last_activity_ = clock::now();
  request.is_head_too_long_ = request.head_.feed({bytes, item_size * item_count}) == head_reader::state::too_long;
  return request.is_head_too_long_ ? CURL_WRITEFUNC_ERROR : item_size * item_count;
}

std::size_t guarded_request::on_body(char* bytes, std::size_t item_size, std::size_t item_count, void* user_data) noexcept {
  auto& request = *static_cast<guarded_request*>(user_data);
  request.last_activity_ = clock::now();
  return request.callback_({bytes, item_size * item_count}) ? item_size * item_count : CURL_WRITEFUNC_ERROR;
}

/// Checks the address when the socket is opened, so that a second DNS answer has no effect.
curl_socket_t guarded_request::open_socket(void* user_data, curlsocktype, curl_sockaddr* address) noexcept {
  auto& request = *static_cast<guarded_request*>(user_data);
  const auto& rules = request.rules_;
  if (rules.proxy.empty() && !(rules.allows_address ? rules.allows_address(address->addr) : is_public(address->addr))) {
    request.is_rejected_ = true;
    return CURL_SOCKET_BAD;
  }
  return ::socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

result<void> guarded_request::set_options(CURL* easy, curl_slist* lines, const message& message) {
  bool is_set = true;
  const auto set = [&](CURLoption option, auto value) {
    is_set = is_set && curl().easy_setopt(easy, option, value) == CURLE_OK;
  };
  set(CURLOPT_URL, message.url.c_str());
  set(CURLOPT_PROTOCOLS_STR, rules_.schemes);
  set(CURLOPT_FOLLOWLOCATION, 0L);
  set(CURLOPT_SSL_VERIFYPEER, 1L);
  set(CURLOPT_SSL_VERIFYHOST, 2L);
  is_set = is_set && apply_tls_files(easy, {rules_.ca_file, rules_.certificate_file,
                                            rules_.key_file.empty() ? rules_.certificate_file : rules_.key_file});
  set(CURLOPT_HTTPHEADER, lines);
  if (message.body) {
    set(CURLOPT_POST, 1L);
    set(CURLOPT_POSTFIELDS, message.body->data());
    set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(message.body->size()));
  }
  set(CURLOPT_NOSIGNAL, 1L);
  set(CURLOPT_QUICK_EXIT, 1L);
  set(CURLOPT_BUFFERSIZE, receive_buffer_bytes);
  set(CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(rules_.connect_timeout.count()));
  if (!rules_.uses_environment_proxy || !rules_.proxy.empty()) {
    set(CURLOPT_PROXY, rules_.proxy.c_str());
    // no_proxy of the environment would bypass the proxy and the check of the address.
    set(CURLOPT_NOPROXY, "");
  }
  set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
  set(CURLOPT_USERAGENT, "hondana/" HONDANA_VERSION);
  set(CURLOPT_ERRORBUFFER, error_text_.data());
  set(CURLOPT_OPENSOCKETFUNCTION, &guarded_request::open_socket);
  set(CURLOPT_OPENSOCKETDATA, static_cast<void*>(this));
  set(CURLOPT_HEADERFUNCTION, &guarded_request::on_header);
  set(CURLOPT_HEADERDATA, static_cast<void*>(this));
  set(CURLOPT_WRITEFUNCTION, &guarded_request::on_body);
  set(CURLOPT_WRITEDATA, static_cast<void*>(this));
  if (!is_set) return cannot(errc::source_unavailable, message.url, "libcurl rejected an option or is out of memory");
  return {};
}

result<void> guarded_request::perform(const message& message) {
  HONDANA_TRY(loaded_curl());
  // The multi handle must be destroyed last, after the easy handle is removed from it.
  const std::unique_ptr<CURLM, multi_deleter> multi(has_curl() ? curl().multi_init() : nullptr);
  const std::unique_ptr<CURL, easy_deleter> easy(multi ? curl().easy_init() : nullptr);
  const auto lines = make_header_lines(message.header_lines);
  if (!easy || !lines) return cannot(errc::source_unavailable, message.url, "libcurl cannot be started");
  head_ = {};
  is_rejected_ = false;
  error_text_[0] = '\0';
  HONDANA_TRY(set_options(easy.get(), lines.get(), message));
  if (curl().multi_add_handle(multi.get(), easy.get()) != CURLM_OK)
    return cannot(errc::source_unavailable, message.url, "libcurl accepts no requests");
  const std::stop_callback wake(stop_, [&] { curl().multi_wakeup(multi.get()); });
  auto outcome = wait_for_end(multi.get(), message.url);
  curl().multi_remove_handle(multi.get(), easy.get());
  return outcome;
}

result<void> guarded_request::wait_for_end(CURLM* multi, const std::string& url) {
  for (;;) {
    int running = 0;
    curl().multi_perform(multi, &running);
    int queued = 0;
    if (const auto* completion = curl().multi_info_read(multi, &queued))
      return to_result(completion->easy_handle, completion->data.result, url);
    if (stop_.stop_requested()) return cannot(errc::cancelled, url, "it was cancelled");
    const auto deadline = (rules_.limits_each_wait ? last_activity_ : started_at_) + rules_.timeout;
    const auto total_deadline = started_at_ + rules_.total_timeout;
    const auto remaining = std::chrono::ceil<std::chrono::milliseconds>(std::min(deadline, total_deadline) - clock::now());
    if (remaining.count() <= 0) {
      const auto limit = deadline <= total_deadline ? rules_.timeout : rules_.total_timeout;
      return cannot(errc::timed_out, url, "no complete answer within " + std::to_string(limit.count()) + " ms");
    }
    curl().multi_poll(multi, nullptr, 0,
                      monotonic_clock::poll_timeout(std::min<std::chrono::milliseconds::rep>(remaining.count(), 60'000)),
                      nullptr);
  }
}

result<void> guarded_request::to_result(CURL* easy, CURLcode code, const std::string& url) const {
  const std::string detail = error_text_[0] != '\0' ? error_text_.c_str() : curl().easy_strerror(code);
  if (is_head_too_long_ || (!head_.is_complete() && has_too_long_line(easy, code)))
    return cannot(errc::protocol_error, url, "its header fields are larger than 64 KiB");
  // A write error here means that the callback wants no more data.
  if (head_.is_complete() && (code == CURLE_OK || code == CURLE_WRITE_ERROR)) return {};
  if (is_rejected_ && !head_.is_complete()) return cannot(errc::access_denied, url, rules_.rejection_reason);
  if (is_not_tls(code, detail))
    return cannot(errc::source_unavailable, url, "the server does not speak TLS; check the port (" + detail + ")");
  switch (code) {
    case CURLE_OPERATION_TIMEDOUT:
      return cannot(errc::timed_out, url, "no connection within " + std::to_string(rules_.connect_timeout.count()) + " ms");
    case CURLE_UNSUPPORTED_PROTOCOL:
    case CURLE_WEIRD_SERVER_REPLY:
      return cannot(errc::protocol_error, url, detail);
    default:
      return cannot(errc::source_unavailable, url, detail);
  }
}

}  // namespace hondana::transport::http_client

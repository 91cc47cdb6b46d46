/// One HTTP request to an untrusted URL, with rules for the addresses that it may reach.
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

constexpr long window_bytes = 64L << 10;

struct easy_deleter {
  void operator()(CURL* handle) const noexcept { curl().easy_cleanup(handle); }
};
struct multi_deleter {
  void operator()(CURLM* handle) const noexcept { curl().multi_cleanup(handle); }
};

}  // namespace

tl::unexpected<failure> guarded_request::cannot(errc code, const std::string& url, const std::string& why) const {
  return fail(code, std::string("cannot ") + under_.doing + ' ' + shown(url) + ": " + why);
}

std::size_t guarded_request::on_header(char* bytes, std::size_t one, std::size_t size, void* self) noexcept {
  auto& request = *static_cast<guarded_request*>(self);
  request.last_sign_ = clock::now();
  request.is_head_too_long_ = request.head_.take({bytes, one * size}) == head_reader::state::too_long;
  return request.is_head_too_long_ ? CURL_WRITEFUNC_ERROR : one * size;
}

std::size_t guarded_request::on_body(char* bytes, std::size_t one, std::size_t size, void* self) noexcept {
  auto& request = *static_cast<guarded_request*>(self);
  request.last_sign_ = clock::now();
  return request.hears_({bytes, one * size}) ? one * size : CURL_WRITEFUNC_ERROR;
}

/// Checks the address when the socket is opened, so that a second DNS answer has no effect.
curl_socket_t guarded_request::open_socket(void* self, curlsocktype, curl_sockaddr* to) noexcept {
  auto& request = *static_cast<guarded_request*>(self);
  const auto& under = request.under_;
  if (under.proxy.empty() && !(under.admits ? under.admits(to->addr) : is_public(to->addr))) {
    request.is_refused_ = true;
    return CURL_SOCKET_BAD;
  }
  return ::socket(to->family, to->socktype | SOCK_CLOEXEC, to->protocol);
}

result<void> guarded_request::set_options(CURL* easy, curl_slist* lines, const parts& what) {
  bool is_set = true;
  const auto set = [&](CURLoption option, auto value) {
    is_set = is_set && curl().easy_setopt(easy, option, value) == CURLE_OK;
  };
  set(CURLOPT_URL, what.url.c_str());
  set(CURLOPT_PROTOCOLS_STR, under_.schemes);
  set(CURLOPT_FOLLOWLOCATION, 0L);
  set(CURLOPT_SSL_VERIFYPEER, 1L);
  set(CURLOPT_SSL_VERIFYHOST, 2L);
  is_set = is_set &&
           use_identity(easy, {under_.authorities, under_.certificate, under_.key.empty() ? under_.certificate : under_.key});
  set(CURLOPT_HTTPHEADER, lines);
  if (what.body) {
    set(CURLOPT_POST, 1L);
    set(CURLOPT_POSTFIELDS, what.body->data());
    set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(what.body->size()));
  }
  set(CURLOPT_NOSIGNAL, 1L);
  set(CURLOPT_QUICK_EXIT, 1L);
  set(CURLOPT_BUFFERSIZE, window_bytes);
  set(CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(under_.connect_time.count()));
  if (!under_.uses_environment || !under_.proxy.empty()) {
    set(CURLOPT_PROXY, under_.proxy.c_str());
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
  if (!is_set) return cannot(errc::source_unavailable, what.url, "libcurl rejected an option or is out of memory");
  return {};
}

result<void> guarded_request::perform(const parts& what) {
  HONDANA_TRY(loaded_curl());
  // The multi handle must be destroyed last, after the easy handle is removed from it.
  const std::unique_ptr<CURLM, multi_deleter> multi(has_curl() ? curl().multi_init() : nullptr);
  const std::unique_ptr<CURL, easy_deleter> easy(multi ? curl().easy_init() : nullptr);
  const auto lines = header_lines_of(what.header_lines);
  if (!easy || !lines) return cannot(errc::source_unavailable, what.url, "libcurl cannot be started");
  head_ = {};
  is_refused_ = false;
  error_text_[0] = '\0';
  HONDANA_TRY(set_options(easy.get(), lines.get(), what));
  if (curl().multi_add_handle(multi.get(), easy.get()) != CURLM_OK)
    return cannot(errc::source_unavailable, what.url, "libcurl accepts no requests");
  const std::stop_callback wake(stop_, [&] { curl().multi_wakeup(multi.get()); });
  auto outcome = wait_for(multi.get(), what.url);
  curl().multi_remove_handle(multi.get(), easy.get());
  return outcome;
}

result<void> guarded_request::wait_for(CURLM* multi, const std::string& url) {
  for (;;) {
    int running = 0;
    curl().multi_perform(multi, &running);
    int left = 0;
    if (const auto* message = curl().multi_info_read(multi, &left))
      return judge(message->easy_handle, message->data.result, url);
    if (stop_.stop_requested()) return cannot(errc::cancelled, url, "it was cancelled");
    const auto end = (under_.is_for_each_wait ? last_sign_ : begin_) + under_.time;
    const auto rest = std::chrono::ceil<std::chrono::milliseconds>(end - clock::now());
    if (rest.count() <= 0)
      return cannot(errc::timed_out, url, "no complete answer within " + std::to_string(under_.time.count()) + " ms");
    curl().multi_poll(multi, nullptr, 0,
                      monotonic_clock::poll_timeout(std::min<std::chrono::milliseconds::rep>(rest.count(), 60'000)), nullptr);
  }
}

result<void> guarded_request::judge(CURL* easy, CURLcode how, const std::string& url) const {
  const std::string why = error_text_[0] != '\0' ? error_text_.c_str() : curl().easy_strerror(how);
  if (is_head_too_long_ || (!head_.is_complete() && has_too_long_line(easy, how)))
    return cannot(errc::broken_protocol, url, "its header fields are larger than 64 KiB");
  // A write error here means that the callback wants no more data.
  if (head_.is_complete() && (how == CURLE_OK || how == CURLE_WRITE_ERROR)) return {};
  if (is_refused_ && !head_.is_complete()) return cannot(errc::access_denied, url, under_.refusal);
  if (speaks_no_tls(how, why))
    return cannot(errc::source_unavailable, url, "the server does not speak TLS; check the port (" + why + ")");
  switch (how) {
    case CURLE_OPERATION_TIMEDOUT:
      return cannot(errc::timed_out, url, "no connection within " + std::to_string(under_.connect_time.count()) + " ms");
    case CURLE_UNSUPPORTED_PROTOCOL:
    case CURLE_WEIRD_SERVER_REPLY:
      return cannot(errc::broken_protocol, url, why);
    default:
      return cannot(errc::source_unavailable, url, why);
  }
}

}  // namespace hondana::transport::http_client

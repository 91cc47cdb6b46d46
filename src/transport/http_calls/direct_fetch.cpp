/// One GET to the open Internet, hop by hop.
#include "transport/http_calls/direct_fetch.hpp"

#include <arpa/inet.h>
#include <curl/curl.h>
#include <netinet/in.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <hondana/uri.hpp>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "transport/http_calls/checked_target.hpp"
#include "transport/http_calls/failed_transfer.hpp"
#include "transport/http_calls/loop.hpp"
#include "transport/http_calls/public_address.hpp"
#include "transport/http_calls/response_head.hpp"

namespace hondana::transport::http_calls {
namespace {

using clock = std::chrono::steady_clock;

constexpr int max_hops = 5;
constexpr long window_bytes = 64L << 10;

struct easy_deleter {
  void operator()(CURL* handle) const noexcept { curl_easy_cleanup(handle); }
};
struct multi_deleter {
  void operator()(CURLM* handle) const noexcept { curl_multi_cleanup(handle); }
};

tl::unexpected<failure> not_fetched(errc code, const std::string& url, const std::string& why) {
  return fail(code, "cannot fetch " + shown(url) + ": " + why);
}

/// What the host of an origin says by itself: a literal address that is not public, or a name of this machine.
bool leads_home(std::string_view origin) {
  auto host = origin.substr(origin.find("://") + 3);
  host = host.substr(0, host.rfind(':'));
  while (host.ends_with('.')) host.remove_suffix(1);
  if (host == "localhost" || host.ends_with(".localhost")) return true;
  if (host.starts_with('[')) {
    std::array<std::uint8_t, 16> bytes{};
    const std::string literal(host.substr(1, host.find_first_of("]%") - 1));
    return ::inet_pton(AF_INET6, literal.c_str(), bytes.data()) != 1 || !is_public_ipv6(bytes);
  }
  in_addr bytes{};
  return ::inet_pton(AF_INET, std::string(host).c_str(), &bytes) == 1 && !is_public_ipv4(ntohl(bytes.s_addr));
}

/// One GET after another, until there is one that is no redirect.
class direct_fetch {
 public:
  direct_fetch(const fetch_limits& most, const channel::content_sink& sink, const std::stop_token& stop,
               const fetch_world& world)
      : most_(most), sink_(sink), stop_(stop), world_(world) {}

  result<fetched> run(const std::string& url);

 private:
  result<void> check_url(const std::string& url) const;
  result<void> set_options(CURL* easy);
  result<void> perform();
  result<void> wait_for(CURLM* multi);
  result<void> judge(CURL* easy, CURLcode how) const;
  result<void> judge_status() const;
  [[nodiscard]] std::optional<std::string> next_hop() const;
  void touch() { last_sign_ = clock::now(); }

  static std::size_t on_header(char* bytes, std::size_t one, std::size_t size, void* self) noexcept;
  static std::size_t on_body(char* bytes, std::size_t one, std::size_t size, void* self) noexcept;
  static curl_socket_t open_socket(void* self, curlsocktype, curl_sockaddr* to) noexcept;
  bool take_body(std::string_view bytes);

  const fetch_limits& most_;
  const channel::content_sink& sink_;
  const std::stop_token& stop_;
  const fetch_world& world_;
  const clock::time_point begin_ = clock::now();
  clock::time_point last_sign_ = begin_;
  fetched out_{};
  head_reader head_{};
  std::string error_text_ = std::string(CURL_ERROR_SIZE, '\0');
  bool is_refused_ = false;  // an address
  bool is_head_too_long_ = false;
  std::optional<failure> stopped_;  // by ourselves
};

std::size_t direct_fetch::on_header(char* bytes, std::size_t one, std::size_t size, void* self) noexcept {
  auto& fetch = *static_cast<direct_fetch*>(self);
  fetch.touch();
  fetch.is_head_too_long_ = fetch.head_.take({bytes, one * size}) == head_reader::state::too_long;
  return fetch.is_head_too_long_ ? CURL_WRITEFUNC_ERROR : one * size;
}

std::size_t direct_fetch::on_body(char* bytes, std::size_t one, std::size_t size, void* self) noexcept {
  auto& fetch = *static_cast<direct_fetch*>(self);
  fetch.touch();
  return fetch.take_body({bytes, one * size}) ? one * size : CURL_WRITEFUNC_ERROR;
}

/// Checked here and not before, so that a name that leads elsewhere the second time gains nothing.
curl_socket_t direct_fetch::open_socket(void* self, curlsocktype, curl_sockaddr* to) noexcept {
  auto& fetch = *static_cast<direct_fetch*>(self);
  const bool is_admitted =
      !fetch.most_.proxy.empty() || (fetch.world_.admits ? fetch.world_.admits(to->addr) : is_public(to->addr));
  if (!is_admitted) {
    fetch.is_refused_ = true;
    return CURL_SOCKET_BAD;
  }
  return ::socket(to->family, to->socktype | SOCK_CLOEXEC, to->protocol);
}

bool direct_fetch::take_body(std::string_view bytes) {
  // Of redirects and errors nobody reads the body.
  if (!judge_status()) return false;
  out_.size += bytes.size();
  if (out_.size > most_.bytes) {
    stopped_ = failure{
        errc::response_too_large,
        "cannot fetch " + shown(out_.url) + ": it is longer than the limit of " + std::to_string(most_.bytes) + " bytes",
        {},
        nullptr};
    return false;
  }
  if (!sink_) {
    out_.bytes += bytes;
    return true;
  }
  if (auto taken = sink_(0, bytes); !taken) {
    stopped_ = std::move(taken.error());
    return false;
  }
  return true;
}

result<void> direct_fetch::check_url(const std::string& url) const {
  const auto origin = origin_of(url);
  if (!origin || !origin->starts_with("https://"))
    return not_fetched(errc::invalid_argument, url, "only https: URLs are fetched directly");
  if (has_credentials(url))
    return not_fetched(errc::invalid_argument, url, "URLs with a user name or password are not fetched");
  if (most_.proxy.empty() || !leads_home(*origin)) return {};
  return not_fetched(errc::access_denied, url,
                     "it leads to this machine or a private network, which is never read from directly");
}

result<void> direct_fetch::set_options(CURL* easy) {
  bool is_set = true;
  const auto set = [&](CURLoption option, auto value) { is_set = is_set && curl_easy_setopt(easy, option, value) == CURLE_OK; };
  set(CURLOPT_URL, out_.url.c_str());
  set(CURLOPT_PROTOCOLS_STR, "https");
  set(CURLOPT_FOLLOWLOCATION, 0L);
  set(CURLOPT_SSL_VERIFYPEER, 1L);
  set(CURLOPT_SSL_VERIFYHOST, 2L);
  if (!world_.authorities.empty()) {
    set(CURLOPT_CAINFO, world_.authorities.c_str());
    set(CURLOPT_CAPATH, static_cast<const char*>(nullptr));
  }
  set(CURLOPT_NOSIGNAL, 1L);
  set(CURLOPT_QUICK_EXIT, 1L);
  set(CURLOPT_BUFFERSIZE, window_bytes);
  set(CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(most_.connect_time.count()));
  set(CURLOPT_PROXY, most_.proxy.c_str());
  set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
  set(CURLOPT_USERAGENT, "hondana/" HONDANA_VERSION);
  set(CURLOPT_ERRORBUFFER, error_text_.data());
  set(CURLOPT_OPENSOCKETFUNCTION, &direct_fetch::open_socket);
  set(CURLOPT_OPENSOCKETDATA, static_cast<void*>(this));
  set(CURLOPT_HEADERFUNCTION, &direct_fetch::on_header);
  set(CURLOPT_HEADERDATA, static_cast<void*>(this));
  set(CURLOPT_WRITEFUNCTION, &direct_fetch::on_body);
  set(CURLOPT_WRITEDATA, static_cast<void*>(this));
  if (!is_set) return not_fetched(errc::source_unavailable, out_.url, "the HTTP library refuses an option or has no memory");
  return {};
}

result<void> direct_fetch::perform() {
  // The multi handle goes last: the other one must have left it.
  const std::unique_ptr<CURLM, multi_deleter> multi(has_curl() ? curl_multi_init() : nullptr);
  const std::unique_ptr<CURL, easy_deleter> easy(multi ? curl_easy_init() : nullptr);
  if (!easy) return not_fetched(errc::source_unavailable, out_.url, "the HTTP library cannot be started");
  head_ = {};
  error_text_[0] = '\0';
  if (auto set = set_options(easy.get()); !set) return set;
  if (curl_multi_add_handle(multi.get(), easy.get()) != CURLM_OK)
    return not_fetched(errc::source_unavailable, out_.url, "the HTTP library takes no requests");
  const std::stop_callback wake(stop_, [&] { curl_multi_wakeup(multi.get()); });
  auto outcome = wait_for(multi.get());
  curl_multi_remove_handle(multi.get(), easy.get());
  return outcome;
}

result<void> direct_fetch::wait_for(CURLM* multi) {
  for (;;) {
    int running = 0;
    curl_multi_perform(multi, &running);
    int left = 0;
    if (const auto* message = curl_multi_info_read(multi, &left)) return judge(message->easy_handle, message->data.result);
    if (stop_.stop_requested()) return not_fetched(errc::cancelled, out_.url, "it was cancelled");
    const auto end = (sink_ ? last_sign_ : begin_) + most_.time;
    const auto rest = std::chrono::ceil<std::chrono::milliseconds>(end - clock::now());
    if (rest.count() <= 0)
      return not_fetched(errc::timed_out, out_.url, "no end within " + std::to_string(most_.time.count()) + " ms");
    curl_multi_poll(multi, nullptr, 0, static_cast<int>(std::min<std::chrono::milliseconds::rep>(rest.count(), 60'000)),
                    nullptr);
  }
}

result<void> direct_fetch::judge(CURL* easy, CURLcode how) const {
  const std::string why = error_text_[0] != '\0' ? error_text_.c_str() : curl_easy_strerror(how);
  if (stopped_) return tl::unexpected(*stopped_);
  if (is_head_too_long_ || (!head_.is_complete() && has_too_long_line(easy, how)))
    return not_fetched(errc::broken_protocol, out_.url, "its header fields have more than 64 KiB");
  if (head_.is_complete() && (how == CURLE_OK || how == CURLE_WRITE_ERROR)) return {};
  if (is_refused_ && !head_.is_complete())
    return not_fetched(errc::access_denied, out_.url,
                       "it leads to this machine or a private network, which is never read from directly");
  if (speaks_no_tls(how, why))
    return not_fetched(errc::source_unavailable, out_.url, "the server does not speak TLS; check the port (" + why + ")");
  switch (how) {
    case CURLE_OPERATION_TIMEDOUT:
      return not_fetched(errc::timed_out, out_.url,
                         "no connection within " + std::to_string(most_.connect_time.count()) + " ms");
    case CURLE_UNSUPPORTED_PROTOCOL:
    case CURLE_WEIRD_SERVER_REPLY:
      return not_fetched(errc::broken_protocol, out_.url, why);
    default:
      return not_fetched(errc::source_unavailable, out_.url, why);
  }
}

std::optional<std::string> direct_fetch::next_hop() const {
  const auto& head = head_.head();
  switch (head.status) {
    case 301:
    case 302:
    case 303:
    case 307:
    case 308:
      break;
    default:
      return std::nullopt;
  }
  return head.location.empty() ? std::nullopt : resolved(out_.url, head.location);
}

result<void> direct_fetch::judge_status() const {
  const auto& head = head_.head();
  const auto answered = "the server answered " + std::to_string(head.status);
  switch (head.status) {
    case 200:
      break;
    case 401:
    case 403:
      return not_fetched(errc::unauthorized, out_.url, answered + ", and nothing that says who asks is ever sent there");
    case 404:
    case 410:
      return not_fetched(errc::resource_not_found, out_.url, answered);
    default:
      return not_fetched(head.status == 429 || head.status >= 500 ? errc::source_unavailable : errc::broken_protocol, out_.url,
                         answered);
  }
  if (!head.content_encoding.empty() && head.content_encoding != "identity")
    return not_fetched(errc::broken_protocol, out_.url,
                       "it is compressed (" + shown(head.content_encoding) + "), which was not asked for");
  return {};
}

result<fetched> direct_fetch::run(const std::string& url) {
  out_.url = url;
  for (int hop = 0; hop <= max_hops; ++hop) {
    if (auto fine = check_url(out_.url); !fine) return tl::unexpected(std::move(fine.error()));
    if (auto done = perform(); !done) return tl::unexpected(std::move(done.error()));
    if (auto next = next_hop()) {
      out_.url = std::move(*next);
      continue;
    }
    if (auto fine = judge_status(); !fine) return tl::unexpected(std::move(fine.error()));
    out_.content_type = head_.head().content_type;
    out_.media_type = head_.head().media_type();
    out_.charset = head_.head().charset();
    return std::move(out_);
  }
  return not_fetched(errc::broken_protocol, url, "it redirects more than " + std::to_string(max_hops) + " times");
}

}  // namespace

result<fetched> fetch_directly(const std::string& url, const fetch_limits& most, const channel::content_sink& sink,
                               const std::stop_token& stop) {
  return fetch_directly(url, most, sink, stop, {});
}

result<fetched> fetch_directly(const std::string& url, const fetch_limits& most, const channel::content_sink& sink,
                               const std::stop_token& stop, const fetch_world& world) {
  return direct_fetch(most, sink, stop, world).run(url);
}

}  // namespace hondana::transport::http_calls

/// One connection to a service: its requests, and compressed bodies.
#include "transport/endpoint/endpoint_connection.hpp"

#include <dlfcn.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <mutex>
#include <type_traits>

#include <hondana/clock.hpp>

#include "transport/http_client/checked_target.hpp"
#include "transport/http_client/curl.hpp"
#include "transport/http_client/transfer_loop.hpp"

namespace hondana::endpoint {
namespace {

struct zlib_library {
  decltype(&::inflateInit2_) init = nullptr;
  decltype(&::inflate) go_on = nullptr;
  decltype(&::inflateReset) reset = nullptr;
  decltype(&::inflateEnd) end = nullptr;
};

/// Null if zlib is not installed. Never unloaded. Threads: any.
const zlib_library* loaded_zlib() {
  static const zlib_library known = [] {
    zlib_library out{};
    void* const handle = ::dlopen("libz.so.1", RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) return out;
    const auto find = [handle](auto& into, const char* function) {
      into = reinterpret_cast<std::remove_reference_t<decltype(into)>>(::dlsym(handle, function));
    };
    find(out.init, "inflateInit2_");
    find(out.go_on, "inflate");
    find(out.reset, "inflateReset");
    find(out.end, "inflateEnd");
    return out;
  }();
  return known.init != nullptr && known.go_on != nullptr && known.reset != nullptr && known.end != nullptr ? &known : nullptr;
}

constexpr int gzip_only = 15 + 16;  // the largest window, gzip format only
constexpr std::size_t unpacked_window = 64u << 10;

}  // namespace

struct unpacker::state {
  z_stream stream{};
  std::array<char, unpacked_window> window{};
  bool is_ready = false;
  bool is_between = true;  // between two gzip members
};

unpacker::unpacker() : state_(std::make_unique<state>()) {
  const auto* const zlib = loaded_zlib();
  state_->is_ready =
      zlib != nullptr && zlib->init(&state_->stream, gzip_only, ZLIB_VERSION, static_cast<int>(sizeof(z_stream))) == Z_OK;
}

unpacker::~unpacker() {
  if (state_->is_ready) loaded_zlib()->end(&state_->stream);
}

bool unpacker::is_whole() const noexcept { return state_->is_between; }

result<bool> unpacker::take(std::string_view packed, const taker& to) {
  if (!state_->is_ready)
    return fail(errc::source_unavailable, "its answer is compressed, but memory is short or zlib (libz.so.1) is missing");
  const auto& zlib = *loaded_zlib();
  auto& stream = state_->stream;
  while (!packed.empty()) {
    if (state_->is_between && zlib.reset(&stream) != Z_OK)
      return fail(errc::broken_protocol, "its answer cannot be decompressed");
    state_->is_between = false;
    const auto piece = std::min<std::size_t>(packed.size(), std::numeric_limits<uInt>::max());
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
    stream.avail_in = static_cast<uInt>(piece);
    do {
      stream.next_out = reinterpret_cast<Bytef*>(state_->window.data());
      stream.avail_out = static_cast<uInt>(state_->window.size());
      const int how = zlib.go_on(&stream, Z_NO_FLUSH);
      if (how == Z_MEM_ERROR) return fail(errc::source_unavailable, "not enough memory to decompress its answer");
      if (how != Z_OK && how != Z_STREAM_END && how != Z_BUF_ERROR)
        return fail(errc::broken_protocol, "its answer is not valid gzip");
      const auto made = state_->window.size() - stream.avail_out;
      if (made > 0 && !to({state_->window.data(), made})) return false;
      state_->is_between = how == Z_STREAM_END;
      if (how == Z_BUF_ERROR) break;
    } while (!state_->is_between && (stream.avail_in > 0 || stream.avail_out == 0));
    packed.remove_prefix(piece - stream.avail_in);
  }
  return true;
}

namespace {

using transport::http_client::curl;
using transport::http_client::head_reader;

constexpr std::chrono::milliseconds longest_poll{60'000};

}  // namespace

tl::unexpected<failure> cannot_ask(errc code, const std::string& origin, std::string_view why, std::string private_text) {
  return fail(code, "cannot call " + origin + ": " + std::string(why), std::move(private_text));
}

std::unique_ptr<connection> connection::make() {
  if (!transport::http_client::has_curl()) return {};
  CURLM* const multi = curl().multi_init();
  CURL* const easy = multi != nullptr ? curl().easy_init() : nullptr;
  if (easy != nullptr) return std::unique_ptr<connection>(new connection(multi, easy));
  if (multi != nullptr) curl().multi_cleanup(multi);
  return {};
}

connection::~connection() {
  curl().easy_cleanup(easy_);
  curl().multi_cleanup(multi_);
}

std::size_t connection::on_header(char* bytes, std::size_t one, std::size_t size, void* self) noexcept {
  auto& it = *static_cast<connection*>(self);
  const bool was_complete = it.head_.is_complete();
  it.is_head_too_long_ = it.head_.take({bytes, one * size}) == head_reader::state::too_long;
  if (!was_complete && it.head_.is_complete()) it.since_ = clock::now();
  return it.is_head_too_long_ ? CURL_WRITEFUNC_ERROR : one * size;
}

std::size_t connection::on_body(char* bytes, std::size_t one, std::size_t size, void* self) noexcept {
  auto& it = *static_cast<connection*>(self);
  const auto before = clock::now();
  it.come_ += one * size;
  it.is_enough_ = !(*it.hears_)(it.head_.head(), {bytes, one * size});
  it.since_ += clock::now() - before;
  return it.is_enough_ ? CURL_WRITEFUNC_ERROR : one * size;
}

curl_socket_t connection::open_socket(void* self, curlsocktype, curl_sockaddr* to) noexcept {
  auto& it = *static_cast<connection*>(self);
  if (to->family != AF_UNIX && !it.on_->admits(to->addr)) {
    it.is_refused_ = true;
    return CURL_SOCKET_BAD;
  }
  return ::socket(to->family, to->socktype | SOCK_CLOEXEC, to->protocol);
}

bool connection::set_options(const ground& on, const message& what, curl_slist* lines, clock::time_point until) {
  bool is_set = true;
  const auto set = [&](CURLoption option, auto value) {
    is_set = is_set && curl().easy_setopt(easy_, option, value) == CURLE_OK;
  };
  curl().easy_reset(easy_);
  set(CURLOPT_URL, what.url.c_str());
  set(CURLOPT_PROTOCOLS_STR, "http,https");
  set(CURLOPT_FOLLOWLOCATION, 0L);
  set(CURLOPT_SSL_VERIFYPEER, 1L);
  set(CURLOPT_SSL_VERIFYHOST, 2L);
  is_set = is_set && transport::http_client::use_identity(easy_, on.target.ours);
  set(CURLOPT_HTTPHEADER, lines);
  set(CURLOPT_HTTP_CONTENT_DECODING, 0L);
  if (!what.user.empty()) {
    set(CURLOPT_HTTPAUTH, static_cast<long>(CURLAUTH_BASIC));
    set(CURLOPT_USERNAME, what.user.c_str());
    set(CURLOPT_PASSWORD, what.password.c_str());
  }
  if (what.body) {
    set(CURLOPT_POST, 1L);
    set(CURLOPT_POSTFIELDS, what.body->data());
    set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(what.body->size()));
  }
  set(CURLOPT_NOSIGNAL, 1L);
  set(CURLOPT_QUICK_EXIT, 1L);
  const auto rest = std::chrono::ceil<std::chrono::milliseconds>(until - clock::now());
  set(CURLOPT_CONNECTTIMEOUT_MS,
      static_cast<long>(
          std::clamp<std::chrono::milliseconds>(rest, std::chrono::milliseconds(1), on.target.connect_time).count()));
  if (!on.target.socket.empty()) set(CURLOPT_UNIX_SOCKET_PATH, on.target.socket.c_str());
  if (on.target.proxy) {
    set(CURLOPT_PROXY, on.target.proxy->c_str());
    set(CURLOPT_NOPROXY, "");
  }
  set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
  set(CURLOPT_USERAGENT, "hondana/" HONDANA_VERSION);
  set(CURLOPT_ERRORBUFFER, error_text_.data());
  set(CURLOPT_OPENSOCKETFUNCTION, &connection::open_socket);
  set(CURLOPT_OPENSOCKETDATA, static_cast<void*>(this));
  set(CURLOPT_HEADERFUNCTION, &connection::on_header);
  set(CURLOPT_HEADERDATA, static_cast<void*>(this));
  set(CURLOPT_WRITEFUNCTION, &connection::on_body);
  set(CURLOPT_WRITEDATA, static_cast<void*>(this));
  return is_set;
}

result<connection::head> connection::perform(const ground& on, const message& what, const body_hearer& hears,
                                             clock::time_point until, const std::stop_token& stop) {
  on_ = &on;
  hears_ = &hears;
  head_ = {};
  is_refused_ = is_head_too_long_ = is_enough_ = false;
  error_text_[0] = '\0';
  speed_ = what.speed;
  since_ = clock::now();
  come_ = 0;
  const auto lines = transport::http_client::header_lines_of(what.header_lines);
  if (!lines || !set_options(on, what, lines.get(), until) || curl().multi_add_handle(multi_, easy_) != CURLM_OK)
    return cannot_ask(errc::source_unavailable, on.target.origin, "libcurl rejected an option or is out of memory");
  result<void> outcome{};
  {
    const std::stop_callback wake(stop, [this] { curl().multi_wakeup(multi_); });
    outcome = wait_for_end(on, until, stop);
  }
  curl().multi_remove_handle(multi_, easy_);
  if (!outcome) return tl::unexpected(std::move(outcome.error()));
  return head_.head();
}

result<void> connection::wait_for_end(const ground& on, clock::time_point until, const std::stop_token& stop) {
  for (;;) {
    // Check this first: a cancelled request must not start.
    if (stop.stop_requested()) return cannot_ask(errc::cancelled, on.target.origin, "it was cancelled");
    int running = 0;
    curl().multi_perform(multi_, &running);
    int left = 0;
    if (const auto* ended = curl().multi_info_read(multi_, &left)) return judge(on, ended->data.result);
    HONDANA_TRY(const auto next, look_at_pace(on, until));
    const auto rest = std::max(std::chrono::ceil<std::chrono::milliseconds>(next - clock::now()), std::chrono::milliseconds(1));
    curl().multi_poll(multi_, nullptr, 0, monotonic_clock::poll_timeout(std::min(rest, longest_poll).count()), nullptr);
  }
}

result<connection::clock::time_point> connection::look_at_pace(const ground& on, clock::time_point until) {
  const auto now = clock::now();
  const bool is_begun = head_.is_complete();
  if (now >= until || (!is_begun && speed_.head.count() > 0 && now >= since_ + speed_.head))
    return cannot_ask(errc::timed_out, on.target.origin,
                      is_begun ? "its answer did not end within the timeout" : "no answer within the timeout");
  if (!is_begun) return speed_.head.count() > 0 ? std::min(until, since_ + speed_.head) : until;
  if (speed_.bytes == 0 || speed_.time.count() <= 0) return until;
  if (now >= since_ + speed_.time) {
    if (come_ < speed_.bytes)
      return cannot_ask(errc::timed_out, on.target.origin,
                        "its answer stalled: fewer than " + std::to_string(speed_.bytes) + " bytes arrived in " +
                            std::to_string(speed_.time.count()) + " ms");
    since_ = now;
    come_ = 0;
  }
  return std::min(until, since_ + speed_.time);
}

result<void> connection::judge(const ground& on, CURLcode how) const {
  if (how == CURLE_OK || is_enough_) return {};
  const std::string said = error_text_[0] != '\0' ? error_text_.c_str() : curl().easy_strerror(how);
  const auto cannot = [&](errc code, std::string_view why) { return cannot_ask(code, on.target.origin, why, said); };
  if (is_head_too_long_ || (!head_.is_complete() && transport::http_client::has_too_long_line(easy_, how)))
    return cannot(errc::broken_protocol, "its header fields are larger than 64 KiB");
  if (is_refused_ && !head_.is_complete()) return cannot(errc::access_denied, on.refusal);
  if (transport::http_client::speaks_no_tls(how, said))
    return cannot(errc::source_unavailable, "it does not speak TLS; check the port");
  switch (how) {
    case CURLE_OPERATION_TIMEDOUT:
      return cannot(errc::timed_out, "no connection within the timeout");
    case CURLE_COULDNT_RESOLVE_HOST:
      return cannot(errc::source_unavailable, "unknown host name");
    case CURLE_COULDNT_RESOLVE_PROXY:
      return cannot(errc::source_unavailable, "unknown host name of the proxy");
    case CURLE_COULDNT_CONNECT: {
      long number = 0;
      curl().easy_getinfo(easy_, CURLINFO_OS_ERRNO, &number);
      const auto why = number != 0 ? std::strerror(static_cast<int>(number)) : "nothing answers";
      return cannot(errc::source_unavailable, std::string("no connection (") + why + "); is it running?");
    }
    case CURLE_PEER_FAILED_VERIFICATION:
      return cannot(errc::source_unavailable,
                    "its certificate is not trusted, or is for another host name; set authorities to a file with its issuer's "
                    "certificate");
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_ISSUER_ERROR:
      return cannot(errc::source_unavailable, "the file of trusted authorities cannot be read");
    case CURLE_SSL_CERTPROBLEM:
      return cannot(errc::source_unavailable, "the client certificate or its key cannot be used");
    case CURLE_SSL_CONNECT_ERROR:
      return cannot(errc::source_unavailable, "the TLS handshake failed; the server may require a client certificate");
    case CURLE_PARTIAL_FILE:
      return cannot(errc::broken_protocol, "its answer is incomplete");
    case CURLE_GOT_NOTHING:
      return cannot(errc::source_unavailable, "it closed the connection without an answer");
    case CURLE_SEND_ERROR:
    case CURLE_RECV_ERROR:
      return cannot(errc::source_unavailable, on.target.origin.starts_with("https:")
                                                  ? "the connection broke, or the server rejected the client certificate"
                                                  : "the connection broke; check that the right server listens there");
    case CURLE_OUT_OF_MEMORY:
      return cannot(errc::source_unavailable, "out of memory");
    case CURLE_UNSUPPORTED_PROTOCOL:
    case CURLE_WEIRD_SERVER_REPLY:
      return cannot(errc::broken_protocol, "its answer is not HTTP");
    default:
      return cannot(errc::source_unavailable, curl().easy_strerror(how));
  }
}

}  // namespace hondana::endpoint

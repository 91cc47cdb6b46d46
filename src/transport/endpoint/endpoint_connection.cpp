/// Sends requests over one connection to a service, and decompresses bodies.
#include "transport/endpoint/endpoint_connection.hpp"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>

#include <hondana/clock.hpp>

#include "transport/http_client/checked_target.hpp"
#include "transport/http_client/curl.hpp"
#include "transport/http_client/transfer_loop.hpp"

namespace hondana::endpoint {
namespace {

constexpr int gzip_window_bits = 15 + 16;  // the largest window, gzip format only
constexpr std::size_t window_bytes = 64u << 10;

}  // namespace

struct gzip_decoder::state {
  z_stream stream{};
  std::array<char, window_bytes> window{};
  bool is_ready = false;
  bool is_between_members = true;  // between two gzip members
};

gzip_decoder::gzip_decoder() : state_(std::make_unique<state>()) {
  state_->is_ready = ::inflateInit2(&state_->stream, gzip_window_bits) == Z_OK;
}

gzip_decoder::~gzip_decoder() {
  if (state_->is_ready) ::inflateEnd(&state_->stream);
}

bool gzip_decoder::is_complete() const noexcept { return state_->is_between_members; }

result<bool> gzip_decoder::decode(std::string_view compressed, const output_callback& on_output) {
  if (!state_->is_ready) return fail(errc::source_unavailable, "not enough memory to decompress its answer");
  auto& stream = state_->stream;
  while (!compressed.empty()) {
    if (state_->is_between_members && ::inflateReset(&stream) != Z_OK)
      return fail(errc::protocol_error, "its answer cannot be decompressed");
    state_->is_between_members = false;
    const auto piece = std::min<std::size_t>(compressed.size(), std::numeric_limits<uInt>::max());
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(compressed.data()));
    stream.avail_in = static_cast<uInt>(piece);
    do {
      stream.next_out = reinterpret_cast<Bytef*>(state_->window.data());
      stream.avail_out = static_cast<uInt>(state_->window.size());
      const int status = ::inflate(&stream, Z_NO_FLUSH);
      if (status == Z_MEM_ERROR) return fail(errc::source_unavailable, "not enough memory to decompress its answer");
      if (status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR)
        return fail(errc::protocol_error, "its answer is not valid gzip");
      const auto produced = state_->window.size() - stream.avail_out;
      if (produced > 0 && !on_output({state_->window.data(), produced})) return false;
      state_->is_between_members = status == Z_STREAM_END;
      if (status == Z_BUF_ERROR) break;
    } while (!state_->is_between_members && (stream.avail_in > 0 || stream.avail_out == 0));
    compressed.remove_prefix(piece - stream.avail_in);
  }
  return true;
}

namespace {

using transport::http_client::curl;
using transport::http_client::head_reader;

constexpr std::chrono::milliseconds max_poll_time{60'000};

}  // namespace

tl::unexpected<failure> cannot_call(errc code, const std::string& origin, std::string_view reason, std::string private_text) {
  return fail(code, "cannot call " + origin + ": " + std::string(reason), std::move(private_text));
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

std::size_t connection::on_header(char* bytes, std::size_t item_size, std::size_t item_count, void* user_data) noexcept {
  auto& owner = *static_cast<connection*>(user_data);
  const bool was_complete = owner.head_.is_complete();
  owner.is_head_too_long_ = owner.head_.feed({bytes, item_size * item_count}) == head_reader::state::too_long;
  if (!was_complete && owner.head_.is_complete()) owner.interval_start_ = clock::now();
  return owner.is_head_too_long_ ? CURL_WRITEFUNC_ERROR : item_size * item_count;
}

std::size_t connection::on_body(char* bytes, std::size_t item_size, std::size_t item_count, void* user_data) noexcept {
  auto& owner = *static_cast<connection*>(user_data);
  const auto start = clock::now();
  owner.interval_bytes_ += item_size * item_count;
  owner.is_stopped_ = !(*owner.callback_)(owner.head_.head(), {bytes, item_size * item_count});
  owner.interval_start_ += clock::now() - start;
  return owner.is_stopped_ ? CURL_WRITEFUNC_ERROR : item_size * item_count;
}

curl_socket_t connection::open_socket(void* user_data, curlsocktype, curl_sockaddr* address) noexcept {
  auto& owner = *static_cast<connection*>(user_data);
  if (address->family != AF_UNIX && !owner.context_->allows_address(address->addr)) {
    owner.is_rejected_ = true;
    return CURL_SOCKET_BAD;
  }
  return ::socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

bool connection::set_options(const connection_context& context, const message& message, curl_slist* lines,
                             clock::time_point deadline) {
  bool is_set = true;
  const auto set = [&](CURLoption option, auto value) {
    is_set = is_set && curl().easy_setopt(easy_, option, value) == CURLE_OK;
  };
  curl().easy_reset(easy_);
  set(CURLOPT_URL, message.url.c_str());
  set(CURLOPT_PROTOCOLS_STR, "http,https");
  set(CURLOPT_FOLLOWLOCATION, 0L);
  set(CURLOPT_SSL_VERIFYPEER, 1L);
  set(CURLOPT_SSL_VERIFYHOST, 2L);
  is_set = is_set && transport::http_client::apply_tls_files(easy_, context.target.tls);
  set(CURLOPT_HTTPHEADER, lines);
  set(CURLOPT_HTTP_CONTENT_DECODING, 0L);
  if (!message.user.empty()) {
    set(CURLOPT_HTTPAUTH, static_cast<long>(CURLAUTH_BASIC));
    set(CURLOPT_USERNAME, message.user.c_str());
    set(CURLOPT_PASSWORD, message.password.c_str());
  }
  if (message.body) {
    set(CURLOPT_POST, 1L);
    set(CURLOPT_POSTFIELDS, message.body->data());
    set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(message.body->size()));
  }
  set(CURLOPT_NOSIGNAL, 1L);
  set(CURLOPT_QUICK_EXIT, 1L);
  const auto remaining = std::chrono::ceil<std::chrono::milliseconds>(deadline - clock::now());
  set(CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(std::clamp<std::chrono::milliseconds>(
                                                       remaining, std::chrono::milliseconds(1), context.target.connect_timeout)
                                                       .count()));
  if (!context.target.socket_path.empty()) set(CURLOPT_UNIX_SOCKET_PATH, context.target.socket_path.c_str());
  if (context.target.proxy) {
    set(CURLOPT_PROXY, context.target.proxy->c_str());
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

result<connection::head> connection::perform(const connection_context& context, const message& message,
                                             const body_callback& callback, clock::time_point deadline,
                                             const std::stop_token& stop) {
  context_ = &context;
  callback_ = &callback;
  head_ = {};
  is_rejected_ = is_head_too_long_ = is_stopped_ = false;
  error_text_[0] = '\0';
  progress_ = message.progress;
  interval_start_ = clock::now();
  interval_bytes_ = 0;
  const auto lines = transport::http_client::make_header_lines(message.header_lines);
  if (!lines || !set_options(context, message, lines.get(), deadline) || curl().multi_add_handle(multi_, easy_) != CURLM_OK)
    return cannot_call(errc::source_unavailable, context.target.origin, "libcurl rejected an option or is out of memory");
  result<void> outcome{};
  {
    const std::stop_callback wake(stop, [this] { curl().multi_wakeup(multi_); });
    outcome = wait_for_end(context, deadline, stop);
  }
  curl().multi_remove_handle(multi_, easy_);
  if (!outcome) return tl::unexpected(std::move(outcome.error()));
  return head_.head();
}

result<void> connection::wait_for_end(const connection_context& context, clock::time_point deadline,
                                      const std::stop_token& stop) {
  for (;;) {
    // Check this first: a cancelled request must not start.
    if (stop.stop_requested()) return cannot_call(errc::cancelled, context.target.origin, "it was cancelled");
    int running = 0;
    curl().multi_perform(multi_, &running);
    int queued = 0;
    if (const auto* completion = curl().multi_info_read(multi_, &queued)) return to_result(context, completion->data.result);
    HONDANA_TRY(const auto next, check_progress(context, deadline));
    const auto remaining =
        std::max(std::chrono::ceil<std::chrono::milliseconds>(next - clock::now()), std::chrono::milliseconds(1));
    curl().multi_poll(multi_, nullptr, 0, monotonic_clock::poll_timeout(std::min(remaining, max_poll_time).count()), nullptr);
  }
}

result<connection::clock::time_point> connection::check_progress(const connection_context& context,
                                                                 clock::time_point deadline) {
  const auto now = clock::now();
  const bool has_head = head_.is_complete();
  if (now >= deadline ||
      (!has_head && progress_.header_timeout.count() > 0 && now >= interval_start_ + progress_.header_timeout))
    return cannot_call(errc::timed_out, context.target.origin,
                       has_head ? "its answer did not end within the timeout" : "no answer within the timeout");
  if (!has_head)
    return progress_.header_timeout.count() > 0 ? std::min(deadline, interval_start_ + progress_.header_timeout) : deadline;
  if (progress_.min_bytes == 0 || progress_.interval.count() <= 0) return deadline;
  if (now >= interval_start_ + progress_.interval) {
    if (interval_bytes_ < progress_.min_bytes)
      return cannot_call(errc::timed_out, context.target.origin,
                         "its answer stalled: fewer than " + std::to_string(progress_.min_bytes) + " bytes arrived in " +
                             std::to_string(progress_.interval.count()) + " ms");
    interval_start_ = now;
    interval_bytes_ = 0;
  }
  return std::min(deadline, interval_start_ + progress_.interval);
}

result<void> connection::to_result(const connection_context& context, CURLcode curl_code) const {
  if (curl_code == CURLE_OK || is_stopped_) return {};
  const std::string detail = error_text_[0] != '\0' ? error_text_.c_str() : curl().easy_strerror(curl_code);
  const auto cannot = [&](errc code, std::string_view reason) {
    return cannot_call(code, context.target.origin, reason, detail);
  };
  if (is_head_too_long_ || (!head_.is_complete() && transport::http_client::has_too_long_line(easy_, curl_code)))
    return cannot(errc::protocol_error, "its header fields are larger than 64 KiB");
  if (is_rejected_ && !head_.is_complete()) return cannot(errc::access_denied, context.rejection_reason);
  if (transport::http_client::is_not_tls(curl_code, detail))
    return cannot(errc::source_unavailable, "it does not speak TLS; check the port");
  switch (curl_code) {
    case CURLE_OPERATION_TIMEDOUT:
      return cannot(errc::timed_out, "no connection within the timeout");
    case CURLE_COULDNT_RESOLVE_HOST:
      return cannot(errc::source_unavailable, "unknown host name");
    case CURLE_COULDNT_RESOLVE_PROXY:
      return cannot(errc::source_unavailable, "unknown host name of the proxy");
    case CURLE_COULDNT_CONNECT: {
      long number = 0;
      curl().easy_getinfo(easy_, CURLINFO_OS_ERRNO, &number);
      const auto reason = number != 0 ? std::strerror(static_cast<int>(number)) : "nothing answers";
      return cannot(errc::source_unavailable, std::string("no connection (") + reason + "); is it running?");
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
      return cannot(errc::protocol_error, "its answer is incomplete");
    case CURLE_GOT_NOTHING:
      return cannot(errc::source_unavailable, "it closed the connection without an answer");
    case CURLE_SEND_ERROR:
    case CURLE_RECV_ERROR:
      return cannot(errc::source_unavailable, context.target.origin.starts_with("https:")
                                                  ? "the connection broke, or the server rejected the client certificate"
                                                  : "the connection broke; check that the right server listens there");
    case CURLE_OUT_OF_MEMORY:
      return cannot(errc::source_unavailable, "out of memory");
    case CURLE_UNSUPPORTED_PROTOCOL:
    case CURLE_WEIRD_SERVER_REPLY:
      return cannot(errc::protocol_error, "its answer is not HTTP");
    default:
      return cannot(errc::source_unavailable, curl().easy_strerror(curl_code));
  }
}

}  // namespace hondana::endpoint

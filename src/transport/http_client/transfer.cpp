/// One HTTP request and its answer, with redirects inside its origin and renewed tokens.
#include "transport/http_client/transfer.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "base/executor/thread_guards.hpp"
#include "transport/http_client/curl.hpp"
#include "transport/http_client/response_head.hpp"

namespace hondana::transport::http_client {
namespace {

/// How long to wait for a token source after a stop request. Then its thread is abandoned.
constexpr std::chrono::milliseconds time_to_stop{2'000};

}  // namespace

/// Link from the thread of a token source to its worker, which may be destroyed first.
struct token_worker::way_back {
  std::mutex mutex;
  token_worker* to;  // guarded by mutex
};

token_worker::token_worker(loop& within, std::shared_ptr<token_source> from)
    : loop_(within), from_(std::move(from)), back_(std::make_shared<way_back>()), pool_("the source of tokens", 1) {
  back_->to = this;
}

token_worker::~token_worker() {
  close();
  if (telling_) loop_.cancel(*telling_);
  {
    const std::lock_guard lock(back_->mutex);
    back_->to = nullptr;
  }
  pool_.close(executor::clock::now() + time_to_stop);
}

token_worker::name token_worker::obtain(refused_token why, hook over) {
  const auto as = ++last_;
  if (has_better(why)) {
    news_.push_back({as, std::move(over), {}});
    tell_soon();
    return as;
  }
  const auto same = std::find_if(errands_.begin(), errands_.end(), [&why](const errand& one) {
    return one.why.token == why.token && one.why.status == why.status && one.why.challenges == why.challenges &&
           !one.stop.stop_requested();
  });
  if (same != errands_.end()) {
    same->waiting.emplace(as, std::move(over));
    return as;
  }
  auto& next = errands_.emplace_back();
  next.why = std::move(why);
  next.waiting.emplace(as, std::move(over));
  if (errands_.size() == 1) run_first();
  return as;
}

void token_worker::forget(name which) {
  std::erase_if(news_, [which](const news& one) { return one.to == which; });
  for (auto one = errands_.begin(); one != errands_.end(); ++one) {
    if (one->waiting.erase(which) == 0) continue;
    if (!one->waiting.empty()) return;
    one->stop.request_stop();
    if (one != errands_.begin()) errands_.erase(one);
    return;
  }
}

void token_worker::close() {
  if (std::exchange(is_closed_, true) || errands_.empty()) return;
  for (auto& one : errands_) {
    one.stop.request_stop();
    end(std::exchange(one.waiting, {}), fail(errc::cancelled, "the connection was closed while a token was being obtained"));
  }
  errands_.resize(1);
  tell_soon();
}

/// Another request with the same rejected token may have got a new one meanwhile.
bool token_worker::has_better(const refused_token& why) const {
  const auto now = from_->token();
  return now && !now->empty() && *now != why.token;
}

void token_worker::run_first() {
  auto job = [from = from_, why = errands_.front().why, stop = errands_.front().stop.get_token(), back = back_] {
    auto how = from->obtain(why, stop);
    const std::lock_guard lock(back->mutex);
    if (back->to == nullptr) return;
    back->to->loop_.post([it = back->to, how = std::move(how)] { it->done(how); });
  };
  if (auto begun = pool_.submit(std::move(job), executor::clock::time_point::max()); !begun) {
    // Without a thread, the queued requests fail, too.
    for (auto& one : std::exchange(errands_, {})) end(std::move(one.waiting), tl::unexpected(begun.error()));
    tell_soon();
  }
}

void token_worker::done(result<void> how) {
  end(std::move(errands_.front().waiting), how);
  errands_.pop_front();
  while (!errands_.empty() && has_better(errands_.front().why)) {
    end(std::move(errands_.front().waiting), {});
    errands_.pop_front();
  }
  if (!errands_.empty()) run_first();
  tell();
}

void token_worker::end(waiters who, const result<void>& how) {
  for (auto& [as, over] : who) news_.push_back({as, std::move(over), how});
}

void token_worker::tell() {
  // A callback may remove other queued callbacks.
  while (!news_.empty()) {
    const auto one = std::move(news_.front());
    news_.pop_front();
    one.over(one.how);
  }
}

void token_worker::tell_soon() {
  if (telling_) return;
  telling_ = loop_.after(std::chrono::milliseconds(0), [this] {
    telling_.reset();
    tell();
  });
}

namespace {

constexpr int max_redirects = 5;
constexpr long buffer_bytes = 64L << 10;
/// Seconds of silence before a TCP keep-alive probe.
constexpr long keep_alive_seconds = 60;
/// How many times in a row a request is repeated with a new token.
constexpr int max_refusals = 3;

/// The failure of a token source. Temporary errors keep their code, so that streams are reopened later. All others become
/// unauthorized, so that the caller does not retry with another protocol revision.
failure without_token(const failure& why) {
  const bool is_passing = why.code == errc::source_unavailable || why.code == errc::timed_out || why.code == errc::overloaded ||
                          why.code == errc::cancelled;
  return {is_passing ? why.code : errc::unauthorized, why.public_text, why.private_text, nullptr, why.scopes};
}

constexpr bool keeps_method(int status) noexcept { return status == 307 || status == 308; }

}  // namespace

transfer::transfer(loop& within, const checked_target& target, token_worker& tokens, answer_hearer& tell)
    : loop_(within), target_(target), tokens_(tokens), tell_(tell), error_text_(CURL_ERROR_SIZE, '\0') {}

transfer::~transfer() {
  loop_.cancel(failing_);
  if (paused_) loop_.cancel(*paused_);
  if (obtaining_) tokens_.forget(*obtaining_);
  if (handle_) loop_.remove(handle_.get());
}

void transfer::begin(http_request what) {
  what_ = std::move(what);
  if (auto begun = send(); !begun) fail_later(std::move(begun.error()));
}

result<void> transfer::send() {
  const auto token = tokens_.token();
  if (!token && tokens_.is_open() && lacks_ < max_refusals) {
    ++lacks_;
    obtain({target_.url, 0, {}, {}, 0});
    return {};
  }
  // A token must be visible ASCII. Other characters could break the header line.
  token_ = token.value_or("");
  if (!std::all_of(token_.begin(), token_.end(), [](char c) { return c >= 0x21 && c <= 0x7e; }))
    return fail(errc::unauthorized, "the token for " + target_.origin + " has invalid characters; get another one");
  return perform();
}

void transfer::obtain(refused_token why) {
  if (why.status != 0) ++refusals_;
  why.times = refusals_;
  obtaining_ = tokens_.obtain(std::move(why), [this](const result<void>& how) {
    obtaining_.reset();
    if (!how) return tell_.finished(tl::unexpected(with_reason(without_token(how.error()))));
    if (auto sent = send(); !sent) tell_.finished(std::move(sent));
  });
}

/// Appends the server's reason, which the token source does not know. Skipped if no token was sent and the required scopes are
/// known.
failure transfer::with_reason(failure why) const {
  if (!is_refused_ || why.code != errc::unauthorized || (token_.empty() && why.scopes)) return why;
  if (const auto reason = reason_in(head_.head().challenges, refusal_, token_); !reason.empty())
    why.public_text += "; the server says: " + reason;
  return why;
}

void transfer::fail_later(failure why) {
  failing_ = loop_.after(std::chrono::milliseconds(0), [this, why = std::move(why)] { tell_.finished(tl::unexpected(why)); });
}

result<void> transfer::perform() {
  head_ = {};
  is_told_ = false;
  is_refused_ = false;
  refusal_.clear();
  if (!handle_) handle_.reset(curl().easy_init());
  if (!handle_) return fail(errc::source_unavailable, "no memory for another HTTP request");
  HONDANA_TRY(set_options());
  if (!loop_.add(handle_.get(), *this)) return fail(errc::source_unavailable, "libcurl accepts no more requests");
  return {};
}

result<void> transfer::set_options() {
  CURL* const easy = handle_.get();
  curl().easy_reset(easy);
  lines_.reset();
  const auto add_line = [&](const char* line) {
    curl_slist* const longer = curl().slist_append(lines_.get(), line);
    if (longer == nullptr) return false;
    static_cast<void>(lines_.release());
    lines_.reset(longer);
    return true;
  };
  // Otherwise a body over 1 MiB waits one second for "100 Continue", which few servers send.
  bool has_lines = add_line("Expect:");
  for (const auto& line : target_.header_lines) has_lines = has_lines && add_line(line.c_str());
  for (const auto& line : what_.header_lines) has_lines = has_lines && add_line(line.c_str());
  if (!token_.empty()) has_lines = has_lines && add_line(("Authorization: Bearer " + token_).c_str());

  bool is_set = has_lines;
  const auto set = [&](CURLoption option, auto value) {
    is_set = is_set && curl().easy_setopt(easy, option, value) == CURLE_OK;
  };
  set(CURLOPT_URL, what_.url.c_str());
  set(CURLOPT_PROTOCOLS_STR, "http,https");
  set(CURLOPT_FOLLOWLOCATION, 0L);
  set(CURLOPT_SSL_VERIFYPEER, 1L);
  set(CURLOPT_SSL_VERIFYHOST, 2L);
  set(CURLOPT_NOSIGNAL, 1L);
  set(CURLOPT_NOPROGRESS, 1L);
  // An abandoned name lookup must not block the thread.
  set(CURLOPT_QUICK_EXIT, 1L);
  set(CURLOPT_TCP_NODELAY, 1L);
  set(CURLOPT_TCP_KEEPALIVE, 1L);
  set(CURLOPT_TCP_KEEPIDLE, keep_alive_seconds);
  set(CURLOPT_TCP_KEEPINTVL, keep_alive_seconds);
  set(CURLOPT_BUFFERSIZE, buffer_bytes);
  set(CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(target_.connect_time.count()));
  set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
  set(CURLOPT_USERAGENT, "hondana/" HONDANA_VERSION);
  set(CURLOPT_HTTPHEADER, lines_.get());
  if (target_.proxy) set(CURLOPT_PROXY, target_.proxy->c_str());
  if (!target_.socket.empty()) set(CURLOPT_UNIX_SOCKET_PATH, target_.socket.c_str());
  is_set = is_set && use_identity(easy, target_.ours);
  switch (what_.what) {
    case verb::get:
      set(CURLOPT_HTTPGET, 1L);
      break;
    case verb::post:
      set(CURLOPT_POST, 1L);
      set(CURLOPT_POSTFIELDS, what_.body.data());
      set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(what_.body.size()));
      break;
    case verb::remove:
      set(CURLOPT_CUSTOMREQUEST, "DELETE");
      break;
  }
  error_text_[0] = '\0';
  set(CURLOPT_ERRORBUFFER, error_text_.data());
  set(CURLOPT_HEADERFUNCTION, &transfer::on_header);
  set(CURLOPT_HEADERDATA, static_cast<void*>(this));
  set(CURLOPT_WRITEFUNCTION, &transfer::on_body);
  set(CURLOPT_WRITEDATA, static_cast<void*>(this));
  if (!is_set) return fail(errc::source_unavailable, "libcurl rejected an option; it is older than 7.88 or out of memory");
  return {};
}

void transfer::pause_reading(std::chrono::milliseconds time) {
  if (paused_ || time <= std::chrono::milliseconds(0)) return;
  curl().easy_pause(handle_.get(), CURLPAUSE_RECV);
  paused_ = loop_.after(time, [this] {
    paused_.reset();
    // libcurl passes on its buffered data here, which may start the next pause.
    if (handle_) curl().easy_pause(handle_.get(), CURLPAUSE_CONT);
  });
}

std::size_t transfer::on_header(char* bytes, std::size_t one, std::size_t size, void* self) noexcept {
  bool is_taken = false;
  executor::without_throwing([&] { is_taken = static_cast<transfer*>(self)->take_header({bytes, one * size}); });
  return is_taken ? one * size : CURL_WRITEFUNC_ERROR;
}

std::size_t transfer::on_body(char* bytes, std::size_t one, std::size_t size, void* self) noexcept {
  bool is_taken = false;
  executor::without_throwing([&] { is_taken = static_cast<transfer*>(self)->take_body({bytes, one * size}); });
  return is_taken ? one * size : CURL_WRITEFUNC_ERROR;
}

bool transfer::take_header(std::string_view line) {
  const bool was_complete = head_.is_complete();
  switch (head_.take(line)) {
    case head_reader::state::too_long:
      is_too_long_ = true;
      return false;
    case head_reader::state::reading:
      return true;
    case head_reader::state::complete:
      break;
  }
  if (was_complete || is_redirect()) return true;
  is_refused_ = is_refusal();
  if (is_refused_) return true;
  is_told_ = true;
  is_enough_ = !tell_.answered(head_.head());
  return !is_enough_;
}

bool transfer::take_body(std::string_view bytes) {
  // The body of a rejection is read so that the connection can be reused, up to a limit.
  if (is_refused_) {
    if (bytes.size() > max_error_body_bytes - refusal_.size()) return false;
    refusal_ += bytes;
    return true;
  }
  // The body of a redirect is not used.
  if (!is_told_) return !is_redirect();
  is_enough_ = !tell_.body(bytes);
  return !is_enough_;
}

bool transfer::is_redirect() const noexcept {
  switch (head_.head().status) {
    case 301:
    case 302:
    case 303:
    case 307:
    case 308:
      return !head_.head().location.empty();
    default:
      return false;
  }
}

bool transfer::is_refusal() const {
  if (!tokens_.is_open() || refusals_ >= max_refusals) return false;
  const auto& head = head_.head();
  return head.status == 401 || (head.status == 403 && wants_more_scopes(head.challenges));
}

void transfer::done(CURLcode how) {
  if (paused_) loop_.cancel(*std::exchange(paused_, std::nullopt));
  if (is_refused_) return obtain({target_.url, head_.head().status, head_.head().challenges, token_, 0});
  if (head_.is_complete() && is_redirect() && !is_too_long_) {
    auto followed = follow();
    if (followed) followed = perform();
    if (!followed) tell_.finished(std::move(followed));
    return;
  }
  if (is_enough_ || (how == CURLE_OK && is_told_)) {
    tell_.finished({});
    return;
  }
  failure why{errc::source_unavailable, "no memory", {}, nullptr};
  executor::without_throwing([&] { why = failure_for(how); });
  tell_.finished(tl::unexpected(std::move(why)));
}

result<void> transfer::follow() {
  const auto& head = head_.head();
  const auto to = resolved(what_.url, head.location);
  const auto status = std::to_string(head.status);
  const auto where = shown(to ? *to : head.location);
  if (!to || origin_of(*to) != target_.origin)
    return fail(errc::broken_protocol,
                shown(what_.url) + " redirects (" + status + ") to " + where +
                    ", which is on another origin and is not followed; if it is the right server, use its URL");
  if (what_.what != verb::get && !keeps_method(head.status))
    return fail(errc::broken_protocol, shown(what_.url) + " redirects (" + status + ") to " + where +
                                           ", which would change the request's method; use that URL instead");
  if (++redirects_ > max_redirects)
    return fail(errc::broken_protocol,
                shown(what_.url) + " redirects more than " + std::to_string(max_redirects) + " times; check the server's URL");
  what_.url = *to;
  return {};
}

/// The error for an unreachable Unix socket; libcurl's text names a host and port instead.
failure transfer::no_socket() const {
  long number = 0;
  curl().easy_getinfo(handle_.get(), CURLINFO_OS_ERRNO, &number);
  const std::string why = number == 0 ? "nothing listens there" : std::strerror(static_cast<int>(number));
  return {errc::source_unavailable,
          "cannot reach the Unix socket " + target_.socket + ": " + why +
              (number == EACCES || number == EPERM ? "; check the mode and group of the socket and of its folders"
                                                   : "; check the path and that the server runs"),
          {},
          nullptr};
}

failure transfer::failure_for(CURLcode how) const {
  const auto origin = target_.socket.empty() ? target_.origin : target_.origin + " at the socket " + target_.socket;
  const std::string why = error_text_[0] != '\0' ? error_text_.c_str() : curl().easy_strerror(how);
  if (is_too_long_ || (!head_.is_complete() && has_too_long_line(handle_.get(), how)))
    return {errc::broken_protocol, "the answer of " + origin + " has more than 64 KiB of header fields", why, nullptr};
  if (auto refused = failed_handshake(how, why, origin, target_.ours)) return std::move(*refused);
  if (how == CURLE_COULDNT_CONNECT && !target_.socket.empty()) return no_socket();
  switch (how) {
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_COULDNT_CONNECT:
      return {errc::source_unavailable, "cannot reach " + origin + ": " + why + "; check the URL and that the server runs", why,
              nullptr};
    case CURLE_OPERATION_TIMEDOUT:
      return {errc::timed_out,
              "cannot reach " + origin + ": no connection within " + std::to_string(target_.connect_time.count()) + " ms", why,
              nullptr};
    case CURLE_WEIRD_SERVER_REPLY:
    case CURLE_UNSUPPORTED_PROTOCOL:
    case CURLE_BAD_CONTENT_ENCODING:
    case CURLE_HTTP2:
    case CURLE_HTTP2_STREAM:
    case CURLE_OK:
      return {errc::broken_protocol,
              origin + " does not answer in HTTP: " + why + "; check that the URL is that of an MCP server", why, nullptr};
    case CURLE_GOT_NOTHING:
    case CURLE_SEND_ERROR:
    case CURLE_RECV_ERROR:
    case CURLE_PARTIAL_FILE:
      return {errc::source_unavailable, origin + " ended the connection before its answer was complete: " + why, why, nullptr};
    default:
      break;
  }
  return {errc::source_unavailable, "the request to " + origin + " failed: " + why, why, nullptr};
}

}  // namespace hondana::transport::http_client

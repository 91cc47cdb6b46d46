/// Sends an HTTP request on a `transfer_loop`; follows redirects inside the origin, and renews rejected tokens.
#include "transport/http_client/transfer.hpp"

#include <algorithm>
#include <chrono>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "base/executor/thread_guards.hpp"
#include "transport/http_client/curl.hpp"
#include "transport/http_client/easy_request.hpp"
#include "transport/http_client/response_head.hpp"

namespace hondana::transport::http_client {
namespace {

/// How long to wait for a token source after a stop request. Then its thread is abandoned.
constexpr std::chrono::milliseconds stop_timeout{2'000};

/// Calls `step`. An exception, such as one of a token source, becomes an error, so that waiting callers get an answer.
template <class Step>
result<void> without_exceptions(const Step& step) {
  result<void> outcome;
  if (!executor::run_noexcept([&] { outcome = step(); }))
    outcome = fail(errc::source_unavailable, "the HTTP request failed: no memory, or the source of tokens has a defect");
  return outcome;
}

}  // namespace

/// Link from the thread of a token source to its worker, which may be destroyed first.
struct token_worker::back_link {
  std::mutex mutex;
  token_worker* worker;  // guarded by mutex
};

token_worker::token_worker(transfer_loop& loop, std::shared_ptr<token_source> source)
    : loop_(loop), source_(std::move(source)), link_(std::make_shared<back_link>()), pool_("the source of tokens", 1) {
  link_->worker = this;
}

token_worker::~token_worker() {
  close();
  if (completion_timer_) loop_.cancel(*completion_timer_);
  {
    const std::lock_guard lock(link_->mutex);
    link_->worker = nullptr;
  }
  pool_.close(executor::clock::now() + stop_timeout);
}

token_worker::request_id token_worker::obtain(rejected_token rejection, callback on_done) {
  const auto id = ++last_id_;
  if (has_newer_token(rejection)) {
    completions_.push_back({id, std::move(on_done), {}});
    schedule_completions();
    return id;
  }
  const auto existing = std::find_if(requests_.begin(), requests_.end(), [&rejection](const token_request& entry) {
    return entry.rejection.token == rejection.token && entry.rejection.status == rejection.status &&
           entry.rejection.challenges == rejection.challenges && !entry.stop.stop_requested();
  });
  if (existing != requests_.end()) {
    existing->callbacks.emplace(id, std::move(on_done));
    return id;
  }
  auto& added = requests_.emplace_back();
  added.rejection = std::move(rejection);
  added.callbacks.emplace(id, std::move(on_done));
  if (requests_.size() == 1) start_next();
  return id;
}

void token_worker::cancel(request_id id) {
  std::erase_if(completions_, [id](const completion& entry) { return entry.id == id; });
  for (auto entry = requests_.begin(); entry != requests_.end(); ++entry) {
    if (entry->callbacks.erase(id) == 0) continue;
    if (!entry->callbacks.empty()) return;
    entry->stop.request_stop();
    if (entry != requests_.begin()) requests_.erase(entry);
    return;
  }
}

void token_worker::close() {
  if (std::exchange(is_closed_, true) || requests_.empty()) return;
  for (auto& entry : requests_) {
    entry.stop.request_stop();
    complete(std::exchange(entry.callbacks, {}),
             fail(errc::cancelled, "the connection was closed while a token was being obtained"));
  }
  requests_.resize(1);
  schedule_completions();
}

/// Another request with the same rejected token may have got a new one meanwhile.
bool token_worker::has_newer_token(const rejected_token& rejection) const {
  bool is_newer = false;
  executor::run_noexcept([&] {
    const auto current = source_->token();
    is_newer = current && !current->empty() && current != rejection.token;
  });
  return is_newer;
}

void token_worker::start_next() {
  auto job = [source = source_, rejection = requests_.front().rejection, stop = requests_.front().stop.get_token(),
              link = link_] {
    auto outcome = without_exceptions([&] { return source->obtain(rejection, stop); });
    const std::lock_guard lock(link->mutex);
    if (link->worker == nullptr) return;
    link->worker->loop_.post([worker = link->worker, result = std::move(outcome)] { worker->finish_first(result); });
  };
  if (auto submitted = pool_.submit(std::move(job), executor::clock::time_point::max()); !submitted) {
    // Without a thread, the queued requests fail, too.
    for (auto& entry : std::exchange(requests_, {})) complete(std::move(entry.callbacks), tl::unexpected(submitted.error()));
    schedule_completions();
  }
}

void token_worker::finish_first(result<void> outcome) {
  complete(std::move(requests_.front().callbacks), outcome);
  requests_.pop_front();
  while (!requests_.empty() && has_newer_token(requests_.front().rejection)) {
    complete(std::move(requests_.front().callbacks), {});
    requests_.pop_front();
  }
  if (!requests_.empty()) start_next();
  deliver_completions();
}

void token_worker::complete(callback_map callbacks, const result<void>& outcome) {
  for (auto& [id, on_done] : callbacks) completions_.push_back({id, std::move(on_done), outcome});
}

void token_worker::deliver_completions() {
  // A callback may remove other queued callbacks.
  while (!completions_.empty()) {
    const auto next = std::move(completions_.front());
    completions_.pop_front();
    next.on_done(next.outcome);
  }
}

void token_worker::schedule_completions() {
  if (completion_timer_) return;
  completion_timer_ = loop_.schedule_after(std::chrono::milliseconds(0), [this] {
    completion_timer_.reset();
    deliver_completions();
  });
}

namespace {

constexpr int max_redirects = 5;
/// Seconds of silence before a TCP keep-alive probe.
constexpr long keep_alive_seconds = 60;
/// How many times in a row a request is repeated with a new token.
constexpr int max_token_attempts = 3;

/// The failure of a token source. Temporary errors keep their code, so that streams are reopened later. All others become
/// unauthorized, so that the caller does not retry with another protocol revision.
failure token_failure(const failure& error) {
  const bool is_temporary = error.code == errc::source_unavailable || error.code == errc::timed_out ||
                            error.code == errc::overloaded || error.code == errc::cancelled;
  return {is_temporary ? error.code : errc::unauthorized, error.public_text, error.private_text, nullptr, error.scopes};
}

constexpr bool keeps_method(int status) noexcept { return status == 307 || status == 308; }

}  // namespace

transfer::transfer(transfer_loop& loop, const checked_target& target, token_worker& tokens, response_listener& listener)
    : loop_(loop), target_(target), tokens_(tokens), listener_(listener), error_text_(CURL_ERROR_SIZE, '\0') {}

transfer::~transfer() {
  loop_.cancel(failure_timer_);
  if (pause_timer_) loop_.cancel(*pause_timer_);
  if (pending_token_) tokens_.cancel(*pending_token_);
  if (handle_) loop_.remove(handle_.get());
}

void transfer::begin(http_request request) {
  request_ = std::move(request);
  if (auto sent = without_exceptions([this] { return send(); }); !sent) fail_later(std::move(sent.error()));
}

result<void> transfer::send() {
  const auto token = tokens_.token();
  if (!token && tokens_.is_open() && missing_tokens_ < max_token_attempts) {
    ++missing_tokens_;
    obtain_token({target_.url, {}, {}, {}, 0});
    return {};
  }
  // A token must be visible ASCII. Other characters could break the header line.
  token_ = token.value_or("");
  if (!std::all_of(token_.begin(), token_.end(), [](char c) { return c >= 0x21 && c <= 0x7e; }))
    return fail(errc::unauthorized, "the token for " + target_.origin + " has invalid characters; get another one");
  return perform();
}

void transfer::obtain_token(rejected_token rejection) {
  if (rejection.status) ++rejections_;
  rejection.attempt = rejections_;
  pending_token_ = tokens_.obtain(std::move(rejection), [this](const result<void>& outcome) {
    pending_token_.reset();
    if (!outcome) return listener_.on_finished(tl::unexpected(with_reason(token_failure(outcome.error()))));
    if (auto sent = without_exceptions([this] { return send(); }); !sent) listener_.on_finished(std::move(sent));
  });
}

/// Appends the server's reason, which the token source does not know. Skipped if no token was sent and the required scopes are
/// known.
failure transfer::with_reason(failure error) const {
  if (!is_rejected_ || error.code != errc::unauthorized || (token_.empty() && error.scopes)) return error;
  if (const auto reason = extract_reason(head_.head().challenges, rejection_body_, token_); !reason.empty())
    error.public_text += "; the server says: " + reason;
  return error;
}

void transfer::fail_later(failure error) {
  failure_timer_ = loop_.schedule_after(std::chrono::milliseconds(0), [this, stored_error = std::move(error)] {
    listener_.on_finished(tl::unexpected(stored_error));
  });
}

result<void> transfer::perform() {
  head_ = {};
  has_reported_head_ = false;
  is_rejected_ = false;
  rejection_body_.clear();
  if (!handle_) handle_.reset(curl().easy_init());
  if (!handle_) return fail(errc::source_unavailable, "no memory for another HTTP request");
  auto lines = target_.header_lines;
  lines.insert(lines.end(), request_.header_lines.begin(), request_.header_lines.end());
  if (!token_.empty()) lines.push_back("Authorization: Bearer " + token_);
  lines_ = make_header_lines(lines);
  if (!lines_) return fail(errc::source_unavailable, "no memory for another HTTP request");
  CURL* const easy = handle_.get();
  HONDANA_TRY(set_options(easy, {.target = target_,
                                 .url = request_.url.c_str(),
                                 .method = request_.method,
                                 .body = request_.body,
                                 .lines = lines_.get(),
                                 .connect_timeout = target_.connect_timeout,
                                 .error_text = error_text_.data(),
                                 .on_header = &transfer::on_header,
                                 .on_body = &transfer::on_body,
                                 .owner = this}));
  // A stream may be silent for a long time. Probes show whether its connection still exists.
  curl().easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
  curl().easy_setopt(easy, CURLOPT_TCP_KEEPIDLE, keep_alive_seconds);
  curl().easy_setopt(easy, CURLOPT_TCP_KEEPINTVL, keep_alive_seconds);
  if (!loop_.add(easy, *this)) return fail(errc::source_unavailable, "libcurl accepts no more requests");
  return {};
}

void transfer::pause_reading(std::chrono::milliseconds duration) {
  if (pause_timer_ || duration <= std::chrono::milliseconds(0)) return;
  curl().easy_pause(handle_.get(), CURLPAUSE_RECV);
  pause_timer_ = loop_.schedule_after(duration, [this] {
    pause_timer_.reset();
    // libcurl passes on its buffered data here, which may start the next pause.
    if (handle_) curl().easy_pause(handle_.get(), CURLPAUSE_CONT);
  });
}

std::size_t transfer::on_header(char* bytes, std::size_t item_size, std::size_t item_count, void* user_data) noexcept {
  bool is_accepted = false;
  executor::run_noexcept(
      [&] { is_accepted = static_cast<transfer*>(user_data)->receive_header({bytes, item_size * item_count}); });
  return is_accepted ? item_size * item_count : CURL_WRITEFUNC_ERROR;
}

std::size_t transfer::on_body(char* bytes, std::size_t item_size, std::size_t item_count, void* user_data) noexcept {
  bool is_accepted = false;
  executor::run_noexcept(
      [&] { is_accepted = static_cast<transfer*>(user_data)->receive_body({bytes, item_size * item_count}); });
  return is_accepted ? item_size * item_count : CURL_WRITEFUNC_ERROR;
}

bool transfer::receive_header(std::string_view line) {
  const bool was_complete = head_.is_complete();
  switch (head_.feed(line)) {
    case head_reader::state::too_long:
      return false;
    case head_reader::state::reading:
      return true;
    case head_reader::state::complete:
      break;
  }
  if (was_complete || is_redirect()) return true;
  is_rejected_ = is_rejection();
  if (is_rejected_) return true;
  has_reported_head_ = true;
  is_stopped_ = !listener_.on_head(head_.head());
  return !is_stopped_;
}

bool transfer::receive_body(std::string_view bytes) {
  // The body of a rejection is read so that the connection can be reused, up to a limit.
  if (is_rejected_) {
    if (bytes.size() > max_error_body_bytes - rejection_body_.size()) return false;
    rejection_body_ += bytes;
    return true;
  }
  // The body of a redirect is not used.
  if (!has_reported_head_) return !is_redirect();
  is_stopped_ = !listener_.on_body(bytes);
  return !is_stopped_;
}

bool transfer::is_rejection() const {
  if (!tokens_.is_open() || rejections_ >= max_token_attempts) return false;
  const auto& head = head_.head();
  return head.status == 401 || (head.status == 403 && requests_more_scopes(head.challenges));
}

void transfer::on_done(CURLcode code) {
  if (pause_timer_) loop_.cancel(*std::exchange(pause_timer_, std::nullopt));
  const bool is_repeated = is_rejected_ || (head_.is_complete() && is_redirect() && !head_.is_too_long());
  if (is_repeated) {
    auto repeated = without_exceptions([this]() -> result<void> {
      if (!is_rejected_) return follow().and_then([this] { return perform(); });
      auto token = token_.empty() ? std::nullopt : std::optional(token_);
      obtain_token({target_.url, head_.head().status, head_.head().challenges, std::move(token), 0});
      return {};
    });
    if (!repeated) listener_.on_finished(std::move(repeated));
    return;
  }
  if (is_stopped_ || (code == CURLE_OK && has_reported_head_)) {
    listener_.on_finished({});
    return;
  }
  failure error{errc::source_unavailable, "no memory", {}, nullptr};
  executor::run_noexcept([&] { error = to_failure(code); });
  listener_.on_finished(tl::unexpected(std::move(error)));
}

result<void> transfer::follow() {
  const auto& head = head_.head();
  const auto destination = resolve_url(request_.url, head.location);
  const auto status = std::to_string(head.status);
  const auto target_text = display_url(destination ? *destination : head.location);
  if (!destination || origin_of(*destination) != target_.origin)
    return fail(errc::protocol_error,
                display_url(request_.url) + " redirects (" + status + ") to " + target_text +
                    ", which is on another origin and is not followed; if it is the right server, use its URL");
  if (request_.method != http_method::get && !keeps_method(head.status))
    return fail(errc::protocol_error, display_url(request_.url) + " redirects (" + status + ") to " + target_text +
                                          ", which would change the request's method; use that URL instead");
  if (++redirects_ > max_redirects)
    return fail(errc::protocol_error, display_url(request_.url) + " redirects more than " + std::to_string(max_redirects) +
                                          " times; check the server's URL");
  request_.url = *destination;
  return {};
}

failure transfer::to_failure(CURLcode code) const {
  const bool has_socket = !target_.socket_path.empty();
  return explain_failure(
      {handle_.get(), code, error_text_.c_str(), head_, target_, target_.connect_timeout},
      {.action = "cannot reach " + (has_socket ? "the Unix socket " + target_.socket_path : target_.origin),
       .server = has_socket ? target_.origin + " at the socket " + target_.socket_path : target_.origin,
       .trust_advice = "add its issuer to the system's certificates (update-ca-certificates), or use --cacert FILE",
       .shows_files = true});
}

}  // namespace hondana::transport::http_client

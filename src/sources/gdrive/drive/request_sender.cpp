/// Sends one request to Drive with token, retries and rate limit, and checks the content that comes back.
#include "sources/gdrive/drive/request_sender.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>
#include <utility>

#include <hondana/clock.hpp>
#include <hondana/uri.hpp>

#include "auth/oauth/authorization_urls.hpp"
#include "base/ascii/ascii.hpp"
#include "base/executor/backoff.hpp"
#include "base/uri/web_url.hpp"

namespace hondana::drive {
namespace {

bool is_subdomain(std::string_view host, std::string_view domain) noexcept {
  if (host == domain) return true;
  return host.size() > domain.size() && host.ends_with(domain) && host[host.size() - domain.size() - 1] == '.';
}

std::uint16_t port_of(const uri::host_port& address, std::string_view scheme) {
  return address.port.value_or(scheme == "https" ? std::uint16_t{443} : std::uint16_t{80});
}

}  // namespace

link_policy check_link(const std::string& url, const std::string& base) {
  if (!oauth::check_endpoint(url, "the link")) return {};
  const auto parts = split_uri(url);
  const auto scheme = ascii::to_lower(std::string(parts.scheme));
  const auto address = uri::parse_host_port(parts.authority.value_or(std::string_view()));
  if (!address) return {};
  const auto base_parts = split_uri(base);
  const auto base_scheme = ascii::to_lower(std::string(base_parts.scheme));
  const auto base_address = uri::parse_host_port(base_parts.authority.value_or(std::string_view()));
  if (base_address && scheme == base_scheme && address->host == base_address->host &&
      port_of(*address, scheme) == port_of(*base_address, base_scheme))
    return {.is_allowed = true, .receives_token = true};
  constexpr std::array<std::string_view, 3> domains{"google.com", "googleapis.com", "googleusercontent.com"};
  if (scheme != "https" || address->port.value_or(443) != 443 ||
      std::none_of(domains.begin(), domains.end(),
                   [&](std::string_view domain) { return is_subdomain(address->host, domain); }))
    return {};
  return {.is_allowed = true,
          .receives_token = address->host == "docs.google.com" || address->host == "www.googleapis.com",
          .is_login_page = address->host == "accounts.google.com"};
}

std::string resolve_redirect(const std::string& url, const std::string& location) {
  auto target = location.substr(0, location.find('#'));
  if (target.empty()) return {};
  const auto parts = split_uri(url);
  if (target.starts_with("//")) return std::string(parts.scheme) + ':' + target;
  if (target.starts_with('/')) return oauth::base_url(url) + target;
  return target.find("://") == std::string::npos ? std::string() : target;
}

namespace {

/// Parses a number at the front and removes it. False if there is none.
bool consume_number(std::string_view& input, std::uint64_t& number) noexcept {
  const auto [end, error] = std::from_chars(input.data(), input.data() + input.size(), number);
  if (error != std::errc()) return false;
  input.remove_prefix(static_cast<std::size_t>(end - input.data()));
  return true;
}

bool consume_character(std::string_view& input, char character) noexcept {
  if (!input.starts_with(character)) return false;
  input.remove_prefix(1);
  return true;
}

}  // namespace

std::optional<content_range> parse_content_range(std::string_view header) noexcept {
  constexpr std::string_view unit = "bytes ";
  content_range out;
  if (header.size() < unit.size() || !ascii::equals_ignore_case(unit, header.substr(0, unit.size()))) return {};
  header.remove_prefix(unit.size());
  if (!consume_number(header, out.first) || !consume_character(header, '-') || !consume_number(header, out.last) ||
      !consume_character(header, '/'))
    return {};
  if (header != "*") {
    std::uint64_t total = 0;
    if (!consume_number(header, total) || !header.empty() || total <= out.last) return {};
    out.total_bytes = total;
  }
  if (out.last < out.first) return {};
  return out;
}

result<void> content_receiver::reject_content(std::string_view reason) {
  is_server_error_ = true;
  return fail(errc::protocol_error, std::string(reason));
}

result<void> content_receiver::begin(const endpoint::response& head) {
  has_begun_ = true;
  content_head properties{.content_type = head.content_type, .uses_export_link = uses_export_link_};
  if (!type_.empty() && !ascii::to_lower(type_).starts_with("text/html") &&
      ascii::to_lower(head.content_type).starts_with("text/html"))
    return reject_content("the answer is an HTML page instead of the content");
  if (range_ && range_->last) bytes_left_ = *range_->last - range_->first + 1;
  if (head.status == 206) {
    const auto received = parse_content_range(head.content_range);
    if (!range_ || !received) return reject_content("the answer is a part without a range, or no part was requested");
    if (received->first != range_->first || (range_->last && received->last > *range_->last))
      return reject_content("the answer is a different part than requested");
    properties.total_bytes = received->total_bytes;
  } else if (range_) {
    is_range_ignored_ = true;
    bytes_to_skip_ = range_->first;
  }
  properties.first = range_ ? range_->first : 0;
  if (!sink_.on_begin) return {};
  auto status = sink_.on_begin(properties);
  is_sink_error_ = !status;
  return status;
}

result<void> content_receiver::receive(std::string_view chunk) {
  const auto skipped = std::min<std::uint64_t>(bytes_to_skip_, chunk.size());
  bytes_to_skip_ -= skipped;
  chunk.remove_prefix(static_cast<std::size_t>(skipped));
  if (bytes_left_) {
    chunk = chunk.substr(0, static_cast<std::size_t>(std::min<std::uint64_t>(*bytes_left_, chunk.size())));
    *bytes_left_ -= chunk.size();
  }
  if (!chunk.empty()) {
    passed_bytes_ += chunk.size();
    if (auto status = sink_.on_data(chunk); !status) {
      is_sink_error_ = true;
      return status;
    }
  }
  if (bytes_left_ != std::uint64_t{0}) return {};
  // A server that ignores the range keeps sending. Closing the connection discards the rest.
  is_complete_ = true;
  if (!is_range_ignored_) return {};
  return fail(errc::cancelled, "all requested content was read");
}

result<void> content_receiver::finish(const endpoint::response& head) {
  if (!has_begun_) {
    HONDANA_TRY(begin(head));
  }
  if (bytes_to_skip_ == 0) return {};
  return fail(errc::invalid_argument, "the range starts after the end of the file");
}

namespace {

using std::chrono::milliseconds;

/// Of the eight requests that may run at once. The others are reserved for callers that wait for an answer.
constexpr std::size_t max_crawls = 5;
constexpr std::size_t max_content_bytes = std::size_t{1} << 40;

/// Converts an error of the token store.
drive_error token_error(failure error, const std::string& operation) {
  drive_error out;
  switch (error.code) {
    case errc::cancelled:
      out.kind = error_kind::cancelled;
      break;
    case errc::timed_out:
      out.kind = error_kind::timed_out;
      break;
    case errc::unauthorized:
    case errc::access_denied:
    case errc::invalid_argument:
    case errc::resource_not_found:
      out.kind = error_kind::unauthorized;
      break;
    default:
      out.kind = error_kind::unavailable;
  }
  out.details = std::move(error);
  out.details.public_text = "cannot " + operation + ": " + out.details.public_text;
  return out;
}

bool is_success(int status) noexcept { return status >= 200 && status < 300; }

}  // namespace

drive_error make_error(error_kind kind, errc code, const std::string& operation, const std::string& reason,
                       std::string private_text) {
  drive_error out;
  out.kind = kind;
  out.details.code = code;
  out.details.public_text = "cannot " + operation + ": " + reason;
  out.details.private_text = std::move(private_text);
  return out;
}

struct request_sender::request_attempt {
  const api_request& request;
  const call_options& options;
  const link_server* server;
  clock::time_point deadline;
  int number = 1;
  bool has_renewed_token = false;
  bool is_retryable = false;     // the last failure may be temporary
  bool retries_at_once = false;  // at once, with a new token
  std::optional<content_receiver> receiver{};
};

/// The slot of a request while it runs.
class request_sender::crawl_slot {
 public:
  explicit crawl_slot(request_sender& sender) noexcept : sender_(sender) {}
  ~crawl_slot() {
    if (!is_acquired_) return;
    {
      const std::lock_guard lock(sender_.mutex_);
      --sender_.running_crawls_;
    }
    sender_.slot_released_.notify_one();
  }
  crawl_slot(const crawl_slot&) = delete;
  crawl_slot& operator=(const crawl_slot&) = delete;

  /// Waits for a free slot. False if the deadline passes or the call is stopped. Only requests with priority `crawling` need a
  /// slot.
  bool acquire(const request_attempt& attempt) {
    if (attempt.options.priority != request_priority::crawling) return true;
    std::unique_lock lock(sender_.mutex_);
    is_acquired_ = monotonic_clock::wait_until(sender_.slot_released_, lock, attempt.options.stop, attempt.deadline,
                                               [this] { return sender_.running_crawls_ < max_crawls; });
    if (is_acquired_) ++sender_.running_crawls_;
    return is_acquired_;
  }

 private:
  request_sender& sender_;
  bool is_acquired_ = false;
};

error_context request_sender::make_error_context(const api_request& request) const {
  return {.operation = request.operation,
          .account = account(),
          .has_page_token = request.has_page_token,
          .is_export = request.is_export};
}

std::string request_sender::account() const {
  if (auto known = tokens_->account(); !known.empty()) return known;
  const std::lock_guard lock(mutex_);
  return account_;
}

void request_sender::set_account(const std::string& account) {
  const std::lock_guard lock(mutex_);
  account_ = account;
}

client::statistics request_sender::current_statistics() const {
  return {.requests = requests_,
          .retries = retries_,
          .throttled = throttled_,
          .bytes = bytes_,
          .rate_limit = budget_.current_statistics()};
}

endpoint::request request_sender::make_request(const request_attempt& attempt, const std::string& token) const {
  endpoint::request out;
  out.path = attempt.request.path;
  out.query = attempt.request.query;
  // Google compresses answers only if the User-Agent contains "gzip", too. Spec: Google Drive API, "Improve performance", gzip.
  out.headers.emplace_back("User-Agent", "hondana/" HONDANA_VERSION " (gzip)");
  if (!token.empty()) {
    out.headers.emplace_back("Authorization", "Bearer " + token);
    if (auto keys = format_resource_keys(attempt.options.resource_keys); !keys.empty())
      out.headers.emplace_back("X-Goog-Drive-Resource-Keys", std::move(keys));
  }
  if (attempt.request.body) {
    out.headers.emplace_back("Content-Type", "application/json");
    out.body = attempt.request.body;
  }
  if (attempt.request.range) {
    const auto& range = *attempt.request.range;
    out.headers.emplace_back(
        "Range", "bytes=" + std::to_string(range.first) + '-' + (range.last ? std::to_string(*range.last) : std::string()));
    // A range counts bytes as transferred, so the content must not be compressed.
    out.accepts_compressed = false;
  }
  out.follows_redirects = attempt.server == nullptr;
  out.progress = {
      .header_timeout = settings_.request_timeout, .interval = settings_.stall_timeout, .min_bytes = settings_.stall_bytes};
  out.deadline = attempt.deadline;
  if (attempt.request.sink == nullptr) {
    out.deadline = std::min(attempt.deadline, clock::now() + settings_.request_timeout);
    out.max_bytes = 32u << 20;
  } else {
    // A server that ignores the range sends the whole content.
    out.max_bytes = attempt.request.range ? max_content_bytes : attempt.request.sink->max_bytes;
  }
  return out;
}

drive_error request_sender::classify_failure(request_attempt& attempt, failure error) const {
  const auto& operation = attempt.request.operation;
  const bool has_passed = attempt.receiver && attempt.receiver->has_begun();
  if (attempt.receiver && attempt.receiver->is_sink_error()) {
    drive_error out;
    out.kind = error_kind::sink;
    out.details = std::move(error);
    return out;
  }
  if (attempt.receiver && attempt.receiver->is_server_error())
    return make_error(error_kind::malformed, errc::protocol_error, operation, error.public_text, std::move(error.private_text));
  const auto interrupted = [&](const std::string& text) {
    return make_error(error_kind::stalled, errc::source_unavailable, operation,
                      text + "; only a part of the content arrived; try again", std::move(error.private_text));
  };
  switch (error.code) {
    case errc::cancelled:
      return make_error(error_kind::cancelled, error.code, operation, "it was cancelled");
    case errc::response_too_large:
      return make_error(error_kind::too_large, error.code, operation, "it is larger than the read limit; request a part of it",
                        std::move(error.private_text));
    case errc::timed_out:
      if (clock::now() >= attempt.deadline)
        return make_error(error_kind::timed_out, error.code, operation, "Google Drive did not answer in time; try again",
                          error.public_text);
      if (has_passed) return interrupted(error.public_text);
      break;
    case errc::invalid_argument:
      return make_error(error_kind::bad_request, error.code, operation, error.public_text, std::move(error.private_text));
    case errc::access_denied:
      return make_error(error_kind::unavailable, errc::source_unavailable, operation, error.public_text,
                        std::move(error.private_text));
    default:
      if (has_passed) return interrupted(error.public_text);
  }
  attempt.is_retryable = true;
  return make_error(error_kind::unavailable, errc::source_unavailable, operation,
                    error.public_text + "; check the network connection of this machine, and try again",
                    std::move(error.private_text));
}

api_result<endpoint::response> request_sender::send_once(request_attempt& attempt) {
  attempt.is_retryable = attempt.retries_at_once = false;
  std::string token;
  if (attempt.server == nullptr || attempt.server->has_token) {
    auto issued = tokens_->token(attempt.options.stop, attempt.deadline);
    if (!issued) return tl::unexpected(token_error(std::move(issued.error()), attempt.request.operation));
    token = std::move(*issued);
  }
  crawl_slot slot(*this);
  if (!slot.acquire(attempt)) {
    const bool is_stopped = attempt.options.stop.stop_requested();
    return tl::unexpected(
        make_error(is_stopped ? error_kind::cancelled : error_kind::busy, is_stopped ? errc::cancelled : errc::overloaded,
                   attempt.request.operation,
                   is_stopped ? "it was cancelled" : "other requests of the listing used up the time; try again later"));
  }
  if (auto granted = budget_.acquire(attempt.options.priority, attempt.deadline, attempt.options.stop); !granted) {
    auto& error = granted.error();
    error.details.public_text = "cannot " + attempt.request.operation + ": " + error.details.public_text;
    return tl::unexpected(std::move(error));
  }
  auto request = make_request(attempt, token);
  endpoint::endpoint::sink sink{};
  if (attempt.request.sink != nullptr) {
    attempt.receiver.emplace(*attempt.request.sink, attempt.request.range,
                             attempt.server == nullptr ? std::string() : attempt.server->type, attempt.server != nullptr);
    request.on_head = [&attempt](const endpoint::response& head) { return attempt.receiver->begin(head); };
    sink = [&attempt](std::string_view chunk) { return attempt.receiver->receive(chunk); };
  }
  ++requests_;
  auto response = (attempt.server == nullptr ? *base_ : *attempt.server->origin).send(request, attempt.options.stop, sink);
  if (attempt.receiver) bytes_ += attempt.receiver->passed_bytes();
  if (!response) {
    if (attempt.receiver && attempt.receiver->is_complete() && !attempt.receiver->is_sink_error())
      return endpoint::response{.status = 200};
    return tl::unexpected(classify_failure(attempt, std::move(response.error())));
  }
  if (is_success(response->status)) {
    if (attempt.receiver) {
      if (auto finished = attempt.receiver->finish(*response); !finished) {
        if (attempt.receiver->is_sink_error() || attempt.receiver->is_server_error())
          return tl::unexpected(classify_failure(attempt, std::move(finished.error())));
        return tl::unexpected(classify_error(416, {}, {}, make_error_context(attempt.request)));
      }
    }
    return std::move(*response);
  }
  if (attempt.server != nullptr && response->status >= 300 && response->status < 400) return std::move(*response);
  auto error = classify_error(response->status, response->body, response->retry_after, make_error_context(attempt.request));
  if (error.kind == error_kind::unauthorized && !token.empty() && !attempt.has_renewed_token) {
    tokens_->invalidate(token);
    attempt.has_renewed_token = attempt.retries_at_once = true;
  }
  if (error.kind == error_kind::rate_limited) ++throttled_;
  attempt.is_retryable = error.kind == error_kind::rate_limited || error.kind == error_kind::unavailable;
  return tl::unexpected(std::move(error));
}

bool request_sender::wait_for_retry(request_attempt& attempt, drive_error& error) {
  if (attempt.retries_at_once) return true;
  if (!attempt.is_retryable) return false;
  const auto requested_delay = error.details.retry_after.value_or(milliseconds(0));
  // Spec: Google Drive API, "Resolve errors", exponential backoff.
  const executor::backoff pauses{settings_.initial_delay, settings_.max_delay};
  const auto delay = requested_delay + executor::random_delay(pauses.delay(attempt.number));
  // The rate limit applies to all requests of this source together, so all of them pause.
  if (error.kind == error_kind::rate_limited) {
    budget_.pause(std::min(delay, settings_.max_retry_after));
    if (requested_delay > settings_.max_retry_after)
      log_line("cannot " + attempt.request.operation + " now (status " + std::to_string(error.status) +
               "): Google requests a pause of " +
               std::to_string(std::chrono::ceil<std::chrono::seconds>(requested_delay).count()) +
               " seconds; sending no requests for " +
               std::to_string(std::chrono::ceil<std::chrono::seconds>(settings_.max_retry_after).count()) + " seconds");
  }
  if (!error.details.retry_after) error.details.retry_after = std::max(delay, milliseconds(1'000));
  if (attempt.number >= settings_.max_attempts || requested_delay > settings_.max_retry_after ||
      clock::now() + delay >= attempt.deadline) {
    if (attempt.number > 1) error.details.public_text += " (tried " + std::to_string(attempt.number) + " times)";
    return false;
  }
  log_line("cannot " + attempt.request.operation + " now (" + std::string(name_of(error.kind)) +
           (error.status == 0 ? std::string() : ", status " + std::to_string(error.status)) +
           (error.reason.empty() ? "" : ", " + error.reason) + "); retrying in " + std::to_string(delay.count()) + " ms");
  if (!executor::sleep_unless_stopped(delay, attempt.options.stop)) {
    error = make_error(error_kind::cancelled, errc::cancelled, attempt.request.operation, "it was cancelled");
    return false;
  }
  ++attempt.number;
  ++retries_;
  return true;
}

api_result<endpoint::response> request_sender::send(const api_request& request, const call_options& options,
                                                    const link_server* server) {
  request_attempt attempt{request, options, server, options.deadline.value_or(clock::now() + settings_.content_timeout)};
  for (;;) {
    auto response = send_once(attempt);
    if (response || !wait_for_retry(attempt, response.error())) return response;
  }
}

}  // namespace hondana::drive

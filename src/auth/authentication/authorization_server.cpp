/// Requests of a resource server to its authorization server: metadata, published keys and introspection (RFC 7662).
#include "auth/authentication/authorization_server.hpp"

#include <algorithm>
#include <array>
#include <exception>
#include <system_error>
#include <utility>

#include <hondana/clock.hpp>
#include <hondana/uri.hpp>
#include <hondana/value.hpp>

#include "auth/authentication/bearer_tokens.hpp"
#include "base/ascii/ascii.hpp"
#include "base/json/base64.hpp"
#include "base/uri/web_url.hpp"
#include "transport/http_client/checked_target.hpp"

namespace hondana::authentication {
namespace {

/// Spec: RFC 6749 section 2.3.1: id and secret are form-encoded before they are joined.
std::string basic_authorization(const introspection_options& options) {
  std::string out = "Basic ";
  json::append_base64(out, percent_encode(options.client_id) + ':' + percent_encode(options.client_secret));
  return out;
}

}  // namespace

result<value> read_introspection(std::string_view text) {
  auto parsed = value::parse(text, {.max_bytes = max_introspection_bytes, .max_values = 5000});
  if (!parsed || parsed->as_object() == nullptr) return fail(errc::protocol_error, "the answer is not a JSON object");
  const auto* active = parsed->find("active");
  if (active == nullptr || !active->as_boolean())
    return fail(errc::protocol_error, "the answer does not say whether the token is active");
  return parsed;
}

bool is_access_token(const value& answer) {
  constexpr std::array<std::string_view, 7> kinds{"bearer",
                                                  "access",
                                                  "access_token",
                                                  "jwt",
                                                  "at+jwt",
                                                  "application/at+jwt",
                                                  "urn:ietf:params:oauth:token-type:access_token"};
  constexpr std::array<const char*, 3> members{"token_type", "typ", "token_use"};
  return std::all_of(members.begin(), members.end(), [&](const char* name) {
    const auto* member = answer.find(name);
    if (member == nullptr) return true;
    const auto* text = member->as_string();
    return text != nullptr && std::find(kinds.begin(), kinds.end(), ascii::to_lower(*text)) != kinds.end();
  });
}

result<value> introspection_client::send_request(const std::string& token,
                                                 std::chrono::steady_clock::time_point deadline) const {
  transport::http_client::small_request request{.url = options_.endpoint,
                                                .headers = {{"Content-Type", "application/x-www-form-urlencoded"},
                                                            {"Accept", "application/json"},
                                                            {"Authorization", basic_authorization(options_)}},
                                                .max_bytes = max_introspection_bytes,
                                                .timeout = time_left(deadline)};
  request.body = "token=" + percent_encode(token) + "&token_type_hint=access_token";
  HONDANA_TRY(const auto response, call_(request, {}));
  if (response.status == 401 || response.status == 403)
    return fail(errc::unauthorized, options_.endpoint + " rejects this server's client id and secret");
  if (response.status != 200)
    return fail(errc::protocol_error, options_.endpoint + " answered with status " + std::to_string(response.status));
  auto answer = read_introspection(response.body);
  if (!answer) answer.error().public_text = options_.endpoint + ": " + answer.error().public_text;
  return answer;
}

result<value> introspection_client::introspect(const std::string& token, std::chrono::steady_clock::time_point deadline) {
  auto answer = send_request(token, deadline);
  if (answer) {
    failure_log_.report_recovery("tokens can be introspected again");
  } else {
    failure_log_.report_failure("tokens cannot be introspected: " + answer.error().public_text);
  }
  return answer;
}

namespace {

constexpr std::size_t max_url_bytes = 2048;

}  // namespace

bool is_endpoint_url(const std::string& url) {
  return url.size() <= max_url_bytes && transport::http_client::origin_of(url) &&
         !transport::http_client::has_credentials(url) && url.find('#') == std::string::npos;
}

bool is_issuer(const std::string& url) { return is_endpoint_url(url) && url.find('?') == std::string::npos; }

result<std::string> parse_jwks_uri(std::string_view document, const std::string& issuer) {
  const auto parsed = value::parse(document, {.max_bytes = max_metadata_bytes, .max_values = 10'000});
  if (!parsed || parsed->as_object() == nullptr) return fail(errc::protocol_error, "it is not a JSON object");
  const auto* actual_issuer = parsed->find("issuer");
  if (actual_issuer == nullptr || actual_issuer->as_string() == nullptr) return fail(errc::protocol_error, "it has no issuer");
  if (*actual_issuer->as_string() != issuer) return fail(errc::access_denied, "its issuer is not " + issuer);
  auto keys = parsed->string_at("jwks_uri");
  if (!keys || keys->empty() || keys->size() > max_url_bytes) return fail(errc::protocol_error, "it has no usable jwks_uri");
  return keys;
}

namespace {

using transport::http_client::small_response;

// For a fetch in the background. `time_left` limits each call.
constexpr std::chrono::seconds refresh_timeout{30};
constexpr std::chrono::hours jwks_uri_ttl{1};
// The fetching and the waiting caller together are half of the threads of the pool "authentication" (`authentication_limits` in
// transport/http_server/service.cpp). Tokens with invented key ids thus never occupy the whole pool.
constexpr std::size_t max_waiters = 1;

tl::unexpected<failure> fetch_failure(const std::string& url, const std::string& reason) {
  return fail(errc::source_unavailable, url + ": " + reason);
}

std::string status_text(int status) {
  return "it answered with status " + std::to_string(status) + (status >= 300 && status < 400 ? ", a redirect" : "");
}

}  // namespace

bool jwks_cache::has_keys(steady_time now) const { return keys_ && now - keys_->fetched_at < max_age; }

std::shared_ptr<const published_keys> jwks_cache::cached_at(steady_time now) const {
  // If the issuer is down, cached keys stay in use. They expire if nothing has tried to fetch them for `max_stale`.
  const bool is_known = now < refresh_at_ + max_stale || (failed_at_ && now - *failed_at_ < max_stale);
  return has_keys(now) && is_known ? keys_ : nullptr;
}

std::shared_ptr<const published_keys> jwks_cache::cached() const {
  const std::lock_guard lock(mutex_);
  return cached_at(settings_.time.steady());
}

void jwks_cache::start_refresh() {
  const auto now = settings_.time.steady();
  const std::lock_guard lock(mutex_);
  if (is_fetching_ || !has_keys(now) || !is_stale(now)) return;
  try {
    // The previous thread has ended or is about to; the assignment joins it.
    refresh_thread_ = std::jthread([this](const std::stop_token& stop) { fetch_in_background(stop); });
    is_fetching_ = true;
    ++fetch_count_;
  } catch (const std::system_error& error) {
    apply(fail(errc::source_unavailable, "no thread can be started for it", error.what()), now);
  }
}

void jwks_cache::fetch_in_background(const std::stop_token& stop) {
  {
    // Waits until `start_refresh` has released the mutex.
    const std::lock_guard lock(mutex_);
  }
  const std::unique_ptr<jwks_cache, void (*)(jwks_cache*)> finish_guard(this, [](jwks_cache* cache) { cache->finish_fetch(); });
  try {
    auto fetched = fetch(monotonic_clock::now() + refresh_timeout, stop);
    const std::lock_guard lock(mutex_);
    if (!stop.stop_requested()) apply(std::move(fetched), settings_.time.steady());
  } catch (const std::exception& error) {
    const std::lock_guard lock(mutex_);
    apply(fail(errc::internal, "an internal error occurred", error.what()), settings_.time.steady());
  }
}

bool jwks_cache::may_fetch_unknown() const {
  const auto now = settings_.time.steady();
  const std::lock_guard lock(mutex_);
  return !is_fetching_ && is_due(fetch_reason::unknown_key, now);
}

std::chrono::seconds jwks_cache::time_to_next_fetch() const {
  const auto now = settings_.time.steady();
  const std::lock_guard lock(mutex_);
  steady_time next = now;
  if (!cached_at(now)) {
    if (failed_at_) next = *failed_at_ + empty_retry_delay;
  } else if (unknown_key_fetches_.size() >= max_unknown_key_fetches) {
    next = unknown_key_fetches_.front() + unknown_key_window;
  }
  return std::max(std::chrono::seconds(0), std::chrono::ceil<std::chrono::seconds>(next - now));
}

bool jwks_cache::is_fetching() const {
  const std::lock_guard lock(mutex_);
  return is_fetching_;
}

bool jwks_cache::is_due(fetch_reason reason, steady_time now) const {
  if (!cached_at(now)) return !failed_at_ || now - *failed_at_ >= empty_retry_delay;
  return reason == fetch_reason::unknown_key &&
         (unknown_key_fetches_.size() < max_unknown_key_fetches || now - unknown_key_fetches_.front() >= unknown_key_window);
}

bool jwks_cache::is_stale(steady_time now) const {
  return now >= refresh_at_ && !(failed_at_ && now - *failed_at_ < retry_delay);
}

result<std::shared_ptr<const published_keys>> jwks_cache::obtain(fetch_reason reason,
                                                                 std::chrono::steady_clock::time_point deadline) {
  std::unique_lock lock(mutex_);
  const auto outcome = [this]() -> result<std::shared_ptr<const published_keys>> {
    if (auto keys = cached_at(settings_.time.steady())) return keys;
    return tl::unexpected(failure_);
  };
  if (is_fetching_) {
    // With cached keys, the caller need not wait.
    if (cached_at(settings_.time.steady()) || waiters_ >= max_waiters) return outcome();
    ++waiters_;
    monotonic_clock::wait_until(fetch_finished_, lock, deadline, [this] { return !is_fetching_; });
    --waiters_;
    return outcome();
  }
  const auto now = settings_.time.steady();
  if (!is_due(reason, now)) return outcome();
  if (reason == fetch_reason::unknown_key) {
    unknown_key_fetches_.push_back(now);
    if (unknown_key_fetches_.size() > max_unknown_key_fetches) unknown_key_fetches_.pop_front();
  }
  is_fetching_ = true;
  ++fetch_count_;
  lock.unlock();
  {
    // Runs in any case, also after `std::bad_alloc`: otherwise no caller would ever fetch again.
    const std::unique_ptr<jwks_cache, void (*)(jwks_cache*)> finish_guard(this,
                                                                          [](jwks_cache* cache) { cache->finish_fetch(); });
    auto fetched = fetch(deadline, {});
    const std::lock_guard apply_lock(mutex_);
    apply(std::move(fetched), settings_.time.steady());
  }
  lock.lock();
  return outcome();
}

void jwks_cache::finish_fetch() {
  const std::lock_guard lock(mutex_);
  is_fetching_ = false;
  fetch_finished_.notify_all();
}

void jwks_cache::apply(result<small_response> fetched, steady_time now) {
  auto set = fetched ? jose::key_set::parse(fetched->body) : tl::unexpected(fetched.error());
  if (set && set->size() == 0) set = fail(errc::protocol_error, "the key set has no key for RS256, ES256 or EdDSA");
  if (!set) {
    failed_at_ = now;
    discovered_at_.reset();  // the keys may have moved to another URL
    failure_ = {set.error().code, "cannot fetch the keys of " + settings_.issuer + ": " + set.error().public_text, {}};
    failure_log_.report_failure(failure_.public_text +
                                (cached_at(now) ? "; the cached keys stay in use for at most a day" : ""));
    return;
  }
  failed_at_.reset();
  failure_log_.report_recovery("the keys of " + settings_.issuer + " can be fetched again");
  const auto ttl = std::clamp<std::chrono::seconds>(fetched->max_age.value_or(default_ttl), min_ttl, max_ttl);
  refresh_at_ = now + ttl;
  auto updated = std::make_shared<published_keys>();
  const bool is_same = keys_ && keys_->text == fetched->body;
  updated->generation = is_same ? keys_->generation : ++last_generation_;
  updated->set = std::move(*set);
  updated->text = std::move(fetched->body);
  updated->fetched_at = now;
  updated->fetch_number = fetch_count_;
  generation_ = updated->generation;
  keys_ = std::move(updated);
}

result<std::string> jwks_cache::discover_jwks_uri(std::chrono::steady_clock::time_point deadline,
                                                  const std::stop_token& stop) const {
  std::string reasons;
  for (const auto& url : uri::issuer_metadata_urls(settings_.issuer)) {
    const auto response = settings_.call({.url = url,
                                          .headers = {{"Accept", "application/json"}},
                                          .max_bytes = max_metadata_bytes,
                                          .timeout = time_left(deadline)},
                                         stop);
    auto jwks_uri = !response                 ? result<std::string>(tl::unexpected(response.error()))
                    : response->status != 200 ? result<std::string>(fetch_failure(url, status_text(response->status)))
                                              : parse_jwks_uri(response->body, settings_.issuer);
    if (jwks_uri) return jwks_uri;
    auto reason =
        response && response->status == 200 ? url + ": " + jwks_uri.error().public_text : jwks_uri.error().public_text;
    // Metadata of another issuer: stop, and do not try the other places.
    if (jwks_uri.error().code == errc::access_denied) return fail(errc::access_denied, std::move(reason));
    reasons += (reasons.empty() ? "" : "; ") + reason;
  }
  return fail(errc::source_unavailable, "its metadata cannot be fetched: " + reasons);
}

result<small_response> jwks_cache::fetch(std::chrono::steady_clock::time_point deadline, const std::stop_token& stop) {
  auto jwks_uri = settings_.jwks_uri;
  if (jwks_uri.empty()) {
    const auto now = settings_.time.steady();
    if (!discovered_at_ || now - *discovered_at_ >= jwks_uri_ttl) {
      HONDANA_TRY(auto discovered, discover_jwks_uri(deadline, stop));
      jwks_uri_ = std::move(discovered);
      discovered_at_ = now;
    }
    jwks_uri = jwks_uri_;
  }
  auto response = settings_.call({.url = jwks_uri,
                                  .headers = {{"Accept", "application/jwk-set+json, application/json"}},
                                  .max_bytes = jose::key_set::max_bytes,
                                  .timeout = time_left(deadline)},
                                 stop);
  if (response && response->status != 200) return fetch_failure(jwks_uri, status_text(response->status));
  return response;
}

}  // namespace hondana::authentication

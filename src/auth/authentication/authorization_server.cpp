/// The authorization server of a resource server: its metadata, published keys and introspection (RFC 7662).
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
std::string basic(const introspection_options& of) {
  std::string out = "Basic ";
  json::append_base64(out, percent_encode(of.client_id) + ':' + percent_encode(of.client_secret));
  return out;
}

}  // namespace

result<value> read_introspection(std::string_view text) {
  auto parsed = value::parse(text, {.bytes = most_introspection_bytes, .values = 5000});
  if (!parsed || parsed->as_object() == nullptr) return fail(errc::broken_protocol, "the answer is not a JSON object");
  const auto* active = parsed->find("active");
  if (active == nullptr || !active->as_boolean())
    return fail(errc::broken_protocol, "the answer does not say whether the token is active");
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
    return text != nullptr && std::find(kinds.begin(), kinds.end(), ascii::in_lower_case(*text)) != kinds.end();
  });
}

result<value> introspection::answer_to(const std::string& token, std::chrono::steady_clock::time_point deadline) const {
  transport::http_client::small_request asked{.url = of_.endpoint,
                                              .headers = {{"Content-Type", "application/x-www-form-urlencoded"},
                                                          {"Accept", "application/json"},
                                                          {"Authorization", basic(of_)}},
                                              .most_bytes = most_introspection_bytes,
                                              .time = time_left(deadline)};
  asked.body = "token=" + percent_encode(token) + "&token_type_hint=access_token";
  HONDANA_TRY(const auto got, call_(asked, {}));
  if (got.status == 401 || got.status == 403)
    return fail(errc::unauthorized, of_.endpoint + " rejects this server's client id and secret");
  if (got.status != 200)
    return fail(errc::broken_protocol, of_.endpoint + " answered with status " + std::to_string(got.status));
  auto said = read_introspection(got.bytes);
  if (!said) said.error().public_text = of_.endpoint + ": " + said.error().public_text;
  return said;
}

result<value> introspection::ask(const std::string& token, std::chrono::steady_clock::time_point deadline) {
  auto said = answer_to(token, deadline);
  if (said) {
    trouble_.works("tokens can be introspected again");
  } else {
    trouble_.fails("tokens cannot be introspected: " + said.error().public_text);
  }
  return said;
}

namespace {

constexpr std::size_t longest_url = 2048;

}  // namespace

bool is_address(const std::string& url) {
  return url.size() <= longest_url && transport::http_client::origin_of(url) && !transport::http_client::has_credentials(url) &&
         url.find('#') == std::string::npos;
}

bool is_issuer(const std::string& url) { return is_address(url) && url.find('?') == std::string::npos; }

result<std::string> keys_place_in(std::string_view document, const std::string& issuer) {
  const auto parsed = value::parse(document, {.bytes = most_metadata_bytes, .values = 10'000});
  if (!parsed || parsed->as_object() == nullptr) return fail(errc::broken_protocol, "it is not a JSON object");
  const auto* of = parsed->find("issuer");
  if (of == nullptr || of->as_string() == nullptr) return fail(errc::broken_protocol, "it has no issuer");
  if (*of->as_string() != issuer) return fail(errc::access_denied, "its issuer is not " + issuer);
  auto keys = parsed->string_at("jwks_uri");
  if (!keys || keys->empty() || keys->size() > longest_url) return fail(errc::broken_protocol, "it has no usable jwks_uri");
  return keys;
}

namespace {

using transport::http_client::small_answer;

// For a fetch in the background. `time_left` limits each call.
constexpr std::chrono::seconds time_to_renew{30};
constexpr std::chrono::hours place_kept{1};
// The fetching and the waiting caller together are half of the threads of the pool "authentication" (`asking` in
// transport/http_server/service.cpp). Tokens with invented key ids thus never occupy the whole pool.
constexpr std::size_t most_waiting = 1;

tl::unexpected<failure> no_document(const std::string& url, const std::string& why) {
  return fail(errc::source_unavailable, url + ": " + why);
}

std::string status_text(int status) {
  return "it answered with status " + std::to_string(status) + (status >= 300 && status < 400 ? ", a redirect" : "");
}

}  // namespace

bool key_ring::has_any(steady_time now) const { return keys_ && now - keys_->fetched < longest_kept; }

std::shared_ptr<const published_keys> key_ring::held_at(steady_time now) const {
  // If the issuer is down, cached keys stay in use. They expire if nothing has tried to fetch them for `longest_stale`.
  const bool is_known = now < refresh_at_ + longest_stale || (failed_ && now - *failed_ < longest_stale);
  return has_any(now) && is_known ? keys_ : nullptr;
}

std::shared_ptr<const published_keys> key_ring::held() const {
  const std::lock_guard lock(mutex_);
  return held_at(of_.time.steady());
}

void key_ring::renew() {
  const auto now = of_.time.steady();
  const std::lock_guard lock(mutex_);
  if (is_fetching_ || !has_any(now) || !is_stale(now)) return;
  try {
    // The previous thread has ended or is about to; the assignment joins it.
    renewing_ = std::jthread([this](const std::stop_token& stop) { fetch_behind(stop); });
    is_fetching_ = true;
    ++looks_;
  } catch (const std::system_error& no_thread) {
    take(fail(errc::source_unavailable, "no thread can be started for it", no_thread.what()), now);
  }
}

void key_ring::fetch_behind(const std::stop_token& stop) {
  {
    // Waits until `renew` has released the mutex.
    const std::lock_guard begun(mutex_);
  }
  const std::unique_ptr<key_ring, void (*)(key_ring*)> at_the_end(this, [](key_ring* self) { self->end_fetching(); });
  try {
    auto fetched = fetch(monotonic_clock::now() + time_to_renew, stop);
    const std::lock_guard taking(mutex_);
    if (!stop.stop_requested()) take(std::move(fetched), of_.time.steady());
  } catch (const std::exception& error) {
    const std::lock_guard taking(mutex_);
    take(fail(errc::internal, "an internal error occurred", error.what()), of_.time.steady());
  }
}

bool key_ring::may_look_for_unknown() const {
  const auto now = of_.time.steady();
  const std::lock_guard lock(mutex_);
  return !is_fetching_ && is_due(wish::unknown_key, now);
}

std::chrono::seconds key_ring::until_next_look() const {
  const auto now = of_.time.steady();
  const std::lock_guard lock(mutex_);
  steady_time next = now;
  if (!held_at(now)) {
    if (failed_) next = *failed_ + without_any;
  } else if (looked_for_unknown_.size() >= most_unknown_keys) {
    next = looked_for_unknown_.front() + of_unknown_keys;
  }
  return std::max(std::chrono::seconds(0), std::chrono::ceil<std::chrono::seconds>(next - now));
}

bool key_ring::is_fetching() const {
  const std::lock_guard lock(mutex_);
  return is_fetching_;
}

bool key_ring::is_due(wish why, steady_time now) const {
  if (!held_at(now)) return !failed_ || now - *failed_ >= without_any;
  return why == wish::unknown_key &&
         (looked_for_unknown_.size() < most_unknown_keys || now - looked_for_unknown_.front() >= of_unknown_keys);
}

bool key_ring::is_stale(steady_time now) const { return now >= refresh_at_ && !(failed_ && now - *failed_ < after_failure); }

result<std::shared_ptr<const published_keys>> key_ring::obtain(wish why, std::chrono::steady_clock::time_point deadline) {
  std::unique_lock lock(mutex_);
  const auto outcome = [this]() -> result<std::shared_ptr<const published_keys>> {
    if (auto keys = held_at(of_.time.steady())) return keys;
    return tl::unexpected(why_);
  };
  if (is_fetching_) {
    // With cached keys, the caller need not wait.
    if (held_at(of_.time.steady()) || waiting_ >= most_waiting) return outcome();
    ++waiting_;
    monotonic_clock::wait_until(is_over_, lock, deadline, [this] { return !is_fetching_; });
    --waiting_;
    return outcome();
  }
  const auto now = of_.time.steady();
  if (!is_due(why, now)) return outcome();
  if (why == wish::unknown_key) {
    looked_for_unknown_.push_back(now);
    if (looked_for_unknown_.size() > most_unknown_keys) looked_for_unknown_.pop_front();
  }
  is_fetching_ = true;
  ++looks_;
  lock.unlock();
  {
    // Runs in any case, also after `std::bad_alloc`: otherwise no caller would ever fetch again.
    const std::unique_ptr<key_ring, void (*)(key_ring*)> at_the_end(this, [](key_ring* self) { self->end_fetching(); });
    auto fetched = fetch(deadline, {});
    const std::lock_guard taking(mutex_);
    take(std::move(fetched), of_.time.steady());
  }
  lock.lock();
  return outcome();
}

void key_ring::end_fetching() {
  const std::lock_guard lock(mutex_);
  is_fetching_ = false;
  is_over_.notify_all();
}

void key_ring::take(result<small_answer> fetched, steady_time now) {
  auto set = fetched ? jose::key_set::parse(fetched->bytes) : tl::unexpected(fetched.error());
  if (set && set->size() == 0) set = fail(errc::broken_protocol, "the key set has no key for RS256, ES256 or EdDSA");
  if (!set) {
    failed_ = now;
    place_found_.reset();  // the keys may have moved to another URL
    why_ = {set.error().code, "cannot fetch the keys of " + of_.issuer + ": " + set.error().public_text, {}};
    trouble_.fails(why_.public_text + (held_at(now) ? "; the cached keys stay in use for at most a day" : ""));
    return;
  }
  failed_.reset();
  trouble_.works("the keys of " + of_.issuer + " can be fetched again");
  const auto fresh = std::clamp<std::chrono::seconds>(fetched->max_age.value_or(usually_fresh), least_fresh, longest_fresh);
  refresh_at_ = now + fresh;
  auto made = std::make_shared<published_keys>();
  const bool is_same = keys_ && keys_->text == fetched->bytes;
  made->generation = is_same ? keys_->generation : ++generations_;
  made->set = std::move(*set);
  made->text = std::move(fetched->bytes);
  made->fetched = now;
  made->look = looks_;
  generation_ = made->generation;
  keys_ = std::move(made);
}

result<std::string> key_ring::find_place(std::chrono::steady_clock::time_point deadline, const std::stop_token& stop) const {
  std::string tried;
  for (const auto& url : uri::issuer_metadata_places(of_.issuer)) {
    const auto got = of_.call({.url = url,
                               .headers = {{"Accept", "application/json"}},
                               .most_bytes = most_metadata_bytes,
                               .time = time_left(deadline)},
                              stop);
    auto place = !got                 ? result<std::string>(tl::unexpected(got.error()))
                 : got->status != 200 ? result<std::string>(no_document(url, status_text(got->status)))
                                      : keys_place_in(got->bytes, of_.issuer);
    if (place) return place;
    auto why = got && got->status == 200 ? url + ": " + place.error().public_text : place.error().public_text;
    // Metadata of another issuer: stop, and do not try the other places.
    if (place.error().code == errc::access_denied) return fail(errc::access_denied, std::move(why));
    tried += (tried.empty() ? "" : "; ") + why;
  }
  return fail(errc::source_unavailable, "its metadata cannot be fetched: " + tried);
}

result<small_answer> key_ring::fetch(std::chrono::steady_clock::time_point deadline, const std::stop_token& stop) {
  auto place = of_.place;
  if (place.empty()) {
    const auto now = of_.time.steady();
    if (!place_found_ || now - *place_found_ >= place_kept) {
      HONDANA_TRY(auto found, find_place(deadline, stop));
      found_place_ = std::move(found);
      place_found_ = now;
    }
    place = found_place_;
  }
  auto got = of_.call({.url = place,
                       .headers = {{"Accept", "application/jwk-set+json, application/json"}},
                       .most_bytes = jose::key_set::most_bytes,
                       .time = time_left(deadline)},
                      stop);
  if (got && got->status != 200) return no_document(place, status_text(got->status));
  return got;
}

}  // namespace hondana::authentication

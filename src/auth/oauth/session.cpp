/// Gets, refreshes and stores the tokens for one MCP server, and handles its rejections.
#include "auth/oauth/session.hpp"

#include <algorithm>
#include <iterator>
#include <mutex>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include <hondana/authorization.hpp>
#include <hondana/error.hpp>

#include "auth/oauth/authorization_urls.hpp"
#include "auth/oauth/metadata.hpp"
#include "auth/oauth/scopes.hpp"

namespace hondana::oauth {

/// Lets one thread at a time get tokens. The others wait, and usually find the new token then.
class session::token_slot {
 public:
  token_slot(session& owner, const std::stop_token& stop) : owner_(owner) {
    std::unique_lock lock(owner.mutex_);
    is_acquired_ = owner.slot_released_.wait(lock, stop, [&owner] { return !owner.is_busy_; });
    if (is_acquired_) owner.is_busy_ = true;
  }
  ~token_slot() {
    if (!is_acquired_) return;
    {
      const std::scoped_lock lock(owner_.mutex_);
      owner_.is_busy_ = false;
    }
    owner_.slot_released_.notify_one();
  }
  token_slot(const token_slot&) = delete;
  token_slot& operator=(const token_slot&) = delete;

  [[nodiscard]] bool is_acquired() const noexcept { return is_acquired_; }

 private:
  session& owner_;
  bool is_acquired_ = false;
};

/// The scopes that `current` was requested with; empty set if there are no tokens.
[[nodiscard]] scope_set requested_scopes(const std::optional<token_record>& current);

/// The scopes to request. They are those of the challenge (`challenged`), or otherwise all that the MCP server publishes. Added
/// are the configured scopes, those requested before, and `offline_access` if the authorization server supports it. Spec:
/// basic/authorization#scope-selection-strategy, #step-up-authorization-flow, #refresh-tokens.
[[nodiscard]] scope_set scopes_to_request(const oauth_client_options& options, const std::optional<token_record>& current,
                                          const authority& authority, const std::optional<scope_set>& challenged);

/// Selects one of `issuers`, which the MCP server names; at least one. Order: `required_issuer` unless it is empty; that of the
/// current tokens, if it is named; the first. Errors: unauthorized if `required_issuer` is not named. Spec:
/// basic/authorization/client-registration#authorization-server-binding.
[[nodiscard]] result<std::string> choose_issuer(const std::vector<std::string>& issuers, const std::string& required_issuer,
                                                const std::optional<token_record>& current, const std::string& url);

/// The most recent of `stored` that matches the settings.
[[nodiscard]] std::optional<token_record> choose_tokens(std::vector<token_record> stored, const oauth_client_options& options,
                                                        const std::string& url);

scope_set requested_scopes(const std::optional<token_record>& current) {
  return current ? read_scopes(current->key.scope).value_or(scope_set()) : scope_set();
}

scope_set scopes_to_request(const oauth_client_options& options, const std::optional<token_record>& current,
                            const authority& authority, const std::optional<scope_set>& challenged) {
  auto out = challenged ? *challenged : authority.scopes.value_or(scope_set());
  out.insert(options.scopes.begin(), options.scopes.end());
  if (current && current->key.issuer == authority.server.issuer) out.merge(requested_scopes(current));
  const bool is_user = options.grant == oauth_grant::authorization_code;
  // On its own it would replace the default scopes that the server grants to a request without scopes.
  if (is_user && !out.empty() && authority.server.scopes.contains("offline_access")) out.insert("offline_access");
  return out;
}

result<std::string> choose_issuer(const std::vector<std::string>& issuers, const std::string& required_issuer,
                                  const std::optional<token_record>& current, const std::string& url) {
  const auto is_named = [&issuers](const std::string& issuer) {
    return std::find(issuers.begin(), issuers.end(), issuer) != issuers.end();
  };
  if (!required_issuer.empty()) {
    if (is_named(required_issuer)) return required_issuer;
    return fail(errc::unauthorized,
                display_url(url) + " requires logins at " + display_url(issuers.front()) +
                    ", but the configured client is registered at " + display_url(required_issuer) +
                    "; if that is correct, register a client at the former and configure it with its issuer");
  }
  if (current && is_named(current->key.issuer)) return current->key.issuer;
  return issuers.front();
}

std::optional<token_record> choose_tokens(std::vector<token_record> stored, const oauth_client_options& options,
                                          const std::string& url) {
  const scope_set requested(options.scopes.begin(), options.scopes.end());
  std::optional<token_record> out;
  for (auto& entry : stored) {
    if (entry.key.resource != url) continue;
    if (options.client_id && entry.key.client_id != options.client_id) continue;
    if (options.issuer && entry.key.issuer != options.issuer) continue;
    if (!covers(read_scopes(entry.key.scope).value_or(scope_set()), requested)) continue;
    if (!out || entry.tokens.issued_at > out->tokens.issued_at) out = std::move(entry);
  }
  return out;
}

namespace {

constexpr auto max_margin = std::chrono::seconds(30);

bool is_same(const rejected_token& left, const rejected_token& right) {
  return left.token == right.token && left.status == right.status && left.challenges == right.challenges;
}

failure with_scopes(failure error, const scope_set& scopes) {
  error.scopes = std::make_shared<const std::vector<std::string>>(scopes.begin(), scopes.end());
  return error;
}

}  // namespace

bool session::is_expired(const token_set& tokens) const {
  if (!tokens.expires_at) return false;
  const auto margin =
      std::clamp<std::chrono::seconds>((*tokens.expires_at - tokens.issued_at) / 10, std::chrono::seconds(0), max_margin);
  return context_.now() >= *tokens.expires_at - margin;
}

std::optional<std::string> session::token() {
  const std::scoped_lock lock(mutex_);
  if (!is_loaded_) return std::nullopt;
  if (!current_ || is_withheld_) return std::string();
  if (is_expired(current_->tokens)) return std::nullopt;
  return current_->tokens.access_token;
}

std::optional<token_record> session::current() const {
  const std::scoped_lock lock(mutex_);
  auto out = current_;
  if (out) out->tokens.access_token.clear();
  if (out) out->tokens.refresh_token.reset();
  return out;
}

bool session::has_other_token(const std::optional<std::string>& rejected_token) const {
  const std::scoped_lock lock(mutex_);
  return current_ && !is_withheld_ && !is_expired(current_->tokens) && current_->tokens.access_token != rejected_token;
}

result<void> session::obtain(const rejected_token& rejection, const std::stop_token& stop) {
  const auto [previous_attempts, is_running] = [this] {
    const std::scoped_lock lock(mutex_);
    return std::pair(attempts_, is_busy_);
  }();
  if (is_running) context_.log("another call is already getting a token; waiting for it");
  const token_slot slot(*this, stop);
  if (!slot.is_acquired())
    return fail(errc::cancelled, "cannot get a token for " + display_url(context_.url) + ": it was cancelled");
  if (has_other_token(rejection.token)) return {};
  {
    // If the attempt that this caller waited for failed, do not ask the user a second time.
    const std::scoped_lock lock(mutex_);
    if (attempts_ != previous_attempts && last_failure_ && is_same(last_rejection_, rejection))
      return tl::unexpected(*last_failure_);
  }
  auto status = obtain_now(rejection, stop);
  const std::scoped_lock lock(mutex_);
  ++attempts_;
  last_failure_.reset();
  if (!status && status.error().code != errc::cancelled) last_failure_ = status.error();
  last_rejection_ = rejection;
  return status;
}

result<void> session::obtain_now(const rejected_token& rejection, const std::stop_token& stop) {
  if (auto loaded = load(); !loaded) {
    if (rejection.status) return loaded;
    // The server may not require authentication. After a rejection the store is read again.
    context_.log("no stored login is used: " + loaded.error().public_text);
    set(std::nullopt, origin::store);
    return {};
  }
  if (has_other_token(rejection.token)) return {};
  if (!rejection.status) return renew(stop);
  HONDANA_TRY(reload(rejection.token));
  if (has_other_token(rejection.token)) return {};
  if (rejection.status != 403) return handle_401(rejection, stop);
  return step_up(find_bearer_challenge(rejection.challenges), stop);
}

result<std::optional<token_record>> session::find_stored() const {
  HONDANA_TRY(auto stored, context_.options.store->find(context_.url));
  return choose_tokens(std::move(stored), context_.options, context_.url);
}

result<void> session::load() {
  if (is_loaded_) return {};
  HONDANA_TRY(auto entry, find_stored());
  use_stored(std::move(entry));
  return {};
}

/// Another process may have logged in meanwhile.
result<void> session::reload(const std::optional<std::string>& rejected_token) {
  HONDANA_TRY(auto entry, find_stored());
  if (!entry || entry->tokens.access_token == rejected_token) return {};
  const bool is_newer = !current_ || (entry->tokens.issued_at >= current_->tokens.issued_at &&
                                      entry->tokens.access_token != current_->tokens.access_token);
  if (is_newer) use_stored(std::move(entry));
  return {};
}

void session::use_stored(std::optional<token_record> entry) {
  if (entry && context_.options.client_id) issuer_ = entry->key.issuer;
  set(std::move(entry), origin::store);
}

bool session::can_log_in() const noexcept {
  return context_.options.login || context_.options.grant == oauth_grant::client_credentials;
}

void session::set(std::optional<token_record> entry, origin source) {
  origin_ = source;
  const std::scoped_lock lock(mutex_);
  current_ = std::move(entry);
  is_withheld_ = false;
  is_loaded_ = true;
}

result<void> session::adopt(token_record entry, origin source) {
  const auto previous_key = current_ ? std::optional(current_->key) : std::nullopt;
  set(entry, source);
  if (auto status = context_.options.store->put(entry); !status) return status;
  // The new tokens replace those of the previous key.
  if (previous_key && *previous_key != entry.key) return context_.options.store->remove(*previous_key);
  return {};
}

result<void> session::discard() {
  if (!current_) return {};
  const auto discarded = *current_;
  set(std::nullopt, origin::store);
  const auto& store = context_.options.store;
  HONDANA_TRY(const auto stored, store->find(context_.url));
  // Other tokens in their place come from another login, so they stay.
  const bool is_stored = std::any_of(stored.begin(), stored.end(), [&discarded](const token_record& entry) {
    return entry.key == discarded.key && entry.tokens.access_token == discarded.tokens.access_token;
  });
  return is_stored ? store->remove(discarded.key) : result<void>();
}

result<std::shared_ptr<void>> session::lock_store(const std::stop_token& stop) const {
  auto lock = context_.options.store->lock(context_.url, 3 * context_.http.timeout, stop);
  if (lock || lock.error().code == errc::timed_out || lock.error().code == errc::cancelled) return lock;
  // Tokens can be refreshed for this process even if the store is unavailable.
  context_.log("other processes are not prevented from refreshing the same tokens: " + lock.error().public_text);
  return nullptr;
}

/// Renews an expired access token. The user is not asked to log in before the server requires it.
result<void> session::renew(const std::stop_token& stop) {
  if (!current_) return {};
  const bool is_machine = context_.options.grant == oauth_grant::client_credentials;
  if (is_machine || current_->tokens.refresh_token) {
    const auto authority = find_authority(metadata_hint_, stop);
    // The tokens may belong to another issuer. The server may announce its metadata only with a rejection, so wait for that.
    if (!authority && authority.error().code != errc::unauthorized) return tl::unexpected(authority.error());
    if (authority && authority->server.issuer == current_->key.issuer) {
      if (is_machine) return request_tokens(*authority, requested_scopes(current_), false, stop);
      HONDANA_TRY(refresh_tokens(*authority, stop));
      return {};
    }
  }
  const std::scoped_lock lock(mutex_);
  is_withheld_ = true;
  return {};
}

result<void> session::handle_401(const rejected_token& rejection, const std::stop_token& stop) {
  const auto challenge = find_bearer_challenge(rejection.challenges);
  if (!challenge.metadata_url.empty()) metadata_hint_ = challenge.metadata_url;
  const auto authority = find_authority(metadata_hint_, stop);
  if (!authority) return tl::unexpected(authority.error());
  const bool had_login = current_ && rejection.token && current_->tokens.access_token == rejection.token;
  if (!can_log_in() && !had_login && authority->is_assumed)
    return fail(errc::unauthorized,
                '"' + display_url(context_.url) + "\" requires authentication, but names no authorization server to log in at");
  const auto message = had_login
                           ? '"' + display_url(context_.url) + "\" rejected the login at " + display_url(current_->key.issuer)
                           : std::string();
  if (current_ && current_->key.issuer == authority->server.issuer) {
    const bool is_repeated = current_->tokens.access_token == rejection.token && rejection.attempt > 1;
    if (is_repeated && origin_ == origin::login)
      return fail(errc::unauthorized, display_url(context_.url) + " rejects the token that " +
                                          display_url(authority->server.issuer) + " has just issued; ask their operators");
    if (current_->tokens.refresh_token && !(is_repeated && origin_ == origin::refresh)) {
      HONDANA_TRY(const auto is_refreshed, refresh_tokens(*authority, stop));
      if (is_refreshed) return {};
    }
  }
  const auto scopes = scopes_to_request(context_.options, current_, *authority, challenge.scopes);
  if (!can_log_in() && had_login)
    return tl::unexpected(with_scopes({errc::unauthorized, message + ": " + context_.options.login_advice, {}}, scopes));
  return request_tokens(*authority, scopes, false, stop);
}

result<void> session::step_up(const bearer_challenge& challenge, const std::stop_token& stop) {
  if (!challenge.metadata_url.empty()) metadata_hint_ = challenge.metadata_url;
  const auto required = challenge.scopes.value_or(scope_set());
  // Requesting the same scopes again would loop forever.
  if (covers(requested_scopes(current_), required))
    return tl::unexpected(with_scopes({errc::unauthorized,
                                       display_url(context_.url) + " rejects the request" +
                                           (required.empty() ? std::string(" and names no missing scope")
                                                             : ", which requires the scopes " + scope_string(required) +
                                                                   "; the login has already requested them") +
                                           "; ask its operator for access",
                                       {}},
                                      required));
  const auto authority = find_authority(metadata_hint_, stop);
  if (!authority) return tl::unexpected(authority.error());
  if (!can_log_in() && current_) {
    scope_set missing;
    const auto requested = requested_scopes(current_);
    std::set_difference(required.begin(), required.end(), requested.begin(), requested.end(),
                        std::inserter(missing, missing.end()));
    return tl::unexpected(
        with_scopes({errc::unauthorized,
                     "the login to \"" + display_url(context_.url) + "\" at " + display_url(current_->key.issuer) +
                         " lacks the scopes " + scope_string(missing) + ": " + context_.options.login_advice,
                     {}},
                    missing));
  }
  return request_tokens(*authority, scopes_to_request(context_.options, current_, *authority, required), false, stop);
}

result<bool> session::refresh_tokens(const authority& authority, const std::stop_token& stop) {
  // Most refresh tokens are valid once, and a second use revokes the whole login. Another process may have refreshed already.
  const auto is_newer = [this](const token_record& candidate) {
    return candidate.tokens.issued_at >= current_->tokens.issued_at &&
           candidate.tokens.access_token != current_->tokens.access_token;
  };
  const auto adopt_newer = [&]() -> result<bool> {
    HONDANA_TRY(auto entry, find_stored());
    if (!entry || !is_newer(*entry) || entry->key.issuer != authority.server.issuer) return false;
    // The old refresh token has been used, even if the new access token has expired meanwhile.
    const bool is_valid = !is_expired(entry->tokens);
    set(std::move(entry), is_valid ? origin::refresh : origin::store);
    return is_valid;
  };
  HONDANA_TRY(const auto lock, lock_store(stop));
  if (auto adopted = adopt_newer(); !adopted || *adopted) return adopted;
  if (!current_->tokens.refresh_token) return false;
  const auto old_token = current_->tokens.access_token;
  auto fresh = refresh(context_, authority, *current_, stop);
  if (fresh) {
    if (auto status = adopt(std::move(*fresh), origin::refresh); !status)
      context_.log("the token cannot be stored: " + status.error().public_text);
    return true;
  }
  if (!fresh.error().is_final()) return tl::unexpected(std::move(fresh.error().reason));
  if (auto retried = adopt_newer(); !retried || *retried || current_->tokens.access_token != old_token) return retried;
  context_.log("the current tokens cannot be refreshed: " + fresh.error().reason.public_text);
  HONDANA_TRY(discard());
  return false;
}

result<authority> session::find_authority(const std::string& metadata_hint, const std::stop_token& stop) {
  const auto choose = [this](const std::vector<std::string>& issuers) {
    return choose_issuer(issuers, context_.options.issuer.value_or(issuer_), current_, context_.url);
  };
  return discover(context_.http, context_.url, metadata_hint, choose, stop);
}

result<void> session::request_tokens(const authority& authority, const scope_set& scopes, bool must_store,
                                     const std::stop_token& stop) {
  if (context_.options.client_id) issuer_ = authority.server.issuer;
  auto fresh = get_tokens(context_, authority, scopes, stop);
  if (!fresh) return tl::unexpected(with_scopes(std::move(fresh.error().reason), scopes));
  // Under the lock, so that another process that removes the old tokens does not remove these.
  const auto lock = lock_store(stop);
  if (!lock) context_.log("another process may get a token at the same time: " + lock.error().public_text);
  auto status = adopt(std::move(*fresh), origin::login);
  if (status || must_store) return status;
  context_.log("the token cannot be stored: " + status.error().public_text);
  return {};
}

namespace {

/// An unauthenticated request. Every server that requires authentication rejects it.
small_request probe_request(const std::string& url, std::chrono::milliseconds timeout) {
  small_request out;
  out.url = url;
  out.headers = {{"Accept", "application/json, text/event-stream"}, {"Content-Type", "application/json"}};
  out.body = R"({"jsonrpc":"2.0","id":1,"method":"ping"})";
  out.timeout = timeout;
  return out;
}

}  // namespace

result<void> session::log_in(const std::stop_token& stop) {
  const token_slot slot(*this, stop);
  if (!slot.is_acquired()) return fail(errc::cancelled, "cannot log in to " + display_url(context_.url) + ": it was cancelled");
  HONDANA_TRY(load());
  bearer_challenge challenge;
  HONDANA_TRY(const auto response, context_.http.call(probe_request(context_.url, context_.http.timeout), stop));
  if (response.status == 401) challenge = find_bearer_challenge(response.challenges);
  if (!challenge.metadata_url.empty()) metadata_hint_ = challenge.metadata_url;
  HONDANA_TRY(const auto authority, find_authority(metadata_hint_, stop));
  if (authority.is_assumed && response.status >= 200 && response.status < 300)
    return fail(errc::unsupported, display_url(context_.url) + " does not require authentication, so no login is needed");
  // Keep the scopes of the previous login. Its tokens may lack a new scope and are not loaded then, so search without scopes.
  auto previous = current_;
  if (!previous) {
    HONDANA_TRY(auto stored, context_.options.store->find(context_.url));
    auto any_scopes = context_.options;
    any_scopes.scopes.clear();
    previous = choose_tokens(std::move(stored), any_scopes, context_.url);
  }
  return request_tokens(authority, scopes_to_request(context_.options, previous, authority, challenge.scopes), true, stop);
}

result<bool> session::log_out(bool registrations, const std::stop_token& stop) {
  const token_slot slot(*this, stop);
  if (!slot.is_acquired())
    return fail(errc::cancelled, "cannot log out of " + display_url(context_.url) + ": it was cancelled");
  const auto& store = context_.options.store;
  const bool had_tokens = current_.has_value();
  set(std::nullopt, origin::store);
  const auto stored = store->find(context_.url);
  if (!stored) return tl::unexpected(stored.error());
  std::set<std::string> issuers;
  for (const auto& entry : *stored) {
    issuers.insert(entry.key.issuer);
    if (const auto revoked = revoke(context_, entry, stop); !revoked || !*revoked)
      context_.log(display_url(entry.key.issuer) + " did not revoke the tokens" +
                   (revoked ? std::string() : ": " + revoked.error().public_text));
    HONDANA_TRY(store->remove(entry.key));
  }
  if (registrations && issuers.empty()) {
    // Without tokens, the issuer must be discovered.
    const auto authority = find_authority(metadata_hint_, stop);
    if (authority) issuers.insert(authority->server.issuer);
    if (!authority) context_.log("registrations were not looked up: " + authority.error().public_text);
  }
  for (const auto& issuer : issuers) {
    if (!registrations) break;
    const auto stored_registrations = store->registrations(issuer);
    if (!stored_registrations) return tl::unexpected(stored_registrations.error());
    for (const auto& registration : *stored_registrations) {
      HONDANA_TRY(store->remove_registration(issuer, registration.client_id));
    }
  }
  return had_tokens || !stored->empty();
}

}  // namespace hondana::oauth

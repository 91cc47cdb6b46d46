/// The tokens of one MCP server: which one is sent, and the steps after a rejection.
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
class session::turn {
 public:
  turn(session& of, const std::stop_token& stop) : of_(of) {
    std::unique_lock lock(of.mutex_);
    has_it_ = of.turns_.wait(lock, stop, [&of] { return !of.is_taken_; });
    if (has_it_) of.is_taken_ = true;
  }
  ~turn() {
    if (!has_it_) return;
    {
      const std::scoped_lock lock(of_.mutex_);
      of_.is_taken_ = false;
    }
    of_.turns_.notify_one();
  }
  turn(const turn&) = delete;
  turn& operator=(const turn&) = delete;

  [[nodiscard]] bool has_it() const noexcept { return has_it_; }

 private:
  session& of_;
  bool has_it_ = false;
};

/// The scopes that `of` was requested with; empty set if there are no tokens.
[[nodiscard]] scope_set asked_for(const std::optional<kept_tokens>& of);

/// The scopes to request. They are those of the challenge (`wanted`), or otherwise all that the MCP server publishes. Added are
/// the configured scopes, those requested before, and `offline_access` if the authorization server supports it. Spec:
/// basic/authorization#scope-selection-strategy, #step-up-authorization-flow, #refresh-tokens.
[[nodiscard]] scope_set scopes_to_ask(const oauth_settings& settings, const std::optional<kept_tokens>& at_hand,
                                      const authority& at, const std::optional<scope_set>& wanted);

/// Selects one of the issuers that an MCP server `named`, at least one. Order: `only` unless it is empty; that of the current
/// tokens, if it is named; the first. Errors: unauthorized if `only` is not named. Spec:
/// basic/authorization/client-registration#authorization-server-binding.
[[nodiscard]] result<std::string> choose_issuer(const std::vector<std::string>& named, const std::string& only,
                                                const std::optional<kept_tokens>& at_hand, const std::string& url);

/// The most recent of `kept` that matches the settings.
[[nodiscard]] std::optional<kept_tokens> choose_tokens(std::vector<kept_tokens> kept, const oauth_settings& settings,
                                                       const std::string& url);

scope_set asked_for(const std::optional<kept_tokens>& of) {
  return of ? read_scopes(of->key.scope).value_or(scope_set()) : scope_set();
}

scope_set scopes_to_ask(const oauth_settings& settings, const std::optional<kept_tokens>& at_hand, const authority& at,
                        const std::optional<scope_set>& wanted) {
  auto out = wanted ? *wanted : at.scopes.value_or(scope_set());
  out.insert(settings.scopes.begin(), settings.scopes.end());
  if (at_hand && at_hand->key.issuer == at.server.issuer) out.merge(asked_for(at_hand));
  const bool is_user = settings.grant == oauth_grant::authorization_code;
  // On its own it would replace the default scopes that the server grants to a request without scopes.
  if (is_user && !out.empty() && at.server.scopes.contains("offline_access")) out.insert("offline_access");
  return out;
}

result<std::string> choose_issuer(const std::vector<std::string>& named, const std::string& only,
                                  const std::optional<kept_tokens>& at_hand, const std::string& url) {
  const auto has = [&named](const std::string& one) { return std::find(named.begin(), named.end(), one) != named.end(); };
  if (!only.empty()) {
    if (has(only)) return only;
    return fail(errc::unauthorized,
                shown(url) + " requires logins at " + shown(named.front()) + ", but the configured client is registered at " +
                    shown(only) + "; if that is correct, register a client at the former and configure it with its issuer");
  }
  if (at_hand && has(at_hand->key.issuer)) return at_hand->key.issuer;
  return named.front();
}

std::optional<kept_tokens> choose_tokens(std::vector<kept_tokens> kept, const oauth_settings& settings,
                                         const std::string& url) {
  const scope_set wanted(settings.scopes.begin(), settings.scopes.end());
  std::optional<kept_tokens> out;
  for (auto& one : kept) {
    if (one.key.resource != url) continue;
    if (!settings.client_id.empty() && one.key.client_id != settings.client_id) continue;
    if (!settings.issuer.empty() && one.key.issuer != settings.issuer) continue;
    if (!covers(read_scopes(one.key.scope).value_or(scope_set()), wanted)) continue;
    if (!out || one.tokens.since > out->tokens.since) out = std::move(one);
  }
  return out;
}

namespace {

constexpr auto longest_margin = std::chrono::seconds(30);

bool is_same(const refused_token& one, const refused_token& other) {
  return one.token == other.token && one.status == other.status && one.challenges == other.challenges;
}

failure with_scopes(failure why, const scope_set& scopes) {
  why.scopes = std::make_shared<const std::vector<std::string>>(scopes.begin(), scopes.end());
  return why;
}

}  // namespace

bool session::is_expired(const token_set& of) const {
  if (!of.expires) return false;
  const auto margin = std::clamp<std::chrono::seconds>((*of.expires - of.since) / 10, std::chrono::seconds(0), longest_margin);
  return with_.now() >= *of.expires - margin;
}

std::optional<std::string> session::token() {
  const std::scoped_lock lock(mutex_);
  if (!is_loaded_) return std::nullopt;
  if (!kept_ || is_spent_) return std::string();
  if (is_expired(kept_->tokens)) return std::nullopt;
  return kept_->tokens.access_token;
}

std::optional<kept_tokens> session::current() const {
  const std::scoped_lock lock(mutex_);
  auto out = kept_;
  if (out) out->tokens.access_token.clear();
  if (out) out->tokens.refresh_token.clear();
  return out;
}

bool session::has_other_than(const std::string& refused) const {
  const std::scoped_lock lock(mutex_);
  return kept_ && !is_spent_ && !is_expired(kept_->tokens) && kept_->tokens.access_token != refused;
}

result<void> session::obtain(const refused_token& why, const std::stop_token& stop) {
  const auto [before, is_under_way] = [this] {
    const std::scoped_lock lock(mutex_);
    return std::pair(attempts_, is_taken_);
  }();
  if (is_under_way) with_.log("another call is already getting a token; waiting for it");
  const turn mine(*this, stop);
  if (!mine.has_it()) return fail(errc::cancelled, "cannot get a token for " + shown(with_.url) + ": it was cancelled");
  if (has_other_than(why.token)) return {};
  {
    // If the attempt that this caller waited for failed, do not ask the user a second time.
    const std::scoped_lock lock(mutex_);
    if (attempts_ != before && failed_ && is_same(failed_for_, why)) return tl::unexpected(*failed_);
  }
  auto done = obtain_now(why, stop);
  const std::scoped_lock lock(mutex_);
  ++attempts_;
  failed_.reset();
  if (!done && done.error().code != errc::cancelled) failed_ = done.error();
  failed_for_ = why;
  return done;
}

result<void> session::obtain_now(const refused_token& why, const std::stop_token& stop) {
  if (auto loaded = load(); !loaded) {
    if (why.status != 0) return loaded;
    // The server may not require authentication. After a rejection the store is read again.
    with_.log("no stored login is used: " + loaded.error().public_text);
    set(std::nullopt, origin::store);
    return {};
  }
  if (has_other_than(why.token)) return {};
  if (why.status == 0) return renew(stop);
  HONDANA_TRY(look_again(why.token));
  if (has_other_than(why.token)) return {};
  if (why.status != 403) return after_401(why, stop);
  return step_up(bearer_in(why.challenges), stop);
}

result<std::optional<kept_tokens>> session::stored() const {
  HONDANA_TRY(auto all, with_.settings.store->find(with_.url));
  return choose_tokens(std::move(all), with_.settings, with_.url);
}

result<void> session::load() {
  if (is_loaded_) return {};
  HONDANA_TRY(auto found, stored());
  take(std::move(found));
  return {};
}

/// Another process may have logged in meanwhile.
result<void> session::look_again(const std::string& refused) {
  HONDANA_TRY(auto found, stored());
  if (!found || found->tokens.access_token == refused) return {};
  const bool is_news =
      !kept_ || (found->tokens.since >= kept_->tokens.since && found->tokens.access_token != kept_->tokens.access_token);
  if (is_news) take(std::move(found));
  return {};
}

void session::take(std::optional<kept_tokens> found) {
  if (found && !with_.settings.client_id.empty()) issuer_ = found->key.issuer;
  set(std::move(found), origin::store);
}

bool session::can_ask() const noexcept {
  return with_.settings.login || with_.settings.grant == oauth_grant::client_credentials;
}

void session::set(std::optional<kept_tokens> what, origin by) {
  origin_ = by;
  const std::scoped_lock lock(mutex_);
  kept_ = std::move(what);
  is_spent_ = false;
  is_loaded_ = true;
}

result<void> session::adopt(kept_tokens what, origin by) {
  const auto before = kept_ ? std::optional(kept_->key) : std::nullopt;
  set(what, by);
  if (auto put = with_.settings.store->put(what); !put) return put;
  // The new tokens replace those of the previous key.
  if (before && *before != what.key) return with_.settings.store->remove(*before);
  return {};
}

result<void> session::forget() {
  if (!kept_) return {};
  const auto of_no_use = *kept_;
  set(std::nullopt, origin::store);
  const auto& store = with_.settings.store;
  HONDANA_TRY(const auto all, store->find(with_.url));
  // Other tokens in their place come from another login, so they stay.
  const bool is_there = std::any_of(all.begin(), all.end(), [&of_no_use](const kept_tokens& one) {
    return one.key == of_no_use.key && one.tokens.access_token == of_no_use.tokens.access_token;
  });
  return is_there ? store->remove(of_no_use.key) : result<void>();
}

result<std::shared_ptr<void>> session::alone(const std::stop_token& stop) const {
  auto held = with_.settings.store->lock(with_.url, 3 * with_.http.time, stop);
  if (held || held.error().code == errc::timed_out || held.error().code == errc::cancelled) return held;
  // Tokens can be refreshed for this process even if the store is unavailable.
  with_.log("other processes are not prevented from refreshing the same tokens: " + held.error().public_text);
  return nullptr;
}

/// Renews an expired access token. The user is not asked to log in before the server requires it.
result<void> session::renew(const std::stop_token& stop) {
  if (!kept_) return {};
  const bool is_machine = with_.settings.grant == oauth_grant::client_credentials;
  if (is_machine || !kept_->tokens.refresh_token.empty()) {
    const auto at = find_authority(hint_, stop);
    // The tokens may belong to another issuer. The server may announce its metadata only with a rejection, so wait for that.
    if (!at && at.error().code != errc::unauthorized) return tl::unexpected(at.error());
    if (at && at->server.issuer == kept_->key.issuer) {
      if (is_machine) return get(*at, asked_for(kept_), false, stop);
      HONDANA_TRY(refreshed(*at, stop));
      return {};
    }
  }
  const std::scoped_lock lock(mutex_);
  is_spent_ = true;
  return {};
}

result<void> session::after_401(const refused_token& why, const std::stop_token& stop) {
  const auto wanted = bearer_in(why.challenges);
  if (!wanted.metadata_url.empty()) hint_ = wanted.metadata_url;
  const auto at = find_authority(hint_, stop);
  if (!at) return tl::unexpected(at.error());
  const bool had_log_in = kept_ && !why.token.empty() && kept_->tokens.access_token == why.token;
  if (!can_ask() && !had_log_in && at->is_assumed)
    return fail(errc::unauthorized,
                '"' + shown(with_.url) + "\" requires authentication, but names no authorization server to log in at");
  const auto not_taken =
      had_log_in ? '"' + shown(with_.url) + "\" rejected the login at " + shown(kept_->key.issuer) : std::string();
  if (kept_ && kept_->key.issuer == at->server.issuer) {
    const bool is_news = kept_->tokens.access_token == why.token && why.times > 1;
    if (is_news && origin_ == origin::login)
      return fail(errc::unauthorized, shown(with_.url) + " rejects the token that " + shown(at->server.issuer) +
                                          " has just issued; ask their operators");
    if (!kept_->tokens.refresh_token.empty() && !(is_news && origin_ == origin::refresh)) {
      HONDANA_TRY(const auto done, refreshed(*at, stop));
      if (done) return {};
    }
  }
  const auto scopes = scopes_to_ask(with_.settings, kept_, *at, wanted.scopes);
  if (!can_ask() && had_log_in)
    return tl::unexpected(with_scopes({errc::unauthorized, not_taken + ": " + with_.settings.advice, {}}, scopes));
  return get(*at, scopes, false, stop);
}

result<void> session::step_up(const bearer_challenge& wanted, const std::stop_token& stop) {
  if (!wanted.metadata_url.empty()) hint_ = wanted.metadata_url;
  const auto needed = wanted.scopes.value_or(scope_set());
  // Requesting the same scopes again would loop forever.
  if (covers(asked_for(kept_), needed))
    return tl::unexpected(with_scopes(
        {errc::unauthorized,
         shown(with_.url) + " rejects the request" +
             (needed.empty() ? std::string(" and names no missing scope")
                             : ", which requires the scopes " + spelled(needed) + "; the login has already requested them") +
             "; ask its operator for access",
         {}},
        needed));
  const auto at = find_authority(hint_, stop);
  if (!at) return tl::unexpected(at.error());
  if (!can_ask() && kept_) {
    scope_set missing;
    const auto has = asked_for(kept_);
    std::set_difference(needed.begin(), needed.end(), has.begin(), has.end(), std::inserter(missing, missing.end()));
    return tl::unexpected(with_scopes({errc::unauthorized,
                                       "the login to \"" + shown(with_.url) + "\" at " + shown(kept_->key.issuer) +
                                           " lacks the scopes " + spelled(missing) + ": " + with_.settings.advice,
                                       {}},
                                      missing));
  }
  return get(*at, scopes_to_ask(with_.settings, kept_, *at, needed), false, stop);
}

result<bool> session::refreshed(const authority& at, const std::stop_token& stop) {
  // Most refresh tokens are valid once, and a second use revokes the whole login. Another process may have refreshed already.
  const auto newer = [this](const kept_tokens& one) {
    return one.tokens.since >= kept_->tokens.since && one.tokens.access_token != kept_->tokens.access_token;
  };
  const auto take_newer = [&]() -> result<bool> {
    HONDANA_TRY(auto found, stored());
    if (!found || !newer(*found) || found->key.issuer != at.server.issuer) return false;
    // The old refresh token has been used, even if the new access token has expired meanwhile.
    const bool is_good = !is_expired(found->tokens);
    set(std::move(found), is_good ? origin::refresh : origin::store);
    return is_good;
  };
  HONDANA_TRY(const auto held, alone(stop));
  if (auto taken = take_newer(); !taken || *taken) return taken;
  if (kept_->tokens.refresh_token.empty()) return false;
  const auto sent = kept_->tokens.access_token;
  auto fresh = refresh(with_, at, *kept_, stop);
  if (fresh) {
    if (auto kept = adopt(std::move(*fresh), origin::refresh); !kept)
      with_.log("the token cannot be stored: " + kept.error().public_text);
    return true;
  }
  if (!fresh.error().is_final()) return tl::unexpected(std::move(fresh.error().why));
  if (auto taken = take_newer(); !taken || *taken || kept_->tokens.access_token != sent) return taken;
  with_.log("the current tokens cannot be refreshed: " + fresh.error().why.public_text);
  HONDANA_TRY(forget());
  return false;
}

result<authority> session::find_authority(const std::string& hint, const std::stop_token& stop) {
  const auto choose = [this](const std::vector<std::string>& named) {
    return choose_issuer(named, with_.settings.issuer.empty() ? issuer_ : with_.settings.issuer, kept_, with_.url);
  };
  return discover(with_.http, with_.url, hint, choose, stop);
}

result<void> session::get(const authority& at, const scope_set& scopes, bool must_keep, const std::stop_token& stop) {
  if (!with_.settings.client_id.empty()) issuer_ = at.server.issuer;
  auto fresh = get_tokens(with_, at, scopes, stop);
  if (!fresh) return tl::unexpected(with_scopes(std::move(fresh.error().why), scopes));
  // Under the lock, so that another process that removes the old tokens does not remove these.
  const auto held = alone(stop);
  if (!held) with_.log("another process may get a token at the same time: " + held.error().public_text);
  auto kept = adopt(std::move(*fresh), origin::login);
  if (kept || must_keep) return kept;
  with_.log("the token cannot be stored: " + kept.error().public_text);
  return {};
}

namespace {

/// An unauthenticated request. Every server that requires authentication rejects it.
small_request question(const std::string& url, std::chrono::milliseconds time) {
  small_request out;
  out.url = url;
  out.headers = {{"Accept", "application/json, text/event-stream"}, {"Content-Type", "application/json"}};
  out.body = R"({"jsonrpc":"2.0","id":1,"method":"ping"})";
  out.time = time;
  return out;
}

}  // namespace

result<void> session::log_in(const std::stop_token& stop) {
  const turn mine(*this, stop);
  if (!mine.has_it()) return fail(errc::cancelled, "cannot log in to " + shown(with_.url) + ": it was cancelled");
  HONDANA_TRY(load());
  bearer_challenge wanted;
  HONDANA_TRY(const auto answer, with_.http.call(question(with_.url, with_.http.time), stop));
  if (answer.status == 401) wanted = bearer_in(answer.challenges);
  if (!wanted.metadata_url.empty()) hint_ = wanted.metadata_url;
  HONDANA_TRY(const auto at, find_authority(hint_, stop));
  if (at.is_assumed && answer.status >= 200 && answer.status < 300)
    return fail(errc::unsupported, shown(with_.url) + " does not require authentication, so no login is needed");
  // Keep the scopes of the previous login. Its tokens may lack a new scope and are not loaded then, so search without scopes.
  auto before = kept_;
  if (!before) {
    HONDANA_TRY(auto all, with_.settings.store->find(with_.url));
    auto whatever_scopes = with_.settings;
    whatever_scopes.scopes.clear();
    before = choose_tokens(std::move(all), whatever_scopes, with_.url);
  }
  return get(at, scopes_to_ask(with_.settings, before, at, wanted.scopes), true, stop);
}

result<bool> session::log_out(bool registrations, const std::stop_token& stop) {
  const turn mine(*this, stop);
  if (!mine.has_it()) return fail(errc::cancelled, "cannot log out of " + shown(with_.url) + ": it was cancelled");
  const auto& store = with_.settings.store;
  const bool had_any = kept_.has_value();
  set(std::nullopt, origin::store);
  const auto all = store->find(with_.url);
  if (!all) return tl::unexpected(all.error());
  std::set<std::string> issuers;
  for (const auto& one : *all) {
    issuers.insert(one.key.issuer);
    if (const auto told = revoke(with_, one, stop); !told || !*told)
      with_.log(shown(one.key.issuer) + " did not revoke the tokens" +
                (told ? std::string() : ": " + told.error().public_text));
    HONDANA_TRY(store->remove(one.key));
  }
  if (registrations && issuers.empty()) {
    // Without tokens, the issuer must be discovered.
    const auto at = find_authority(hint_, stop);
    if (at) issuers.insert(at->server.issuer);
    if (!at) with_.log("registrations were not looked up: " + at.error().public_text);
  }
  for (const auto& one : issuers) {
    if (!registrations) break;
    const auto ours = store->registrations(one);
    if (!ours) return tl::unexpected(ours.error());
    for (const auto& registration : *ours) {
      HONDANA_TRY(store->remove_registration(one, registration.client_id));
    }
  }
  return had_any || !all->empty();
}

}  // namespace hondana::oauth

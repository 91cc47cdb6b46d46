/// Decides between tokens at hand, refreshing and logging in.
#include "auth/oauth/session.hpp"

#include <algorithm>
#include <iterator>

#include "auth/oauth/choices.hpp"
#include "auth/oauth/places.hpp"
#include "auth/oauth/session_turn.hpp"

namespace hondana::oauth {
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
    // Whoever waited for an attempt that failed would only bother the user once more.
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
    // The server may well want nobody; whatever it refuses makes us look once more.
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

/// Somebody may have logged in by another process since.
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
  // A login replaces what it was made for; nobody would ask for that again.
  if (before && *before != what.key) return with_.settings.store->remove(*before);
  return {};
}

result<void> session::forget() {
  if (!kept_) return {};
  const auto of_no_use = *kept_;
  set(std::nullopt, origin::store);
  const auto& store = with_.settings.store;
  HONDANA_TRY(const auto all, store->find(with_.url));
  // What has taken their place meanwhile is somebody's log-in.
  const bool is_there = std::any_of(all.begin(), all.end(), [&of_no_use](const kept_tokens& one) {
    return one.key == of_no_use.key && one.tokens.access_token == of_no_use.tokens.access_token;
  });
  return is_there ? store->remove(of_no_use.key) : result<void>();
}

result<std::shared_ptr<void>> session::alone(const std::stop_token& stop) const {
  auto held = with_.settings.store->lock(with_.url, 3 * with_.http.time, stop);
  if (held || held.error().code == errc::timed_out || held.error().code == errc::cancelled) return held;
  // Tokens that cannot be kept can still be refreshed for ourselves.
  with_.log("other processes are not prevented from refreshing the same tokens: " + held.error().public_text);
  return nullptr;
}

/// An access token has come to its end. Nobody is asked to log in before the server has said that it wants it.
result<void> session::renew(const std::stop_token& stop) {
  if (!kept_) return {};
  const bool is_machine = with_.settings.grant == oauth_grant::client_credentials;
  if (is_machine || !kept_->tokens.refresh_token.empty()) {
    const auto at = find_authority(hint_, stop);
    // Found elsewhere, or with a client of elsewhere: where its metadata is, the server may say only when it refuses.
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
  // Asking once more for what was not given would go on for ever.
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
  // Refresh tokens are mostly good for one use, and a second one ends them all: another process may have been faster.
  const auto newer = [this](const kept_tokens& one) {
    return one.tokens.since >= kept_->tokens.since && one.tokens.access_token != kept_->tokens.access_token;
  };
  const auto take_newer = [&]() -> result<bool> {
    HONDANA_TRY(auto found, stored());
    if (!found || !newer(*found) || found->key.issuer != at.server.issuer) return false;
    // The old refresh token is used up even where the access token has expired meanwhile.
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
  // Somebody who forgets what was there shall not take this for it.
  const auto held = alone(stop);
  if (!held) with_.log("another process may get a token at the same time: " + held.error().public_text);
  auto kept = adopt(std::move(*fresh), origin::login);
  if (kept || must_keep) return kept;
  with_.log("the token cannot be stored: " + kept.error().public_text);
  return {};
}

}  // namespace hondana::oauth

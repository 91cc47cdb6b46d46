/// Logging in and out because somebody says so.
#include <set>

#include "auth/oauth/choices.hpp"
#include "auth/oauth/places.hpp"
#include "auth/oauth/session.hpp"
#include "auth/oauth/session_turn.hpp"

namespace hondana::oauth {
namespace {

/// A request that any MCP server refuses which wants to know who asks.
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
  // One more scope shall not cost those of the log-in before, which may lack it.
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
    // There are no tokens that would tell where one was made.
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

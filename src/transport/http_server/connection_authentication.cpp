/// Authenticates the requests of a connection, and ends streams whose caller is no longer authenticated.

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <string>
#include <utility>

#include <hondana/notice.hpp>

#include "base/ascii/ascii.hpp"
#include "base/rate_limit/rate_limiter.hpp"
#include "server/session/refusals.hpp"
#include "server/session/request_accounting.hpp"
#include "transport/http_server/authentication.hpp"
#include "transport/http_server/connection.hpp"
#include "transport/http_server/response_writer.hpp"
#include "transport/http_server/status_pages.hpp"

namespace hondana::transport::http_server {
namespace {

// How long clients may cache metadata. It changes with the configuration.
constexpr std::string_view kept_for_a_while = "max-age=300";

challenge nobody_can_say() {
  return {503, {}, "Service unavailable: the caller cannot be authenticated now. Retry later.", {}, std::chrono::seconds(1)};
}

/// Jobs of a thread pool must not throw.
authenticated find_out(authenticator& by, const request_facts& of, std::chrono::steady_clock::time_point until,
                       const std::weak_ptr<core>& engine) {
  try {
    return by.find_out(of, until);
  } catch (const std::exception& error) {
    const auto there = engine.lock();
    const auto with = there ? there->current() : nullptr;
    if (with && with->log) with->log(std::string("an authenticator failed: ") + error.what());
    return tl::unexpected(nobody_can_say());
  }
}

/// The HTTP status for a rejection by an authenticator; unknown ones become 401.
int refusing(int status) { return status == 403 || status == 503 ? status : 401; }

std::string_view default_text(int status) {
  if (status == 503) return "Service unavailable: the caller cannot be authenticated now. Retry later.";
  if (status == 403) return "Forbidden: you have no access to this server.";
  return "Unauthorized: this server requires authentication. Send Authorization: Bearer with a token.";
}

constexpr std::string_view no_tokens_here =
    "Unauthorized: this server accepts no tokens. It authenticates a client by its connection, for example by a client "
    "certificate.";

}  // namespace

std::optional<peer_process> process_behind(int descriptor) {
  ::ucred peer{};
  socklen_t size = sizeof peer;
  if (::getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return std::nullopt;
  return peer_process{peer.uid, peer.gid, peer.pid};
}

/// The only function that derives facts from a request and its connection.
request_facts connection::facts_about(const request_head& head) const {
  auto from = origin_of(head, peer_, stream_.is_secure(), loop_->callers->proxies);
  request_facts out;
  out.address = std::move(from.address);
  out.host = std::string(head.find("Host").first);
  out.is_secure = from.is_secure;
  // The process and certificate of a proxy do not identify its clients.
  if (from.is_behind_proxy) return out;
  out.process = process_;
  out.certificate = stream_.certificate();
  return out;
}

/// Sets the caller without an authenticator: the user of the process for a Unix socket, otherwise anonymous.
void connection::take_as_is(request_facts facts) {
  who_ = {"anonymous", std::move(facts.address), nullptr};
  if (facts.process)
    who_.identity = facts.process->user == ::geteuid() ? "local" : "uid:" + std::to_string(facts.process->user);
}

std::optional<dialogue_host::identified> connection::identify(const request_head& head, const verdict& about, ticket of) {
  const auto& with = *loop_->callers;
  holds_until_ = dialogue::clock::time_point::max();
  who_ = {};  // of the previous request
  if (!has_good_certificate()) return tl::unexpected(refuse_certificate());
  auto facts = facts_about(head);
  // Before any authentication, because requests without a token cost time, too.
  if (const auto meter = engine_->current()->meter) {
    if (const auto granted = meter->arrived(facts.address); !granted) {
      session::request_figures::here().refused(granted.error().code);
      return tl::unexpected(refuse_hasty(granted.error()));
    }
  }
  if (!with.asked) {
    take_as_is(std::move(facts));
    return identified();
  }
  if (about.has_token_in_target) {
    return refuse_malformed(with.asked->takes_tokens() ? "a token must not be in the URL, which logs and proxies record. Send "
                                                         "Authorization: Bearer instead, and have this token revoked"
                                                       : "a token must not be in the URL, which logs and proxies record, and "
                                                         "this server accepts no tokens. Have this token revoked");
  }
  auto token = read_bearer(head);
  if (!token) return refuse_malformed(token.error());
  facts.bearer = std::move(*token);
  if (auto known = with.asked->known(facts)) return settle(std::move(*known), facts.address);

  if (ask_others(std::move(facts), of, &connection::found_out)) return std::nullopt;
  return tl::unexpected(refuse_caller(nobody_can_say()));
}

result<void> connection::ask_others(request_facts facts, ticket of, hears then, executor::urgency how) {
  const auto& with = *loop_->callers;
  const auto until = dialogue::clock::now() + dialogue_.patience_for_calls();
  const auto asker = facts.address;
  return with.pool->submit(
      [by = with.asked, facts = std::move(facts), until, engine = std::weak_ptr(engine_), on = loop_, to = weak_from_this(), of,
       then] {
        if (to.expired()) return;
        auto found = find_out(*by, facts, until, engine);
        on->io.post([to, of, then, found = std::move(found), address = facts.address]() mutable {
          if (const auto there = to.lock()) ((*there).*then)(of, std::move(found), address);
        });
      },
      until, how, rate_limit::network_of(asker, false));
}

dialogue_host::identified connection::settle(authenticated found, const std::string& address) {
  if (!found) return tl::unexpected(refuse_caller(found.error()));
  holds_until_ = found->until;
  who_ = static_cast<caller&&>(*found);
  if (who_.address.empty()) who_.address = address;
  return {};
}

dialogue_host::identified connection::refuse_malformed(std::string_view why) const {
  return tl::unexpected(
      refused(400, "Bad request: " + std::string(why) + ".", {400, "invalid_request", std::string(why), {}, {}}));
}

/// A client can present another certificate only on a new connection.
plain_answer connection::refuse_certificate() const {
  auto out = refused(401,
                     "Unauthorized: the client certificate of this connection has expired, or is no longer trusted. Connect "
                     "again with another one.",
                     {});
  out.is_last = true;
  return out;
}

plain_answer connection::refuse_caller(challenge why) const {
  const int status = refusing(why.status);
  // A 401 also lists the scopes that every request needs under the current rules, which may be newer than the authenticator.
  if (status == 401) {
    for (const auto& one : engine_->current()->gate->always()) {
      if (std::find(why.scopes.begin(), why.scopes.end(), one) == why.scopes.end()) why.scopes.push_back(one);
    }
  }
  auto text = why.description.empty() ? std::string(default_text(status)) : why.description;
  if (status == 401 && !takes_tokens())
    text = std::string(no_tokens_here) + (why.description.empty() ? "" : " Required: " + why.description + '.');
  return refused(status, text, why);
}

plain_answer connection::refused(int status, std::string_view text, const challenge& why) const {
  plain_answer out{status, "application/json", session::error_text(status, text, dialogue_.present()->headers), {}};
  if (status != 503) out.fields = challenge_for(why.error, why.description, why.scopes);
  if (status != 503) note_refusal(status, {}, text);
  if (why.retry) out.fields += retry_after(*why.retry);
  return out;
}

void connection::note_refusal(int status, std::string_view identity, std::string_view why) const {
  const auto address = dialogue_.present() != nullptr ? facts_about(dialogue_.head()).address : peer_;
  engine_->current()->note_refusal(status, address, identity, why);
}

void connection::note_stranger(const request_head&, std::string_view why) { note_refusal(403, {}, why); }

bool connection::takes_tokens() const noexcept { return !loop_->callers->asked || loop_->callers->asked->takes_tokens(); }

plain_answer connection::refuse_hasty(const failure& why) const {
  note_refusal(429, {}, why.public_text);
  return {429, "application/json", session::error_text(why, dialogue_.present()->headers),
          why.retry ? retry_after(*why.retry) : std::string()};
}

/// The challenge, with the URL of the metadata if there is any.
std::string connection::challenge_for(std::string_view error, std::string_view description,
                                      const std::vector<std::string>& scopes) const {
  // Without tokens, a Bearer challenge would make clients search for a token in vain.
  if (!takes_tokens()) return {};
  const auto metadata = loop_->callers->asked ? loop_->callers->asked->metadata() : nullptr;
  std::string url;
  if (const auto* about = dialogue_.present(); metadata && about != nullptr) {
    const auto facts = facts_about(dialogue_.head());
    url = metadata_url(*metadata, called(facts.is_secure, facts.host), about->asked_about);
  }
  return challenge_line(url, error, description, scopes);
}

plain_answer connection::report(verdict::kind which) {
  if (which == verdict::kind::metrics) return metrics_page(dialogue_.head().all_of("Accept").value_or(""));
  return which == verdict::kind::ready ? loop_->reports->readiness() : loop_->reports->health();
}

plain_answer connection::notify(const request_head& head, std::string_view name) {
  constexpr std::size_t most_fields = 100;
  notice what;
  for (const auto& one : head.fields) {
    if (what.fields.size() == most_fields) break;
    what.fields.emplace_back(ascii::in_lower_case(one.name), std::string(one.value));
  }
  if (!engine_->take_notice(name, what)) return not_found(at());
  plain_answer taken;
  taken.status = 204;
  return taken;
}

void connection::refused(int status) {
  const auto with = engine_->current();
  if (!with->audit) return;
  const auto* about = dialogue_.present();
  // The caller is known only if this request had to be authenticated.
  caller who = about != nullptr && about->is_guarded ? who_ : caller();
  if (who.address.empty()) who.address = about != nullptr ? facts_about(dialogue_.head()).address : peer_;
  session::record_refusal(with->audit.get(), who, about != nullptr ? dialogue_.head().method : std::string_view(),
                          "refused over HTTP", status);
}

plain_answer connection::describe(const request_head& head, std::string_view path) {
  const auto metadata = loop_->callers->asked ? loop_->callers->asked->metadata() : nullptr;
  if (!metadata) return not_found(at());
  const auto facts = facts_about(head);
  auto about = *metadata;
  if (about.scopes.empty()) about.scopes = engine_->current()->gate->all();
  auto text = metadata_text(about, called(facts.is_secure, facts.host), path);
  if (!text) return not_found(at());
  return {200, "application/json", std::move(*text), {}, kept_for_a_while};
}

namespace {

using clock = dialogue::clock;

// Minimum interval between two checks, even if the authenticator asks for less.
constexpr std::chrono::seconds least_pause{1};

clock::time_point by_this_clock(std::chrono::sys_seconds end) {
  // A time far in the future would overflow, so it becomes "never".
  constexpr std::chrono::hours far{24 * 365};
  const auto left = end - std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
  return left > far ? clock::time_point::max() : clock::now() + left + least_pause;
}

}  // namespace

bool connection::has_good_certificate() {
  auto* const secured = stream_.secured();
  const auto end = secured != nullptr ? secured->certificate_end() : std::nullopt;
  if (!end) return true;
  if (const auto now = std::exchange(judged_by_, nullptr)) is_vouched_for_ = secured->is_vouched_for_by(*now);
  return is_vouched_for_ && std::chrono::system_clock::now() <= *end;
}

void connection::take_authorities(std::shared_ptr<const tls::context> now) {
  judged_by_ = std::move(now);
  if (asked_with_ && carried_ && carried_->is_lasting() && !has_good_certificate()) end_lasting();
}

/// Called when an event stream begins, which may last for any time. The request's header is still available here.
void connection::note_proof() {
  auto* const secured = stream_.secured();
  const auto end = secured != nullptr ? secured->certificate_end() : std::nullopt;
  looks_again_at_ = holds_until_;
  if (end) looks_again_at_ = std::min(looks_again_at_, by_this_clock(*end));
  in_doubt_since_.reset();
  // A certificate without an early end may still lose its authority.
  if (!end && looks_again_at_ == clock::time_point::max()) return;
  const auto& head = dialogue_.head();
  asked_with_ = std::make_unique<request_facts>(facts_about(head));
  if (auto token = read_bearer(head)) asked_with_->bearer = std::move(*token);
  // The authorities may have been replaced since the request arrived.
  if (!has_good_certificate()) looks_again_at_ = clock::now();
}

void connection::look_again() {
  // An answer to a request is sent completely.
  if (!carried_ || !carried_->is_lasting()) return asked_with_.reset();
  if (!has_good_certificate()) return end_lasting();
  const auto& by = loop_->callers->asked;
  if (!by) {
    looks_again_at_ = clock::now() + least_pause;
    return;
  }
  if (auto known = by->known(*asked_with_)) return hear_again(*known);
  looks_again_at_ = clock::time_point::max();  // `found_again` follows
  // Higher priority, so that a flood of unknown callers does not prevent the check of known ones.
  if (!ask_others(*asked_with_, carried_for_, &connection::found_again, executor::urgency::continuation)) {
    hear_again(tl::unexpected(challenge{503, {}, {}, {}, least_pause}));
  }
}

void connection::hear_again(const authenticated& found) {
  const auto now = clock::now();
  const auto has_what_it_had = [this](const caller& who) {
    // Changed rules are handled by the stream itself. A caller with other groups or claims must open a new stream.
    return is_same_caller(who_, who) && engine_->current()->gate->has_scopes_of(who, who_.proof.get()) &&
           has_one_view(session::as_seen_now(who_, *engine_), session::as_seen_now(who, *engine_));
  };
  if (found && has_what_it_had(*found)) {
    in_doubt_since_.reset();
    looks_again_at_ = std::max(found->until, now + least_pause);
    if (auto* const secured = stream_.secured()) {
      if (const auto end = secured->certificate_end()) looks_again_at_ = std::min(looks_again_at_, by_this_clock(*end));
    }
    return;
  }
  // A short outage of an authorization server does not end streams.
  if (!found && found.error().status == 503) {
    if (!in_doubt_since_) in_doubt_since_ = now;
    if (now - *in_doubt_since_ < dialogue_.patience_for_calls()) {
      looks_again_at_ = now + std::clamp(found.error().retry.value_or(least_pause), least_pause, 5 * least_pause);
      return;
    }
  }
  end_lasting();
}

/// Ends the event stream. The client may open it again with new credentials.
void connection::end_lasting() {
  asked_with_.reset();
  dialogue_.drain();
  if (session_) session_->finish();
}

}  // namespace hondana::transport::http_server

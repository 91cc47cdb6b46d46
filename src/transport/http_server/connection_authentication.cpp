/// Authenticates the requests of a connection, and ends streams whose caller is no longer authenticated.

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <string>
#include <utility>

#include <hondana/webhook.hpp>

#include "base/ascii/ascii.hpp"
#include "base/rate_limit/rate_limiter.hpp"
#include "server/session/rejections.hpp"
#include "server/session/request_accounting.hpp"
#include "transport/http_server/authentication.hpp"
#include "transport/http_server/connection.hpp"
#include "transport/http_server/response_writer.hpp"
#include "transport/http_server/status_pages.hpp"

namespace hondana::transport::http_server {
namespace {

// How long clients may cache metadata. It changes with the configuration.
constexpr std::string_view metadata_cache_control = "max-age=300";

auth_rejection unavailable_rejection() {
  return {503, {}, "Service unavailable: the caller cannot be authenticated now. Retry later.", {}, std::chrono::seconds(1)};
}

/// Jobs of a thread pool must not throw.
auth_result run_authenticator(authenticator& verifier, const auth_request& info, std::chrono::steady_clock::time_point deadline,
                              const std::weak_ptr<server_core>& core) {
  try {
    return verifier.authenticate(info, deadline);
  } catch (const std::exception& error) {
    const auto live_core = core.lock();
    const auto config = live_core ? live_core->current() : nullptr;
    if (config && config->log) config->log(std::string("an authenticator failed: ") + error.what());
    return tl::unexpected(unavailable_rejection());
  }
}

/// The HTTP status for a rejection by an authenticator; unknown ones become 401.
int rejection_status(int status) { return status == 403 || status == 503 ? status : 401; }

std::string_view default_message(int status) {
  if (status == 503) return "Service unavailable: the caller cannot be authenticated now. Retry later.";
  if (status == 403) return "Forbidden: you have no access to this server.";
  return "Unauthorized: this server requires authentication. Send Authorization: Bearer with a token.";
}

constexpr std::string_view no_tokens_text =
    "Unauthorized: this server accepts no tokens. It authenticates a client by its connection, for example by a client "
    "certificate.";

}  // namespace

std::optional<peer_credentials> peer_process_of(int descriptor) {
  ::ucred peer{};
  socklen_t size = sizeof peer;
  if (::getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return std::nullopt;
  return peer_credentials{peer.uid, peer.gid, peer.pid};
}

/// The only function that makes an `auth_request` from a request and its connection.
auth_request connection::make_connection_info(const request_head& head) const {
  auto origin = find_request_origin(head, peer_, stream_.is_secure(), loop_->authentication->proxies);
  auth_request out;
  out.address = std::move(origin.address);
  out.host = std::string(head.find("Host").first);
  out.is_secure = origin.is_secure;
  // The process and certificate of a proxy do not identify its clients.
  if (origin.is_behind_proxy) return out;
  out.peer = process_;
  out.certificate = stream_.certificate();
  return out;
}

/// Sets the caller without an authenticator: the user of the process for a Unix socket, otherwise anonymous.
void connection::accept_unverified(auth_request info) {
  caller_ = {"anonymous", std::move(info.address), nullptr};
  if (info.peer) caller_.identity = info.peer->uid == ::geteuid() ? "local" : "uid:" + std::to_string(info.peer->uid);
}

std::optional<http1_handler::auth_outcome> connection::authenticate(const request_head& head, const route& route,
                                                                    request_id id) {
  const auto& authentication = *loop_->authentication;
  credentials_expire_at_ = http1_protocol::clock::time_point::max();
  caller_ = {};  // of the previous request
  if (!has_valid_certificate()) return tl::unexpected(certificate_rejection());
  auto info = make_connection_info(head);
  // Before any authentication, because requests without a token cost time, too.
  if (const auto meter = core_->current()->meter) {
    if (const auto granted = meter->admit_message(info.address); !granted) {
      session::request_metrics::global().count_rejection(granted.error().code);
      return tl::unexpected(rate_limit_rejection(granted.error()));
    }
  }
  if (!authentication.verifier) {
    accept_unverified(std::move(info));
    return auth_outcome();
  }
  if (route.has_token_in_url) {
    return reject_malformed(authentication.verifier->accepts_tokens()
                                ? "a token must not be in the URL, which logs and proxies record. Send "
                                  "Authorization: Bearer instead, and have this token revoked"
                                : "a token must not be in the URL, which logs and proxies record, and "
                                  "this server accepts no tokens. Have this token revoked");
  }
  auto token = parse_bearer(head);
  if (!token) return reject_malformed(token.error());
  info.bearer_token = std::move(*token);
  if (auto outcome = authentication.verifier->try_authenticate(info))
    return apply_authentication(std::move(*outcome), info.address);

  if (authenticate_async(std::move(info), id, &connection::on_caller_verified)) return std::nullopt;
  return tl::unexpected(caller_rejection(unavailable_rejection()));
}

result<void> connection::authenticate_async(auth_request requester, request_id id, result_handler handler,
                                            executor::job_priority urgency) {
  const auto& authentication = *loop_->authentication;
  const auto deadline = http1_protocol::clock::now() + protocol_.call_timeout();
  const auto client_address = requester.address;
  return authentication.pool->submit(
      [verifier = authentication.verifier, info = std::move(requester), deadline, core = std::weak_ptr(core_), loop = loop_,
       weak = weak_from_this(), id, handler] {
        if (weak.expired()) return;
        auto outcome = run_authenticator(*verifier, info, deadline, core);
        loop->io.post([weak, id, handler, verified = std::move(outcome), address = info.address]() mutable {
          if (const auto target = weak.lock()) ((*target).*handler)(id, std::move(verified), address);
        });
      },
      deadline, urgency, rate_limit::network_of(client_address, false));
}

http1_handler::auth_outcome connection::apply_authentication(auth_result outcome, const std::string& address) {
  if (!outcome) return tl::unexpected(caller_rejection(outcome.error()));
  credentials_expire_at_ = outcome->expires_at;
  caller_ = static_cast<caller_info&&>(*outcome);
  if (caller_.address.empty()) caller_.address = address;
  return {};
}

http1_handler::auth_outcome connection::reject_malformed(std::string_view reason) const {
  return tl::unexpected(rejection_response(400, "Bad request: " + std::string(reason) + ".",
                                           {400, "invalid_request", std::string(reason), {}, {}}));
}

/// A client can present another certificate only on a new connection.
plain_response connection::certificate_rejection() const {
  auto out = rejection_response(
      401,
      "Unauthorized: the client certificate of this connection has expired, or is no longer trusted. Connect "
      "again with another one.",
      {});
  out.closes_connection = true;
  return out;
}

plain_response connection::caller_rejection(auth_rejection rejection) const {
  const int status = rejection_status(rejection.status);
  // A 401 also lists the scopes that every request needs under the current rules, which may be newer than the authenticator.
  if (status == 401) {
    for (const auto& scope : core_->current()->gate->always_required()) {
      if (std::find(rejection.scopes.begin(), rejection.scopes.end(), scope) == rejection.scopes.end())
        rejection.scopes.push_back(scope);
    }
  }
  auto text = rejection.description.empty() ? std::string(default_message(status)) : rejection.description;
  if (status == 401 && !accepts_tokens())
    text = std::string(no_tokens_text) + (rejection.description.empty() ? "" : " Required: " + rejection.description + '.');
  return rejection_response(status, text, rejection);
}

plain_response connection::rejection_response(int status, std::string_view text, const auth_rejection& rejection) const {
  plain_response out{status, "application/json", session::error_text(status, text, protocol_.current_route()->headers), {}};
  if (status != 503) out.fields = make_challenge(rejection.error, rejection.description, rejection.scopes);
  if (status != 503) log_rejection(status, {}, text);
  if (rejection.retry_after) out.fields += retry_after_line(*rejection.retry_after);
  return out;
}

void connection::log_rejection(int status, std::string_view identity, std::string_view reason) const {
  const auto address = protocol_.current_route() != nullptr ? make_connection_info(protocol_.head()).address : peer_;
  core_->current()->log_rejection(status, address, identity, reason);
}

void connection::log_foreign_request(const request_head&, std::string_view reason) { log_rejection(403, {}, reason); }

bool connection::accepts_tokens() const noexcept {
  return !loop_->authentication->verifier || loop_->authentication->verifier->accepts_tokens();
}

plain_response connection::rate_limit_rejection(const failure& error) const {
  log_rejection(429, {}, error.public_text);
  return {429, "application/json", session::error_text(error, protocol_.current_route()->headers),
          error.retry_after ? retry_after_line(*error.retry_after) : std::string()};
}

/// The challenge, with the URL of the metadata if there is any.
std::string connection::make_challenge(std::string_view error, std::string_view description,
                                       const std::vector<std::string>& scopes) const {
  // Without tokens, a Bearer challenge would make clients search for a token in vain.
  if (!accepts_tokens()) return {};
  const auto metadata = loop_->authentication->verifier ? loop_->authentication->verifier->metadata() : nullptr;
  std::string url;
  if (const auto* route = protocol_.current_route(); metadata && route != nullptr) {
    const auto info = make_connection_info(protocol_.head());
    url = metadata_url(*metadata, server_url(info.is_secure, info.host), route->subject);
  }
  return challenge_line(url, error, description, scopes);
}

plain_response connection::report(route::kind kind) {
  if (kind == route::kind::metrics) return metrics_page(protocol_.head().joined_values("Accept").value_or(""));
  return kind == route::kind::ready ? loop_->reports->readiness() : loop_->reports->health();
}

plain_response connection::receive_webhook(const request_head& head, std::string_view name) {
  constexpr std::size_t max_fields = 100;
  webhook_request received;
  for (const auto& field : head.fields) {
    if (received.headers.size() == max_fields) break;
    received.headers.emplace_back(ascii::to_lower(field.name), std::string(field.value));
  }
  if (!core_->deliver_webhook(name, received)) return not_found(listening_site());
  plain_response response;
  response.status = 204;
  return response;
}

void connection::on_rejected(int status) {
  const auto config = core_->current();
  if (!config->audit) return;
  const auto* route = protocol_.current_route();
  // The caller is known only if this request had to be authenticated.
  caller_info requester = route != nullptr && route->needs_authentication ? caller_ : caller_info();
  if (requester.address.empty()) requester.address = route != nullptr ? make_connection_info(protocol_.head()).address : peer_;
  session::record_rejection(config->audit.get(), requester, route != nullptr ? protocol_.head().method : std::string_view(),
                            "rejected_over_http", status);
}

plain_response connection::describe_resource(const request_head& head, std::string_view path) {
  const auto metadata = loop_->authentication->verifier ? loop_->authentication->verifier->metadata() : nullptr;
  if (!metadata) return not_found(listening_site());
  const auto info = make_connection_info(head);
  auto described = *metadata;
  if (described.supported_scopes.empty()) described.supported_scopes = core_->current()->gate->all_scopes();
  auto text = metadata_json(described, server_url(info.is_secure, info.host), path);
  if (!text) return not_found(listening_site());
  return {200, "application/json", std::move(*text), {}, metadata_cache_control};
}

namespace {

using clock = http1_protocol::clock;

// Minimum interval between two checks, even if the authenticator asks for less.
constexpr std::chrono::seconds min_recheck_interval{1};

clock::time_point to_steady_time(std::chrono::sys_seconds time) {
  // A time far in the future would overflow, so it becomes "never".
  constexpr std::chrono::hours max_span{24 * 365};
  const auto remaining = time - std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
  return remaining > max_span ? clock::time_point::max() : clock::now() + remaining + min_recheck_interval;
}

}  // namespace

bool connection::has_valid_certificate() {
  auto* const session = stream_.tls_session();
  const auto expiry = session != nullptr ? session->certificate_expiry() : std::nullopt;
  if (!expiry) return true;
  if (const auto authorities = std::exchange(new_authorities_, nullptr)) is_trusted_ = session->is_trusted_by(*authorities);
  return is_trusted_ && std::chrono::system_clock::now() <= *expiry;
}

void connection::apply_authorities(std::shared_ptr<const tls::context> context) {
  new_authorities_ = std::move(context);
  if (recheck_info_ && attached_stream_ && attached_stream_->is_long_lived() && !has_valid_certificate()) end_event_stream();
}

/// Called when an event stream begins, which may last for any time. The request's header is still available here.
void connection::watch_credentials() {
  auto* const session = stream_.tls_session();
  const auto expiry = session != nullptr ? session->certificate_expiry() : std::nullopt;
  recheck_at_ = credentials_expire_at_;
  if (expiry) recheck_at_ = std::min(recheck_at_, to_steady_time(*expiry));
  unverified_since_.reset();
  // A certificate without an early end may still lose its authority.
  if (!expiry && recheck_at_ == clock::time_point::max()) return;
  const auto& head = protocol_.head();
  recheck_info_ = std::make_unique<auth_request>(make_connection_info(head));
  if (auto token = parse_bearer(head)) recheck_info_->bearer_token = std::move(*token);
  // The authorities may have been replaced since the request arrived.
  if (!has_valid_certificate()) recheck_at_ = clock::now();
}

void connection::recheck_caller() {
  // An answer to a request is sent completely.
  if (!attached_stream_ || !attached_stream_->is_long_lived()) return recheck_info_.reset();
  if (!has_valid_certificate()) return end_event_stream();
  const auto& verifier = loop_->authentication->verifier;
  if (!verifier) {
    recheck_at_ = clock::now() + min_recheck_interval;
    return;
  }
  if (auto outcome = verifier->try_authenticate(*recheck_info_)) return apply_recheck(*outcome);
  recheck_at_ = clock::time_point::max();  // `on_rechecked` follows
  // Higher priority, so that a flood of unknown callers does not prevent the check of known ones.
  if (!authenticate_async(*recheck_info_, attached_request_, &connection::on_rechecked, executor::job_priority::continuation)) {
    apply_recheck(tl::unexpected(auth_rejection{503, {}, {}, {}, min_recheck_interval}));
  }
}

void connection::apply_recheck(const auth_result& outcome) {
  const auto now = clock::now();
  const auto is_unchanged = [this](const caller_info& checked) {
    // Changed rules are handled by the stream itself. A caller with other groups or claims must open a new stream.
    return is_same_caller(caller_, checked) && core_->current()->gate->has_scopes_of(checked, caller_.auth_info.get()) &&
           has_same_access_filter(session::with_current_filter(caller_, *core_), session::with_current_filter(checked, *core_));
  };
  if (outcome && is_unchanged(*outcome)) {
    unverified_since_.reset();
    recheck_at_ = std::max(outcome->expires_at, now + min_recheck_interval);
    if (auto* const session = stream_.tls_session()) {
      if (const auto expiry = session->certificate_expiry()) recheck_at_ = std::min(recheck_at_, to_steady_time(*expiry));
    }
    return;
  }
  // A short outage of an authorization server does not end streams.
  if (!outcome && outcome.error().status == 503) {
    if (!unverified_since_) unverified_since_ = now;
    if (now - *unverified_since_ < protocol_.call_timeout()) {
      recheck_at_ = now + std::clamp(outcome.error().retry_after.value_or(min_recheck_interval), min_recheck_interval,
                                     5 * min_recheck_interval);
      return;
    }
  }
  end_event_stream();
}

/// Ends the event stream. The client may open it again with new credentials.
void connection::end_event_stream() {
  recheck_info_.reset();
  protocol_.drain();
  if (session_) session_->finish();
}

}  // namespace hondana::transport::http_server

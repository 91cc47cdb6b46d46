/// The connection to one server: opens it in a protocol revision that both support, and again after it is lost.
#include "client/server_connection.hpp"

#include <algorithm>
#include <map>
#include <span>
#include <utility>

#include <hondana/clock.hpp>

#include "protocol/wire/asking/results.hpp"
#include "protocol/wire/asking/server_errors.hpp"
#include "protocol/wire/choose_codec.hpp"
#include "transport/child/child_channel.hpp"
#include "transport/http_client/http_channel.hpp"
#include "transport/memory/memory_channel.hpp"

namespace hondana::outbound {

result<std::unique_ptr<channel::channel>> make_channel(const client_target& target, bool is_legacy,
                                                       channel::channel_listener& listener, const channel::limits& limits,
                                                       const std::function<void(std::string_view)>& log) {
  if (const auto* http = std::get_if<http_target>(&target))
    return is_legacy ? transport::http_client::make_http_sse(*http, listener, limits, log)
                     : transport::http_client::make_http(*http, listener, limits, log);
  if (const auto* memory = std::get_if<memory_target>(&target)) {
    if (memory->server == nullptr) return fail(errc::invalid_argument, "memory_target has no server");
    return transport::make_memory_channel(*memory->server, listener, limits);
  }
  return transport::start_child(std::get<child_target>(target), listener, limits, log);
}

namespace {

constexpr std::size_t max_legacy_servers = 256;

/// Remembers which URLs belong to legacy servers, for all clients of this process. Threads: any.
class legacy_server_cache {
 public:
  bool has_sessions(const std::string& url) {
    const std::lock_guard lock(mutex_);
    const auto position = by_url_.find(url);
    return position != by_url_.end() && position->second;
  }
  void record(const std::string& url, bool has_sessions) {
    const std::lock_guard lock(mutex_);
    if (by_url_.size() >= max_legacy_servers) by_url_.clear();
    by_url_[url] = has_sessions;
  }

 private:
  std::mutex mutex_;
  std::map<std::string, bool> by_url_;
};

legacy_server_cache& legacy_servers() {
  static legacy_server_cache cache;
  return cache;
}

using revisions = std::span<const std::string_view>;

bool contains(revisions supported, std::string_view revision) {
  return std::find(supported.begin(), supported.end(), revision) != supported.end();
}

std::optional<std::string> first_common(revisions local, const std::vector<std::string>& remote) {
  for (const auto revision : local) {
    if (std::find(remote.begin(), remote.end(), revision) != remote.end()) return std::string(revision);
  }
  return {};
}

std::string join_limited(const std::vector<std::string>& names) {
  std::string out;
  for (const auto& name : names) {
    if (out.size() > 400) return out + ", ...";
    out += (out.empty() ? "" : ", ") + name.substr(0, 40);
  }
  return out.empty() ? "none" : out;
}

std::vector<std::string> local_revisions() {
  std::vector<std::string> out;
  for (const auto group : {wire::modern_revisions(), wire::session_revisions()})
    out.insert(out.end(), group.begin(), group.end());
  return out;
}

failure no_common_revision(const std::vector<std::string>& remote) {
  const auto local = local_revisions();
  return {
      errc::unsupported,
      "no protocol revision in common: the server supports " + join_limited(remote) + ", this client " + join_limited(local),
      {}};
}

bool is_final(const failure& error) {
  // A server may answer "invalid params" only because it does not know the method.
  return error.code == errc::cancelled || error.code == errc::unauthorized ||
         (error.code == errc::invalid_argument && !error.server_error);
}

/// Whether the failure is temporary and therefore says nothing about the server's revisions. The server was not reached, did
/// not answer, or a proxy answered for it. A legacy server rejects unknown methods over HTTP. Spec: 2026-07-28
/// basic/versioning#http.
bool is_transient(const failure& error) {
  const int status = error.server_error ? error.server_error->http_status.value_or(0) : 0;
  return error.code == errc::timed_out || error.code == errc::source_unavailable || error.code == errc::overloaded ||
         error.code == errc::too_many_requests || status > 501;
}

}  // namespace

server_connection::server_connection(client_target target, const client_options& options, peer_listener& listener,
                                     channel_maker maker)
    : target_(std::move(target)),
      maker_(std::move(maker)),
      options_(options),
      listener_(listener),
      peer_(listener, options.max_calls, options.on_message) {
  peer_.set_input_timeout(options.input_timeout);
}

channel::limits server_connection::limits() const { return {options_.max_message_bytes, options_.max_read_bytes, 64u << 20}; }

result<void> server_connection::open_channel(bool is_legacy) {
  auto created =
      maker_(target_, is_legacy, peer_, limits(), [this](std::string_view line) { listener_.log_line(std::string(line)); });
  if (!created) return tl::unexpected(std::move(created.error()));
  peer_.set_channel(std::move(*created));
  has_channel_ = true;
  return {};
}

result<asking::negotiated_protocol> server_connection::ensure_open(const call_options& options) {
  const deadline_timer deadline(options.timeout.value_or(options_.call_timeout));
  std::unique_lock lock(mutex_);
  monotonic_clock::wait_until(opened_, lock, options.stop, deadline.deadline(), [this] { return !is_opening_; });
  if (is_open_) return protocol_;
  if (options.stop.stop_requested()) return fail(errc::cancelled, "the call was cancelled while the connection was opened");
  if (is_opening_) return fail(errc::timed_out, "the connection was not opened in time");
  is_opening_ = true;
  lock.unlock();
  auto opened = [&] {
    // If `open` throws, other calls must stop waiting, too.
    const std::unique_ptr<server_connection, void (*)(server_connection*)> reset_guard(this, [](server_connection* connection) {
      const std::lock_guard guard(connection->mutex_);
      connection->is_opening_ = false;
      connection->opened_.notify_all();
    });
    return open(options);
  }();
  lock.lock();
  if (!opened) return tl::unexpected(std::move(opened.error()));
  return protocol_;
}

void server_connection::mark_lost(bool forgets_revision) {
  const std::lock_guard lock(mutex_);
  ++generation_;
  if (forgets_revision) knows_protocol_ = false;
  // Without a session there is no state to lose: each request stands alone.
  if (forgets_revision || !protocol_.is_modern) is_open_ = false;
}

std::uint64_t server_connection::generation() const {
  const std::lock_guard lock(mutex_);
  return generation_;
}

server_description server_connection::server() const {
  const std::lock_guard lock(mutex_);
  return server_;
}

void server_connection::close(std::chrono::milliseconds timeout) { peer_.close(timeout); }

result<void> server_connection::open(const call_options& options) {
  if (!has_channel_) {
    HONDANA_TRY(open_channel(false));
  }
  bool knows_protocol = false;
  asking::negotiated_protocol protocol;
  {
    const std::lock_guard lock(mutex_);
    knows_protocol = knows_protocol_;
    protocol = protocol_;
  }
  if (knows_protocol && !protocol.is_modern) {
    peer_.current_channel()->discard_session();
    auto reopened = initialize(protocol.revision, options);
    if (reopened || is_final(reopened.error())) return reopened;
    if (reopened.error().code == errc::source_unavailable || reopened.error().code == errc::timed_out) return reopened;
  }
  return negotiate_revision(options);
}

result<void> server_connection::negotiate_revision(const call_options& options) {
  const std::string newest_with_sessions(wire::session_revisions().front());
  const auto& pinned = options_.revision;
  if (pinned) {
    if (contains(wire::session_revisions(), *pinned)) return initialize_with_fallback(*pinned, options);
    if (!contains(wire::modern_revisions(), *pinned))
      return fail(errc::invalid_argument, "this client does not support revision \"" + pinned->substr(0, 40) +
                                              "\"; it supports " + join_limited(local_revisions()));
  }
  const auto* http = std::get_if<http_target>(&target_);
  const auto legacy_key = http != nullptr ? http->socket_path.value_or(std::string()) + ' ' + http->url : std::string();
  if (!pinned && http != nullptr && legacy_servers().has_sessions(legacy_key)) {
    auto initialized = initialize_with_fallback(newest_with_sessions, options);
    if (initialized || is_final(initialized.error()) || is_transient(initialized.error())) return initialized;
  }

  std::optional<failure> not_modern;
  HONDANA_TRY(discover(std::string(wire::modern_revisions().front()), options, not_modern));
  if (!not_modern) {
    if (http != nullptr) legacy_servers().record(legacy_key, false);
    return {};
  }
  if (pinned) return tl::unexpected(std::move(*not_modern));
  auto initialized = initialize_with_fallback(newest_with_sessions, options);
  if (initialized) {
    // An HTTP 5xx answer may be temporary, so it does not mark the server as legacy.
    const bool has_failed = not_modern->server_error && not_modern->server_error->http_status >= 500;
    if (http != nullptr && !has_failed) legacy_servers().record(legacy_key, true);
    return initialized;
  }
  // The first failure is more specific than that of `initialize`, which a stateless server does not know.
  if (not_modern->code == errc::source_unavailable && initialized.error().code == errc::source_unavailable)
    return tl::unexpected(std::move(*not_modern));
  return initialized;
}

result<void> server_connection::discover(const std::string& revision, const call_options& options,
                                         std::optional<failure>& not_modern, bool is_retry) {
  const asking::negotiated_protocol protocol{revision, true};
  const auto request = asking::discover();
  const auto id = peer_.next_id();
  outgoing_request outgoing{.method = request.method, .headers = asking::headers_of(request, protocol)};
  outgoing.notifies_cancellation = !peer_.current_channel()->has_exchanges();
  outgoing.timeout = options.timeout.value_or(options_.call_timeout);
  const bool is_http = std::holds_alternative<http_target>(target_);
  if (!is_http) outgoing.timeout = std::min(options_.probe_timeout, outgoing.timeout);
  call_options call_options_copy;
  call_options_copy.stop = options.stop;
  auto response =
      peer_.send_request(id, asking::encode_request(request, id, protocol, options_, false), outgoing, call_options_copy);
  if (!response) {
    const auto& error = response.error();
    if (is_final(error) || (is_http && is_transient(error))) return tl::unexpected(error);
    if (asking::is_unsupported_revision(error)) {
      const auto remote = asking::supported_revisions(error);
      if (const auto shared = first_common(wire::modern_revisions(), remote); shared && !is_retry)
        return discover(*shared, options, not_modern, true);
      if (const auto older = first_common(wire::session_revisions(), remote); older && !options_.revision)
        return initialize_with_fallback(*older, options);
      return tl::unexpected(no_common_revision(remote));
    }
    if (asking::is_modern_error(error)) return tl::unexpected(error);
    not_modern = error;
    return {};
  }
  const auto result = response->result.as_object("result");
  auto described = asking::parse_server_description(*result, protocol);
  if (described.revisions.empty()) {
    // A server that names no versions did not understand the request.
    not_modern = failure{errc::protocol_error, "the server answered server/discover without supportedVersions", {}};
    return {};
  }
  if (std::find(described.revisions.begin(), described.revisions.end(), revision) == described.revisions.end()) {
    if (const auto shared = first_common(wire::modern_revisions(), described.revisions); shared && !is_retry)
      return discover(*shared, options, not_modern, true);
    if (const auto older = first_common(wire::session_revisions(), described.revisions); older && !options_.revision)
      return initialize_with_fallback(*older, options);
    return tl::unexpected(no_common_revision(described.revisions));
  }
  peer_.current_channel()->complete_handshake({}, false);
  finish_open(protocol, std::move(described));
  return {};
}

result<void> server_connection::initialize_with_fallback(const std::string& revision, const call_options& options) {
  auto initialized = initialize(revision, options);
  const auto* http = std::get_if<http_target>(&target_);
  if (initialized || http == nullptr || !initialized.error().server_error || peer_.current_channel()->kind() != "http")
    return initialized;
  const auto status = initialized.error().server_error->http_status;
  // Spec: 2025-11-25 basic/transports#backwards-compatibility.
  if ((status != 400 && status != 404 && status != 405) || asking::is_modern_error(initialized.error())) return initialized;
  if (!open_channel(true)) return initialized;
  auto fallback = initialize(revision, options);
  if (fallback) return fallback;
  // The next attempt starts again with Streamable HTTP.
  HONDANA_TRY(open_channel(false));
  auto error = initialized.error();
  if (fallback.error().public_text != error.public_text)
    error.public_text += "; the older HTTP+SSE transport failed, too: " + fallback.error().public_text;
  return tl::unexpected(std::move(error));
}

result<void> server_connection::initialize(const std::string& revision, const call_options& options) {
  asking::negotiated_protocol protocol{revision, false};
  const auto request = asking::initialize(options_, protocol);
  const auto id = peer_.next_id();
  outgoing_request outgoing{.method = request.method};
  outgoing.is_opening = true;
  outgoing.notifies_cancellation = false;
  outgoing.timeout = options.timeout.value_or(options_.call_timeout);
  call_options call_options_copy;
  call_options_copy.stop = options.stop;
  HONDANA_TRY(auto response, peer_.send_request(id, asking::encode_request(request, id, protocol, options_, false), outgoing,
                                                call_options_copy));
  const auto result = response.result.as_object("result");
  protocol.revision = asking::text_member(*result, "protocolVersion");
  if (!contains(wire::session_revisions(), protocol.revision) || (options_.revision && protocol.revision != options_.revision))
    return tl::unexpected(no_common_revision({protocol.revision}));
  peer_.current_channel()->complete_handshake(asking::session_headers(protocol), true);
  peer_.send(asking::initialized());
  auto described = asking::parse_server_description(*result, protocol);
  const bool has_logs = described.capabilities.find("logging") != nullptr;
  finish_open(protocol, std::move(described));
  if (has_logs && options_.min_log_level) set_log_level(protocol, options);
  return {};
}

/// For servers with sessions. Stateless servers get the log level with each request.
void server_connection::set_log_level(const asking::negotiated_protocol& protocol, const call_options& options) {
  const auto request = asking::set_level(*options_.min_log_level);
  const auto id = peer_.next_id();
  outgoing_request outgoing{.method = request.method};
  outgoing.timeout = options.timeout.value_or(options_.call_timeout);
  call_options call_options_copy;
  call_options_copy.stop = options.stop;
  const auto response =
      peer_.send_request(id, asking::encode_request(request, id, protocol, options_, false), outgoing, call_options_copy);
  if (!response) listener_.log_line("the server rejected the log level: " + response.error().public_text);
}

void server_connection::finish_open(asking::negotiated_protocol protocol, server_description description) {
  description.transport = std::string(peer_.current_channel()->kind());
  const std::lock_guard lock(mutex_);
  protocol_ = std::move(protocol);
  server_ = std::move(description);
  is_open_ = true;
  knows_protocol_ = true;
}

}  // namespace hondana::outbound

/// Opens the connection to one server in a revision that both support, and reopens it when it is lost.
#include "client/link.hpp"

#include <algorithm>
#include <map>
#include <span>
#include <utility>

#include <hondana/clock.hpp>

#include "protocol/wire/asking/results.hpp"
#include "protocol/wire/asking/server_errors.hpp"
#include "protocol/wire/choose.hpp"
#include "transport/child/child_channel.hpp"
#include "transport/http_client/http_channel.hpp"
#include "transport/memory/memory_channel.hpp"

namespace hondana::outbound {

result<std::unique_ptr<channel::channel>> make_channel(const client_target& to, bool is_older, channel::listener& heard,
                                                       const channel::limits& most,
                                                       const std::function<void(std::string_view)>& log) {
  if (const auto* http = std::get_if<http_target>(&to))
    return is_older ? transport::http_client::make_http_sse(*http, heard, most, log)
                    : transport::http_client::make_http(*http, heard, most, log);
  if (const auto* here = std::get_if<memory_target>(&to)) {
    if (here->server == nullptr) return fail(errc::invalid_argument, "memory_target has no server");
    return transport::make_memory_channel(*here->server, heard, most);
  }
  return transport::start_child(std::get<child_target>(to), heard, most, log);
}

namespace {

constexpr std::size_t most_remembered = 256;

/// Remembers which URLs belong to legacy servers, for all clients of this process. Threads: any.
class remembered_eras {
 public:
  bool has_sessions(const std::string& url) {
    const std::lock_guard lock(mutex_);
    const auto found = known_.find(url);
    return found != known_.end() && found->second;
  }
  void remember(const std::string& url, bool has_sessions) {
    const std::lock_guard lock(mutex_);
    if (known_.size() >= most_remembered) known_.clear();
    known_[url] = has_sessions;
  }

 private:
  std::mutex mutex_;
  std::map<std::string, bool> known_;
};

remembered_eras& eras() {
  static remembered_eras all;
  return all;
}

using revisions = std::span<const std::string_view>;

bool has(revisions all, std::string_view one) { return std::find(all.begin(), all.end(), one) != all.end(); }

std::optional<std::string> first_shared(revisions ours, const std::vector<std::string>& theirs) {
  for (const auto one : ours) {
    if (std::find(theirs.begin(), theirs.end(), one) != theirs.end()) return std::string(one);
  }
  return {};
}

std::string listed(const std::vector<std::string>& all) {
  std::string out;
  for (const auto& one : all) {
    if (out.size() > 400) return out + ", ...";
    out += (out.empty() ? "" : ", ") + one.substr(0, 40);
  }
  return out.empty() ? "none" : out;
}

std::vector<std::string> our_revisions() {
  std::vector<std::string> out;
  for (const auto all : {wire::modern_revisions(), wire::session_revisions()}) out.insert(out.end(), all.begin(), all.end());
  return out;
}

failure speaks_otherwise(const std::vector<std::string>& theirs) {
  const auto ours = our_revisions();
  return {errc::unsupported,
          "no protocol revision in common: the server supports " + listed(theirs) + ", this client " + listed(ours),
          {}};
}

bool is_final(const failure& why) {
  // A server may answer "invalid params" only because it does not know the method.
  return why.code == errc::cancelled || why.code == errc::unauthorized || (why.code == errc::invalid_argument && !why.answer);
}

/// Whether the failure is temporary and therefore says nothing about the server's revisions. The server was not reached, did
/// not answer, or a proxy answered for it. A legacy server rejects unknown methods over HTTP. Spec: 2026-07-28
/// basic/versioning#http.
bool is_passing(const failure& why) {
  const int status = why.answer ? why.answer->http_status : 0;
  return why.code == errc::timed_out || why.code == errc::source_unavailable || why.code == errc::overloaded ||
         why.code == errc::too_many_requests || status > 501;
}

}  // namespace

link::link(client_target target, const client_options& options, hearer& heard, channel_maker make)
    : target_(std::move(target)),
      make_(std::move(make)),
      options_(options),
      heard_(heard),
      talk_(heard, options.max_calls, options.trace) {
  talk_.set_question_time(options.input_time);
}

channel::limits link::limits() const { return {options_.max_message_bytes, options_.max_read_bytes, 64u << 20}; }

result<void> link::use(bool is_older) {
  auto made = make_(target_, is_older, talk_, limits(), [this](std::string_view line) { heard_.noticed(std::string(line)); });
  if (!made) return tl::unexpected(std::move(made.error()));
  talk_.use(std::move(*made));
  is_made_ = true;
  return {};
}

result<asking::speech> link::ready(const call_options& how) {
  const time_left left(how.time.value_or(options_.call_time));
  std::unique_lock lock(mutex_);
  monotonic_clock::wait_until(opened_, lock, how.stop, left.until(), [this] { return !is_opening_; });
  if (is_open_) return speech_;
  if (how.stop.stop_requested()) return fail(errc::cancelled, "the call was cancelled while the connection was opened");
  if (is_opening_) return fail(errc::timed_out, "the connection was not opened in time");
  is_opening_ = true;
  lock.unlock();
  auto done = [&] {
    // If `open` throws, other calls must stop waiting, too.
    const std::unique_ptr<link, void (*)(link*)> at_the_end(this, [](link* self) {
      const std::lock_guard held(self->mutex_);
      self->is_opening_ = false;
      self->opened_.notify_all();
    });
    return open(how);
  }();
  lock.lock();
  if (!done) return tl::unexpected(std::move(done.error()));
  return speech_;
}

void link::lost(bool is_stranger) {
  const std::lock_guard lock(mutex_);
  ++connection_;
  if (is_stranger) is_known_ = false;
  // Without a session there is no state to lose: each request stands alone.
  if (is_stranger || !speech_.is_modern) is_open_ = false;
}

std::uint64_t link::connection() const {
  const std::lock_guard lock(mutex_);
  return connection_;
}

server_description link::server() const {
  const std::lock_guard lock(mutex_);
  return server_;
}

void link::close(std::chrono::milliseconds time) { talk_.close(time); }

result<void> link::open(const call_options& how) {
  if (!is_made_) {
    HONDANA_TRY(use(false));
  }
  bool is_known = false;
  asking::speech known;
  {
    const std::lock_guard lock(mutex_);
    is_known = is_known_;
    known = speech_;
  }
  if (is_known && !known.is_modern) {
    talk_.through()->forget_session();
    auto again = initialize(known.revision, how);
    if (again || is_final(again.error())) return again;
    if (again.error().code == errc::source_unavailable || again.error().code == errc::timed_out) return again;
  }
  return find_era(how);
}

result<void> link::find_era(const call_options& how) {
  const std::string newest_with_sessions(wire::session_revisions().front());
  const auto& pinned = options_.revision;
  if (!pinned.empty()) {
    if (has(wire::session_revisions(), pinned)) return initialize_somehow(pinned, how);
    if (!has(wire::modern_revisions(), pinned))
      return fail(errc::invalid_argument, "this client does not support revision \"" + pinned.substr(0, 40) +
                                              "\"; it supports " + listed(our_revisions()));
  }
  const auto* http = std::get_if<http_target>(&target_);
  if (pinned.empty() && http != nullptr && eras().has_sessions(http->socket + ' ' + http->url)) {
    auto done = initialize_somehow(newest_with_sessions, how);
    if (done || is_final(done.error()) || is_passing(done.error())) return done;
  }

  std::optional<failure> not_modern;
  HONDANA_TRY(discover(std::string(wire::modern_revisions().front()), how, not_modern));
  if (!not_modern) {
    if (http != nullptr) eras().remember(http->socket + ' ' + http->url, false);
    return {};
  }
  if (!pinned.empty()) return tl::unexpected(std::move(*not_modern));
  auto done = initialize_somehow(newest_with_sessions, how);
  if (done) {
    // An HTTP 5xx answer may be temporary, so it does not mark the server as legacy.
    const bool has_failed = not_modern->answer && not_modern->answer->http_status >= 500;
    if (http != nullptr && !has_failed) eras().remember(http->socket + ' ' + http->url, true);
    return done;
  }
  // The first failure is more specific than that of `initialize`, which a stateless server does not know.
  if (not_modern->code == errc::source_unavailable && done.error().code == errc::source_unavailable)
    return tl::unexpected(std::move(*not_modern));
  return done;
}

result<void> link::discover(const std::string& revision, const call_options& how, std::optional<failure>& not_modern,
                            bool is_again) {
  const asking::speech in{revision, true};
  const auto what = asking::discover();
  const auto id = talk_.next_id();
  sending out{.method = what.method, .headers = asking::headers_of(what, in)};
  out.tells_cancellation = !talk_.through()->has_exchanges();
  out.time = how.time.value_or(options_.call_time);
  const bool is_http = std::holds_alternative<http_target>(target_);
  if (!is_http) out.time = std::min(options_.probe_time, out.time);
  call_options mine;
  mine.stop = how.stop;
  auto got = talk_.ask(id, asking::spelled(what, id, in, options_, false), out, mine);
  if (!got) {
    const auto& why = got.error();
    if (is_final(why) || (is_http && is_passing(why))) return tl::unexpected(why);
    if (asking::wants_other_revision(why)) {
      const auto theirs = asking::supported_by(why);
      if (const auto shared = first_shared(wire::modern_revisions(), theirs); shared && !is_again)
        return discover(*shared, how, not_modern, true);
      if (const auto older = first_shared(wire::session_revisions(), theirs); older && options_.revision.empty())
        return initialize_somehow(*older, how);
      return tl::unexpected(speaks_otherwise(theirs));
    }
    if (asking::is_modern_error(why)) return tl::unexpected(why);
    not_modern = why;
    return {};
  }
  const auto result = got->result.as_object("result");
  auto described = asking::description_of(*result, in);
  if (described.revisions.empty()) {
    // A server that names no versions did not understand the request.
    not_modern = failure{errc::broken_protocol, "the server answered server/discover without supportedVersions", {}};
    return {};
  }
  if (std::find(described.revisions.begin(), described.revisions.end(), revision) == described.revisions.end()) {
    if (const auto shared = first_shared(wire::modern_revisions(), described.revisions); shared && !is_again)
      return discover(*shared, how, not_modern, true);
    if (const auto older = first_shared(wire::session_revisions(), described.revisions); older && options_.revision.empty())
      return initialize_somehow(*older, how);
    return tl::unexpected(speaks_otherwise(described.revisions));
  }
  talk_.through()->opened({}, false);
  settle(in, std::move(described));
  return {};
}

result<void> link::initialize_somehow(const std::string& revision, const call_options& how) {
  auto done = initialize(revision, how);
  const auto* http = std::get_if<http_target>(&target_);
  if (done || http == nullptr || !done.error().answer || talk_.through()->kind() != "http") return done;
  const auto status = done.error().answer->http_status;
  // Spec: 2025-11-25 basic/transports#backwards-compatibility.
  if ((status != 400 && status != 404 && status != 405) || asking::is_modern_error(done.error())) return done;
  if (!use(true)) return done;
  auto second = initialize(revision, how);
  if (second) return second;
  // The next attempt starts again with Streamable HTTP.
  HONDANA_TRY(use(false));
  auto why = done.error();
  if (second.error().public_text != why.public_text)
    why.public_text += "; the older HTTP+SSE transport failed, too: " + second.error().public_text;
  return tl::unexpected(std::move(why));
}

result<void> link::initialize(const std::string& revision, const call_options& how) {
  asking::speech in{revision, false};
  const auto what = asking::initialize(options_, in);
  const auto id = talk_.next_id();
  sending out{.method = what.method};
  out.is_opening = true;
  out.tells_cancellation = false;
  out.time = how.time.value_or(options_.call_time);
  call_options mine;
  mine.stop = how.stop;
  HONDANA_TRY(auto got, talk_.ask(id, asking::spelled(what, id, in, options_, false), out, mine));
  const auto result = got.result.as_object("result");
  in.revision = asking::text_member(*result, "protocolVersion");
  if (!has(wire::session_revisions(), in.revision) || (!options_.revision.empty() && in.revision != options_.revision))
    return tl::unexpected(speaks_otherwise({in.revision}));
  talk_.through()->opened(asking::session_fields(in), true);
  talk_.tell(asking::initialized());
  auto described = asking::description_of(*result, in);
  const bool has_logs = described.capabilities.find("logging") != nullptr;
  settle(in, std::move(described));
  if (has_logs && options_.least_log_level) set_level(in, how);
  return {};
}

/// For servers with sessions. Stateless servers get the log level with each request.
void link::set_level(const asking::speech& in, const call_options& how) {
  const auto what = asking::set_level(*options_.least_log_level);
  const auto id = talk_.next_id();
  sending out{.method = what.method};
  out.time = how.time.value_or(options_.call_time);
  call_options mine;
  mine.stop = how.stop;
  const auto done = talk_.ask(id, asking::spelled(what, id, in, options_, false), out, mine);
  if (!done) heard_.noticed("the server rejected the log level: " + done.error().public_text);
}

void link::settle(asking::speech in, server_description what) {
  what.transport = std::string(talk_.through()->kind());
  const std::lock_guard lock(mutex_);
  speech_ = std::move(in);
  server_ = std::move(what);
  is_open_ = true;
  is_known_ = true;
}

}  // namespace hondana::outbound

/// The thread of a mount: connects, requests lists and subscribes.

#include <algorithm>
#include <functional>
#include <utility>
#include <variant>

#include <hondana/clock.hpp>

#include "base/executor/thread_guards.hpp"
#include "sources/mcp/sanitizer.hpp"
#include "sources/mcp/upstream.hpp"
#include "sources/mcp/upstream_lists.hpp"
#include "text/secrets/masking_reader.hpp"

namespace hondana::mcp {
namespace {

constexpr std::chrono::hours max_wait{1};
constexpr std::size_t max_pages = 10'000;
constexpr std::size_t max_skills = 1'000;
constexpr std::size_t max_empty_pages = 1'000;  // consecutive
/// Timeout of a request that is cheap to answer.
constexpr std::chrono::milliseconds ping_timeout{3'000};
constexpr std::chrono::milliseconds min_idle_time{500};
constexpr std::chrono::milliseconds max_idle_time{10'000};
constexpr int failure_idle_factor = 19;  // failing lists may take a twentieth of the time
constexpr std::string_view first_revision_without_ping = "2026-07-28";
constexpr int list_timeout_factor = 10;  // times `call_timeout`, for all pages of all lists together
constexpr int max_levels = 64;           // folders above a changed resource that are checked
constexpr std::int64_t method_not_found = -32601;

/// Requests pages of entries until a limit is reached. `ttl` is set to the shortest stated value.
result<void> collect_entries(client& server, const call_options& options, list_collector<resource>& collector,
                             std::chrono::milliseconds& ttl) {
  std::optional<std::string> cursor;
  std::size_t empty_pages = 0;
  for (std::size_t pages = 0;; ++pages) {
    auto page = server.resource_page(cursor, {}, options);
    if (!page) return tl::unexpected(std::move(page.error()));
    empty_pages = page->items.empty() ? empty_pages + 1 : 0;
    for (auto& entry : page->items) {
      if (!collector.add(std::move(entry))) return {};
    }
    if (page->ttl > std::chrono::milliseconds(0) && (ttl == std::chrono::milliseconds(0) || page->ttl < ttl)) ttl = page->ttl;
    if (!page->cursor) return {};
    if (page->cursor == cursor || pages == max_pages || empty_pages > max_empty_pages)
      return fail(errc::protocol_error, "its list does not end: it repeats a cursor or has too many pages");
    HONDANA_TRY(collector.check_deadline());
    cursor = std::move(page->cursor);
  }
}

result<server_lists> collect_all(client& server, const mount_options& options, const call_options& call_settings,
                                 const std::function<void(std::string_view)>& log) {
  server_lists lists;
  const auto info = server.server();
  list_budget budget;
  budget.deadline = list_budget::clock::now() + list_timeout_factor * options.call_timeout;
  list_collector<resource> entries(options.max_entries, budget, options.redact);
  list_collector<resource_template> templates(options.max_templates, budget, options.redact);
  list_collector<skill> skills(max_skills, budget, options.redact);
  if (info.has_resources) {
    HONDANA_TRY(collect_entries(server, call_settings, entries, lists.ttl));
    const auto templates_outcome = collect(server.templates(call_settings), templates);
    // Servers without templates may not know the method.
    const bool has_none = !templates_outcome && templates_outcome.error().server_error &&
                          templates_outcome.error().server_error->code == method_not_found;
    if (!templates_outcome && !has_none) return tl::unexpected(templates_outcome.error());
  }
  if (options.serves_skills && info.has_skills) {
    if (const auto skills_outcome = collect(server.skills(call_settings), skills); !skills_outcome)
      log("its skills cannot be listed: " + sanitize_masked(skills_outcome.error().public_text, max_line_bytes));
  }
  lists.has_more_entries = entries.has_more();
  lists.has_more_templates = templates.has_more();
  lists.has_more_skills = skills.has_more();
  lists.entries = std::move(entries).extract();
  lists.templates = std::move(templates).extract();
  lists.skills = std::move(skills).extract();
  return lists;
}

/// Whether the client itself did not send the request.
bool was_not_sent(const failure& error) { return error.code == errc::overloaded && !error.server_error; }

}  // namespace

upstream::job upstream::next_job(clock::time_point now) const {
  if (!is_active_) return job::none;
  if (is_backing_off(now)) return probes_in_backoff_ ? job::probe : job::none;
  if (!client_) return job::connect;
  if (needs_ping_) return job::probe;
  if (now < idle_until_) return job::none;
  if (is_stale_ && (is_requested_ || now >= pacer_.next())) return job::collect;
  if (applied_generation_ != desired_.generation) return job::subscribe;
  return now >= next_poll() ? job::collect : job::none;
}

void upstream::run_with_restarts(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    if (executor::run_noexcept([&] { run(stop); })) return;
    const bool is_recorded = executor::run_noexcept([&] {
      std::unique_lock lock(mutex_);
      ++connect_attempts_;
      record_failure(lock,
                     {errc::source_unavailable,
                      "The mounted server \"" + options_.name + "\" is paused for a moment: this server is out of memory.",
                      {}});
    });
    if (is_recorded) continue;  // a pause has been set
    std::unique_lock lock(mutex_);
    (void)monotonic_clock::wait_until(changed_, lock, stop, clock::now() + min_idle_time, [] { return false; });
  }
}

void upstream::run(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    const auto now = clock::now();
    const auto next = next_job(now);
    if (next == job::none) {
      const auto seen_events = events_;
      const auto next_collection = is_stale_ ? pacer_.next() : next_poll();
      const auto wake_at = is_backing_off(now) ? retry_at_
                           : now < idle_until_ ? idle_until_
                                               : std::min(next_collection, now + max_wait);
      (void)monotonic_clock::wait_until(changed_, lock, stop, wake_at, [&] { return events_ != seen_events; });
      continue;
    }
    lock.unlock();
    if (next == job::connect) connect(stop);
    if (next == job::probe) probe(stop);
    if (next == job::collect) collect_lists(stop);
    if (next == job::subscribe) subscribe(stop);
    lock.lock();
  }
}

call_options upstream::make_call_options(const std::stop_token& stop) const {
  call_options call_settings;
  call_settings.timeout = options_.call_timeout;
  call_settings.stop = stop;
  call_settings.bypass_cache = true;
  return call_settings;
}

client_options upstream::make_client_options() {
  client_options settings;
  settings.version = HONDANA_VERSION;
  settings.title = "hondana, mounting it as " + options_.name;
  settings.revision = options_.revision;
  settings.log = [this](std::string_view line) { log(sanitize_masked(line, max_line_bytes)); };
  settings.meta = [this] {
    value::array ids;
    for (auto& id : chain_.outgoing_ids()) ids.emplace_back(std::move(id));
    return value::object{{std::string(chain_member), std::move(ids)}};
  };
  settings.call_timeout = options_.call_timeout;
  settings.cache_bytes = 0;  // the server that contains this source has its own cache
  settings.max_message_bytes = max_message_bytes;
  settings.max_read_bytes = options_.max_read_bytes;
  settings.fetches_https = false;  // otherwise a mounted server could make this one fetch URLs from its network position
  return settings;
}

client_target upstream::make_target() const {
  auto target = options_.target;
  if (auto* child = std::get_if<child_target>(&target)) {
    child->environment.emplace_back(chain_variable, chain_.environment_value());
    child->on_exit = [this](std::string_view outcome, unsigned) {
      log("its program " + sanitize_masked(outcome, max_line_bytes) + "; it is restarted when needed");
    };
    if (!child->on_stderr) {
      child->on_stderr = [this, lines = secrets::line_masker()](std::string_view line) mutable {
        log("says: " + sanitize(lines.mask(line), max_line_bytes));
      };
    }
  }
  return target;
}

void upstream::connect(const std::stop_token& stop) {
  const auto cycle = chain_.find_permanent_cycle();
  auto connected = cycle.empty() ? client::connect(make_target(), make_client_options(), make_call_options(stop))
                                 : fail(errc::source_unavailable, "it is mounted in a circle: " + cycle +
                                                                      ". Remove one of the mounts from its configuration.");
  if (stop.stop_requested()) return;
  std::unique_lock lock(mutex_);
  ++connect_attempts_;
  if (!connected) return record_failure(lock, connected.error());
  client_ = std::make_shared<client>(std::move(*connected));
  last_activity_ = clock::now();
  const auto info = client_->server();
  signal_change();
  lock.unlock();
  log("connected to " + sanitize(info.name + ' ' + info.version, max_line_bytes) + " in " +
      sanitize(info.revision, max_word_bytes));
}

void upstream::probe(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  const auto server = client_;
  const auto start = clock::now();
  auto ping_options = make_call_options(stop);
  ping_options.timeout = std::min(options_.call_timeout, ping_timeout);
  if (silence_start_) {
    const auto time_left = std::chrono::ceil<std::chrono::milliseconds>(*silence_start_ + options_.call_timeout - start);
    ping_options.timeout = std::max(*ping_options.timeout, time_left);
  }
  const bool was_in_backoff = std::exchange(probes_in_backoff_, false);
  lock.unlock();
  const auto* method = server->server().revision < first_revision_without_ping ? "ping" : "server/discover";
  const auto outcome = server->request(method, {}, ping_options);
  lock.lock();
  needs_ping_ = false;
  // Any answer to any call shows that the server is alive.
  if (outcome || outcome.error().server_error || last_activity_ >= start) {
    record_activity();
    if (!was_in_backoff || std::exchange(failures_, 0) == 0) return;
    // Further failures soon before were logged already.
    const bool is_new = backoff_steps_ == 0;
    if (is_new) logged_error_.clear();
    signal_change();
    lock.unlock();
    if (is_new) log("it answers a ping, so only that request failed");
    return;
  }
  // If the client's limit of calls is reached, the server may be fine, unless all calls have waited too long.
  if (was_not_sent(outcome.error()) && !(silence_start_ && clock::now() - *silence_start_ >= options_.call_timeout)) return;
  if (outcome.error().code == errc::timed_out || was_not_sent(outcome.error())) {
    restart_silence_timer();
    lock.unlock();
    server->end_connection("did not answer a ping");
    lock.lock();
  }
  if (!stop.stop_requested() && !is_backing_off(clock::now())) record_failure(lock, outcome.error());
}

void upstream::collect_lists(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  is_stale_ = false;
  bool was_requested = std::exchange(is_requested_, false);
  const bool had_change_event = std::exchange(has_change_event_, false);
  const auto server = client_;
  const auto previous = lists_;
  lock.unlock();
  const auto start = clock::now();
  auto lists = collect_all(*server, options_, make_call_options(stop), [this](std::string_view line) { log(line); });
  const auto snapshot = lists ? std::make_shared<const list_snapshot>(std::move(*lists), mapping_, filter_) : nullptr;
  const bool is_unchanged = snapshot && previous && snapshot->is_equivalent(*previous);
  if (snapshot && !is_unchanged) {
    if (!snapshot->truncation_note().empty()) log(snapshot->truncation_note());
    for (const auto& entry : snapshot->skipped()) log("left out: " + entry.name + ": " + entry.reason);
    if (snapshot->skipped_count() > snapshot->skipped().size())
      log("also left out: " + std::to_string(snapshot->skipped_count() - snapshot->skipped().size()) + " more");
  }
  lock.lock();
  ++list_requests_;
  pacer_.record_request(clock::now(), clock::now() - start, !(is_unchanged && had_change_event));
  if (!snapshot) {
    // This also applies to requests by callers: failing lists may be as expensive as successful ones.
    if (lists.error().code != errc::source_unavailable) {
      const auto duration = clock::now() - start;
      idle_until_ = clock::now() + std::clamp<clock::duration>(failure_idle_factor * duration, min_idle_time, max_idle_time);
    }
    if (was_not_sent(lists.error())) {
      is_stale_ = is_requested_ = true;
      return signal_change();
    }
    auto error = lists.error();
    // A request that the server does not accept is not a configuration error, and says nothing about its resources.
    if (error.code == errc::invalid_argument || error.code == errc::unsupported) error.code = errc::source_unavailable;
    needs_ping_ = needs_ping_ || error.code == errc::timed_out;
    if (!stop.stop_requested()) record_failure(lock, error);
    return;
  }
  const bool had_failed = std::exchange(failures_, 0) != 0;
  if (had_failed) logged_error_.clear();
  lists_ = snapshot;
  lists_time_ = clock::now();
  record_activity();
  if (!is_unchanged) {
    desired_.retries_rejected = true;
    ++desired_.generation;
  }
  was_requested = was_requested || is_requested_;
  // Changes before the lists were known were missed. Callers that requested the lists have them already.
  const bool is_first_snapshot = !previous && watches_list_ && !was_requested;
  const bool must_notify = std::exchange(owes_notification_, false) || (previous && !is_unchanged) || is_first_snapshot;
  signal_change();
  lock.unlock();
  if (had_failed) log("it answers again");
  if (must_notify) notify_lists();
}

void upstream::subscribe(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  const auto desired = desired_;
  desired_.retries_rejected = false;
  const auto server = client_;
  lock.unlock();
  const auto outcome = subscriptions_.update(*server, desired, make_call_options(stop));
  const bool has_list_subscription = subscriptions_.watches_lists();
  lock.lock();
  // Changes before the subscription were missed, so the lists are requested once more.
  if (has_list_subscription && !std::exchange(has_list_subscription_, has_list_subscription)) is_stale_ = true;
  has_list_subscription_ = has_list_subscription;
  if (outcome) {
    applied_generation_ = desired.generation;
  } else if (was_not_sent(outcome.error())) {
    idle_until_ = clock::now() + min_idle_time;
  } else if (!stop.stop_requested()) {
    record_failure(lock, outcome.error());
  }
}

void upstream::on_event(const watch_event& event) {
  switch (event.kind) {
    case watch_event_kind::resource: {
      const auto uri = mapping_.to_local(event.uri);
      if (!uri || !filter_.rejection_reason(event.uri).empty()) return;
      if (uri->find('?') != std::string::npos) {
        const std::lock_guard lock(mutex_);
        notifies_parts_ = true;
      }
      const auto title = sanitize_display(event.title, max_line_bytes, options_.redact);
      notify_content(*uri, title);
      // The changed resource may be below a subscribed one. Spec: schema, ResourceUpdatedNotificationParams, all revisions.
      for (const auto& watched_uri : related_watches(*uri)) notify_content(watched_uri, {});
      return;
    }
    case watch_event_kind::connection_lost: {
      log("the connection was lost: " + sanitize_masked(event.reason, max_line_bytes));
      const std::lock_guard lock(mutex_);
      is_disconnected_ = true;
      return;
    }
    case watch_event_kind::resource_list:
    case watch_event_kind::connection_restored: {
      const std::lock_guard lock(mutex_);
      if (event.kind == watch_event_kind::connection_restored) {
        is_disconnected_ = false;
        // After a reconnect, the server may accept fewer or more subscriptions.
        has_list_subscription_ = false;
        desired_.retries_rejected = true;
        ++desired_.generation;
      } else {
        has_change_event_ = true;
      }
      is_stale_ = true;
      signal_change();
      return;
    }
    case watch_event_kind::subscription_rejected:
      return log("change notifications have stopped: " + sanitize_masked(event.reason, max_line_bytes));
    case watch_event_kind::tool_list:
    case watch_event_kind::prompt_list:
      return;
  }
}

std::vector<std::string> upstream::related_watches(const std::string& uri) const {
  std::vector<std::string> matches;
  const std::lock_guard lock(mutex_);
  // Unless a server is known to notify changes of parts (URIs with a query), a change of the whole may concern its parts, too.
  if (uri.find('?') == std::string::npos && !(notifies_parts_ && desired_.uris.contains(uri))) {
    const auto part_prefix = uri + '?';
    for (auto part = desired_.uris.lower_bound(part_prefix); part != desired_.uris.end() && part->starts_with(part_prefix);
         ++part)
      matches.push_back(*part);
  }
  auto slash = uri.rfind('/');
  for (int level = 0; level < max_levels && slash != std::string::npos && slash >= mapping_.prefix().size(); ++level) {
    for (const auto size : {slash, slash + 1}) {
      auto ancestor = uri.substr(0, size);
      if (ancestor != uri && desired_.uris.contains(ancestor)) matches.push_back(std::move(ancestor));
    }
    slash = uri.rfind('/', slash - 1);
  }
  return matches;
}

void upstream::notify_lists() {
  std::unique_lock lock(mutex_);
  const auto current_listener = listener_;
  lock.unlock();
  if (current_listener) current_listener->list_changed();
}

void upstream::notify_content(const std::string& uri, std::string_view title) {
  std::unique_lock lock(mutex_);
  const auto current_listener = listener_;
  lock.unlock();
  if (current_listener) current_listener->content_changed(uri, title);
}

}  // namespace hondana::mcp

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

constexpr std::chrono::hours long_time{1};
constexpr std::size_t most_pages = 10'000;
constexpr std::size_t most_skills = 1'000;
constexpr std::size_t most_empty_pages = 1'000;  // consecutive
/// Timeout of a request that is cheap to answer.
constexpr std::chrono::milliseconds time_for_ping{3'000};
constexpr std::chrono::milliseconds short_rest{500};
constexpr std::chrono::milliseconds long_rest{10'000};
constexpr int failed_rest_factor = 19;  // failing lists may take a twentieth of the time
constexpr std::string_view first_without_ping = "2026-07-28";
constexpr int list_times = 10;   // times `timeout_ms`, for all pages of all lists together
constexpr int most_levels = 64;  // folders above a changed resource that are checked
constexpr std::int64_t method_not_found = -32601;

/// Requests pages of entries until a limit is reached. `ttl` is set to the shortest stated value.
result<void> gather_entries(client& from, const call_options& how, gathering<resource>& into, std::chrono::milliseconds& ttl) {
  std::optional<std::string> cursor;
  std::size_t empty_pages = 0;
  for (std::size_t pages = 0;; ++pages) {
    auto got = from.resource_page(cursor, {}, how);
    if (!got) return tl::unexpected(std::move(got.error()));
    empty_pages = got->items.empty() ? empty_pages + 1 : 0;
    for (auto& one : got->items) {
      if (!into.take(std::move(one))) return {};
    }
    if (got->ttl > std::chrono::milliseconds(0) && (ttl == std::chrono::milliseconds(0) || got->ttl < ttl)) ttl = got->ttl;
    if (!got->cursor) return {};
    if (got->cursor == cursor || pages == most_pages || empty_pages > most_empty_pages)
      return fail(errc::broken_protocol, "its list does not end: it repeats a cursor or has too many pages");
    HONDANA_TRY(into.still_in_time());
    cursor = std::move(got->cursor);
  }
}

result<gathered> gather_all(client& from, const mount_options& options, const call_options& how,
                            const std::function<void(std::string_view)>& log) {
  gathered made;
  const auto with = from.server();
  allowance room;
  room.until = allowance::clock::now() + list_times * options.timeout;
  gathering<resource> entries(options.max_entries, room, options.redact);
  gathering<resource_template> templates(options.max_templates, room, options.redact);
  gathering<skill> skills(most_skills, room, options.redact);
  if (with.has_resources) {
    HONDANA_TRY(gather_entries(from, how, entries, made.ttl));
    const auto done = take_all(from.templates(how), templates);
    // Servers without templates may not know the method.
    const bool has_none = !done && done.error().answer && done.error().answer->code == method_not_found;
    if (!done && !has_none) return tl::unexpected(done.error());
  }
  if (options.skills && with.has_skills) {
    if (const auto done = take_all(from.skills(how), skills); !done)
      log("its skills cannot be listed: " + clean_masked(done.error().public_text, longest_line));
  }
  made.has_more_entries = entries.has_more();
  made.has_more_templates = templates.has_more();
  made.has_more_skills = skills.has_more();
  made.entries = std::move(entries).taken();
  made.templates = std::move(templates).taken();
  made.skills = std::move(skills).taken();
  return made;
}

/// Whether the client itself did not send the request.
bool is_unsent(const failure& why) { return why.code == errc::overloaded && !why.answer; }

}  // namespace

upstream::job upstream::next_job(clock::time_point now) const {
  if (!is_wanted_) return job::none;
  if (pauses(now)) return probes_in_pause_ ? job::probe : job::none;
  if (!client_) return job::connect;
  if (is_doubted_) return job::probe;
  if (now < rests_until_) return job::none;
  if (is_stale_ && (is_asked_for_ || now >= pacing_.next())) return job::gather;
  if (wishes_fitted_ != wishes_.generation) return job::subscribe;
  return now >= next_look() ? job::gather : job::none;
}

void upstream::run_on(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    if (executor::without_throwing([&] { run(stop); })) return;
    const bool is_noted = executor::without_throwing([&] {
      std::unique_lock lock(mutex_);
      ++attempts_;
      failed(lock, {errc::source_unavailable,
                    "The mounted server \"" + options_.name + "\" is paused for a moment: this server is out of memory.",
                    {}});
    });
    if (is_noted) continue;  // a pause has been set
    std::unique_lock lock(mutex_);
    (void)monotonic_clock::wait_until(changed_, lock, stop, clock::now() + short_rest, [] { return false; });
  }
}

void upstream::run(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    const auto now = clock::now();
    const auto next = next_job(now);
    if (next == job::none) {
      const auto seen = events_;
      const auto next_gather = is_stale_ ? pacing_.next() : next_look();
      const auto until = pauses(now) ? retry_at_ : now < rests_until_ ? rests_until_ : std::min(next_gather, now + long_time);
      (void)monotonic_clock::wait_until(changed_, lock, stop, until, [&] { return events_ != seen; });
      continue;
    }
    lock.unlock();
    if (next == job::connect) connect(stop);
    if (next == job::probe) probe(stop);
    if (next == job::gather) gather(stop);
    if (next == job::subscribe) subscribe(stop);
    lock.lock();
  }
}

call_options upstream::how(const std::stop_token& stop) const {
  call_options made;
  made.time = options_.timeout;
  made.stop = stop;
  made.afresh = true;
  return made;
}

client_options upstream::client_options_now() {
  client_options made;
  made.version = HONDANA_VERSION;
  made.title = "hondana, mounting it as " + options_.name;
  made.revision = options_.revision;
  made.log = [this](std::string_view line) { log(clean_masked(line, longest_line)); };
  made.meta = [this] {
    value::array ids;
    for (auto& one : chain_.sent()) ids.emplace_back(std::move(one));
    return value::object{{std::string(chain_member), std::move(ids)}};
  };
  made.call_time = options_.timeout;
  made.cache_bytes = 0;  // the server that contains this source has its own cache
  made.max_message_bytes = most_message_bytes;
  made.max_read_bytes = options_.max_read;
  made.fetches_https = false;  // otherwise a mounted server could make this one fetch URLs from its network position
  return made;
}

client_target upstream::target_now() const {
  auto made = options_.target;
  if (auto* child = std::get_if<child_target>(&made)) {
    child->environment.emplace_back(chain_variable, chain_.variable());
    child->on_end = [this](std::string_view how, unsigned) {
      log("its program " + clean_masked(how, longest_line) + "; it is restarted when needed");
    };
    if (!child->on_stderr) {
      child->on_stderr = [this, lines = secrets::line_masker()](std::string_view line) mutable {
        log("says: " + clean(lines.masked(line), longest_line));
      };
    }
  }
  return made;
}

void upstream::connect(const std::stop_token& stop) {
  const auto circle = chain_.standing_circle();
  auto made = circle.empty() ? client::connect(target_now(), client_options_now(), how(stop))
                             : fail(errc::source_unavailable, "it is mounted in a circle: " + circle +
                                                                  ". Remove one of the mounts from its configuration.");
  if (stop.stop_requested()) return;
  std::unique_lock lock(mutex_);
  ++attempts_;
  if (!made) return failed(lock, passed_on(made.error(), options_.name, options_.redact));
  client_ = std::make_shared<client>(std::move(*made));
  heard_at_ = clock::now();
  const auto with = client_->server();
  happened();
  lock.unlock();
  log("connected to " + clean(with.name + ' ' + with.version, longest_line) + " in " + clean(with.revision, longest_word));
}

void upstream::probe(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  const auto of = client_;
  const auto begin = clock::now();
  auto briefly = how(stop);
  briefly.time = std::min(options_.timeout, time_for_ping);
  if (silent_since_) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(*silent_since_ + options_.timeout - begin);
    briefly.time = std::max(*briefly.time, left);
  }
  const bool was_in_pause = std::exchange(probes_in_pause_, false);
  lock.unlock();
  const auto* question = of->server().revision < first_without_ping ? "ping" : "server/discover";
  const auto done = of->request(question, {}, briefly);
  lock.lock();
  is_doubted_ = false;
  // Any answer to any call shows that the server is alive.
  if (done || done.error().answer || heard_at_ >= begin) {
    note_heard();
    if (!was_in_pause || std::exchange(failures_, 0) == 0) return;
    // Further failures soon before were logged already.
    const bool is_news = steps_ == 0;
    if (is_news) logged_trouble_.clear();
    happened();
    lock.unlock();
    if (is_news) log("it answers a ping, so only that request failed");
    return;
  }
  // If the client's limit of calls is reached, the server may be fine, unless all calls have waited too long.
  if (is_unsent(done.error()) && !(silent_since_ && clock::now() - *silent_since_ >= options_.timeout)) return;
  if (done.error().code == errc::timed_out || is_unsent(done.error())) {
    restart_silence();
    lock.unlock();
    of->end_connection("did not answer a ping");
    lock.lock();
  }
  if (!stop.stop_requested() && !pauses(clock::now())) failed(lock, passed_on(done.error(), options_.name, options_.redact));
}

void upstream::gather(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  is_stale_ = false;
  bool was_asked_for = std::exchange(is_asked_for_, false);
  const bool was_called_changed = std::exchange(is_called_changed_, false);
  const auto from = client_;
  const auto before = shelf_;
  lock.unlock();
  const auto begin = clock::now();
  auto all = gather_all(*from, options_, how(stop), [this](std::string_view line) { log(line); });
  const auto now = all ? std::make_shared<const shelf>(std::move(*all), names_, which_) : nullptr;
  const bool is_same = now && before && now->says_the_same_as(*before);
  if (now && !is_same) {
    if (!now->shortness().empty()) log(now->shortness());
    for (const auto& one : now->left_out()) log("left out: " + one.name + ": " + one.reason);
    if (now->left_out_count() > now->left_out().size())
      log("also left out: " + std::to_string(now->left_out_count() - now->left_out().size()) + " more");
  }
  lock.lock();
  ++gathers_;
  pacing_.asked(clock::now(), clock::now() - begin, !(is_same && was_called_changed));
  if (!now) {
    // This also applies to requests by callers: failing lists may be as expensive as successful ones.
    if (all.error().code != errc::source_unavailable) {
      const auto took = clock::now() - begin;
      rests_until_ = clock::now() + std::clamp<clock::duration>(failed_rest_factor * took, short_rest, long_rest);
    }
    if (is_unsent(all.error())) {
      is_stale_ = is_asked_for_ = true;
      return happened();
    }
    auto why = passed_on(all.error(), options_.name, options_.redact);
    // A request that the server does not accept is not a configuration error, and says nothing about its resources.
    if (why.code == errc::invalid_argument || why.code == errc::unsupported) why.code = errc::source_unavailable;
    is_doubted_ = is_doubted_ || why.code == errc::timed_out;
    if (!stop.stop_requested()) failed(lock, std::move(why));
    return;
  }
  const bool was_away = std::exchange(failures_, 0) != 0;
  if (was_away) logged_trouble_.clear();
  shelf_ = now;
  shelf_time_ = clock::now();
  note_heard();
  if (!is_same) {
    wishes_.asks_again = true;
    ++wishes_.generation;
  }
  was_asked_for = was_asked_for || is_asked_for_;
  // Changes before the lists were known were missed. Callers that requested the lists have them already.
  const bool is_first_news = !before && list_attached_ && !was_asked_for;
  const bool tells = std::exchange(owes_lists_, false) || (before && !is_same) || is_first_news;
  happened();
  lock.unlock();
  if (was_away) log("it answers again");
  if (tells) tell_lists();
}

void upstream::subscribe(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  const auto wanted = wishes_;
  wishes_.asks_again = false;
  const auto on = client_;
  lock.unlock();
  const auto done = subscriptions_.fit(*on, wanted, how(stop));
  const bool hears_lists = subscriptions_.has_lists();
  lock.lock();
  // Changes before the subscription were missed, so the lists are requested once more.
  if (hears_lists && !std::exchange(hears_lists_, hears_lists)) is_stale_ = true;
  hears_lists_ = hears_lists;
  if (done) {
    wishes_fitted_ = wanted.generation;
  } else if (is_unsent(done.error())) {
    rests_until_ = clock::now() + short_rest;
  } else if (!stop.stop_requested()) {
    failed(lock, passed_on(done.error(), options_.name, options_.redact));
  }
}

void upstream::hear(const change& what) {
  switch (what.kind) {
    case change_kind::resource: {
      const auto ours = names_.ours(what.uri);
      if (!ours || !which_.reason_against(what.uri).empty()) return;
      if (ours->find('?') != std::string::npos) {
        const std::lock_guard lock(mutex_);
        tells_parts_ = true;
      }
      const auto title = clean_shown(what.title, longest_line, options_.redact);
      tell_content(*ours, title);
      // The changed resource may be below a subscribed one. Spec: schema, ResourceUpdatedNotificationParams, all revisions.
      for (const auto& one : attached_around(*ours)) tell_content(one, {});
      return;
    }
    case change_kind::connection_lost: {
      log("the connection was lost: " + clean_masked(what.text, longest_line));
      const std::lock_guard lock(mutex_);
      is_lost_ = true;
      return;
    }
    case change_kind::resource_list:
    case change_kind::connection_back: {
      const std::lock_guard lock(mutex_);
      if (what.kind == change_kind::connection_back) {
        is_lost_ = false;
        // After a reconnect, the server may accept fewer or more subscriptions.
        hears_lists_ = false;
        wishes_.asks_again = true;
        ++wishes_.generation;
      } else {
        is_called_changed_ = true;
      }
      is_stale_ = true;
      happened();
      return;
    }
    case change_kind::refused:
      return log("change notifications have stopped: " + clean_masked(what.text, longest_line));
    case change_kind::tool_list:
    case change_kind::prompt_list:
      return;
  }
}

std::vector<std::string> upstream::attached_around(const std::string& ours) const {
  std::vector<std::string> found;
  const std::lock_guard lock(mutex_);
  // Unless a server is known to notify changes of parts (URIs with a query), a change of the whole may concern its parts, too.
  if (ours.find('?') == std::string::npos && !(tells_parts_ && wishes_.uris.contains(ours))) {
    const auto parts = ours + '?';
    for (auto one = wishes_.uris.lower_bound(parts); one != wishes_.uris.end() && one->starts_with(parts); ++one)
      found.push_back(*one);
  }
  auto slash = ours.rfind('/');
  for (int level = 0; level < most_levels && slash != std::string::npos && slash >= names_.prefix().size(); ++level) {
    for (const auto size : {slash, slash + 1}) {
      auto above = ours.substr(0, size);
      if (above != ours && wishes_.uris.contains(above)) found.push_back(std::move(above));
    }
    slash = ours.rfind('/', slash - 1);
  }
  return found;
}

void upstream::tell_lists() {
  std::unique_lock lock(mutex_);
  const auto to = listener_;
  lock.unlock();
  if (to) to->list_changed();
}

void upstream::tell_content(const std::string& ours, std::string_view title) {
  std::unique_lock lock(mutex_);
  const auto to = listener_;
  lock.unlock();
  if (to) to->content_changed(ours, title);
}

}  // namespace hondana::mcp

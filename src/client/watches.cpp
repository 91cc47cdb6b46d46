/// Subscribing, hearing, and telling handlers.
#include "client/watches.hpp"

#include <algorithm>
#include <utility>

#include <hondana/uri.hpp>

#include "client/engine.hpp"
#include "wire/asking/speech.hpp"

namespace hondana::outbound {
namespace {

constexpr std::size_t most_watched = 10'000;
constexpr std::size_t most_queued = 10'000;
constexpr std::size_t most_unwanted = 100;
constexpr std::chrono::milliseconds unsubscribing_time{2'000};

bool concerns(const watch_request& what, const change& news) {
  switch (news.kind) {
    case change_kind::resource_list:
      return what.resource_list;
    case change_kind::tool_list:
      return what.tool_list;
    case change_kind::prompt_list:
      return what.prompt_list;
    case change_kind::resource:
      return std::any_of(what.uris.begin(), what.uris.end(),
                         [&news](const std::string& uri) { return uri == news.uri || covers(uri, news.uri); });
    default:
      return true;
  }
}

}  // namespace

watches::watches(engine& of) : engine_(of) {}

watches::~watches() { close(); }

void watches::retire() {
  const std::lock_guard lock(mutex_);
  is_closed_ = true;
  for (const auto& one : all_) one->is_gone = true;
  changed_.notify_all();
}

void watches::close() {
  retire();
  std::thread keeper;
  {
    const std::lock_guard lock(mutex_);
    keeper.swap(keeper_);
  }
  if (!keeper.joinable()) return;
  if (keeper.get_id() == std::this_thread::get_id()) {
    keeper.detach();
  } else {
    keeper.join();
  }
}

watch_request watches::honoured(const watch_entry& one) const {
  const std::lock_guard lock(mutex_);
  return one.honoured;
}

result<std::shared_ptr<watch_entry>> watches::add(watch_request what, change_handler tell, const call_options& how) {
  if (!tell) return fail(errc::invalid_argument, "there is no handler to tell of changes");
  if (what.uris.size() > most_watched)
    return fail(errc::invalid_argument, "more than " + std::to_string(most_watched) + " URIs in one watch; use several");
  if (what.uris.empty() && !what.resource_list && !what.tool_list && !what.prompt_list)
    return fail(errc::invalid_argument, "nothing is named that shall be watched");
  auto one = std::make_shared<watch_entry>();
  one->what = std::move(what);
  one->tell = std::move(tell);
  {
    const std::lock_guard lock(mutex_);
    if (is_closed_) return fail(errc::cancelled, "the client has been closed");
    all_.push_back(one);
  }
  if (auto done = subscribe(one, how); !done) {
    remove(one);
    return tl::unexpected(std::move(done.error()));
  }
  const std::lock_guard lock(mutex_);
  if (!keeper_.joinable() && !is_closed_) keeper_ = std::thread([this] { run(); });
  return one;
}

void watches::remove(const std::shared_ptr<watch_entry>& one) {
  channel::call_id stream = 0;
  std::vector<std::string> unwanted;
  {
    const std::lock_guard lock(mutex_);
    one->is_gone = true;
    one->queue.clear();
    stream = std::exchange(one->stream, 0);
    std::erase(all_, one);
    if (stream == 0 && one->is_up) {
      for (const auto& uri : one->honoured.uris) {
        const auto found = subscribed_.find(uri);
        if (found == subscribed_.end() || --found->second != 0) continue;
        subscribed_.erase(found);
        unwanted.push_back(uri);
      }
    }
    for (const auto& uri : one->what.uris) {
      const bool is_wanted = std::any_of(all_.begin(), all_.end(), [&uri](const auto& other) {
        return std::find(other->what.uris.begin(), other->what.uris.end(), uri) != other->what.uris.end();
      });
      if (!is_wanted) seen_.erase(uri);
    }
    changed_.notify_all();
  }
  if (one->teller.load() != std::this_thread::get_id()) const std::lock_guard wait(one->telling);
  if (stream != 0) engine_.connection().talk().drop(stream);
  if (unwanted.empty()) return;
  const std::lock_guard lock(mutex_);
  // A server that is this slow to answer will not miss the oldest.
  if (unwanted_.size() == most_unwanted) unwanted_.pop_front();
  unwanted_.emplace_back(std::move(unwanted), one->honoured.entries);
  changed_.notify_all();
}

result<void> watches::subscribe(const std::shared_ptr<watch_entry>& one, const call_options& how) {
  if (auto ready = engine_.connection().ready(how); !ready) return tl::unexpected(std::move(ready.error()));
  const auto with = engine_.server();
  auto done = with.is_modern ? listen(one, how) : subscribe_each(one, with, how);
  if (!done) return done;
  const std::lock_guard lock(mutex_);
  one->is_up = true;
  one->failures = 0;
  // Its stream may have ended before anybody knew that it stood.
  if (with.is_modern && one->stream == 0) down(one, "the server has ended the subscription");
  return done;
}

result<void> watches::listen(const std::shared_ptr<watch_entry>& one, const call_options& how) {
  auto& talk = engine_.connection().talk();
  const auto in = engine_.connection().ready(how);
  if (!in) return tl::unexpected(in.error());
  const auto& what = one->what;
  const auto asked = asking::listen(what, what.entries && engine_.server().has_versions);
  const auto id = talk.next_id();
  {
    const std::lock_guard lock(mutex_);
    one->stream = id;
    one->is_acknowledged = false;
    one->refusal.reset();
  }
  sending out{.method = asked.method, .headers = asking::headers_of(asked, *in)};
  if (auto sent = talk.subscribe(id, asking::spelled(asked, id, *in, engine_.options(), false), out); !sent) return sent;

  const std::stop_callback wake(how.stop, [this] {
    const std::lock_guard lock(mutex_);
    changed_.notify_all();
  });
  std::unique_lock lock(mutex_);
  const auto until = clock::now() + how.time.value_or(engine_.options().call_time);
  changed_.wait_until(lock, until,
                      [&] { return one->is_acknowledged || one->stream != id || is_closed_ || how.stop.stop_requested(); });
  if (one->is_acknowledged && one->stream == id) {
    if (!what.uris.empty() && one->honoured.uris.empty() && !one->honoured.resource_list && !one->honoured.tool_list &&
        !one->honoured.prompt_list) {
      one->stream = 0;
      lock.unlock();
      talk.drop(id);
      return fail(errc::unsupported, "the server takes on nothing of what shall be watched");
    }
    return {};
  }
  if (one->refusal) return tl::unexpected(*one->refusal);
  one->stream = 0;
  lock.unlock();
  talk.drop(id);
  if (how.stop.stop_requested()) return fail(errc::cancelled, "the watch was cancelled");
  return fail(errc::timed_out, "the server did not acknowledge subscriptions/listen in time");
}

result<void> watches::subscribe_each(const std::shared_ptr<watch_entry>& one, const server_description& with,
                                     const call_options& how) {
  const auto& what = one->what;
  if (!what.uris.empty() && !with.has_subscriptions)
    return fail(errc::unsupported, "the server does not declare subscriptions to resources");
  if (what.uris.empty() && !with.has_list_changes && what.resource_list && !what.tool_list && !what.prompt_list)
    return fail(errc::unsupported, "the server does not declare that it tells of changed lists");
  const bool entries = what.entries && with.has_versions;
  if (entries && !what.uris.empty()) {
    if (auto done = engine_.call({.asked = asking::subscribe_entries(what.uris)}, how); !done)
      return tl::unexpected(std::move(done.error()));
  } else {
    for (const auto& uri : what.uris) {
      if (auto done = engine_.call({.asked = asking::subscribe(uri)}, how); !done)
        return tl::unexpected(std::move(done.error()));
    }
  }
  const std::lock_guard lock(mutex_);
  if (one->is_gone) return fail(errc::cancelled, "the watch has ended");
  for (const auto& uri : what.uris) ++subscribed_[uri];
  one->honoured = what;
  one->honoured.resource_list = what.resource_list && with.has_list_changes;
  one->honoured.entries = entries;
  return {};
}

void watches::unsubscribe(const std::vector<std::string>& uris, bool entries) {
  const auto send = [&](asking::request asked) {
    const auto done = engine_.call({.asked = std::move(asked)}, {.time = unsubscribing_time});
    if (done || done.error().code == errc::cancelled) return true;
    engine_.noticed("the subscription of " + uris.front() + " could not be ended: " + done.error().public_text);
    return done.error().code != errc::timed_out;
  };
  if (entries) {
    static_cast<void>(send(asking::unsubscribe_entries(uris)));
    return;
  }
  for (const auto& uri : uris) {
    // One that does not answer this does not answer the next.
    if (!send(asking::unsubscribe(uri))) return;
  }
}

void watches::seen(const std::string& uri, const bytes::digest& content) {
  const std::lock_guard lock(mutex_);
  const bool is_watched = std::any_of(all_.begin(), all_.end(), [&uri](const auto& one) {
    return std::find(one->what.uris.begin(), one->what.uris.end(), uri) != one->what.uris.end();
  });
  if (is_watched) seen_[uri] = content;
}

void watches::told(const asking::news& what) {
  const std::lock_guard lock(mutex_);
  if (const auto* begun = std::get_if<asking::stream_begun>(&what.what)) {
    for (const auto& one : all_) {
      if (one->stream != what.stream || what.stream == 0) continue;
      one->is_acknowledged = true;
      one->honoured = begun->honoured;
      changed_.notify_all();
    }
  } else if (std::holds_alternative<asking::stream_ended>(what.what)) {
    for (const auto& one : all_) {
      if (one->stream != what.stream || what.stream == 0) continue;
      one->stream = 0;
      down(one, "the server has ended the subscription");
    }
  } else if (const auto* changed = std::get_if<change>(&what.what)) {
    hear(*changed, what.stream);
  }
}

void watches::hear(const change& what, channel::call_id stream) {
  if (what.kind == change_kind::resource) {
    // What was read before is no measure any more.
    std::erase_if(seen_, [&what](const auto& one) { return covers(what.uri, one.first) || covers(one.first, what.uri); });
  }
  for (const auto& one : all_) {
    if (stream != 0 ? one->stream == stream : concerns(one->what, what)) queue(one, what);
  }
}

void watches::queue(const std::shared_ptr<watch_entry>& one, change what) {
  if (one->is_gone) return;
  // The same news again, not yet told, is one piece of news: the newest.
  const auto same = std::find_if(one->queue.begin(), one->queue.end(), [&what](const change& other) {
    return other.kind == what.kind && other.uri == what.uri && what.kind != change_kind::connection_lost &&
           what.kind != change_kind::connection_back;
  });
  if (one->queue.size() <= 256 && same != one->queue.end()) {
    *same = std::move(what);
    return;
  }
  if (one->queue.size() >= most_queued) {
    // A handler that is this far behind hears that it may have missed anything.
    one->queue.clear();
    for (const auto& uri : one->what.uris) {
      change missed;
      missed.uri = uri;
      missed.was_missed = true;
      one->queue.push_back(std::move(missed));
    }
    if (one->what.resource_list) {
      change missed;
      missed.kind = change_kind::resource_list;
      missed.was_missed = true;
      one->queue.push_back(std::move(missed));
    }
  }
  one->queue.push_back(std::move(what));
  if (one->is_being_told) return;
  one->is_being_told = true;
  if (auto queued = engine_.tell_later([this, one, keep = engine_.shared_from_this()] { drain(one); }); !queued) {
    one->is_being_told = false;
    engine_.noticed("changes wait: " + queued.error().public_text);
  }
}

void watches::drain(const std::shared_ptr<watch_entry>& one) {
  for (;;) {
    change next;
    {
      const std::lock_guard lock(mutex_);
      if (one->queue.empty() || one->is_gone) {
        one->is_being_told = false;
        return;
      }
      next = std::move(one->queue.front());
      one->queue.pop_front();
    }
    const std::lock_guard telling(one->telling);
    if (one->is_gone) continue;
    one->teller = std::this_thread::get_id();
    try {
      one->tell(next);
    } catch (const std::exception& error) {
      engine_.noticed(std::string("a handler of changes failed: ") + error.what());
    }
    one->teller = std::thread::id();
  }
}

}  // namespace hondana::outbound

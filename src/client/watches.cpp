/// Watches on a server, and the queue of changes to report.
#include "client/watches.hpp"

#include <algorithm>
#include <iterator>
#include <utility>
#include <variant>

#include <hondana/uri.hpp>

#include "client/engine.hpp"

namespace hondana::outbound {
namespace {

std::size_t size_of(const resource& entry) {
  auto all = sizeof(resource) + entry.uri.size() + entry.name.size() + entry.title.size() + entry.description.size() +
             entry.mimeType.size() + entry.kind.size() + entry.version.size();
  for (const auto& one : entry.icons) {
    all += sizeof(icon) + one.src.size() + one.mimeType.size() + one.theme.size();
    for (const auto& size : one.sizes) all += sizeof(std::string) + size.size();
  }
  for (const auto& one : entry.metadata) {
    const auto* text = std::get_if<std::string>(&one.second);
    all += sizeof(one) + one.first.size() + (text == nullptr ? 0 : text->size());
  }
  return all;
}

std::size_t size_of(const change& news) {
  // The URI is also part of the key.
  return sizeof(change) + 2 * news.uri.size() + news.title.size() + news.text.size() + (news.entry ? size_of(*news.entry) : 0);
}

}  // namespace

void waiting_changes::add(change news, const watch_request& what) {
  const auto bytes = size_of(news);
  if (bytes_ + bytes > most_bytes) overflow(what);
  put(std::move(news), bytes);
}

void waiting_changes::put(change news, std::size_t bytes) {
  key mine(news.kind, news.uri);
  if (const auto found = by_key_.find(mine); found != by_key_.end()) {
    bytes_ -= found->second->bytes;
    order_.erase(found->second);
    by_key_.erase(found);
  }
  bytes_ += bytes;
  order_.push_back({std::move(news), bytes});
  by_key_.emplace(std::move(mine), std::prev(order_.end()));
}

void waiting_changes::overflow(const watch_request& what) {
  const auto is_of_server = [](const waiting& one) {
    return one.news.kind != change_kind::connection_lost && one.news.kind != change_kind::connection_back &&
           one.news.kind != change_kind::refused;
  };
  for (auto one = order_.begin(); one != order_.end();) {
    const auto next = std::next(one);
    if (is_of_server(*one)) {
      by_key_.erase(key(one->news.kind, one->news.uri));
      bytes_ -= one->bytes;
      order_.erase(one);
    }
    one = next;
  }
  // A handler that is this far behind is notified that it may have missed changes of everything it watches. The application
  // chose these URIs, so their bytes are not counted.
  const auto missed = [this](change_kind kind, const std::string& uri) {
    change news;
    news.kind = kind;
    news.uri = uri;
    news.was_missed = true;
    put(std::move(news), 0);
  };
  for (const auto& uri : what.uris) missed(change_kind::resource, uri);
  if (what.resource_list) missed(change_kind::resource_list, {});
  if (what.tool_list) missed(change_kind::tool_list, {});
  if (what.prompt_list) missed(change_kind::prompt_list, {});
}

change waiting_changes::take() {
  auto first = std::move(order_.front());
  order_.pop_front();
  by_key_.erase(key(first.news.kind, first.news.uri));
  bytes_ -= first.bytes;
  return std::move(first.news);
}

void waiting_changes::clear() {
  order_.clear();
  by_key_.clear();
  bytes_ = 0;
}

namespace {

constexpr std::size_t most_watched = 10'000;
constexpr std::chrono::milliseconds until_told_again{100};

bool has(const std::vector<std::string>& uris, const std::string& uri) {
  return std::find(uris.begin(), uris.end(), uri) != uris.end();
}

bool names_exactly(const watch_entry& one, const std::string& uri) {
  return has(one.what.uris, uri) || has(one.canonical, uri) || has(one.honoured.uris, uri);
}

std::vector<std::string> canonical_where_it_differs(const std::vector<std::string>& uris) {
  std::vector<std::string> out;
  for (const auto& uri : uris) {
    // The server rejects malformed URIs itself.
    if (auto canonical = canonical_uri(uri); canonical && *canonical != uri) out.push_back(std::move(*canonical));
  }
  return out;
}

/// Whether `uris` contain `uri` or cover it. `is_of_part`: the change is about a part of a resource that is watched separately,
/// so that it does not concern watches of the whole.
bool names(const std::vector<std::string>& uris, const std::string& uri, bool is_of_part) {
  const auto whole = std::string_view(uri).substr(0, uri.find('?'));
  return std::any_of(uris.begin(), uris.end(),
                     [&](const std::string& one) { return one == uri || (covers(one, uri) && !(is_of_part && one == whole)); });
}

bool concerns(const watch_entry& one, const change& news, bool is_of_part) {
  switch (news.kind) {
    case change_kind::resource_list:
      return one.what.resource_list;
    case change_kind::tool_list:
      return one.what.tool_list;
    case change_kind::prompt_list:
      return one.what.prompt_list;
    case change_kind::resource:
      // A server may use another spelling of the URIs it accepts. A server with sessions does not report that spelling.
      return names(one.what.uris, news.uri, is_of_part) || names(one.canonical, news.uri, is_of_part) ||
             names(one.honoured.uris, news.uri, is_of_part);
    default:
      return true;
  }
}

}  // namespace

watches::watches(engine& of) : engine_(of) {}

watches::~watches() { close(); }

void watches::retire() {
  // Without the mutex: the stop callbacks take it to wake waiting threads.
  closing_.request_stop();
  const std::lock_guard lock(mutex_);
  for (const auto& one : all_) one->state = standing::gone;
  changed_.notify_all();
}

void watches::close() {
  retire();
  std::thread keeper;
  std::vector<entry> all;
  {
    const std::lock_guard lock(mutex_);
    all = all_;
    keeper.swap(keeper_);
  }
  for (const auto& one : all) {
    if (one->teller.load() != std::this_thread::get_id()) const std::lock_guard wait(one->telling);
  }
  if (!keeper.joinable()) return;
  if (keeper.get_id() == std::this_thread::get_id()) {
    keeper.detach();
  } else {
    keeper.join();
  }
}

void watches::set_pace(pace how) {
  const std::lock_guard lock(mutex_);
  pace_ = how;
}

watch_request watches::honoured(const watch_entry& one) const {
  const std::lock_guard lock(mutex_);
  return one.honoured;
}

result<std::shared_ptr<watch_entry>> watches::add(watch_request what, change_handler tell, const call_options& how) {
  if (!tell) return fail(errc::invalid_argument, "the change handler is missing");
  if (what.uris.size() > most_watched)
    return fail(errc::invalid_argument,
                "more than " + std::to_string(most_watched) + " URIs in one watch; use several watches");
  if (what.uris.empty() && !what.resource_list && !what.tool_list && !what.prompt_list)
    return fail(errc::invalid_argument, "the watch request names nothing to watch");
  auto one = std::make_shared<watch_entry>();
  one->what = std::move(what);
  one->canonical = canonical_where_it_differs(one->what.uris);
  one->tell = std::move(tell);
  std::uint64_t losses = 0;
  {
    const std::lock_guard lock(mutex_);
    if (is_closed()) return fail(errc::cancelled, "the client has been closed");
    if (!keeper_.joinable()) keeper_ = std::thread([this] { run(); });
    all_.push_back(one);
    // Before the request is sent, so that no other thread unsubscribes these URIs meanwhile.
    for (const auto* spellings : {&one->what.uris, &one->canonical}) {
      for (const auto& uri : *spellings) ++wanted_[uri];
    }
    losses = losses_;
  }
  auto done = subscribe(one, how);
  if (!done && done.error().code == errc::source_unavailable && !engine_.server().is_modern) {
    bool has_lost = false;
    {
      const std::lock_guard lock(mutex_);
      has_lost = losses_ != losses;
    }
    // The session ended during the subscription; retry once on a new one.
    if (has_lost) done = subscribe(one, how);
  }
  if (done) return one;
  remove(one);
  return tl::unexpected(std::move(done.error()));
}

void watches::remove(const entry& one) {
  channel::call_id stream = 0;
  {
    const std::lock_guard lock(mutex_);
    one->state = standing::gone;
    one->waiting.clear();
    stream = std::exchange(one->stream, 0);
    std::erase(all_, one);
    for (const auto* spellings : {&one->what.uris, &one->canonical}) {
      for (const auto& uri : *spellings) let_go(uri);
    }
    changed_.notify_all();
  }
  if (one->teller.load() != std::this_thread::get_id()) const std::lock_guard wait(one->telling);
  if (stream != 0) engine_.connection().talk().drop(stream);
}

void watches::let_go(const std::string& uri) {
  const auto found = wanted_.find(uri);
  if (--found->second != 0) return;
  wanted_.erase(found);
  seen_.erase(uri);
  for (const bool entries : {false, true}) {
    if (subscribed_.contains({uri, entries})) unwanted_.emplace(uri, entries);
  }
  if (auto others = put_off_.extract(uri)) unwanted_.merge(others.mapped());
}

void watches::seen(const std::string& uri, const bytes::digest& content) {
  const std::lock_guard lock(mutex_);
  if (!wanted_.contains(uri)) return;
  const auto [known, is_first] = seen_.try_emplace(uri, content);
  if (is_first || known->second == content) return;
  known->second = content;
  // The first read that finds a difference reports it to all watches that may have missed it.
  for (const auto& one : all_) {
    if (one->doubts != one->settled && std::find(one->what.uris.begin(), one->what.uris.end(), uri) != one->what.uris.end())
      queue_missed(one, change_kind::resource, uri);
  }
}

watches::entry watches::with_stream(channel::call_id id) const {
  const auto found = std::find_if(all_.begin(), all_.end(), [id](const entry& one) { return one->stream == id; });
  return id == 0 || found == all_.end() ? nullptr : *found;
}

void watches::told(const asking::news& what) {
  bool is_over = false;
  {
    const std::lock_guard lock(mutex_);
    if (const auto* changed = std::get_if<change>(&what.what)) {
      hear(*changed, what.stream);
    } else if (const auto one = with_stream(what.stream)) {
      if (const auto* ack = std::get_if<asking::stream_begun>(&what.what)) begun(one, ack->honoured);
      is_over = std::holds_alternative<asking::stream_ended>(what.what);
      if (is_over) over(one, {});
    }
  }
  if (is_over) engine_.connection().talk().drop(what.stream);
}

void watches::ended(channel::call_id id, std::optional<failure> why) {
  const std::lock_guard lock(mutex_);
  if (const auto one = with_stream(id)) over(one, std::move(why));
}

void watches::hear(const change& what, channel::call_id stream) {
  if (what.kind == change_kind::resource) {
    // Digests from before the change cannot be used for comparison any more.
    std::erase_if(seen_, [&what](const auto& one) { return covers(what.uri, one.first) || covers(one.first, what.uri); });
  }
  // In a session all watches share the notifications, and the server may send them for parts of a resource.
  const bool is_of_part =
      what.kind == change_kind::resource && what.uri.find('?') != std::string::npos &&
      std::any_of(all_.begin(), all_.end(), [&what](const entry& one) { return names_exactly(*one, what.uri); });
  for (const auto& one : all_) {
    if ((stream == 0 || one->stream == stream) && concerns(*one, what, is_of_part)) queue(one, what);
  }
}

void watches::queue(const entry& one, change what) {
  if (one->state == standing::gone) return;
  one->waiting.add(std::move(what), one->what);
  tell_soon(one);
}

void watches::queue_missed(const entry& one, change_kind kind, const std::string& uri) {
  change news;
  news.kind = kind;
  news.uri = uri;
  news.was_missed = true;
  queue(one, std::move(news));
}

void watches::tell_soon(const entry& one) {
  if (one->is_being_told) return;
  auto queued = engine_.tell_later([this, one, keep = engine_.shared_from_this()] { drain(one); });
  one->is_being_told = queued.has_value();
  if (queued) return;
  // The `keeper_` thread tries again.
  if (next_telling_ == clock::time_point{}) {
    engine_.noticed("change notifications are delayed: " + queued.error().public_text);
    changed_.notify_all();
  }
  next_telling_ = clock::now() + until_told_again;
}

void watches::drain(const entry& one) {
  for (;;) {
    const std::lock_guard telling(one->telling);
    change next;
    {
      const std::lock_guard lock(mutex_);
      if (one->waiting.empty() || one->state == standing::gone) {
        one->is_being_told = false;
        return;
      }
      next = one->waiting.take();
    }
    one->teller = std::this_thread::get_id();
    try {
      one->tell(next);
    } catch (const std::exception& error) {
      engine_.noticed(std::string("a change handler failed: ") + error.what());
    }
    one->teller = std::thread::id();
  }
}

}  // namespace hondana::outbound

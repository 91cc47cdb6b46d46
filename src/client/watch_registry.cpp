/// The watches of a client, and their queues of events.
#include "client/watch_registry.hpp"

#include <algorithm>
#include <iterator>
#include <utility>
#include <variant>

#include <hondana/uri.hpp>

#include "client/engine.hpp"

namespace hondana::outbound {
namespace {

std::size_t size_of(const resource& entry) {
  auto total = sizeof(resource) + entry.uri.size() + entry.name.size() + entry.title.size() + entry.description.size() +
               entry.mime_type.size() + entry.kind.size() + entry.version.size();
  for (const auto& image : entry.icons) {
    total += sizeof(icon) + image.src.size() + image.mime_type.size() + image.theme.size();
    for (const auto& size : image.sizes) total += sizeof(std::string) + size.size();
  }
  for (const auto& field : entry.metadata) {
    const auto* text = std::get_if<std::string>(&field.second);
    total += sizeof(field) + field.first.size() + (text == nullptr ? 0 : text->size());
  }
  return total;
}

std::size_t size_of(const watch_event& event) {
  // The URI is also part of the key.
  return sizeof(watch_event) + 2 * event.uri.size() + event.title.size() + event.reason.size() +
         (event.entry ? size_of(*event.entry) : 0);
}

}  // namespace

void event_queue::add(watch_event event, const watch_request& request) {
  const auto bytes = size_of(event);
  if (bytes_ + bytes > max_bytes) overflow(request);
  insert(std::move(event), bytes);
}

void event_queue::insert(watch_event event, std::size_t bytes) {
  key event_key(event.kind, event.uri);
  if (const auto existing = by_key_.find(event_key); existing != by_key_.end()) {
    bytes_ -= existing->second->bytes;
    events_.erase(existing->second);
    by_key_.erase(existing);
  }
  bytes_ += bytes;
  events_.push_back({std::move(event), bytes});
  by_key_.emplace(std::move(event_key), std::prev(events_.end()));
}

void event_queue::overflow(const watch_request& request) {
  const auto is_of_server = [](const queued_event& queued) {
    return queued.event.kind != watch_event_kind::connection_lost &&
           queued.event.kind != watch_event_kind::connection_restored &&
           queued.event.kind != watch_event_kind::subscription_rejected;
  };
  for (auto position = events_.begin(); position != events_.end();) {
    const auto next = std::next(position);
    if (is_of_server(*position)) {
      by_key_.erase(key(position->event.kind, position->event.uri));
      bytes_ -= position->bytes;
      events_.erase(position);
    }
    position = next;
  }
  // A handler that is this far behind is notified that it may have missed changes of everything it watches. The application
  // chose these URIs, so their bytes are not counted.
  const auto missed = [this](watch_event_kind kind, const std::string& uri) {
    watch_event event;
    event.kind = kind;
    event.uri = uri;
    event.was_missed = true;
    insert(std::move(event), 0);
  };
  for (const auto& uri : request.uris) missed(watch_event_kind::resource, uri);
  if (request.resource_list) missed(watch_event_kind::resource_list, {});
  if (request.tool_list) missed(watch_event_kind::tool_list, {});
  if (request.prompt_list) missed(watch_event_kind::prompt_list, {});
}

watch_event event_queue::pop() {
  auto first = std::move(events_.front());
  events_.pop_front();
  by_key_.erase(key(first.event.kind, first.event.uri));
  bytes_ -= first.bytes;
  return std::move(first.event);
}

void event_queue::clear() {
  events_.clear();
  by_key_.clear();
  bytes_ = 0;
}

namespace {

constexpr std::size_t max_watched_uris = 10'000;
constexpr std::chrono::milliseconds delivery_retry_delay{100};

bool contains(const std::vector<std::string>& uris, const std::string& uri) {
  return std::find(uris.begin(), uris.end(), uri) != uris.end();
}

bool has_exact_uri(const watch_entry& watch, const std::string& uri) {
  return contains(watch.request.uris, uri) || contains(watch.canonical_uris, uri) || contains(watch.accepted.uris, uri);
}

std::vector<std::string> differing_canonical_uris(const std::vector<std::string>& uris) {
  std::vector<std::string> out;
  for (const auto& uri : uris) {
    // The server rejects malformed URIs itself.
    if (auto canonical = canonical_uri(uri); canonical && *canonical != uri) out.push_back(std::move(*canonical));
  }
  return out;
}

/// Whether `uris` contain `uri` or cover it. `is_part`: the change is about a part of a resource that is watched separately, so
/// that it does not concern watches of the whole.
bool covers_uri(const std::vector<std::string>& uris, const std::string& uri, bool is_part) {
  const auto base_uri = std::string_view(uri).substr(0, uri.find('?'));
  return std::any_of(uris.begin(), uris.end(), [&](const std::string& watched) {
    return watched == uri || (uri_covers(watched, uri) && !(is_part && watched == base_uri));
  });
}

bool is_relevant(const watch_entry& watch, const watch_event& event, bool is_part) {
  switch (event.kind) {
    case watch_event_kind::resource_list:
      return watch.request.resource_list;
    case watch_event_kind::tool_list:
      return watch.request.tool_list;
    case watch_event_kind::prompt_list:
      return watch.request.prompt_list;
    case watch_event_kind::resource:
      // A server may use another spelling of the URIs it accepts. A server with sessions does not report that spelling.
      return covers_uri(watch.request.uris, event.uri, is_part) || covers_uri(watch.canonical_uris, event.uri, is_part) ||
             covers_uri(watch.accepted.uris, event.uri, is_part);
    default:
      return true;
  }
}

}  // namespace

watch_registry::watch_registry(engine& engine) : engine_(engine) {}

watch_registry::~watch_registry() { close(); }

void watch_registry::stop_notifications() {
  // Without the mutex: the stop callbacks take it to wake waiting threads.
  closing_.request_stop();
  const std::lock_guard lock(mutex_);
  for (const auto& watch : watches_) watch->status = watch_status::closed;
  changed_.notify_all();
}

void watch_registry::close() {
  stop_notifications();
  std::thread worker;
  std::vector<watch_ptr> snapshot;
  {
    const std::lock_guard lock(mutex_);
    snapshot = watches_;
    worker.swap(worker_);
  }
  for (const auto& watch : snapshot) {
    if (watch->handler_thread.load() != std::this_thread::get_id()) const std::lock_guard wait(watch->handler_mutex);
  }
  if (!worker.joinable()) return;
  if (worker.get_id() == std::this_thread::get_id()) {
    worker.detach();
  } else {
    worker.join();
  }
}

void watch_registry::set_timing(timing intervals) {
  const std::lock_guard lock(mutex_);
  timing_ = intervals;
}

watch_request watch_registry::accepted(const watch_entry& watch) const {
  const std::lock_guard lock(mutex_);
  return watch.accepted;
}

result<std::shared_ptr<watch_entry>> watch_registry::add(watch_request request, watch_handler handler,
                                                         const call_options& options) {
  if (!handler) return fail(errc::invalid_argument, "the change handler is missing");
  if (request.uris.size() > max_watched_uris)
    return fail(errc::invalid_argument,
                "more than " + std::to_string(max_watched_uris) + " URIs in one watch; use several watches");
  if (request.uris.empty() && !request.resource_list && !request.tool_list && !request.prompt_list)
    return fail(errc::invalid_argument, "the watch request names nothing to watch");
  auto watch = std::make_shared<watch_entry>();
  watch->request = std::move(request);
  watch->canonical_uris = differing_canonical_uris(watch->request.uris);
  watch->handler = std::move(handler);
  std::uint64_t lost_sessions = 0;
  {
    const std::lock_guard lock(mutex_);
    if (is_closed()) return fail(errc::cancelled, "the client has been closed");
    if (!worker_.joinable()) worker_ = std::thread([this] { run(); });
    watches_.push_back(watch);
    // Before the request is sent, so that no other thread unsubscribes these URIs meanwhile.
    for (const auto* uris : {&watch->request.uris, &watch->canonical_uris}) {
      for (const auto& uri : *uris) ++uri_counts_[uri];
    }
    lost_sessions = lost_sessions_;
  }
  auto subscribed = subscribe(watch, options);
  if (!subscribed && subscribed.error().code == errc::source_unavailable && !engine_.server().is_modern) {
    bool has_disconnected = false;
    {
      const std::lock_guard lock(mutex_);
      has_disconnected = lost_sessions_ != lost_sessions;
    }
    // The session ended during the subscription; retry once on a new one.
    if (has_disconnected) subscribed = subscribe(watch, options);
  }
  if (subscribed) return watch;
  remove(watch);
  return tl::unexpected(std::move(subscribed.error()));
}

void watch_registry::remove(const watch_ptr& watch) {
  channel::call_id stream = 0;
  {
    const std::lock_guard lock(mutex_);
    watch->status = watch_status::closed;
    watch->events.clear();
    stream = std::exchange(watch->stream_id, 0);
    std::erase(watches_, watch);
    for (const auto* uris : {&watch->request.uris, &watch->canonical_uris}) {
      for (const auto& uri : *uris) release_uri(uri);
    }
    changed_.notify_all();
  }
  if (watch->handler_thread.load() != std::this_thread::get_id()) const std::lock_guard wait(watch->handler_mutex);
  if (stream != 0) engine_.connection().peer().unsubscribe(stream);
}

void watch_registry::release_uri(const std::string& uri) {
  const auto position = uri_counts_.find(uri);
  if (--position->second != 0) return;
  uri_counts_.erase(position);
  digests_.erase(uri);
  for (const bool entries : {false, true}) {
    if (subscriptions_.contains({uri, entries})) to_unsubscribe_.emplace(uri, entries);
  }
  if (auto deferred = deferred_.extract(uri)) to_unsubscribe_.merge(deferred.mapped());
}

void watch_registry::record_content(const std::string& uri, const bytes::digest& digest) {
  const std::lock_guard lock(mutex_);
  if (!uri_counts_.contains(uri)) return;
  const auto [known, is_first] = digests_.try_emplace(uri, digest);
  if (is_first || known->second == digest) return;
  known->second = digest;
  // The first read that finds a difference reports it to all watches that may have missed it.
  for (const auto& watch : watches_) {
    if (watch->gaps != watch->reported_gaps &&
        std::find(watch->request.uris.begin(), watch->request.uris.end(), uri) != watch->request.uris.end())
      enqueue_missed(watch, watch_event_kind::resource, uri);
  }
}

watch_registry::watch_ptr watch_registry::find_by_stream(channel::call_id id) const {
  const auto position =
      std::find_if(watches_.begin(), watches_.end(), [id](const watch_ptr& watch) { return watch->stream_id == id; });
  return id == 0 || position == watches_.end() ? nullptr : *position;
}

void watch_registry::on_notification(const asking::server_notification& notification) {
  bool has_ended = false;
  {
    const std::lock_guard lock(mutex_);
    if (const auto* changed = std::get_if<watch_event>(&notification.event)) {
      dispatch(*changed, notification.stream);
    } else if (const auto watch = find_by_stream(notification.stream)) {
      if (const auto* ack = std::get_if<asking::stream_opened>(&notification.event)) on_acknowledged(watch, ack->accepted);
      has_ended = std::holds_alternative<asking::stream_closed>(notification.event);
      if (has_ended) end_stream(watch, {});
    }
  }
  if (has_ended) engine_.connection().peer().unsubscribe(notification.stream);
}

void watch_registry::on_stream_end(channel::call_id id, std::optional<failure> reason) {
  const std::lock_guard lock(mutex_);
  if (const auto watch = find_by_stream(id)) end_stream(watch, std::move(reason));
}

void watch_registry::dispatch(const watch_event& event, channel::call_id stream) {
  if (event.kind == watch_event_kind::resource) {
    // Digests from before the change cannot be used for comparison any more.
    std::erase_if(digests_, [&event](const auto& cached) {
      return uri_covers(event.uri, cached.first) || uri_covers(cached.first, event.uri);
    });
  }
  // In a session all watches share the notifications, and the server may send them for parts of a resource.
  const bool is_part = event.kind == watch_event_kind::resource && event.uri.find('?') != std::string::npos &&
                       std::any_of(watches_.begin(), watches_.end(),
                                   [&event](const watch_ptr& watch) { return has_exact_uri(*watch, event.uri); });
  for (const auto& watch : watches_) {
    if ((stream == 0 || watch->stream_id == stream) && is_relevant(*watch, event, is_part)) enqueue(watch, event);
  }
}

void watch_registry::enqueue(const watch_ptr& watch, watch_event event) {
  if (watch->status == watch_status::closed) return;
  watch->events.add(std::move(event), watch->request);
  schedule(watch);
}

void watch_registry::enqueue_missed(const watch_ptr& watch, watch_event_kind kind, const std::string& uri) {
  watch_event event;
  event.kind = kind;
  event.uri = uri;
  event.was_missed = true;
  enqueue(watch, std::move(event));
}

void watch_registry::schedule(const watch_ptr& watch) {
  if (watch->is_scheduled) return;
  auto queued = engine_.schedule([this, watch, keep = engine_.shared_from_this()] { deliver(watch); });
  watch->is_scheduled = queued.has_value();
  if (queued) return;
  // The `worker_` thread tries again.
  if (next_delivery_ == clock::time_point{}) {
    engine_.log_line("change notifications are delayed: " + queued.error().public_text);
    changed_.notify_all();
  }
  next_delivery_ = clock::now() + delivery_retry_delay;
}

void watch_registry::deliver(const watch_ptr& watch) {
  for (;;) {
    const std::lock_guard handler_lock(watch->handler_mutex);
    watch_event next;
    {
      const std::lock_guard lock(mutex_);
      if (watch->events.empty() || watch->status == watch_status::closed) {
        watch->is_scheduled = false;
        return;
      }
      next = watch->events.pop();
    }
    watch->handler_thread = std::this_thread::get_id();
    try {
      watch->handler(next);
    } catch (const std::exception& error) {
      engine_.log_line(std::string("a change handler failed: ") + error.what());
    }
    watch->handler_thread = std::thread::id();
  }
}

}  // namespace hondana::outbound

/// Watches the resources that analyses are based on, and deletes analyses when these resources change.
#include "sources/analyses/context_watcher.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include <hondana/clock.hpp>
#include <hondana/uri.hpp>

#include "base/bytes/sha256.hpp"
#include "base/executor/thread_guards.hpp"
#include "sources/analyses/analysis_resources.hpp"
#include "sources/analyses/cache/analysis_key.hpp"

namespace hondana::analyses_source {
namespace {

/// Whether a resource, or the part of it that an analysis is based on, does not exist anymore.
bool is_gone(errc code) noexcept { return code == errc::resource_not_found || code == errc::part_not_found; }

std::string display_uri(const std::string& uri) {
  constexpr std::size_t max_bytes = 200;
  return uri.size() <= max_bytes ? uri : uri.substr(0, max_bytes) + "…";
}

failure explain_error(failure error, const std::string& path, const std::string& uri) {
  if (error.code == errc::resource_not_found || error.code == errc::access_denied) {
    error.public_text =
        path + ": resource " + display_uri(uri) +
        " not found, or you may not read it. Name resources of this server; put other inputs of the analysis into "
        "options, which are also part of the key.";
  } else {
    error.public_text = path + ": " + error.public_text;
  }
  return error;
}

/// Prefix of versions of resources that differ by caller, such as a folder with hidden parts. The version has digests of the
/// caller's version and of the version of the whole.
constexpr std::string_view view_prefix = "view-";
constexpr std::size_t digest_digits = 64;

std::string digest_of_version(std::string_view version) { return bytes::to_hex(bytes::sha256_of(version)); }

std::string make_view_version(std::string_view caller_version, std::string_view server_version) {
  return std::string(view_prefix) + digest_of_version(caller_version) + '-' + digest_of_version(server_version);
}

/// The version that an analysis of this caller is based on.
result<std::string> read_version(const provider_host& host, const request_context& request, const std::string& uri) {
  auto caller_version = host.version_of(request, uri);
  if (!caller_version || (!request.caller.access_filter && !request.caller.auth_info)) return caller_version;
  auto server_version = host.version_as_server(request, uri);
  if (!server_version || *server_version == *caller_version) return server_version;
  // Read again, since the resource may have changed in between. A change from now on also changes the version of the whole.
  caller_version = host.version_of(request, uri);
  if (!caller_version || *caller_version == *server_version) return caller_version;
  return make_view_version(*caller_version, *server_version);
}

}  // namespace

bool matches_version(std::string_view stored_version, std::string_view current_version) {
  if (stored_version == current_version) return true;
  return stored_version.size() == view_prefix.size() + 2 * digest_digits + 1 && stored_version.starts_with(view_prefix) &&
         stored_version.substr(view_prefix.size() + digest_digits + 1) == digest_of_version(current_version);
}

result<void> resolve_versions(const provider_state& state, context_watcher& watcher, const request_context& request,
                              analyses::model_question& question, std::string_view path) {
  const auto host = state.require_host();
  if (!host) return tl::unexpected(host.error());
  std::vector<std::string> seen_uris;
  for (std::size_t i = 0; i < question.context.size(); ++i) {
    auto& resource = question.context[i];
    const auto element_path = std::string(path) + '[' + std::to_string(i) + ']';
    auto canonical = canonical_uri(resource.uri);
    if (!canonical) return fail(errc::invalid_argument, element_path + ".uri: " + canonical.error().public_text);
    resource.uri = std::move(*canonical);
    if (std::find(seen_uris.begin(), seen_uris.end(), resource.uri) != seen_uris.end())
      return fail(errc::invalid_argument, element_path + ".uri: " + display_uri(resource.uri) + " is in the context twice");
    seen_uris.push_back(resource.uri);
    if (!*host) continue;
    watcher.watch_resource(resource.uri);
    auto version = read_version(**host, request, resource.uri);
    if (!version) return tl::unexpected(explain_error(std::move(version.error()), element_path, resource.uri));
    if (!resource.version.empty() && resource.version != *version) {
      return fail(errc::content_changed, element_path + ": " + display_uri(resource.uri) +
                                             " has another version now than the one given, so the analysis is out of date. "
                                             "Claim again, and compute it from the current version.");
    }
    resource.version = std::move(*version);
  }
  return {};
}

result<bool> are_versions_current(const provider_state& state, const context_watcher& watcher, const request_context& request,
                                  const std::vector<analyses::resource_version>& resources,
                                  std::vector<std::string>& changed_uris) {
  HONDANA_TRY(const auto host, state.require_host());
  if (!host) return true;
  bool all_exist = true;
  for (const auto& resource : resources) {
    // Analyses themselves are read on other threads. The scans cover them.
    if (resource.uri.starts_with(std::string(scheme_name) + ':')) continue;
    const auto version = host->version_as_server(request, resource.uri);
    if (version) {
      if (resource.version.empty() ? !watcher.matches_first_version(resource.uri, *version)
                                   : !matches_version(resource.version, *version))
        changed_uris.push_back(resource.uri);
    } else if (is_gone(version.error().code)) {
      all_exist = false;
    } else {
      auto error = version.error();
      error.public_text = "Cannot check whether the context of this analysis has changed: " + error.public_text;
      return tl::unexpected(std::move(error));
    }
  }
  return all_exist && changed_uris.empty();
}

namespace {

using watch_clock = monotonic_clock;

constexpr std::size_t max_queued_changes = 10'000;
constexpr std::size_t max_changed_uris = 10'000;
constexpr std::size_t max_subscriptions = 100'000;
constexpr std::size_t scan_page_size = 500;
/// Resources with analyses based on an unknown version. Changes of further ones are not noticed.
constexpr std::size_t max_first_versions = 10'000;
constexpr std::chrono::seconds read_timeout{10};
constexpr std::chrono::seconds reopen_interval{2};
/// Versions that could not be read are requested again in batches, with back-off.
constexpr std::size_t retry_batch = 32;
constexpr std::chrono::milliseconds initial_retry_delay{1'000};

const std::string unknown_version;

request_context make_server_request(const std::stop_token& stop) {
  request_context out;
  out.caller.identity = "analyses";
  out.deadline = watch_clock::now() + read_timeout;
  out.stop = stop;
  return out;
}

/// All versions of a resource that analyses are based on. `list_resource_versions` may leave some out.
result<std::vector<std::string>> list_all_versions(const analyses::analysis_store& store, const std::string& uri) {
  std::vector<std::string> out;
  analyses::analysis_store::resource_position position;
  for (;;) {
    HONDANA_TRY(auto page, store.list_by_resource(uri, position, 1));
    if (page.next.id.empty()) return out;
    // Behind all analyses based on this version.
    position = {page.next.version, std::string(analyses::id_digits, 'f')};
    out.push_back(std::move(page.next.version));
    if (page.is_last) return out;
  }
}

std::string deletion_reason(const std::string& uri, bool exists, bool has_changed, std::uint64_t count) {
  if (!exists) return uri + " does not exist any more";
  if (has_changed) return uri + " has changed";
  return std::string(count == 1 ? "it" : "each") + " was stored with another version of " + uri + " than the current one";
}

}  // namespace

struct context_watcher::pending_work {
  std::vector<analyses::store_change> changes;
  bool has_missed_changes = false;
  std::set<std::string, std::less<>> changed_uris;
  bool needs_scan = false;
};

void context_watcher::set_listener(std::shared_ptr<change_listener> listener) {
  {
    const std::lock_guard lock(mutex_);
    listener_.swap(listener);
    if (!listener_) return;
  }
  start();
}

void context_watcher::start() {
  const std::lock_guard thread_lock(thread_mutex_);
  if (thread_.joinable() || !state_->options.watch) return;
  const hondana::executor::signal_blocker signals_blocked_here;
  thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

void context_watcher::set_host(std::shared_ptr<provider_host> host) {
  const bool has_host = host != nullptr;
  state_->set_host(std::move(host));
  if (!has_host) stop();
  {
    const std::lock_guard lock(mutex_);
    watched_resources_.clear();
    is_scan_requested_ = has_host;
    work_arrived_.notify_all();
  }
  if (has_host) start();
}

void context_watcher::add_subscription(const std::string& uri) {
  const std::lock_guard lock(mutex_);
  if (subscriptions_.size() < max_subscriptions) subscriptions_.insert(uri);
}

void context_watcher::remove_subscription(const std::string& uri) {
  const std::lock_guard lock(mutex_);
  subscriptions_.erase(uri);
}

bool context_watcher::is_watching(const std::vector<analyses::resource_version>& resources) const {
  const std::lock_guard lock(mutex_);
  return std::all_of(resources.begin(), resources.end(), [this](const analyses::resource_version& resource) {
    const auto position = watched_resources_.find(resource.uri);
    return position != watched_resources_.end() && position->second.is_active;
  });
}

void context_watcher::resource_changed(std::string_view uri) {
  change_counter_->fetch_add(1);
  const std::lock_guard lock(mutex_);
  // A change of a resource also changes its URIs with a query or a fragment.
  for (auto position = watched_resources_.lower_bound(uri);
       position != watched_resources_.end() && position->first.starts_with(uri); ++position) {
    const auto suffix = std::string_view(position->first).substr(uri.size());
    if (!suffix.empty() && suffix.front() != '?' && suffix.front() != '#') continue;
    if (changed_uris_.size() < max_changed_uris) {
      changed_uris_.insert(position->first);
    } else {
      is_scan_requested_ = true;
    }
  }
  work_arrived_.notify_all();
}

bool context_watcher::matches_first_version(std::string_view uri, std::string_view version) const {
  const std::lock_guard lock(mutex_);
  const auto position = first_versions_.find(uri);
  return position == first_versions_.end() || position->second.version == version;
}

bool context_watcher::accept_version(const std::string& uri, const std::string& version) {
  const std::lock_guard lock(mutex_);
  const auto position = first_versions_.find(uri);
  if (position != first_versions_.end()) {
    // Analyses may have been added behind the position of the current scan, which must not remove this entry as unused.
    position->second.last_scan = scan_number_;
    return position->second.version == version;
  }
  if (first_versions_.size() < max_first_versions) first_versions_.emplace(uri, first_version{version, scan_number_});
  return true;
}

result<std::vector<std::string>> context_watcher::find_current_versions(const analyses::cache& cache, const std::string& uri,
                                                                        const std::string& current_version) {
  std::vector<std::string> out{current_version};
  HONDANA_TRY(auto versions, list_all_versions(cache.store(), uri));
  bool has_unknown_version = false;
  for (auto& version : versions) {
    if (version == current_version) continue;
    has_unknown_version = has_unknown_version || version.empty();
    if (version.empty() ? accept_version(uri, current_version) : matches_version(version, current_version))
      out.push_back(std::move(version));
  }
  if (has_unknown_version) return out;
  // Analyses stored from now on may be based on the current version.
  out.emplace_back();
  const std::lock_guard lock(mutex_);
  first_versions_.erase(uri);
  return out;
}

void context_watcher::watch_resource(const std::string& uri) {
  if (!state_->options.watch) return;
  const std::lock_guard subscription_lock(subscription_mutex_);
  const auto host = state_->host();
  if (!host) return;
  {
    const std::lock_guard lock(mutex_);
    const auto position = watched_resources_.find(uri);
    if (position != watched_resources_.end()) {
      position->second.last_scan = scan_number_ + 1;
      return;
    }
    if (watched_resources_.size() >= state_->options.max_watched) return;
    // Registered before the source watches it, so that no change is lost.
    watched_resources_.emplace(uri, watch_state{scan_number_ + 1});
  }
  const bool is_active = host->watch(uri);
  const std::lock_guard lock(mutex_);
  const auto position = watched_resources_.find(uri);
  if (position == watched_resources_.end()) return;
  if (is_active) {
    position->second.is_active = true;
  } else {
    watched_resources_.erase(position);
  }
}

void context_watcher::stop() {
  const std::lock_guard thread_lock(thread_mutex_);
  if (thread_.joinable()) {
    thread_.request_stop();
    thread_.join();
    thread_ = {};
  }
}

void context_watcher::queue_change(const analyses::store_change* change) {
  const std::lock_guard lock(mutex_);
  if (change == nullptr || changes_.size() >= max_queued_changes) {
    has_missed_changes_ = true;
  } else {
    changes_.push_back(*change);
  }
  work_arrived_.notify_all();
}

context_watcher::pending_work context_watcher::wait_for_work(const std::stop_token& stop, bool has_cache) {
  std::unique_lock lock(mutex_);
  auto wake_at = has_cache ? (is_scanning_ ? watch_clock::now() : next_scan_at_) : watch_clock::now() + reopen_interval;
  if (has_cache && !retry_uris_.empty()) wake_at = std::min(wake_at, retry_at_);
  monotonic_clock::wait_until(work_arrived_, lock, stop, wake_at, [&] {
    return has_cache && (!changes_.empty() || has_missed_changes_ || !changed_uris_.empty() || is_scan_requested_);
  });
  pending_work out;
  out.changes.swap(changes_);
  out.has_missed_changes = std::exchange(has_missed_changes_, false);
  out.changed_uris.swap(changed_uris_);
  if (!retry_uris_.empty() && watch_clock::now() >= retry_at_) {
    for (std::size_t i = 0; i < retry_batch && !retry_uris_.empty(); ++i)
      out.changed_uris.insert(retry_uris_.extract(retry_uris_.begin()));
    // The pause doubles until one version can be read.
    retry_at_ = watch_clock::now() + retry_delay_;
    retry_delay_ = std::min(2 * retry_delay_, std::max(initial_retry_delay, state_->options.check_interval));
  }
  out.needs_scan = std::exchange(is_scan_requested_, false) || watch_clock::now() >= next_scan_at_;
  return out;
}

void context_watcher::run(const std::stop_token& stop) {
  std::shared_ptr<void> listener_handle;
  std::shared_ptr<analyses::cache> cache;
  is_scanning_ = false;
  next_scan_at_ = {};
  scan_after_uri_.clear();
  scan_page_.clear();
  scan_page_index_ = 0;
  unversioned_uris_.clear();
  last_checked_uri_.clear();
  retry_uris_.clear();
  retry_delay_ = initial_retry_delay;
  state_->set_monitored(true);
  while (!stop.stop_requested()) {
    if (!cache) {
      if (auto opened = state_->get_cache()) {
        cache = std::move(*opened);
        listener_handle = cache->listen([this](const analyses::store_change* change) { queue_change(change); });
        // Changes between the first subscription and this moment were not received.
        queue_change(nullptr);
      }
    }
    auto work = wait_for_work(stop, cache != nullptr);
    if (stop.stop_requested() || !cache) continue;
    if (!work.changes.empty() || work.has_missed_changes) {
      watch_contexts(work.changes, *cache);
      notify_listener(work.changes, work.has_missed_changes, *cache);
    }
    // A source may be slow, and callers that wait for an analysis must be notified before all versions are read.
    while (!unversioned_uris_.empty() && !stop.stop_requested()) {
      check_resource(unversioned_uris_.extract(unversioned_uris_.begin()).value(), &unknown_version, check_reason::scan, *cache,
                     stop);
      if (has_pending_work()) break;
    }
    while (!work.changed_uris.empty()) {
      auto next = work.changed_uris.upper_bound(last_checked_uri_);  // in turn, even if earlier ones change often
      if (next == work.changed_uris.end()) next = work.changed_uris.begin();
      last_checked_uri_ = *next;
      check_resource(work.changed_uris.extract(next).value(), nullptr, check_reason::change, *cache, stop);
      const std::lock_guard lock(mutex_);
      if (changes_.empty() && !has_missed_changes_) continue;
      changed_uris_.merge(work.changed_uris);
      break;
    }
    if (work.needs_scan && !is_scanning_) {
      is_scanning_ = true;
      is_full_scan_ = scan_after_uri_.empty();
      next_scan_at_ = watch_clock::now() + state_->options.check_interval;
      const std::lock_guard lock(mutex_);
      ++scan_number_;
    }
    if (is_scanning_) scan(*cache, stop);
  }
  state_->set_monitored(false);
}

void context_watcher::notify_listener(const std::vector<analyses::store_change>& changes, bool has_missed_changes,
                                      analyses::cache& cache) {
  using event_kind = analyses::store_change::event_kind;
  std::shared_ptr<change_listener> listener;
  std::set<std::string, std::less<>> subscriptions;
  {
    const std::lock_guard lock(mutex_);
    listener = listener_;
    if (!listener) return;
    subscriptions = subscriptions_;
  }
  std::set<std::string, std::less<>> changed_uris;
  const auto add_subscribed = [&](std::string_view prefix) {
    for (auto position = subscriptions.lower_bound(prefix); position != subscriptions.end() && position->starts_with(prefix);
         ++position)
      changed_uris.insert(*position);
  };
  bool has_list_changed = has_missed_changes;
  if (has_missed_changes) add_subscribed("");
  for (const auto& change : changes) {
    const auto uri = analysis_uri(change.id);
    add_subscribed(uri);
    changed_uris.insert(uri);
    changed_uris.insert(flow_uri(change.id));
    has_list_changed = has_list_changed || change.event != event_kind::part;
    if (change.event == event_kind::put) {
      const auto summary = cache.store().get_summary(change.id);
      if (summary && *summary) {
        changed_uris.insert(by_prompt_uri((*summary)->key.prompt_digest));
      } else {
        add_subscribed(by_prompt_prefix);
      }
    } else if (change.event == event_kind::removed || change.event == event_kind::failed) {
      // The prompt of a deleted analysis is unknown.
      add_subscribed(by_prompt_prefix);
    }
  }
  if (has_list_changed) {
    if (subscriptions.contains(index_uri)) changed_uris.insert(std::string(index_uri));
    if (subscriptions.contains(statistics_uri)) changed_uris.insert(std::string(statistics_uri));
    listener->list_changed();
  }
  for (const auto& uri : changed_uris) {
    // A caller that may see the URI of a prompt need not have access to its analysis.
    if (uri.starts_with(by_prompt_prefix)) {
      listener->alias_changed(uri, {});
    } else {
      listener->content_changed(uri, {});
    }
  }
}

void context_watcher::watch_contexts(const std::vector<analyses::store_change>& changes, analyses::cache& cache) {
  if (!state_->host()) return;
  for (const auto& change : changes) {
    if (change.event != analyses::store_change::event_kind::put) continue;
    const auto entry = cache.get(change.id);
    if (!entry || !*entry) continue;
    const auto analysis = analyses::decode_analysis(**entry);
    if (!analysis) continue;
    for (const auto& resource : analysis->question.context) {
      watch_resource(resource.uri);
      if (resource.version.empty() && unversioned_uris_.size() < max_first_versions) unversioned_uris_.insert(resource.uri);
    }
  }
}

void context_watcher::check_resource(const std::string& uri, const std::string* stored_version, check_reason reason,
                                     analyses::cache& cache, const std::stop_token& stop) {
  const auto host = state_->host();
  if (!host) return;
  auto version = host->version_as_server(make_server_request(stop), uri);
  std::vector<std::string> current_versions;
  if (version) {
    if (stored_version != nullptr &&
        (stored_version->empty() ? accept_version(uri, *version) : matches_version(*stored_version, *version)))
      return;
    auto still_current = find_current_versions(cache, uri, *version);
    if (!still_current)
      return state_->log_line("cannot find the analyses based on " + uri + ": " + still_current.error().public_text);
    current_versions = std::move(*still_current);
  } else if (reason != check_reason::change) {
    return;
  } else if (!is_gone(version.error().code)) {
    if (retry_uris_.empty()) retry_at_ = watch_clock::now() + retry_delay_;
    if (retry_uris_.size() < max_changed_uris) {
      retry_uris_.insert(uri);
    } else {
      const std::lock_guard lock(mutex_);
      is_scan_requested_ = true;
    }
    return;
  }
  retry_delay_ = initial_retry_delay;
  const bool has_changed = version && !matches_first_version(uri, *version);
  const auto erased_count = cache.erase_outdated(uri, std::move(current_versions));
  if (!erased_count)
    return state_->log_line("cannot delete the analyses based on " + uri + ": " + erased_count.error().public_text);
  if (!version || has_changed) {
    // Analyses based on an unknown version are deleted. New ones are based on another version.
    const std::lock_guard lock(mutex_);
    first_versions_.erase(uri);
  }
  if (*erased_count > 0)
    state_->log_line(std::to_string(*erased_count) + " deleted, because " +
                     deletion_reason(uri, version.has_value(), has_changed, *erased_count));
}

bool context_watcher::has_pending_work() const {
  const std::lock_guard lock(mutex_);
  return !changes_.empty() || has_missed_changes_ || !changed_uris_.empty();
}

void context_watcher::scan(analyses::cache& cache, const std::stop_token& stop) {
  const auto host = state_->host();
  const auto end_scan = [this](bool is_complete) {
    is_scanning_ = false;
    scanned_count_ = 0;
    scan_after_uri_.clear();
    scan_page_.clear();
    scan_page_index_ = 0;
    if (!is_complete || !is_full_scan_) return;
    std::vector<std::string> unused_uris;
    {
      const std::lock_guard lock(mutex_);
      for (const auto& [uri, watch] : watched_resources_)
        if (watch.last_scan < scan_number_) unused_uris.push_back(uri);
      std::erase_if(first_versions_, [this](const auto& entry) { return entry.second.last_scan < scan_number_; });
    }
    unwatch_resources(unused_uris);
  };
  if (!host) return end_scan(false);
  if (scan_page_index_ == scan_page_.size()) {
    auto page = cache.store().list_resource_versions(scan_after_uri_, scan_page_size);
    if (!page) return end_scan(false);
    scan_page_ = std::move(*page);
    scan_page_index_ = 0;
  }
  while (scan_page_index_ < scan_page_.size()) {
    if (stop.stop_requested()) return;
    const auto& resource = scan_page_[scan_page_index_++];
    watch_resource(resource.uri);
    if (resource.version.empty()) {
      const std::lock_guard lock(mutex_);
      if (const auto position = first_versions_.find(resource.uri); position != first_versions_.end())
        position->second.last_scan = scan_number_;
    }
    check_resource(resource.uri, &resource.version, check_reason::scan, cache, stop);
    scan_after_uri_ = resource.uri;
    ++scanned_count_;
    // As with changes, a source may be slow.
    if (scan_page_index_ < scan_page_.size() && has_pending_work()) return;
  }
  if (scan_page_.size() < scan_page_size) return end_scan(true);
  // The next scan covers the rest. An incomplete scan does not know which resources are unused.
  if (scanned_count_ >= state_->options.max_checked) is_scanning_ = false, scanned_count_ = 0;
}

void context_watcher::unwatch_resources(const std::vector<std::string>& uris) {
  const auto host = state_->host();
  for (const auto& uri : uris) {
    const std::lock_guard subscription_lock(subscription_mutex_);
    {
      const std::lock_guard lock(mutex_);
      const auto position = watched_resources_.find(uri);
      if (position == watched_resources_.end() || position->second.last_scan >= scan_number_) continue;
      watched_resources_.erase(position);
    }
    if (host) host->unwatch(uri);
  }
}

}  // namespace hondana::analyses_source

/// The thread of the follower: polling rounds, waits, findings of reads, and notification channels.
#include "sources/gdrive/follower.hpp"

#include <algorithm>
#include <exception>
#include <utility>

#include <hondana/clock.hpp>

#include "base/executor/thread_guards.hpp"
#include "sources/gdrive/address.hpp"
#include "sources/gdrive/fetcher.hpp"

namespace hondana::gdrive {
namespace {

constexpr int max_doublings = 10;
/// Minimum interval between polls, regardless of how many notifications arrive.
constexpr std::chrono::seconds min_poll_interval{1};

}  // namespace

follower::follower(follower_options options) : options_(std::move(options)) {}

follower::~follower() { stop(); }

void follower::start() {
  std::unique_lock lock(mutex_);
  if (is_removed_ && listener_) {
    auto previous_thread = std::move(thread_);
    is_removed_ = false;
    lock.unlock();
    if (previous_thread.joinable()) previous_thread.join();
    lock.lock();
  }
  if (thread_.joinable() || is_stopped_ || is_removed_) return;
  const executor::signal_blocker quiet;
  thread_ = std::jthread([this](const std::stop_token& stop) {
    run(stop);
    release();
  });
}

void follower::stop() {
  std::jthread stopping;
  {
    const std::lock_guard lock(mutex_);
    listener_.reset();
    is_stopped_ = true;
    stopping.swap(thread_);
    changed_.notify_all();
  }
  if (!stopping.joinable()) return;
  stopping.request_stop();
  stopping.join();
  close_channels();
}

void follower::on_server_listening() {
  const std::lock_guard lock(mutex_);
  if (std::exchange(is_listening_, true) || options_.notification_url.empty()) return;
  // Channels are opened at the end of a poll.
  is_poll_requested_ = true;
  changed_.notify_all();
}

void follower::set_listener(std::shared_ptr<change_listener> listener) {
  const std::lock_guard lock(mutex_);
  listener_.swap(listener);
  if (listener_ || !listener) return;
  is_removed_ = true;
  thread_.request_stop();
  changed_.notify_all();
}

void follower::release() {
  {
    const std::lock_guard lock(mutex_);
    if (!is_removed_) return;
  }
  close_channels();
  if (const auto closed = options_.store->close(); !closed) log_line(closed.error().public_text);
}

std::shared_ptr<const snapshot> follower::latest() const {
  const std::lock_guard lock(mutex_);
  return latest_;
}

result<std::shared_ptr<const snapshot>> follower::wait_until_ready(const request_context& request,
                                                                   std::chrono::milliseconds timeout) const {
  // At most a day, since the system clock cannot wait for arbitrarily long.
  const auto deadline =
      std::min(request.deadline, clock::now() + std::min<std::chrono::milliseconds>(timeout, std::chrono::hours(24)));
  std::unique_lock lock(mutex_);
  monotonic_clock::wait_until(changed_, lock, request.stop, deadline,
                              [this] { return is_ready_ || is_stopped_ || is_removed_; });
  if (request.stop.stop_requested()) return fail(errc::cancelled, "The request was cancelled.");
  if (error_ && (!latest_ || latest_->file_count() == 0)) return tl::unexpected(*error_);
  if (latest_) return latest_;
  return fail(errc::source_unavailable, "Drive is being listed for the first time. Try again later.");
}

bool follower::is_verified(std::chrono::milliseconds max_age) const {
  const std::lock_guard lock(mutex_);
  return verified_at_ && clock::now() - *verified_at_ < max_age;
}

std::optional<std::chrono::system_clock::time_point> follower::verified_at() const {
  const std::lock_guard lock(mutex_);
  if (!verified_at_) return std::nullopt;
  const auto ago = std::chrono::duration_cast<std::chrono::system_clock::duration>(clock::now() - *verified_at_);
  return std::chrono::system_clock::now() - ago;
}

bool follower::is_offline() const {
  const std::lock_guard lock(mutex_);
  return is_offline_;
}

void follower::record_unreachable() {
  const std::lock_guard lock(mutex_);
  is_offline_ = is_poll_requested_ = true;
  changed_.notify_all();
}

void follower::record_reachable() {
  const std::lock_guard lock(mutex_);
  if (!std::exchange(is_offline_, false)) return;
  is_poll_requested_ = true;
  changed_.notify_all();
}

void follower::schedule_poll() {
  const std::lock_guard lock(mutex_);
  is_poll_requested_ = true;
  changed_.notify_all();
}

bool follower::handle_webhook(const webhook_request& request) {
  const auto kind = channels_.classify(request);
  if (kind == channel_registry::notification_kind::change) schedule_poll();
  return kind != channel_registry::notification_kind::unauthenticated;
}

drive::call_options follower::make_call_options(const std::stop_token& stop, drive::request_priority priority) {
  constexpr std::chrono::minutes call_timeout{5};
  drive::call_options options;
  options.stop = stop;
  options.deadline = clock::now() + call_timeout;
  options.priority = priority;
  return options;
}

drive::call_options follower::make_file_options(const std::string& id, const std::stop_token& stop,
                                                drive::request_priority priority) const {
  auto options = make_call_options(stop, priority);
  const auto entry = items_.find(id);
  if (const auto snapshot = latest(); snapshot && entry != items_.end())
    options.resource_keys = snapshot->resource_keys_of(*entry->second.item);
  return options;
}

std::string follower::home_of(const drive::file& file) const {
  const bool is_known =
      std::any_of(drives_.begin(), drives_.end(), [&file](const auto& drive) { return drive.id == file.drive_id; });
  return is_known ? file.drive_id : std::string();
}

result<void> follower::load(const std::stop_token& stop) {
  HONDANA_TRY(options_.store->open(stop));
  auto positions = options_.store->positions();
  if (!positions) return tl::unexpected(std::move(positions.error()));
  HONDANA_TRY(auto drives, options_.store->drives());
  HONDANA_TRY(auto folders_to_list, options_.store->folders_to_list());
  HONDANA_TRY(auto root, options_.store->root_id());
  auto sheets = options_.store->sheets();
  if (!sheets) return tl::unexpected(std::move(sheets.error()));
  items_.clear();
  auto loaded = options_.store->for_each_item(
      [this](shared_item item, std::int64_t generation) { items_[item->id] = tracked_item{item, generation}; });
  if (!loaded) return loaded;
  HONDANA_TRY(auto account_id, options_.store->account_id());
  for (auto& position : *positions) positions_[position.home] = std::move(position);
  drives_ = std::move(drives);
  account_id_ = std::move(account_id);
  is_same_account_ = !options_.account_id || account_id_ == current_account_id();
  if (!options_.has_shared_drives && !drives_.empty()) {
    drives_.clear();
    HONDANA_TRY(options_.store->put_drives(drives_));
  }
  HONDANA_TRY(remove_unserved_homes());
  folders_to_list_ = std::move(folders_to_list);
  root_id_ = std::move(root);
  for (auto& [id, names] : *sheets) sheets_[id] = std::move(names);
  return load_full_homes();
}

drive::api_result<void> follower::apply(update_batch batch) {
  const std::set<std::string_view> removed_ids(batch.removed_ids.begin(), batch.removed_ids.end());
  const auto removed_count =
      std::count_if(removed_ids.begin(), removed_ids.end(), [this](auto id) { return items_.contains(std::string(id)); });
  const auto remaining_count = items_.size() - static_cast<std::size_t>(removed_count);
  auto capacity = options_.max_files - std::min(options_.max_files, remaining_count);
  std::erase_if(batch.upserts, [&](const shared_item& item) {
    if (items_.contains(item->id)) return false;
    if (capacity == 0) {
      is_limit_hit_ = true;
      record_limit_reached(item->home);
      return true;
    }
    --capacity;
    return false;
  });
  if (auto stored = options_.store->apply(batch); !stored) {
    drive::drive_error error;
    error.details = std::move(stored.error());
    return tl::unexpected(std::move(error));
  }
  if (!batch.upserts.empty() || !batch.removed_ids.empty()) parents_.reset();
  for (auto& item : batch.upserts) {
    auto& tracked = items_[item->id];
    is_dirty_ = is_dirty_ || !tracked.item || *tracked.item != *item;
    tracked = tracked_item{std::move(item), batch.generation};
  }
  for (const auto& id : batch.removed_ids) {
    is_dirty_ = items_.erase(id) > 0 || is_dirty_;
    sheets_.erase(id);
  }
  for (auto& id : batch.folders_to_list) folders_to_list_.push_back(std::move(id));
  for (const auto& id : batch.listed_folders) std::erase(folders_to_list_, id);
  if (batch.position) {
    // Files also get new places when a drive becomes complete or up to date.
    const auto& previous = positions_[batch.position->home];
    is_dirty_ = is_dirty_ || previous.is_crawled != batch.position->is_crawled ||
                previous.is_crawling != batch.position->is_crawling || previous.is_behind != batch.position->is_behind;
    positions_[batch.position->home] = std::move(*batch.position);
  }
  return {};
}

sync_position& follower::position_of(const std::string& home) {
  auto& position = positions_[home];
  position.home = home;
  return position;
}

bool follower::is_any_behind() const {
  return std::any_of(problems_.begin(), problems_.end(), [](const auto& problem) { return problem.first != new_folders_key; });
}

bool follower::is_served(const std::string& home) const {
  const auto served = served_homes();
  return std::find(served.begin(), served.end(), home) != served.end();
}

bool follower::is_excluded(const drive::file& file) const noexcept {
  return !options_.has_shared_drives && !file.drive_id.empty();
}

std::string follower::current_account_id() const { return options_.account_id ? options_.account_id() : std::string(); }

void follower::record_access(const drive::drive_error* error) {
  using drive::error_kind;
  const bool is_denied =
      error != nullptr && (error->kind == error_kind::unauthorized || error->kind == error_kind::insufficient_scope ||
                           error->kind == error_kind::not_enabled);
  if (error != nullptr && !is_denied) return;
  if (is_denied) {
    const std::lock_guard lock(mutex_);
    verified_at_.reset();
  }
  if (auto stored = options_.store->set_access_denied(is_denied); !stored) log_line(stored.error().public_text);
}

void follower::publish() {
  // Names of another account's files must not be served.
  if (!is_same_account_) return;
  snapshot_input input;
  input.scheme = options_.scheme;
  input.root = root_id_;
  input.drives = drives_;
  input.drive_slugs = options_.drive_slugs;
  input.items.reserve(items_.size());
  for (const auto& [id, tracked] : items_) input.items.push_back(tracked.item);
  input.is_complete = [this](const std::string& home) {
    const auto found_position = positions_.find(home);
    return found_position != positions_.end() && found_position->second.is_crawled;
  };
  input.may_miss_folders = [this](const std::string& home) {
    const auto found_position = positions_.find(home);
    return found_position == positions_.end() || found_position->second.is_crawling || found_position->second.is_behind;
  };
  input.sheets = sheets_;
  input.now = std::chrono::system_clock::now();
  input.previous = latest();
  input.is_truncated = is_limit_reached();
  const auto updated = snapshot::make(std::move(input));
  std::shared_ptr<const snapshot> previous;
  std::shared_ptr<change_listener> listener;
  {
    const std::lock_guard lock(mutex_);
    previous = std::exchange(latest_, updated);
    listener = listener_;
    changed_.notify_all();
  }
  is_dirty_ = false;
  if (!listener) return;
  if (previous) {
    updated->notify_changes_since(*previous, *listener);
  } else {
    listener->list_changed();
  }
}

void follower::run(const std::stop_token& stop) {
  auto interval = options_.min_interval;
  int failures = 0;
  result<void> loaded;
  try {
    loaded = load(stop);
  } catch (const std::exception& error) {
    loaded = fail(errc::internal, "The Drive cache cannot be read.", error.what());
  }
  if (!loaded) {
    log_line(loaded.error().public_text);
    const std::lock_guard lock(mutex_);
    error_ = std::move(loaded.error());
    is_ready_ = true;
    changed_.notify_all();
    return;
  }
  if (!positions_.empty() && is_same_account_) {
    publish();
    const auto served = served_homes();
    const std::lock_guard lock(mutex_);
    is_ready_ = std::all_of(served.begin(), served.end(), [this](const auto& home) {
      const auto position = positions_.find(home);
      return position != positions_.end() && position->second.is_crawled;
    });
    changed_.notify_all();
  }
  auto next = clock::now();
  auto earliest = next;
  while (!stop.stop_requested()) {
    bool should_poll = false;
    {
      std::unique_lock lock(mutex_);
      monotonic_clock::wait_until(changed_, lock, stop, next, [this] { return is_poll_requested_ || !findings_.empty(); });
      const auto now = clock::now();
      if (std::exchange(is_poll_requested_, false)) next = std::min(next, std::max(now, earliest));
      should_poll = now >= next;
    }
    if (stop.stop_requested()) break;
    drive::api_result<bool> outcome = false;
    try {
      if (process_findings(stop) && is_dirty_) publish();
      if (!should_poll) continue;
      const auto start = clock::now();
      outcome = run_round(stop);
      if (is_dirty_ || !latest()) publish();
      record_access(outcome ? nullptr : &outcome.error());
      {
        const std::lock_guard lock(mutex_);
        if (outcome && !is_any_behind()) verified_at_ = start;
        is_offline_ = !outcome && is_unanswered(outcome.error());
      }
    } catch (const std::exception& error) {
      drive::drive_error sync_error;
      sync_error.details = {errc::internal, "Synchronizing with Drive failed.", error.what()};
      outcome = tl::unexpected(std::move(sync_error));
    }
    if (stop.stop_requested()) break;
    if (outcome) {
      failures = 0;
      interval = *outcome ? options_.min_interval : std::min(options_.max_interval, interval * 2);
    } else {
      interval = std::min(options_.max_interval, options_.min_interval * (1 << std::min(failures++, max_doublings)));
      if (outcome.error().details.retry_after)
        interval = std::max(interval, std::min(*outcome.error().details.retry_after, options_.max_interval * 4));
    }
    next = clock::now() + interval;
    earliest = clock::now() + std::min<std::chrono::milliseconds>(options_.min_interval, min_poll_interval);
    std::string line;
    {
      const std::lock_guard lock(mutex_);
      const auto previous_text = error_ ? error_->public_text : std::string();
      error_ = outcome ? std::nullopt : std::optional(outcome.error().details);
      const auto now = error_ ? error_->public_text : std::string();
      if (now != previous_text) line = now.empty() ? "Drive can be read again" : log_text(*error_);
      is_ready_ = true;
      progress_text_.clear();
      changed_.notify_all();
    }
    if (!line.empty()) log_line(line);
  }
}

namespace {

constexpr std::size_t max_findings = 1'000;

/// Whether the version `reported` is older than `current`. Drive's versions are decimal numbers that grow.
bool is_older_version(const std::string& reported, const std::string& current) {
  if (reported.empty() || current.empty()) return false;
  return reported.size() != current.size() ? reported.size() < current.size() : reported < current;
}

}  // namespace

void follower::report_file(const drive::file& file) {
  const std::lock_guard lock(mutex_);
  if (findings_.size() >= max_findings) return;  // the next poll reports it
  findings_.push_back({file, file.id, {}});
  changed_.notify_all();
}

void follower::report_lost(const std::string& id) {
  const std::lock_guard lock(mutex_);
  if (findings_.size() >= max_findings) return;
  findings_.push_back({{}, id, {}});
  changed_.notify_all();
}

void follower::report_sheets(const std::string& id, std::vector<std::string> names) {
  const std::lock_guard lock(mutex_);
  if (findings_.size() >= max_findings) return;  // the next read reports them
  findings_.push_back({{}, id, std::move(names)});
  changed_.notify_all();
}

bool follower::process_findings(const std::stop_token& stop) {
  std::vector<read_finding> findings;
  {
    const std::lock_guard lock(mutex_);
    findings.swap(findings_);
  }
  for (auto& finding : findings) {
    const auto entry = items_.find(finding.id);
    if (finding.sheets) {
      if (sheets_[finding.id] == *finding.sheets || entry == items_.end()) continue;
      if (auto stored = options_.store->put_sheets(finding.id, *finding.sheets); !stored) log_line(stored.error().public_text);
      sheets_[finding.id] = std::move(*finding.sheets);
      is_dirty_ = true;
      continue;
    }
    if (entry != items_.end()) process_finding(std::move(finding), stop);
  }
  return !findings.empty();
}

void follower::process_finding(read_finding finding, const std::stop_token& stop) {
  const auto previous = items_.at(finding.id).item;
  if (finding.current_file) {
    // A poll has reported a newer state since, and no later poll would report it again.
    if (is_older_version(finding.current_file->version, previous->version)) return;
  } else {
    // The file may have been shared again since then.
    if (auto now = options_.api->get_file(finding.id, make_file_options(finding.id, stop, drive::request_priority::polling)))
      finding.current_file = std::move(*now);
  }
  const auto home = finding.current_file ? home_of(*finding.current_file) : previous->home;
  const bool is_gone = !finding.current_file || (finding.current_file->is_trashed && !finding.current_file->is_folder()) ||
                       is_excluded(*finding.current_file) || !is_served(home);
  update_batch batch;
  // An unknown home has no position to store.
  const auto position = positions_.find(is_gone ? previous->home : home);
  if (position != positions_.end()) batch.generation = position->second.generation;
  if (position != positions_.end() && position->second.home == position->first) batch.position = position->second;
  if (is_gone) {
    remove_item(previous->home, finding.id, batch);
  } else {
    apply_file(home, *finding.current_file, batch);
    // The new parent folder may be one that only the next poll reports.
    const bool has_moved = !batch.upserts.empty() && batch.upserts.back()->parent != previous->parent;
    if (batch.position && has_moved && !items_.contains(batch.upserts.back()->parent)) batch.position->is_behind = true;
  }
  if (auto applied = apply(std::move(batch)); !applied) log_line(applied.error().details.public_text);
}

namespace {

/// For all channels together. A channel that is not closed by then expires within a day.
constexpr std::chrono::seconds close_timeout{2};

}  // namespace

void follower::open_channels(const std::stop_token& stop) {
  {
    // No notifications arrive during a check of the configuration, or in a server that speaks over stdio.
    const std::lock_guard lock(mutex_);
    if (options_.notification_url.empty() || !is_listening_) return;
  }
  for (const auto& home : served_homes()) {
    const auto now = channel_registry::clock::now();
    const auto& position = position_of(home);
    if (stop.stop_requested() || !position.is_crawled || position.start_page_token.empty() ||
        !channels_.needs_channel(home, now))
      continue;
    auto request = channel_registry::make_request(home, position.start_page_token, options_.notification_url);
    if (!request) return log_line(request.error().public_text);
    channels_.add_pending(home, *request, now);
    const auto answer = options_.api->watch_changes(*request, make_call_options(stop, drive::request_priority::polling));
    if (!answer) {
      // Polling continues, and finds all changes without notifications.
      channels_.record_rejection(home, now);
      log_line(describe_home(home) + ": Drive sends no change notifications: " + log_text(answer.error().details));
      continue;
    }
    if (const auto replaced = channels_.activate(home, *answer, now)) {
      const auto stopped = options_.api->stop_channel(*replaced, make_call_options(stop, drive::request_priority::polling));
      if (!stopped)
        log_line("a notification channel could not be closed, and will expire: " + stopped.error().details.public_text);
    }
  }
}

void follower::close_channels() {
  const auto deadline = clock::now() + close_timeout;
  for (const auto& channel : channels_.close_all()) {
    if (clock::now() >= deadline)
      return log_line("not all notification channels could be closed in time; the others will expire");
    drive::call_options options;
    options.deadline = deadline;
    options.priority = drive::request_priority::polling;
    const auto stopped = options_.api->stop_channel(channel, options);
    if (!stopped) log_line("a notification channel could not be closed, and will expire: " + log_text(stopped.error().details));
  }
}

}  // namespace hondana::gdrive

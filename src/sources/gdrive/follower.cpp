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

constexpr int most_doublings = 10;
/// Minimum interval between polls, regardless of how many notifications arrive.
constexpr std::chrono::seconds between_stirred_polls{1};

}  // namespace

follower::follower(follower_options from) : options_(std::move(from)) {}

follower::~follower() { end(); }

void follower::start() {
  std::unique_lock lock(mutex_);
  if (has_left_ && to_) {
    auto before = std::move(thread_);
    has_left_ = false;
    lock.unlock();
    if (before.joinable()) before.join();
    lock.lock();
  }
  if (thread_.joinable() || is_ended_ || has_left_) return;
  const executor::signals_blocked quiet;
  thread_ = std::jthread([this](const std::stop_token& stop) {
    run(stop);
    leave();
  });
}

void follower::end() {
  std::jthread ending;
  {
    const std::lock_guard lock(mutex_);
    to_.reset();
    is_ended_ = true;
    ending.swap(thread_);
    changed_.notify_all();
  }
  if (!ending.joinable()) return;
  ending.request_stop();
  ending.join();
  close_channels();
}

void follower::listens() {
  const std::lock_guard lock(mutex_);
  if (std::exchange(is_listening_, true) || options_.notices.empty()) return;
  // Channels are opened at the end of a poll.
  is_stirred_ = true;
  changed_.notify_all();
}

void follower::tell_to(std::shared_ptr<change_listener> to) {
  const std::lock_guard lock(mutex_);
  to_.swap(to);
  if (to_ || !to) return;
  has_left_ = true;
  thread_.request_stop();
  changed_.notify_all();
}

void follower::leave() {
  {
    const std::lock_guard lock(mutex_);
    if (!has_left_) return;
  }
  close_channels();
  if (const auto done = options_.where->let_go(); !done) say(done.error().public_text);
}

std::shared_ptr<const scene> follower::latest() const {
  const std::lock_guard lock(mutex_);
  return latest_;
}

result<std::shared_ptr<const scene>> follower::ready(const call& by, std::chrono::milliseconds most) const {
  // At most a day, since the system clock cannot wait for arbitrarily long.
  const auto until = std::min(by.deadline, clock::now() + std::min<std::chrono::milliseconds>(most, std::chrono::hours(24)));
  std::unique_lock lock(mutex_);
  monotonic_clock::wait_until(changed_, lock, by.stop, until, [this] { return is_ready_ || is_ended_ || has_left_; });
  if (by.stop.stop_requested()) return fail(errc::cancelled, "The request was cancelled.");
  if (trouble_ && (!latest_ || latest_->files() == 0)) return tl::unexpected(*trouble_);
  if (latest_) return latest_;
  return fail(errc::source_unavailable, "Drive is being listed for the first time. Try again later.");
}

bool follower::is_sure(std::chrono::milliseconds within) const {
  const std::lock_guard lock(mutex_);
  return sure_at_ && clock::now() - *sure_at_ < within;
}

std::optional<std::chrono::system_clock::time_point> follower::sure_at() const {
  const std::lock_guard lock(mutex_);
  if (!sure_at_) return std::nullopt;
  const auto ago = std::chrono::duration_cast<std::chrono::system_clock::duration>(clock::now() - *sure_at_);
  return std::chrono::system_clock::now() - ago;
}

bool follower::is_cut_off() const {
  const std::lock_guard lock(mutex_);
  return is_cut_off_;
}

void follower::heard_nothing() {
  const std::lock_guard lock(mutex_);
  is_cut_off_ = is_stirred_ = true;
  changed_.notify_all();
}

void follower::heard_something() {
  const std::lock_guard lock(mutex_);
  if (!std::exchange(is_cut_off_, false)) return;
  is_stirred_ = true;
  changed_.notify_all();
}

void follower::stir() {
  const std::lock_guard lock(mutex_);
  is_stirred_ = true;
  changed_.notify_all();
}

bool follower::take_notice(const notice& what) {
  const auto how = channels_.judge(what);
  if (how == channels::verdict::news) stir();
  return how != channels::verdict::foreign;
}

drive::errand follower::errand_of(const std::stop_token& stop, drive::lane of) {
  constexpr std::chrono::minutes longest_call{5};
  drive::errand how;
  how.stop = stop;
  how.until = clock::now() + longest_call;
  how.of = of;
  return how;
}

drive::errand follower::errand_about(const std::string& id, const std::stop_token& stop, drive::lane of) const {
  auto how = errand_of(stop, of);
  const auto found = items_.find(id);
  if (const auto in = latest(); in && found != items_.end()) how.keys = in->keys_of(*found->second.what);
  return how;
}

std::string follower::home_of(const drive::file& of) const {
  const bool is_known = std::any_of(drives_.begin(), drives_.end(), [&of](const auto& one) { return one.id == of.drive_id; });
  return is_known ? of.drive_id : std::string();
}

result<void> follower::load(const std::stop_token& stop) {
  HONDANA_TRY(options_.where->begin(stop));
  auto positions = options_.where->positions();
  if (!positions) return tl::unexpected(std::move(positions.error()));
  HONDANA_TRY(auto drives, options_.where->drives());
  HONDANA_TRY(auto looks, options_.where->looks());
  HONDANA_TRY(auto root, options_.where->root());
  auto sheets = options_.where->sheets();
  if (!sheets) return tl::unexpected(std::move(sheets.error()));
  items_.clear();
  auto all =
      options_.where->each([this](shared_item one, std::int64_t generation) { items_[one->id] = known{one, generation}; });
  if (!all) return all;
  HONDANA_TRY(auto who, options_.where->who());
  for (auto& one : *positions) positions_[one.home] = std::move(one);
  drives_ = std::move(drives);
  who_ = std::move(who);
  is_ours_ = !options_.who || who_ == who_asks();
  if (!options_.has_shared_drives && !drives_.empty()) {
    drives_.clear();
    HONDANA_TRY(options_.where->put_drives(drives_));
  }
  HONDANA_TRY(forget_unfollowed());
  looks_ = std::move(looks);
  root_ = std::move(root);
  for (auto& [id, names] : *sheets) sheets_[id] = std::move(names);
  return recall_full();
}

drive::answer<void> follower::apply(batch what) {
  const std::set<std::string_view> going(what.gone.begin(), what.gone.end());
  const auto leaving = std::count_if(going.begin(), going.end(), [this](auto id) { return items_.contains(std::string(id)); });
  const auto staying = items_.size() - static_cast<std::size_t>(leaving);
  auto room = options_.most_files - std::min(options_.most_files, staying);
  std::erase_if(what.put, [&](const shared_item& one) {
    if (items_.contains(one->id)) return false;
    if (room == 0) {
      is_page_full_ = true;
      tell_full(one->home);
      return true;
    }
    --room;
    return false;
  });
  if (auto done = options_.where->apply(what); !done) {
    drive::refusal why;
    why.why = std::move(done.error());
    return tl::unexpected(std::move(why));
  }
  if (!what.put.empty() || !what.gone.empty()) parents_.reset();
  for (auto& one : what.put) {
    auto& place = items_[one->id];
    is_dirty_ = is_dirty_ || !place.what || *place.what != *one;
    place = known{std::move(one), what.generation};
  }
  for (const auto& id : what.gone) {
    is_dirty_ = items_.erase(id) > 0 || is_dirty_;
    sheets_.erase(id);
  }
  for (auto& id : what.looks_begun) looks_.push_back(std::move(id));
  for (const auto& id : what.looks_done) std::erase(looks_, id);
  if (what.at) {
    // Files also get new places when a drive becomes complete or up to date.
    const auto& before = positions_[what.at->home];
    is_dirty_ = is_dirty_ || before.is_crawled != what.at->is_crawled || before.is_crawling != what.at->is_crawling ||
                before.is_behind != what.at->is_behind;
    positions_[what.at->home] = std::move(*what.at);
  }
  return {};
}

position& follower::position_of(const std::string& home) {
  auto& at = positions_[home];
  at.home = home;
  return at;
}

bool follower::is_behind_somewhere() const {
  return std::any_of(problems_.begin(), problems_.end(), [](const auto& one) { return one.first != new_folders; });
}

bool follower::is_served(const std::string& home) const {
  const auto all = homes();
  return std::find(all.begin(), all.end(), home) != all.end();
}

bool follower::is_left_out(const drive::file& one) const noexcept {
  return !options_.has_shared_drives && !one.drive_id.empty();
}

std::string follower::who_asks() const { return options_.who ? options_.who() : std::string(); }

void follower::mind_refusal(const drive::refusal* why) {
  using drive::trouble;
  const bool is_so = why != nullptr && (why->what == trouble::unauthorized || why->what == trouble::scope_missing ||
                                        why->what == trouble::not_enabled);
  if (why != nullptr && !is_so) return;
  if (is_so) {
    const std::lock_guard lock(mutex_);
    sure_at_.reset();
  }
  if (auto done = options_.where->set_refused(is_so); !done) say(done.error().public_text);
}

void follower::publish() {
  // Names of another account's files must not be served.
  if (!is_ours_) return;
  material from;
  from.scheme = options_.scheme;
  from.root = root_;
  from.drives = drives_;
  from.wanted = options_.wanted;
  from.items.reserve(items_.size());
  for (const auto& [id, one] : items_) from.items.push_back(one.what);
  from.is_whole = [this](const std::string& home) {
    const auto at = positions_.find(home);
    return at != positions_.end() && at->second.is_crawled;
  };
  from.is_unfinished = [this](const std::string& home) {
    const auto at = positions_.find(home);
    return at == positions_.end() || at->second.is_crawling || at->second.is_behind;
  };
  from.sheets = sheets_;
  from.now = std::chrono::system_clock::now();
  from.before = latest();
  from.is_cut = is_full();
  const auto made = scene::make(std::move(from));
  std::shared_ptr<const scene> before;
  std::shared_ptr<change_listener> to;
  {
    const std::lock_guard lock(mutex_);
    before = std::exchange(latest_, made);
    to = to_;
    changed_.notify_all();
  }
  is_dirty_ = false;
  if (!to) return;
  if (before) {
    made->tell_changes_since(*before, *to);
  } else {
    to->list_changed();
  }
}

void follower::run(const std::stop_token& stop) {
  auto interval = options_.shortest;
  int failures = 0;
  result<void> loaded;
  try {
    loaded = load(stop);
  } catch (const std::exception& error) {
    loaded = fail(errc::internal, "The Drive cache cannot be read.", error.what());
  }
  if (!loaded) {
    say(loaded.error().public_text);
    const std::lock_guard lock(mutex_);
    trouble_ = std::move(loaded.error());
    is_ready_ = true;
    changed_.notify_all();
    return;
  }
  if (!positions_.empty() && is_ours_) {
    publish();
    const auto all = homes();
    const std::lock_guard lock(mutex_);
    is_ready_ = std::all_of(all.begin(), all.end(), [this](const auto& home) {
      const auto at = positions_.find(home);
      return at != positions_.end() && at->second.is_crawled;
    });
    changed_.notify_all();
  }
  auto next = clock::now();
  auto earliest = next;
  while (!stop.stop_requested()) {
    bool is_due = false;
    {
      std::unique_lock lock(mutex_);
      monotonic_clock::wait_until(changed_, lock, stop, next, [this] { return is_stirred_ || !heard_.empty(); });
      const auto now = clock::now();
      if (std::exchange(is_stirred_, false)) next = std::min(next, std::max(now, earliest));
      is_due = now >= next;
    }
    if (stop.stop_requested()) break;
    drive::answer<bool> done = false;
    try {
      if (take_heard(stop) && is_dirty_) publish();
      if (!is_due) continue;
      const auto begun = clock::now();
      done = round(stop);
      if (is_dirty_ || !latest()) publish();
      mind_refusal(done ? nullptr : &done.error());
      {
        const std::lock_guard lock(mutex_);
        if (done && !is_behind_somewhere()) sure_at_ = begun;
        is_cut_off_ = !done && says_cut_off(done.error());
      }
    } catch (const std::exception& error) {
      drive::refusal why;
      why.why = {errc::internal, "Synchronizing with Drive failed.", error.what()};
      done = tl::unexpected(std::move(why));
    }
    if (stop.stop_requested()) break;
    if (done) {
      failures = 0;
      interval = *done ? options_.shortest : std::min(options_.longest, interval * 2);
    } else {
      interval = std::min(options_.longest, options_.shortest * (1 << std::min(failures++, most_doublings)));
      if (done.error().why.retry) interval = std::max(interval, std::min(*done.error().why.retry, options_.longest * 4));
    }
    next = clock::now() + interval;
    earliest = clock::now() + std::min<std::chrono::milliseconds>(options_.shortest, between_stirred_polls);
    std::string line;
    {
      const std::lock_guard lock(mutex_);
      const auto before = trouble_ ? trouble_->public_text : std::string();
      trouble_ = done ? std::nullopt : std::optional(done.error().why);
      const auto now = trouble_ ? trouble_->public_text : std::string();
      if (now != before) line = now.empty() ? "Drive can be read again" : words_for_log(*trouble_);
      is_ready_ = true;
      state_.clear();
      changed_.notify_all();
    }
    if (!line.empty()) say(line);
  }
}

namespace {

constexpr std::size_t most_heard = 1'000;

/// Whether the version `said` is older than `known`. Drive's versions are decimal numbers that grow.
bool is_of_before(const std::string& said, const std::string& known) {
  if (said.empty() || known.empty()) return false;
  return said.size() != known.size() ? said.size() < known.size() : said < known;
}

}  // namespace

void follower::noted(const drive::file& now) {
  const std::lock_guard lock(mutex_);
  if (heard_.size() >= most_heard) return;  // the next poll reports it
  heard_.push_back({now, now.id, {}});
  changed_.notify_all();
}

void follower::lost(const std::string& id) {
  const std::lock_guard lock(mutex_);
  if (heard_.size() >= most_heard) return;
  heard_.push_back({{}, id, {}});
  changed_.notify_all();
}

void follower::noted_sheets(const std::string& id, std::vector<std::string> names) {
  const std::lock_guard lock(mutex_);
  if (heard_.size() >= most_heard) return;  // the next read reports them
  heard_.push_back({{}, id, std::move(names)});
  changed_.notify_all();
}

bool follower::take_heard(const std::stop_token& stop) {
  std::vector<news> all;
  {
    const std::lock_guard lock(mutex_);
    all.swap(heard_);
  }
  for (auto& one : all) {
    const auto found = items_.find(one.id);
    if (one.sheets) {
      if (sheets_[one.id] == *one.sheets || found == items_.end()) continue;
      if (auto done = options_.where->put_sheets(one.id, *one.sheets); !done) say(done.error().public_text);
      sheets_[one.id] = std::move(*one.sheets);
      is_dirty_ = true;
      continue;
    }
    if (found != items_.end()) take_word(std::move(one), stop);
  }
  return !all.empty();
}

void follower::take_word(news one, const std::stop_token& stop) {
  const auto before = items_.at(one.id).what;
  if (one.now) {
    // A poll has reported a newer state since, and no later poll would report it again.
    if (is_of_before(one.now->version, before->version)) return;
  } else {
    // The file may have been shared again since then.
    if (auto now = options_.from->file(one.id, errand_about(one.id, stop, drive::lane::polling))) one.now = std::move(*now);
  }
  const auto to = one.now ? home_of(*one.now) : before->home;
  const bool is_gone = !one.now || (one.now->is_trashed && !one.now->is_folder()) || is_left_out(*one.now) || !is_served(to);
  batch into;
  // An unknown home has no position to store.
  const auto at = positions_.find(is_gone ? before->home : to);
  if (at != positions_.end()) into.generation = at->second.generation;
  if (at != positions_.end() && at->second.home == at->first) into.at = at->second;
  if (is_gone) {
    lose(before->home, one.id, into);
  } else {
    take_file(to, *one.now, into);
    // The new parent folder may be one that only the next poll reports.
    const bool has_moved = !into.put.empty() && into.put.back()->parent != before->parent;
    if (into.at && has_moved && !items_.contains(into.put.back()->parent)) into.at->is_behind = true;
  }
  if (auto done = apply(std::move(into)); !done) say(done.error().why.public_text);
}

namespace {

/// For all channels together. A channel that is not closed by then expires within a day.
constexpr std::chrono::seconds longest_closing{2};

}  // namespace

void follower::open_channels(const std::stop_token& stop) {
  {
    // No notifications arrive during a check of the configuration, or in a server that speaks over stdio.
    const std::lock_guard lock(mutex_);
    if (options_.notices.empty() || !is_listening_) return;
  }
  for (const auto& home : homes()) {
    const auto now = channels::clock::now();
    const auto& at = position_of(home);
    if (stop.stop_requested() || !at.is_crawled || at.start.empty() || !channels_.needs_one(home, now)) continue;
    auto asked = channels::request_for(home, at.start, options_.notices);
    if (!asked) return say(asked.error().public_text);
    channels_.expect(home, *asked, now);
    const auto answer = options_.from->watch(*asked, errand_of(stop, drive::lane::polling));
    if (!answer) {
      // Polling continues, and finds all changes without notifications.
      channels_.refused(home, now);
      say(word_for_home(home) + ": Drive sends no change notifications: " + words_for_log(answer.error().why));
      continue;
    }
    if (const auto before = channels_.opened(home, *answer, now)) {
      const auto stopped = options_.from->stop(*before, errand_of(stop, drive::lane::polling));
      if (!stopped) say("a notification channel could not be closed, and will expire: " + stopped.error().why.public_text);
    }
  }
}

void follower::close_channels() {
  const auto until = clock::now() + longest_closing;
  for (const auto& one : channels_.close_all()) {
    if (clock::now() >= until) return say("not all notification channels could be closed in time; the others will expire");
    drive::errand how;
    how.until = until;
    how.of = drive::lane::polling;
    const auto stopped = options_.from->stop(one, how);
    if (!stopped) say("a notification channel could not be closed, and will expire: " + words_for_log(stopped.error().why));
  }
}

}  // namespace hondana::gdrive

/// The requests of a polling round: root folder, shared drives, full listings, and changes.

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include <hondana/clock.hpp>

#include "sources/gdrive/address.hpp"
#include "sources/gdrive/drive/client.hpp"
#include "sources/gdrive/follower.hpp"

namespace hondana::gdrive {
namespace {

constexpr std::chrono::minutes between_looks_at_drives{10};
constexpr std::size_t most_drives = 10'000;

}  // namespace

drive::answer<void> follower::find_root(const std::stop_token& stop) {
  // The credentials can change while the server runs, so each round checks whose Drive it is.
  const auto asking = who_asks();
  const auto found = options_.from->file("root", errand_of(stop, drive::lane::polling));
  if (!found) {
    if (asking != who_ && is_ours_) {
      say("the credentials have changed: cached files are not served until Drive confirms the same account");
      is_ours_ = false;
      const std::lock_guard lock(mutex_);
      latest_.reset();
      sure_at_.reset();
    }
    return tl::unexpected(found.error());
  }
  result<void> put;
  const bool is_other = !root_.empty() && root_ != found->id;
  if (root_ != found->id) put = options_.where->put_root(found->id);
  // If the credentials changed during the request, the account is unknown.
  const auto who = who_asks() == asking ? asking : std::string();
  if (put && who != who_) put = options_.where->put_who(who);
  if (!put) {
    drive::refusal why;
    why.why = std::move(put.error());
    return tl::unexpected(std::move(why));
  }
  who_ = who;
  is_dirty_ = is_dirty_ || root_ != found->id || !is_ours_;
  root_ = found->id;
  is_ours_ = true;
  if (is_other) forget_all();
  return {};
}

void follower::forget_all() {
  say("the account has changed: the cache is cleared, and all files are listed again");
  for (const auto& [home, at] : positions_) channels_.forget(home);
  items_.clear();
  parents_.reset();
  positions_.clear();
  drives_.clear();
  looks_.clear();
  sheets_.clear();
  are_drives_due_ = true;
  {
    const std::lock_guard lock(mutex_);
    heard_.clear();
    problems_.clear();
    full_.clear();
    sure_at_.reset();
    is_ready_ = false;
  }
  keep_full();
  publish();
}

drive::answer<void> follower::find_drives(const std::stop_token& stop) {
  if (!options_.has_shared_drives) return {};
  if (!are_drives_due_ && clock::now() - drives_at_ < between_looks_at_drives) return {};
  std::vector<drive::shared_drive> all;
  std::string token;
  std::size_t pages = 0;
  do {
    if (++pages > most_pages) return tl::unexpected(endless("shared drives"));
    auto page = options_.from->drives(token, errand_of(stop, drive::lane::polling));
    if (!page && page.error().what == drive::trouble::scope_missing) {
      mind(std::string(list_of_drives), &page.error());
      return {};
    }
    if (!page) return tl::unexpected(std::move(page.error()));
    tell_odd(std::string(list_of_drives), page->odd);
    for (auto& one : page->drives) all.push_back(std::move(one));
    token = std::move(page->next);
  } while (!token.empty() && all.size() < most_drives);
  mind(std::string(list_of_drives), nullptr);
  are_drives_due_ = false;
  drives_at_ = clock::now();
  if (all == drives_) return {};
  std::vector<std::string> gone;
  std::vector<std::string> come;
  for (const auto& now : all) {
    const bool is_known = std::any_of(drives_.begin(), drives_.end(), [&now](const auto& one) { return one.id == now.id; });
    if (!is_known) come.push_back(now.id);
  }
  for (const auto& one : drives_) {
    const bool is_there = std::any_of(all.begin(), all.end(), [&one](const auto& now) { return now.id == one.id; });
    if (!is_there) gone.push_back(one.id);
  }
  // A file that seemed to be shared individually may be in a new drive that is not served. A file in a removed drive may be
  // shared individually. Only a new full listing shows this. It is scheduled before the new list of drives is stored, so that a
  // restart does not lose it.
  drives_.swap(all);
  const bool has_unserved = std::any_of(come.begin(), come.end(), [this](const auto& id) { return !is_served(id); });
  drives_.swap(all);
  are_drives_due_ = true;
  if (has_unserved || !gone.empty()) {
    batch again;
    list_anew({}, again);
    HONDANA_TRY(apply(std::move(again)));
  }
  auto put = options_.where->put_drives(all);
  for (const auto& id : gone) {
    if (put) put = options_.where->forget_home(id);
  }
  if (!put) {
    drive::refusal why;
    why.why = std::move(put.error());
    return tl::unexpected(std::move(why));
  }
  for (const auto& id : gone) {
    mind(id, nullptr);
    {
      const std::lock_guard lock(mutex_);
      full_.erase(id);
    }
    keep_full();
    channels_.forget(id);
    say(word_for_home(id) + " no longer exists");
    positions_.erase(id);
    std::erase_if(items_, [&id](const auto& one) { return one.second.what->home == id; });
  }
  parents_.reset();
  drives_ = std::move(all);
  are_drives_due_ = false;
  is_dirty_ = true;
  return {};
}

std::vector<std::string> follower::homes() const {
  const auto is_wanted = [this](std::string_view slug) {
    const auto& all = options_.wanted;
    return all.empty() || std::find(all.begin(), all.end(), slug) != all.end();
  };
  std::vector<std::string> out;
  if (is_wanted(my_drive) || is_wanted(shared_with_me)) out.emplace_back();
  if (!options_.has_shared_drives) return out;
  for (const auto& [id, slug] : slugs_of(drives_)) {
    if (is_wanted(slug)) out.push_back(id);
  }
  return out;
}

result<void> follower::forget_unfollowed() {
  const auto all = homes();
  std::set<std::string> others;
  const auto look = [&](const std::string& home) {
    if (std::find(all.begin(), all.end(), home) == all.end()) others.insert(home);
  };
  for (const auto& [home, at] : positions_) look(home);
  for (const auto& [id, one] : items_) look(one.what->home);
  for (const auto& home : others) {
    HONDANA_TRY(options_.where->forget_home(home));
    positions_.erase(home);
    std::erase_if(items_, [&home](const auto& one) { return one.second.what->home == home; });
  }
  return {};
}

namespace {

/// Folders that may fail in one round. The next round begins with others.
constexpr std::size_t most_refused_looks = 20;
/// Consecutive full listings after a missed folder, since in a busy Drive each one may miss something.
constexpr int most_lists_again = 2;
/// Of the folders that may fail in one round: those with errors that may take minutes each.
constexpr std::size_t most_slow_looks = 2;

/// Whether an error concerns all requests, and not only one drive.
bool concerns_all(const drive::refusal& why) noexcept {
  return why.what != drive::trouble::not_found && why.what != drive::trouble::forbidden && why.what != drive::trouble::gone &&
         why.what != drive::trouble::bad_request && why.what != drive::trouble::malformed;
}

/// Whether an error that `concerns_all` may still be limited to one drive: Google answered, or began to, and the next drive may
/// work.
bool may_be_of_one(const drive::refusal& why) noexcept {
  using drive::trouble;
  const bool has_answered = why.what == trouble::unavailable && why.status != 0;
  return has_answered || why.what == trouble::busy || why.what == trouble::stalled || why.what == trouble::timed_out ||
         why.what == trouble::too_large;
}

std::string time_since(std::chrono::steady_clock::time_point begun) {
  const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(monotonic_clock::now() - begun);
  return std::to_string(took.count()) + " ms";
}

drive::refusal cancelled() {
  drive::refusal why;
  why.what = drive::trouble::cancelled;
  why.why = {errc::cancelled, "The source was stopped.", {}};
  return why;
}

}  // namespace

drive::refusal follower::endless(const std::string& what) {
  drive::refusal why;
  why.what = drive::trouble::malformed;
  why.why = {errc::broken_protocol, "Drive's list of " + what + " does not end.", {}};
  return why;
}

drive::answer<bool> follower::round(const std::stop_token& stop) {
  HONDANA_TRY(find_root(stop));
  HONDANA_TRY(find_drives(stop));
  look_for_wanted();
  const bool was_dirty = is_dirty_;
  bool is_changed = was_dirty;
  std::optional<drive::refusal> first;
  for (const auto& home : homes()) {
    if (stop.stop_requested()) return tl::unexpected(cancelled());
    const auto& at = position_of(home);
    auto done = at.is_crawling || !at.is_crawled ? crawl(home, stop) : poll(home, stop);
    // The poll found a removed folder, whose files may still exist elsewhere.
    if (done && position_of(home).is_crawling) done = crawl(home, stop);
    // Files that appeared during the listing may be in folders that did, too.
    if (done && position_of(home).is_behind) done = poll(home, stop);
    if (!done && may_be_of_one(done.error())) {
      // The other drives are still followed, so that files deleted there disappear.
      if (!first) {
        first = done.error();
        first->why.public_text = word_for_home(home) + ": " + first->why.public_text;
      }
      if (is_dirty_) publish();
      continue;
    }
    if (!done && concerns_all(done.error())) return tl::unexpected(std::move(done.error()));
    mind(home, done ? nullptr : &done.error());
    if (!done) are_drives_due_ = true;
    is_changed = is_changed || is_dirty_;
    if (is_dirty_) publish();
  }
  const auto looked = look_into_folders(stop);
  open_channels(stop);
  if (!looked) return tl::unexpected(looked.error());
  if (first) return tl::unexpected(std::move(*first));
  return is_changed || is_dirty_;
}

drive::answer<void> follower::crawl(const std::string& home, const std::stop_token& stop) {
  const auto begun = clock::now();
  const auto requests = options_.from->requests();
  auto at = position_of(home);
  if (!at.is_crawling || at.crawl_start.empty()) {
    // The token is requested before the listing, so that changes during it are not lost.
    HONDANA_TRY(auto token, options_.from->start_token(home, errand_of(stop, drive::lane::crawling)));
    at.crawl_start = std::move(token);
    at.next_page.clear();
    at.is_crawling = true;
    ++at.generation;
    {
      const std::lock_guard lock(mutex_);
      full_.erase(home);
    }
    batch beginning;
    beginning.at = at;
    HONDANA_TRY(apply(std::move(beginning)));
    keep_full();
  } else if (!at.next_page.empty()) {
    say("the listing of " + word_for_home(home) + " resumes where it stopped");
  }
  std::size_t files = 0;
  std::size_t pages = 0;
  is_page_full_ = false;
  const bool is_again = at.is_crawled;
  drive::list_request what;
  what.q = drive::query().trashed(false).text();
  what.in = home.empty() ? drive::list_request::corpus::user : drive::list_request::corpus::drive;
  what.drive_id = home;
  for (;;) {
    if (stop.stop_requested()) return tl::unexpected(cancelled());
    if (++pages > most_pages) return tl::unexpected(endless("files"));
    what.page_token = at.next_page;
    auto page = options_.from->files(what, errand_of(stop, drive::lane::crawling));
    if (!page && page.error().what == drive::trouble::page_token_gone && !at.next_page.empty()) {
      say("the listing of " + word_for_home(home) + " cannot be resumed and starts over");
      at.next_page.clear();
      continue;
    }
    if (!page) return tl::unexpected(std::move(page.error()));
    tell_odd(home, page->odd);
    batch into;
    into.generation = at.generation;
    for (const auto& one : page->files) {
      // Files of a shared drive come with the listing of that drive.
      if (home_of(one) != home || one.id == root_ || is_left_out(one)) continue;
      into.put.push_back(item_of(one, home));
      ++files;
    }
    // If the limit is reached during the first listing, the listing stops. A repeated one continues to its end without adding
    // files, since only it shows which files no longer exist.
    at.next_page = is_page_full_ && !is_again ? std::string() : std::move(page->next);
    const bool is_last = at.next_page.empty();
    if (is_last) {
      at.is_crawling = false;
      at.is_crawled = true;
      at.is_behind = true;
      at.start = std::move(at.crawl_start);
      at.crawl_start.clear();
      std::set<std::string_view> now;
      for (const auto& one : into.put) now.insert(one->id);
      for (const auto& [id, one] : items_) {
        const bool is_unseen = one.what->home == home && one.generation != at.generation && !now.contains(id);
        // An incomplete listing never removes files.
        if (is_unseen && (!is_page_full_ || is_again)) into.gone.push_back(id);
      }
    }
    into.at = at;
    HONDANA_TRY(apply(std::move(into)));
    {
      const std::lock_guard lock(mutex_);
      state_ = "listing " + word_for_home(home) + ": " + std::to_string(files) + " files so far";
    }
    if (is_last) break;
  }
  say(word_for_home(home) + ": " + std::to_string(files) + " files listed with " +
      std::to_string(options_.from->requests() - requests) + " requests in " + time_since(begun));
  return {};
}

drive::answer<void> follower::poll(const std::string& home, const std::stop_token& stop) {
  drive::changes_request what;
  what.drive_id = home;
  std::size_t pages = 0;
  const bool is_of_list = position_of(home).is_behind;
  for (;;) {
    if (stop.stop_requested()) return tl::unexpected(cancelled());
    if (++pages > most_pages) return tl::unexpected(endless("changes"));
    what.page_token = position_of(home).start;
    auto page = options_.from->changes(what, errand_of(stop, drive::lane::polling));
    if (!page && page.error().what == drive::trouble::page_token_gone) {
      say("the changes of " + word_for_home(home) +
          " since the last poll have expired: all files are listed again, and cached ones are served meanwhile");
      return crawl(home, stop);
    }
    if (!page) return tl::unexpected(std::move(page.error()));
    tell_odd(home, page->odd);
    batch into;
    into.at = position_of(home);
    into.generation = into.at->generation;
    bool misses_folders = false;
    for (const auto& one : page->changes) {
      misses_folders = misses_folders || (is_of_list && is_lost_folder(home, one, into));
      take_change(home, one, into);
      if (is_of_list) look_again(home, one, into);
    }
    if (!is_of_list) lists_again_.erase(home);
    if (misses_folders && !is_full() && has_orphans(home) && lists_again_[home]++ < most_lists_again) list_anew(home, into);
    const bool is_last = page->next.empty();
    const auto& token = is_last ? page->start : page->next;
    if (!token.empty()) into.at->start = token;
    into.at->is_behind = !is_last && !token.empty();
    HONDANA_TRY(apply(std::move(into)));
    if (is_last || token.empty()) return {};
  }
}

void follower::take_change(const std::string& home, const drive::change& what, batch& into) {
  if (what.of == drive::change::kind::drive) {
    are_drives_due_ = true;
    return;
  }
  if (what.is_removed || !what.now) return lose(home, what.id, into);
  take_file(home, *what.now, into);
}

void follower::look_again(const std::string& home, const drive::change& what, batch& into) const {
  if (what.of != drive::change::kind::file || what.is_removed || !what.now) return;
  const auto& now = *what.now;
  if (!now.is_folder() || now.is_trashed || is_left_out(now) || home_of(now) != home || !items_.contains(now.id)) return;
  const auto is_in = [&now](const auto& all) { return std::find(all.begin(), all.end(), now.id) != all.end(); };
  if (!is_in(into.looks_begun) && !is_in(looks_)) into.looks_begun.push_back(now.id);
}

bool follower::is_lost_folder(const std::string& home, const drive::change& what, const batch& into) {
  if (what.of != drive::change::kind::file || items_.contains(what.id)) return false;
  const bool is_gone = what.is_removed || !what.now;
  const bool is_in_bin = !is_gone && what.now->is_folder() && what.now->is_trashed && home_of(*what.now) == home;
  return (is_gone || is_in_bin) && !is_folder_of_known(what.id, into);
}

bool follower::has_orphans(const std::string& home) const {
  return std::any_of(items_.begin(), items_.end(), [&](const auto& one) {
    const auto& parent = one.second.what->parent;
    return one.second.what->home == home && !parent.empty() && parent != root_ && parent != home && !items_.contains(parent);
  });
}

void follower::take_file(const std::string& home, const drive::file& now, batch& into) {
  if (now.id == root_) return;
  const auto at_home = home_of(now);
  if (at_home != home || is_left_out(now)) {
    // The file is in another drive, whose own change log reports it if that drive is served.
    const bool is_known = items_.contains(now.id) ||
                          std::any_of(into.put.begin(), into.put.end(), [&](const auto& one) { return one->id == now.id; });
    if (is_known && (is_left_out(now) || !is_served(at_home))) lose(home, now.id, into);
    return;
  }
  const auto found = items_.find(now.id);
  const bool is_known = found != items_.end();
  if (now.is_trashed && !now.is_folder()) {
    if (is_known) lose(home, now.id, into);
    return;
  }
  // A folder leaves the trash with its contents, and the log does not report these. A trashed folder that the listing did not
  // reach is needed if known files are in it: they would otherwise be shown at the top.
  if (now.is_trashed && !is_known && !is_folder_of_known(now.id, into)) return;
  std::erase(into.gone, now.id);
  std::erase_if(into.put, [&now](const auto& one) { return one->id == now.id; });
  into.put.push_back(item_of(now, home));
  if (now.is_folder() && !is_known && !now.is_trashed) into.looks_begun.push_back(now.id);
  // Changes inside a trashed folder are not reported at any depth, so a full listing follows.
  if (is_known && found->second.what->is_trashed && !now.is_trashed) list_anew(home, into);
}

void follower::list_anew(const std::string& home, batch& into) const {
  if (!into.at) {
    const auto at = positions_.find(home);
    if (at == positions_.end() || at->second.home != home) return;
    into.at = at->second;
  }
  into.at->is_crawling = true;
  into.at->crawl_start.clear();
}

void follower::lose(const std::string& home, const std::string& id, batch& into) {
  std::erase_if(into.put, [&id](const auto& one) { return one->id == id; });
  const auto found = items_.find(id);
  // The file moved to another drive, whose log has reported it.
  if (found != items_.end() && found->second.what->home != home) return;
  if (found != items_.end()) into.gone.push_back(id);
  const bool is_folder = found != items_.end() ? found->second.what->is_folder() : is_folder_of_known(id, into);
  if (!is_folder) return;
  // Its contents were deleted with it, or are shared individually. They are not served until a full listing shows which.
  std::set<std::string> lost{id};
  const auto is_put = [&into](const std::string& other) {
    return std::any_of(into.put.begin(), into.put.end(), [&other](const auto& one) { return one->id == other; });
  };
  for (bool has_more = true; has_more;) {
    has_more = false;
    for (const auto& [other, one] : items_) {
      if (one.what->home != home || lost.contains(other) || !lost.contains(one.what->parent) || is_put(other)) continue;
      lost.insert(other);
      into.gone.push_back(other);
      has_more = true;
    }
  }
  if (lost.size() > 1 && into.at && !into.at->is_crawling) {
    into.at->is_crawling = true;
    into.at->crawl_start.clear();
  }
}

bool follower::is_folder_of_known(const std::string& id, const batch& into) {
  if (std::any_of(into.put.begin(), into.put.end(), [&id](const auto& one) { return one->parent == id; })) return true;
  if (!parents_) {
    parents_.emplace();
    for (const auto& [other, one] : items_) parents_->insert(one.what->parent);
  }
  return parents_->contains(id);
}

drive::answer<void> follower::look_into_folders(const std::stop_token& stop) {
  std::set<std::string> refused;
  std::optional<drive::refusal> first;
  std::size_t slow = 0;
  while (refused.size() < most_refused_looks && slow < most_slow_looks) {
    if (stop.stop_requested()) return tl::unexpected(cancelled());
    const auto next =
        std::find_if(looks_.rbegin(), looks_.rend(), [&refused](const auto& one) { return !refused.contains(one); });
    if (next == looks_.rend()) break;
    auto folder = *next;
    auto done = look_into(folder, stop);
    const bool is_of_this = !done && (!concerns_all(done.error()) || may_be_of_one(done.error()) ||
                                      done.error().what == drive::trouble::page_token_gone);
    if (!done && !is_of_this) return done;
    if (!done && !has_gone(folder, done.error(), stop)) {
      // Only a listing of the folder reveals its entries. It is retried after the other folders.
      refused.insert(folder);
      std::erase(looks_, folder);
      looks_.insert(looks_.begin(), folder);
      if (told_.size() < most_told && told_.insert(folder + " look").second)
        say("the entries of the new folder " + folder +
            " cannot be listed yet, and are requested again with each poll: " + words_for_log(done.error().why));
      if (!may_be_of_one(done.error())) continue;
      ++slow;
      if (!first) first = std::move(done.error());
      continue;
    }
    batch over;
    over.looks_done.push_back(std::move(folder));
    HONDANA_TRY(apply(std::move(over)));
  }
  // Known files stay current despite the failure.
  mind(std::string(new_folders), first ? &*first : nullptr);
  return {};
}

bool follower::has_gone(const std::string& folder, const drive::refusal& why, const std::stop_token& stop) const {
  const auto says_so = [](const drive::refusal& one) {
    return one.what == drive::trouble::not_found || one.what == drive::trouble::gone;
  };
  if (!says_so(why)) return false;
  // The list may lag behind the change log, so check the folder itself.
  const auto now = options_.from->file(folder, errand_about(folder, stop, drive::lane::polling));
  return !now && says_so(now.error());
}

drive::answer<void> follower::look_into(const std::string& folder, const std::stop_token& stop) {
  const auto found = items_.find(folder);
  if (found == items_.end()) return {};
  const auto home = found->second.what->home;
  drive::list_request what;
  what.q = drive::query().in_folder(folder).trashed(false).text();
  what.in = home.empty() ? drive::list_request::corpus::user : drive::list_request::corpus::drive;
  what.drive_id = home;
  std::size_t pages = 0;
  do {
    if (++pages > most_pages) return tl::unexpected(endless("files of a folder"));
    auto page = options_.from->files(what, errand_about(folder, stop, drive::lane::crawling));
    if (!page) return tl::unexpected(std::move(page.error()));
    tell_odd(home, page->odd);
    batch into;
    into.generation = position_of(home).generation;
    for (const auto& one : page->files) take_file(home, one, into);
    what.page_token = std::move(page->next);
    HONDANA_TRY(apply(std::move(into)));
    // A folder that was not listed completely is listed again.
    if (stop.stop_requested()) return tl::unexpected(cancelled());
  } while (!what.page_token.empty());
  return {};
}

}  // namespace hondana::gdrive

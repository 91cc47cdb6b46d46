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

constexpr std::chrono::minutes drive_list_interval{10};
constexpr std::size_t max_drives = 10'000;

}  // namespace

drive::api_result<void> follower::update_root(const std::stop_token& stop) {
  // The credentials can change while the server runs, so each round checks whose Drive it is.
  const auto account_before = current_account_id();
  const auto root = options_.api->get_file("root", make_call_options(stop, drive::request_priority::polling));
  if (!root) {
    if (account_before != account_id_ && is_same_account_) {
      log_line("the credentials have changed: cached files are not served until Drive confirms the same account");
      is_same_account_ = false;
      const std::lock_guard lock(mutex_);
      latest_.reset();
      verified_at_.reset();
    }
    return tl::unexpected(root.error());
  }
  result<void> stored;
  const bool is_other = !root_id_.empty() && root_id_ != root->id;
  if (root_id_ != root->id) stored = options_.store->put_root_id(root->id);
  // If the credentials changed during the request, the account is unknown.
  const auto account_id = current_account_id() == account_before ? account_before : std::string();
  if (stored && account_id != account_id_) stored = options_.store->put_account_id(account_id);
  if (!stored) {
    drive::drive_error error;
    error.details = std::move(stored.error());
    return tl::unexpected(std::move(error));
  }
  account_id_ = account_id;
  is_dirty_ = is_dirty_ || root_id_ != root->id || !is_same_account_;
  root_id_ = root->id;
  is_same_account_ = true;
  if (is_other) clear();
  return {};
}

void follower::clear() {
  log_line("the account has changed: the cache is cleared, and all files are listed again");
  for (const auto& [home, position] : positions_) channels_.remove(home);
  items_.clear();
  parents_.reset();
  positions_.clear();
  drives_.clear();
  folders_to_list_.clear();
  sheets_.clear();
  needs_drive_list_ = true;
  {
    const std::lock_guard lock(mutex_);
    findings_.clear();
    problems_.clear();
    full_homes_.clear();
    verified_at_.reset();
    is_ready_ = false;
  }
  store_full_homes();
  publish();
}

drive::api_result<void> follower::update_drives(const std::stop_token& stop) {
  if (!options_.has_shared_drives) return {};
  if (!needs_drive_list_ && clock::now() - drives_listed_at_ < drive_list_interval) return {};
  std::vector<drive::shared_drive> drives;
  std::string token;
  std::size_t pages = 0;
  do {
    if (++pages > max_pages) return tl::unexpected(endless_list_error("shared drives"));
    auto page = options_.api->list_drives(token, make_call_options(stop, drive::request_priority::polling));
    if (!page && page.error().kind == drive::error_kind::insufficient_scope) {
      record_problem(std::string(drive_list_key), &page.error());
      return {};
    }
    if (!page) return tl::unexpected(std::move(page.error()));
    log_warnings(std::string(drive_list_key), page->warnings);
    for (auto& drive : page->drives) drives.push_back(std::move(drive));
    token = std::move(page->next_page_token);
  } while (!token.empty() && drives.size() < max_drives);
  record_problem(std::string(drive_list_key), nullptr);
  needs_drive_list_ = false;
  drives_listed_at_ = clock::now();
  std::sort(drives.begin(), drives.end(), [](const auto& a, const auto& b) { return a.id < b.id; });
  // After a restart, `drives_` has only what the store has. Nothing else of a drive is used.
  const bool is_same = std::equal(drives.begin(), drives.end(), drives_.begin(), drives_.end(),
                                  [](const auto& a, const auto& b) { return a.id == b.id && a.name == b.name; });
  if (is_same) return {};
  std::vector<std::string> removed_ids;
  std::vector<std::string> added_ids;
  for (const auto& listed_drive : drives) {
    const bool is_known = std::any_of(drives_.begin(), drives_.end(),
                                      [&listed_drive](const auto& known_drive) { return known_drive.id == listed_drive.id; });
    if (!is_known) added_ids.push_back(listed_drive.id);
  }
  for (const auto& known_drive : drives_) {
    const bool is_listed =
        std::any_of(drives.begin(), drives.end(), [&known_drive](const auto& listed) { return listed.id == known_drive.id; });
    if (!is_listed) removed_ids.push_back(known_drive.id);
  }
  // A file that seemed to be shared individually may be in a new drive that is not served. A file in a removed drive may be
  // shared individually. Only a new full listing shows this. It is scheduled before the new list of drives is stored, so that a
  // restart does not lose it.
  drives_.swap(drives);
  const bool has_unserved = std::any_of(added_ids.begin(), added_ids.end(), [this](const auto& id) { return !is_served(id); });
  drives_.swap(drives);
  needs_drive_list_ = true;
  if (has_unserved || !removed_ids.empty()) {
    update_batch relisting;
    schedule_full_listing({}, relisting);
    HONDANA_TRY(apply(std::move(relisting)));
  }
  auto stored = options_.store->put_drives(drives);
  for (const auto& id : removed_ids) {
    if (stored) stored = options_.store->remove_home(id);
  }
  if (!stored) {
    drive::drive_error error;
    error.details = std::move(stored.error());
    return tl::unexpected(std::move(error));
  }
  for (const auto& id : removed_ids) {
    record_problem(id, nullptr);
    {
      const std::lock_guard lock(mutex_);
      full_homes_.erase(id);
    }
    store_full_homes();
    channels_.remove(id);
    log_line(describe_home(id) + " no longer exists");
    positions_.erase(id);
    std::erase_if(items_, [&id](const auto& entry) { return entry.second.item->home == id; });
  }
  parents_.reset();
  drives_ = std::move(drives);
  needs_drive_list_ = false;
  is_dirty_ = true;
  return {};
}

std::vector<std::string> follower::served_homes() const {
  const auto is_selected = [this](std::string_view slug) {
    const auto& selected = options_.drive_slugs;
    return selected.empty() || std::find(selected.begin(), selected.end(), slug) != selected.end();
  };
  std::vector<std::string> out;
  if (is_selected(my_drive) || is_selected(shared_with_me)) out.emplace_back();
  if (!options_.has_shared_drives) return out;
  for (const auto& [id, slug] : make_slugs(drives_)) {
    if (is_selected(slug)) out.push_back(id);
  }
  return out;
}

result<void> follower::remove_unserved_homes() {
  const auto served = served_homes();
  std::set<std::string> unserved;
  const auto check_home = [&](const std::string& home) {
    if (std::find(served.begin(), served.end(), home) == served.end()) unserved.insert(home);
  };
  for (const auto& [home, position] : positions_) check_home(home);
  for (const auto& [id, tracked] : items_) check_home(tracked.item->home);
  for (const auto& home : unserved) {
    HONDANA_TRY(options_.store->remove_home(home));
    positions_.erase(home);
    std::erase_if(items_, [&home](const auto& entry) { return entry.second.item->home == home; });
  }
  return {};
}

namespace {

/// Folders that may fail in one round. The next round begins with others.
constexpr std::size_t max_failed_listings = 20;
/// Consecutive full listings after a missed folder, since in a busy Drive each one may miss something.
constexpr int max_relistings = 2;
/// Of the folders that may fail in one round: those with errors that may take minutes each.
constexpr std::size_t max_slow_listings = 2;

/// Whether an error concerns all requests, and not only one drive.
bool affects_all_requests(const drive::drive_error& error) noexcept {
  return error.kind != drive::error_kind::not_found && error.kind != drive::error_kind::forbidden &&
         error.kind != drive::error_kind::gone && error.kind != drive::error_kind::bad_request &&
         error.kind != drive::error_kind::malformed;
}

/// Whether an error that `affects_all_requests` may still be limited to one drive: Google answered, or began to, and the next
/// drive may work.
bool may_affect_one_drive(const drive::drive_error& error) noexcept {
  using drive::error_kind;
  const bool has_answered = error.kind == error_kind::unavailable && error.status != 0;
  return has_answered || error.kind == error_kind::busy || error.kind == error_kind::stalled ||
         error.kind == error_kind::timed_out || error.kind == error_kind::too_large;
}

std::string format_elapsed(std::chrono::steady_clock::time_point start) {
  const auto elapsed = std::chrono::duration_cast<std::chrono::milliseconds>(monotonic_clock::now() - start);
  return std::to_string(elapsed.count()) + " ms";
}

drive::drive_error cancelled_error() {
  drive::drive_error error;
  error.kind = drive::error_kind::cancelled;
  error.details = {errc::cancelled, "The source was stopped.", {}};
  return error;
}

}  // namespace

drive::drive_error follower::endless_list_error(const std::string& subject) {
  drive::drive_error error;
  error.kind = drive::error_kind::malformed;
  error.details = {errc::protocol_error, "Drive's list of " + subject + " does not end.", {}};
  return error;
}

drive::api_result<bool> follower::run_round(const std::stop_token& stop) {
  HONDANA_TRY(update_root(stop));
  HONDANA_TRY(update_drives(stop));
  check_drive_slugs();
  const bool was_dirty = is_dirty_;
  bool is_changed = was_dirty;
  std::optional<drive::drive_error> first_error;
  for (const auto& home : served_homes()) {
    if (stop.stop_requested()) return tl::unexpected(cancelled_error());
    const auto& position = position_of(home);
    auto outcome = position.is_crawling || !position.is_crawled ? crawl(home, stop) : poll(home, stop);
    // The poll found a removed folder, whose files may still exist elsewhere.
    if (outcome && position_of(home).is_crawling) outcome = crawl(home, stop);
    // Files that appeared during the listing may be in folders that did, too.
    if (outcome && position_of(home).is_behind) outcome = poll(home, stop);
    if (!outcome && may_affect_one_drive(outcome.error())) {
      // The other drives are still followed, so that files deleted there disappear.
      if (!first_error) {
        first_error = outcome.error();
        first_error->details.public_text = describe_home(home) + ": " + first_error->details.public_text;
      }
      if (is_dirty_) publish();
      continue;
    }
    if (!outcome && affects_all_requests(outcome.error())) return tl::unexpected(std::move(outcome.error()));
    record_problem(home, outcome ? nullptr : &outcome.error());
    if (!outcome) needs_drive_list_ = true;
    is_changed = is_changed || is_dirty_;
    if (is_dirty_) publish();
  }
  const auto folders_listed = list_new_folders(stop);
  open_channels(stop);
  if (!folders_listed) return tl::unexpected(folders_listed.error());
  if (first_error) return tl::unexpected(std::move(*first_error));
  return is_changed || is_dirty_;
}

drive::api_result<void> follower::crawl(const std::string& home, const std::stop_token& stop) {
  const auto start = clock::now();
  const auto requests = options_.api->request_count();
  auto position = position_of(home);
  if (!position.is_crawling || position.crawl_start_token.empty()) {
    // The token is requested before the listing, so that changes during it are not lost.
    HONDANA_TRY(auto token,
                options_.api->get_start_page_token(home, make_call_options(stop, drive::request_priority::crawling)));
    position.crawl_start_token = std::move(token);
    position.next_page_token.clear();
    position.is_crawling = true;
    ++position.generation;
    {
      const std::lock_guard lock(mutex_);
      full_homes_.erase(home);
    }
    update_batch beginning;
    beginning.position = position;
    HONDANA_TRY(apply(std::move(beginning)));
    store_full_homes();
  } else if (!position.next_page_token.empty()) {
    log_line("the listing of " + describe_home(home) + " resumes where it stopped");
  }
  std::size_t files = 0;
  std::size_t pages = 0;
  is_limit_hit_ = false;
  const bool is_relisting = position.is_crawled;
  drive::list_request request;
  request.q = drive::query().trashed(false).text();
  request.corpus = home.empty() ? drive::list_request::search_corpus::user : drive::list_request::search_corpus::drive;
  request.drive_id = home;
  for (;;) {
    if (stop.stop_requested()) return tl::unexpected(cancelled_error());
    if (++pages > max_pages) return tl::unexpected(endless_list_error("files"));
    request.page_token = position.next_page_token;
    auto page = options_.api->list_files(request, make_call_options(stop, drive::request_priority::crawling));
    if (!page && page.error().kind == drive::error_kind::page_token_gone && !position.next_page_token.empty()) {
      log_line("the listing of " + describe_home(home) + " cannot be resumed and starts over");
      position.next_page_token.clear();
      continue;
    }
    if (!page) return tl::unexpected(std::move(page.error()));
    log_warnings(home, page->warnings);
    update_batch batch;
    batch.generation = position.generation;
    for (const auto& file : page->files) {
      // Files of a shared drive come with the listing of that drive.
      if (home_of(file) != home || file.id == root_id_ || is_excluded(file)) continue;
      batch.upserts.push_back(make_item(file, home));
      ++files;
    }
    // If the limit is reached during the first listing, the listing stops. A repeated one continues to its end without adding
    // files, since only it shows which files no longer exist.
    position.next_page_token = is_limit_hit_ && !is_relisting ? std::string() : std::move(page->next_page_token);
    const bool is_last = position.next_page_token.empty();
    if (is_last) {
      position.is_crawling = false;
      position.is_crawled = true;
      position.is_behind = true;
      position.start_page_token = std::move(position.crawl_start_token);
      position.crawl_start_token.clear();
      std::set<std::string_view> page_ids;
      for (const auto& item : batch.upserts) page_ids.insert(item->id);
      for (const auto& [id, tracked] : items_) {
        const bool is_unseen =
            tracked.item->home == home && tracked.generation != position.generation && !page_ids.contains(id);
        // An incomplete listing never removes files.
        if (is_unseen && (!is_limit_hit_ || is_relisting)) batch.removed_ids.push_back(id);
      }
    }
    batch.position = position;
    HONDANA_TRY(apply(std::move(batch)));
    {
      const std::lock_guard lock(mutex_);
      progress_text_ = "listing " + describe_home(home) + ": " + std::to_string(files) + " files so far";
    }
    if (is_last) break;
  }
  log_line(describe_home(home) + ": " + std::to_string(files) + " files listed with " +
           std::to_string(options_.api->request_count() - requests) + " requests in " + format_elapsed(start));
  return {};
}

drive::api_result<void> follower::poll(const std::string& home, const std::stop_token& stop) {
  drive::changes_request request;
  request.drive_id = home;
  std::size_t pages = 0;
  const bool is_after_listing = position_of(home).is_behind;
  for (;;) {
    if (stop.stop_requested()) return tl::unexpected(cancelled_error());
    if (++pages > max_pages) return tl::unexpected(endless_list_error("changes"));
    request.page_token = position_of(home).start_page_token;
    auto page = options_.api->list_changes(request, make_call_options(stop, drive::request_priority::polling));
    if (!page && page.error().kind == drive::error_kind::page_token_gone) {
      log_line("the changes of " + describe_home(home) +
               " since the last poll have expired: all files are listed again, and cached ones are served meanwhile");
      return crawl(home, stop);
    }
    if (!page) return tl::unexpected(std::move(page.error()));
    log_warnings(home, page->warnings);
    update_batch batch;
    batch.position = position_of(home);
    batch.generation = batch.position->generation;
    bool misses_folders = false;
    for (const auto& change : page->changes) {
      misses_folders = misses_folders || (is_after_listing && is_missed_folder(home, change, batch));
      apply_change(home, change, batch);
      if (is_after_listing) schedule_folder_listing(home, change, batch);
    }
    if (!is_after_listing) relist_counts_.erase(home);
    if (misses_folders && !is_limit_reached() && has_orphans(home) && relist_counts_[home]++ < max_relistings)
      schedule_full_listing(home, batch);
    const bool is_last = page->next_page_token.empty();
    const auto& token = is_last ? page->new_start_page_token : page->next_page_token;
    if (!token.empty()) batch.position->start_page_token = token;
    batch.position->is_behind = !is_last && !token.empty();
    HONDANA_TRY(apply(std::move(batch)));
    if (is_last || token.empty()) return {};
  }
}

void follower::apply_change(const std::string& home, const drive::change& change, update_batch& batch) {
  if (change.kind == drive::change::change_kind::drive) {
    needs_drive_list_ = true;
    return;
  }
  if (change.is_removed || !change.current_file) return remove_item(home, change.id, batch);
  apply_file(home, *change.current_file, batch);
}

void follower::schedule_folder_listing(const std::string& home, const drive::change& change, update_batch& batch) const {
  if (change.kind != drive::change::change_kind::file || change.is_removed || !change.current_file) return;
  const auto& now = *change.current_file;
  if (!now.is_folder() || now.is_trashed || is_excluded(now) || home_of(now) != home || !items_.contains(now.id)) return;
  const auto is_in = [&now](const auto& folders) { return std::find(folders.begin(), folders.end(), now.id) != folders.end(); };
  if (!is_in(batch.folders_to_list) && !is_in(folders_to_list_)) batch.folders_to_list.push_back(now.id);
}

bool follower::is_missed_folder(const std::string& home, const drive::change& change, const update_batch& batch) {
  if (change.kind != drive::change::change_kind::file || items_.contains(change.id)) return false;
  const bool is_gone = change.is_removed || !change.current_file;
  const bool is_in_trash =
      !is_gone && change.current_file->is_folder() && change.current_file->is_trashed && home_of(*change.current_file) == home;
  return (is_gone || is_in_trash) && !has_known_children(change.id, batch);
}

bool follower::has_orphans(const std::string& home) const {
  return std::any_of(items_.begin(), items_.end(), [&](const auto& entry) {
    const auto& parent = entry.second.item->parent;
    return entry.second.item->home == home && !parent.empty() && parent != root_id_ && parent != home &&
           !items_.contains(parent);
  });
}

void follower::apply_file(const std::string& home, const drive::file& file, update_batch& batch) {
  if (file.id == root_id_) return;
  const auto file_home = home_of(file);
  if (file_home != home || is_excluded(file)) {
    // The file is in another drive, whose own change log reports it if that drive is served.
    const bool is_known = items_.contains(file.id) || std::any_of(batch.upserts.begin(), batch.upserts.end(),
                                                                  [&](const auto& item) { return item->id == file.id; });
    if (is_known && (is_excluded(file) || !is_served(file_home))) remove_item(home, file.id, batch);
    return;
  }
  const auto entry = items_.find(file.id);
  const bool is_known = entry != items_.end();
  if (file.is_trashed && !file.is_folder()) {
    if (is_known) remove_item(home, file.id, batch);
    return;
  }
  // A folder leaves the trash with its contents, and the log does not report these. A trashed folder that the listing did not
  // reach is needed if known files are in it: they would otherwise be shown at the top.
  if (file.is_trashed && !is_known && !has_known_children(file.id, batch)) return;
  std::erase(batch.removed_ids, file.id);
  std::erase_if(batch.upserts, [&file](const auto& item) { return item->id == file.id; });
  batch.upserts.push_back(make_item(file, home));
  if (file.is_folder() && !is_known && !file.is_trashed) batch.folders_to_list.push_back(file.id);
  // Changes inside a trashed folder are not reported at any depth, so a full listing follows.
  if (is_known && entry->second.item->is_trashed && !file.is_trashed) schedule_full_listing(home, batch);
}

void follower::schedule_full_listing(const std::string& home, update_batch& batch) const {
  if (!batch.position) {
    const auto position = positions_.find(home);
    if (position == positions_.end() || position->second.home != home) return;
    batch.position = position->second;
  }
  batch.position->is_crawling = true;
  batch.position->crawl_start_token.clear();
}

void follower::remove_item(const std::string& home, const std::string& id, update_batch& batch) {
  std::erase_if(batch.upserts, [&id](const auto& item) { return item->id == id; });
  const auto entry = items_.find(id);
  // The file moved to another drive, whose log has reported it.
  if (entry != items_.end() && entry->second.item->home != home) return;
  if (entry != items_.end()) batch.removed_ids.push_back(id);
  const bool is_folder = entry != items_.end() ? entry->second.item->is_folder() : has_known_children(id, batch);
  if (!is_folder) return;
  // Its contents were deleted with it, or are shared individually. They are not served until a full listing shows which.
  std::set<std::string> removed_ids{id};
  const auto is_upserted = [&batch](const std::string& item_id) {
    return std::any_of(batch.upserts.begin(), batch.upserts.end(),
                       [&item_id](const auto& item) { return item->id == item_id; });
  };
  for (bool has_more = true; has_more;) {
    has_more = false;
    for (const auto& [child_id, tracked] : items_) {
      if (tracked.item->home != home || removed_ids.contains(child_id) || !removed_ids.contains(tracked.item->parent) ||
          is_upserted(child_id))
        continue;
      removed_ids.insert(child_id);
      batch.removed_ids.push_back(child_id);
      has_more = true;
    }
  }
  if (removed_ids.size() > 1 && batch.position && !batch.position->is_crawling) {
    batch.position->is_crawling = true;
    batch.position->crawl_start_token.clear();
  }
}

bool follower::has_known_children(const std::string& id, const update_batch& batch) {
  if (std::any_of(batch.upserts.begin(), batch.upserts.end(), [&id](const auto& item) { return item->parent == id; }))
    return true;
  if (!parents_) {
    parents_.emplace();
    for (const auto& [other, tracked] : items_) parents_->insert(tracked.item->parent);
  }
  return parents_->contains(id);
}

drive::api_result<void> follower::list_new_folders(const std::stop_token& stop) {
  std::set<std::string> failed;
  std::optional<drive::drive_error> first_error;
  std::size_t slow = 0;
  while (failed.size() < max_failed_listings && slow < max_slow_listings) {
    if (stop.stop_requested()) return tl::unexpected(cancelled_error());
    const auto next = std::find_if(folders_to_list_.rbegin(), folders_to_list_.rend(),
                                   [&failed](const auto& candidate) { return !failed.contains(candidate); });
    if (next == folders_to_list_.rend()) break;
    auto folder = *next;
    auto outcome = list_folder(folder, stop);
    const bool is_folder_error = !outcome && (!affects_all_requests(outcome.error()) || may_affect_one_drive(outcome.error()) ||
                                              outcome.error().kind == drive::error_kind::page_token_gone);
    if (!outcome && !is_folder_error) return outcome;
    if (!outcome && !is_deleted(folder, outcome.error(), stop)) {
      // Only a listing of the folder reveals its entries. It is retried after the other folders.
      failed.insert(folder);
      std::erase(folders_to_list_, folder);
      folders_to_list_.insert(folders_to_list_.begin(), folder);
      if (logged_once_.size() < max_logged_once && logged_once_.insert(folder + " look").second)
        log_line("the entries of the new folder " + folder +
                 " cannot be listed yet, and are requested again with each poll: " + log_text(outcome.error().details));
      if (!may_affect_one_drive(outcome.error())) continue;
      ++slow;
      if (!first_error) first_error = std::move(outcome.error());
      continue;
    }
    update_batch completed;
    completed.listed_folders.push_back(std::move(folder));
    HONDANA_TRY(apply(std::move(completed)));
  }
  // Known files stay current despite the failure.
  record_problem(std::string(new_folders_key), first_error ? &*first_error : nullptr);
  return {};
}

bool follower::is_deleted(const std::string& folder, const drive::drive_error& error, const std::stop_token& stop) const {
  const auto is_not_found = [](const drive::drive_error& candidate) {
    return candidate.kind == drive::error_kind::not_found || candidate.kind == drive::error_kind::gone;
  };
  if (!is_not_found(error)) return false;
  // The list may lag behind the change log, so check the folder itself.
  const auto current = options_.api->get_file(folder, make_file_options(folder, stop, drive::request_priority::polling));
  return !current && is_not_found(current.error());
}

drive::api_result<void> follower::list_folder(const std::string& folder, const std::stop_token& stop) {
  const auto entry = items_.find(folder);
  if (entry == items_.end()) return {};
  const auto home = entry->second.item->home;
  drive::list_request request;
  request.q = drive::query().in_folder(folder).trashed(false).text();
  request.corpus = home.empty() ? drive::list_request::search_corpus::user : drive::list_request::search_corpus::drive;
  request.drive_id = home;
  std::size_t pages = 0;
  do {
    if (++pages > max_pages) return tl::unexpected(endless_list_error("files of a folder"));
    auto page = options_.api->list_files(request, make_file_options(folder, stop, drive::request_priority::crawling));
    if (!page) return tl::unexpected(std::move(page.error()));
    log_warnings(home, page->warnings);
    update_batch batch;
    batch.generation = position_of(home).generation;
    for (const auto& file : page->files) apply_file(home, file, batch);
    request.page_token = std::move(page->next_page_token);
    HONDANA_TRY(apply(std::move(batch)));
    // A folder that was not listed completely is listed again.
    if (stop.stop_requested()) return tl::unexpected(cancelled_error());
  } while (!request.page_token.empty());
  return {};
}

}  // namespace hondana::gdrive

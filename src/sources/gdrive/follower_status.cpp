/// What the follower reports: log lines, problems of each drive, and health.

#include <algorithm>
#include <utility>

#include "sources/gdrive/address.hpp"
#include "sources/gdrive/follower.hpp"

namespace hondana::gdrive {

void follower::log_line(const std::string& line) const {
  if (options_.log) options_.log(options_.name + ": " + line);
}

std::string follower::log_text(const failure& error) {
  return error.public_text + (error.private_text.empty() ? "" : " (" + error.private_text + ')');
}

std::string follower::limit_message() const {
  return "there are more than " + std::to_string(options_.max_files) +
         " files, and the others are left out; raise max_files, or list fewer drives";
}

std::string follower::previous_limit_message() const {
  std::size_t max_files = 0;
  for (const auto& [home, limit] : full_homes_) {
    if (!limit.is_previous) return {};
    max_files = std::max(max_files, limit.max_files);
  }
  if (full_homes_.empty()) return {};
  return "the last listing of Drive had more files than max_files" +
         (max_files == 0 ? std::string() : " = " + std::to_string(max_files)) +
         "; there is room now, and the next listing will show whether it is enough";
}

std::string follower::omission_message() const {
  const std::lock_guard lock(mutex_);
  if (full_homes_.empty()) return {};
  if (auto message = previous_limit_message(); !message.empty()) return message;
  return "there are more than max_files = " + std::to_string(options_.max_files) + " files; raise it, or list fewer drives";
}

void follower::record_limit_reached(const std::string& home) {
  bool is_known = false;
  {
    const std::lock_guard lock(mutex_);
    is_known = std::any_of(full_homes_.begin(), full_homes_.end(), [](const auto& entry) { return !entry.second.is_previous; });
    const auto [position, is_new] = full_homes_.try_emplace(home);
    if (!is_new && !position->second.is_previous) return;
    position->second = {options_.max_files, false};
  }
  store_full_homes();
  if (!is_known) log_line(limit_message());
}

void follower::store_full_homes() {
  std::vector<full_home> full_homes;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [home, limit] : full_homes_) full_homes.push_back({home, limit.max_files});
  }
  if (auto stored = options_.store->put_full_homes(full_homes); !stored) log_line(stored.error().public_text);
}

result<void> follower::load_full_homes() {
  auto loaded = options_.store->full_homes();
  if (!loaded) return tl::unexpected(std::move(loaded.error()));
  const bool has_capacity = items_.size() < options_.max_files;
  bool is_full = false;
  for (auto& stored_home : *loaded) {
    const auto position = positions_.find(stored_home.home);
    if (position == positions_.end()) continue;
    if (has_capacity) {
      // Neither the change log nor the rest of a listing in progress reports the files that were left out.
      position->second.is_crawling = true;
      position->second.crawl_start_token.clear();
    }
    is_full = true;
    const std::lock_guard lock(mutex_);
    full_homes_.insert_or_assign(std::move(stored_home.home), limit_record{stored_home.max_files, has_capacity});
  }
  if (is_full && !has_capacity) log_line(limit_message());
  return {};
}

bool follower::is_limit_reached() const {
  const std::lock_guard lock(mutex_);
  return !full_homes_.empty();
}

std::string follower::settings_error() const {
  const std::lock_guard lock(mutex_);
  return settings_error_;
}

void follower::check_drive_slugs() {
  std::vector<std::string> known_slugs{std::string(my_drive), std::string(shared_with_me)};
  if (options_.has_shared_drives) {
    for (const auto& [id, slug] : make_slugs(drives_)) known_slugs.push_back(slug);
  }
  std::string missing;
  for (const auto& slug : options_.drive_slugs) {
    if (std::find(known_slugs.begin(), known_slugs.end(), slug) == known_slugs.end())
      missing += (missing.empty() ? "\"" : ", \"") + slug + '"';
  }
  std::string words;
  if (!missing.empty()) {
    constexpr std::size_t max_named = 50;
    words = "drives names unknown drives: " + missing + "; known drives: ";
    for (std::size_t i = 0; i < std::min(known_slugs.size(), max_named); ++i) words += (i == 0 ? "" : ", ") + known_slugs[i];
    if (known_slugs.size() > max_named) words += ", …";
  }
  {
    const std::lock_guard lock(mutex_);
    if (settings_error_ == words) return;
    settings_error_ = words;
  }
  if (!words.empty()) log_line(words);
}

std::string follower::describe_home(const std::string& home) const {
  if (home.empty()) return "My Drive";
  if (home == drive_list_key) return "the list of shared drives";
  if (home == new_folders_key) return "the entries of new folders";
  for (const auto& drive : drives_) {
    if (drive.id == home) return "the shared drive \"" + display_text(drive.name) + '"';
  }
  return "a shared drive";
}

void follower::record_problem(const std::string& home, const drive::drive_error* error) {
  std::string line;
  if (error != nullptr) line = describe_home(home) + ": " + error->details.public_text;
  {
    const std::lock_guard lock(mutex_);
    const auto existing = problems_.find(home);
    if (error == nullptr) {
      if (existing == problems_.end()) return;
      problems_.erase(existing);
      line = describe_home(home) + " can be read again";
    } else {
      if (existing != problems_.end() && existing->second == line) return;
      problems_[home] = line;
    }
  }
  log_line(line + (error != nullptr && !error->details.private_text.empty() ? " (" + error->details.private_text + ')'
                                                                            : std::string()));
}

void follower::log_warnings(const std::string& home, const std::vector<drive::entry_warning>& warnings) {
  for (const auto& warning : warnings) {
    const auto subject = warning.id.empty() ? "an entry without an id" : warning.id;
    if (logged_once_.size() >= max_logged_once || !logged_once_.insert(subject + ' ' + warning.message).second) continue;
    log_line(describe_home(home) + ": invalid data of " + subject + " is ignored (" + warning.message + ')');
  }
}

hondana::provider_health follower::health() const {
  const std::lock_guard lock(mutex_);
  if (error_) {
    const auto note = latest_ && latest_->file_count() > 0 ? " (cached files are served)" : "";
    return {false, error_->public_text + note};
  }
  std::string summary = !latest_ ? "not listed yet" : std::to_string(latest_->file_count()) + " files";
  if (latest_ && latest_->unserved_count() > 0)
    summary += ", " + std::to_string(latest_->unserved_count()) + " more in drives or folders that are not served";
  summary += "; " + std::to_string(options_.api->request_count()) + " requests so far";
  if (const auto open = channels_.open_count(); open > 0)
    summary += "; change notifications over " + std::to_string(open) + " channels";
  if (!progress_text_.empty()) (summary += "; ") += progress_text_;
  if (const auto message = previous_limit_message(); !message.empty()) {
    summary += "; " + message;
  } else if (!full_homes_.empty()) {
    summary += "; there are more than " + std::to_string(options_.max_files) + ", and the others are left out: raise max_files";
  }
  if (!settings_error_.empty()) (summary += "; ") += settings_error_;
  for (const auto& [home, problem] : problems_) (summary += "; ") += problem;
  const bool serves_nothing = latest_ && latest_->drives().empty();
  return {problems_.empty() && !serves_nothing, summary};
}

}  // namespace hondana::gdrive

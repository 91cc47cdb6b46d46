/// What the follower reports: log lines, problems of each drive, and health.

#include <algorithm>
#include <utility>

#include "sources/gdrive/address.hpp"
#include "sources/gdrive/follower.hpp"

namespace hondana::gdrive {

void follower::say(const std::string& line) const {
  if (options_.log) options_.log(options_.name + ": " + line);
}

std::string follower::words_for_log(const failure& why) {
  return why.public_text + (why.private_text.empty() ? "" : " (" + why.private_text + ')');
}

std::string follower::words_for_full() const {
  return "there are more than " + std::to_string(options_.most_files) +
         " files, and the others are left out; raise max_files, or list fewer drives";
}

std::string follower::words_for_last_listing() const {
  std::size_t most = 0;
  for (const auto& [home, one] : full_) {
    if (!one.is_of_before) return {};
    most = std::max(most, one.most_files);
  }
  if (full_.empty()) return {};
  return "the last listing of Drive had more files than max_files" +
         (most == 0 ? std::string() : " = " + std::to_string(most)) +
         "; there is room now, and the next listing will show whether it is enough";
}

std::string follower::words_for_left_out() const {
  const std::lock_guard lock(mutex_);
  if (full_.empty()) return {};
  if (auto of_before = words_for_last_listing(); !of_before.empty()) return of_before;
  return "there are more than max_files = " + std::to_string(options_.most_files) + " files; raise it, or list fewer drives";
}

void follower::tell_full(const std::string& home) {
  bool is_known = false;
  {
    const std::lock_guard lock(mutex_);
    is_known = std::any_of(full_.begin(), full_.end(), [](const auto& one) { return !one.second.is_of_before; });
    const auto [at, is_new] = full_.try_emplace(home);
    if (!is_new && !at->second.is_of_before) return;
    at->second = {options_.most_files, false};
  }
  keep_full();
  if (!is_known) say(words_for_full());
}

void follower::keep_full() {
  std::vector<full_home> all;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [home, one] : full_) all.push_back({home, one.most_files});
  }
  if (auto done = options_.where->put_full(all); !done) say(done.error().public_text);
}

result<void> follower::recall_full() {
  auto all = options_.where->full();
  if (!all) return tl::unexpected(std::move(all.error()));
  const bool has_room = items_.size() < options_.most_files;
  bool is_full = false;
  for (auto& one : *all) {
    const auto at = positions_.find(one.home);
    if (at == positions_.end()) continue;
    if (has_room) {
      // Neither the change log nor the rest of a listing in progress reports the files that were left out.
      at->second.is_crawling = true;
      at->second.crawl_start.clear();
    }
    is_full = true;
    const std::lock_guard lock(mutex_);
    full_.insert_or_assign(std::move(one.home), fullness{one.most_files, has_room});
  }
  if (is_full && !has_room) say(words_for_full());
  return {};
}

bool follower::is_full() const {
  const std::lock_guard lock(mutex_);
  return !full_.empty();
}

std::string follower::misfit() const {
  const std::lock_guard lock(mutex_);
  return misfit_;
}

void follower::look_for_wanted() {
  std::vector<std::string> there{std::string(my_drive), std::string(shared_with_me)};
  if (options_.has_shared_drives) {
    for (const auto& [id, slug] : slugs_of(drives_)) there.push_back(slug);
  }
  std::string missing;
  for (const auto& one : options_.wanted) {
    if (std::find(there.begin(), there.end(), one) == there.end()) missing += (missing.empty() ? "\"" : ", \"") + one + '"';
  }
  std::string words;
  if (!missing.empty()) {
    constexpr std::size_t most_named = 50;
    words = "drives names unknown drives: " + missing + "; known drives: ";
    for (std::size_t i = 0; i < std::min(there.size(), most_named); ++i) words += (i == 0 ? "" : ", ") + there[i];
    if (there.size() > most_named) words += ", …";
  }
  {
    const std::lock_guard lock(mutex_);
    if (misfit_ == words) return;
    misfit_ = words;
  }
  if (!words.empty()) say(words);
}

std::string follower::word_for_home(const std::string& home) const {
  if (home.empty()) return "My Drive";
  if (home == list_of_drives) return "the list of shared drives";
  if (home == new_folders) return "the entries of new folders";
  for (const auto& one : drives_) {
    if (one.id == home) return "the shared drive \"" + shown(one.name) + '"';
  }
  return "a shared drive";
}

void follower::mind(const std::string& home, const drive::refusal* why) {
  std::string line;
  if (why != nullptr) line = word_for_home(home) + ": " + why->why.public_text;
  {
    const std::lock_guard lock(mutex_);
    const auto before = problems_.find(home);
    if (why == nullptr) {
      if (before == problems_.end()) return;
      problems_.erase(before);
      line = word_for_home(home) + " can be read again";
    } else {
      if (before != problems_.end() && before->second == line) return;
      problems_[home] = line;
    }
  }
  say(line + (why != nullptr && !why->why.private_text.empty() ? " (" + why->why.private_text + ')' : std::string()));
}

void follower::tell_odd(const std::string& home, const std::vector<drive::oddity>& all) {
  for (const auto& one : all) {
    const auto of = one.id.empty() ? "an entry without an id" : one.id;
    if (told_.size() >= most_told || !told_.insert(of + ' ' + one.what).second) continue;
    say(word_for_home(home) + ": invalid data of " + of + " is ignored (" + one.what + ')');
  }
}

hondana::health follower::health() const {
  const std::lock_guard lock(mutex_);
  if (trouble_) {
    const auto stays = latest_ && latest_->files() > 0 ? " (cached files are served)" : "";
    return {false, trouble_->public_text + stays};
  }
  std::string said = !latest_ ? "not listed yet" : std::to_string(latest_->files()) + " files";
  if (latest_ && latest_->unplaced() > 0)
    said += ", " + std::to_string(latest_->unplaced()) + " more in drives or folders that are not served";
  said += "; " + std::to_string(options_.from->requests()) + " requests so far";
  if (const auto open = channels_.open(); open > 0) said += "; change notifications over " + std::to_string(open) + " channels";
  if (!state_.empty()) (said += "; ") += state_;
  if (const auto of_before = words_for_last_listing(); !of_before.empty()) {
    said += "; " + of_before;
  } else if (!full_.empty()) {
    said += "; there are more than " + std::to_string(options_.most_files) + ", and the others are left out: raise max_files";
  }
  if (!misfit_.empty()) (said += "; ") += misfit_;
  for (const auto& [home, why] : problems_) (said += "; ") += why;
  const bool serves_nothing = latest_ && latest_->drives().empty();
  return {problems_.empty() && !serves_nothing, said};
}

}  // namespace hondana::gdrive

/// Caches the last valid values of each file.
#include "sources/config_files/value_cache.hpp"

#include <utility>

namespace hondana::config_files {
namespace {

constexpr std::size_t most_troubles = 3;

bool is_all_blank(std::string_view text) noexcept { return text.find_first_not_of(" \t\r\n") == std::string_view::npos; }

bool is_empty(const located::node& of) noexcept {
  return of.is == located::kind::null || (of.items.empty() && of.members.empty() && of.text.empty());
}

}  // namespace

std::optional<kept> kept_values::of(const std::string& path, const disk::stamp& state) {
  const std::lock_guard lock(mutex_);
  const auto known = records_.find(path);
  if (known == records_.end() || known->second.is_racy || known->second.state != state || !known->second.good) return {};
  known->second.used = ++uses_;
  return kept{known->second.good, known->second.stale, known->second.behind};
}

std::optional<kept> kept_values::before(const std::string& path, const std::string& why) {
  std::unique_lock lock(mutex_);
  const auto known = records_.find(path);
  if (known == records_.end() || !known->second.good) return {};
  const bool is_new = known->second.stale != why;
  known->second.stale = why;
  known->second.is_racy = true;
  known->second.used = ++uses_;
  kept found{known->second.good, why, known->second.behind};
  lock.unlock();
  if (is_new && log_) log_(path + " cannot be read, so its last valid version is used: " + why);
  return found;
}

result<kept> kept_values::read(const std::string& path, located::format how, const file_text& text, std::uint64_t begun) {
  auto document = located::read(how, text.bytes);
  std::string why = document ? std::string() : document.error().public_text;
  while (why.ends_with('.')) why.pop_back();
  record made{document ? values_of(std::move(*document), text.bytes, masks_) : nullptr,
              text.behind,
              {},
              text.state,
              text.is_racy,
              0,
              text.state.changed};
  std::unique_lock lock(mutex_);
  const auto known = records_.find(path);
  const bool was_known = known != records_.end();
  made.turn = turn();
  const bool is_late = was_known && known->second.turn > begun && known->second.state.changed > text.state.changed;
  if (is_late && known->second.good) return late(path, known->second, std::move(made));
  const auto good_before = was_known ? known->second.good : nullptr;
  const auto stale_before = was_known ? known->second.stale : std::string();
  if (made.good && text.is_racy && is_all_blank(text.bytes) && good_before && !is_empty(good_before->raw.root)) {
    why = "it is empty, probably because it is being written";
  }
  if (!why.empty()) {
    made.good = good_before;
    if (was_known) made.behind = known->second.behind;
    made.good_changed = was_known ? known->second.good_changed : 0;
    made.stale = why;
  }
  kept answer{made.good, made.stale, made.behind};
  put(path, std::move(made));
  lock.unlock();
  if (log_ && answer.stale != stale_before) {
    if (answer.stale.empty()) {
      log_(path + " can be read again");
    } else {
      log_(path + (answer.what ? " cannot be read, so its last valid version is used: " : " cannot be read: ") + answer.stale);
    }
  }
  if (answer.what) return answer;
  return fail(errc::source_unavailable, '"' + path + "\" cannot be read as " + std::string(located::name_of(how)) + ": " + why +
                                            (why.ends_with('?') ? "" : ".") +
                                            " Correct it, or read the file itself without parameters.");
}

kept kept_values::late(const std::string& path, record known, record made) {
  if (!made.good) return {known.good, known.stale, known.behind, true};
  kept answer{made.good, {}, made.behind};
  // The newer text was invalid, and this is the newest valid one.
  if (made.good_changed > known.good_changed) {
    known.good = std::move(made.good);
    known.behind = std::move(made.behind);
    known.good_changed = made.good_changed;
    put(path, std::move(known));
  }
  return answer;
}

void kept_values::put(const std::string& path, record one) {
  const auto known = records_.find(path);
  if (known != records_.end()) {
    bytes_ -= known->second.good ? known->second.good->bytes : 0;
    records_.erase(known);
  }
  if (one.good && one.good->bytes > most_) one.good = nullptr;
  bytes_ += one.good ? one.good->bytes : 0;
  one.used = ++uses_;
  records_.emplace(path, std::move(one));
  make_room(path);
}

void kept_values::make_room(const std::string& for_path) {
  while (bytes_ > most_ || records_.size() > most_files) {
    auto oldest = records_.end();
    for (auto one = records_.begin(); one != records_.end(); ++one) {
      if (one->first != for_path && (oldest == records_.end() || one->second.used < oldest->second.used)) oldest = one;
    }
    if (oldest == records_.end()) return;
    bytes_ -= oldest->second.good ? oldest->second.good->bytes : 0;
    records_.erase(oldest);
  }
}

void kept_values::forget(const std::string& path) {
  const std::lock_guard lock(mutex_);
  const auto known = records_.find(path);
  if (known == records_.end()) return;
  bytes_ -= known->second.good ? known->second.good->bytes : 0;
  records_.erase(known);
}

bool kept_values::knows(const std::string& path) const {
  const std::lock_guard lock(mutex_);
  return records_.contains(path);
}

std::vector<std::string> kept_values::troubles() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> all;
  for (const auto& [path, one] : records_) {
    if (all.size() == most_troubles) break;
    if (!one.stale.empty()) all.push_back(path + ": " + one.stale);
  }
  return all;
}

}  // namespace hondana::config_files

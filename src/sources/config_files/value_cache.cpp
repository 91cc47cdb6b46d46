/// Caches the last valid values of each file.
#include "sources/config_files/value_cache.hpp"

#include <utility>

namespace hondana::config_files {
namespace {

constexpr std::size_t max_reported_errors = 3;

bool is_all_blank(std::string_view text) noexcept { return text.find_first_not_of(" \t\r\n") == std::string_view::npos; }

bool is_empty(const located::node& node) noexcept {
  return node.kind == located::node_kind::null || (node.items.empty() && node.members.empty() && node.text.empty());
}

}  // namespace

std::optional<cached_values> value_cache::find(const std::string& path, const disk::stamp& state) {
  const std::lock_guard lock(mutex_);
  const auto cached = records_.find(path);
  if (cached == records_.end() || cached->second.is_racy || cached->second.state != state || !cached->second.values) return {};
  cached->second.last_used = ++use_count_;
  return cached_values{cached->second.values, cached->second.stale_reason, cached->second.link_target};
}

std::optional<cached_values> value_cache::last_valid(const std::string& path, const std::string& reason) {
  std::unique_lock lock(mutex_);
  const auto cached = records_.find(path);
  if (cached == records_.end() || !cached->second.values) return {};
  const bool is_new = cached->second.stale_reason != reason;
  cached->second.stale_reason = reason;
  cached->second.is_racy = true;
  cached->second.last_used = ++use_count_;
  cached_values last_values{cached->second.values, reason, cached->second.link_target};
  lock.unlock();
  if (is_new && log_) log_(path + " cannot be read, so its last valid version is used: " + reason);
  return last_values;
}

result<cached_values> value_cache::parse(const std::string& path, located::config_format format, const file_text& text,
                                         std::uint64_t sequence) {
  auto document = located::read(format, text.bytes);
  std::string reason = document ? std::string() : document.error().public_text;
  while (reason.ends_with('.')) reason.pop_back();
  record parsed{document ? make_values(std::move(*document), text.bytes, masks_secrets_) : nullptr,
                text.link_target,
                {},
                text.state,
                text.is_racy,
                0,
                text.state.changed};
  std::unique_lock lock(mutex_);
  const auto cached = records_.find(path);
  const bool was_cached = cached != records_.end();
  parsed.sequence = next_sequence();
  const bool is_late = was_cached && cached->second.sequence > sequence && cached->second.state.changed > text.state.changed;
  if (is_late && cached->second.values) return accept_late(path, cached->second, std::move(parsed));
  const auto old_values = was_cached ? cached->second.values : nullptr;
  const auto old_reason = was_cached ? cached->second.stale_reason : std::string();
  if (parsed.values && text.is_racy && is_all_blank(text.bytes) && old_values && !is_empty(old_values->raw.root)) {
    reason = "it is empty, probably because it is being written";
  }
  if (!reason.empty()) {
    parsed.values = old_values;
    if (was_cached) parsed.link_target = cached->second.link_target;
    parsed.values_changed_at = was_cached ? cached->second.values_changed_at : 0;
    parsed.stale_reason = reason;
  }
  cached_values latest{parsed.values, parsed.stale_reason, parsed.link_target};
  put(path, std::move(parsed));
  lock.unlock();
  if (log_ && latest.stale_reason != old_reason) {
    if (latest.stale_reason.empty()) {
      log_(path + " can be read again");
    } else {
      log_(path + (latest.values ? " cannot be read, so its last valid version is used: " : " cannot be read: ") +
           latest.stale_reason);
    }
  }
  if (latest.values) return latest;
  return fail(errc::source_unavailable, '"' + path + "\" cannot be read as " + std::string(located::name_of(format)) + ": " +
                                            reason + (reason.ends_with('?') ? "" : ".") +
                                            " Correct it, or read the file itself without parameters.");
}

cached_values value_cache::accept_late(const std::string& path, record cached, record parsed) {
  if (!parsed.values) return {cached.values, cached.stale_reason, cached.link_target, true};
  cached_values late_values{parsed.values, {}, parsed.link_target};
  // The newer text was invalid, and this is the newest valid one.
  if (parsed.values_changed_at > cached.values_changed_at) {
    cached.values = std::move(parsed.values);
    cached.link_target = std::move(parsed.link_target);
    cached.values_changed_at = parsed.values_changed_at;
    put(path, std::move(cached));
  }
  return late_values;
}

void value_cache::put(const std::string& path, record added) {
  const auto cached = records_.find(path);
  if (cached != records_.end()) {
    bytes_ -= cached->second.values ? cached->second.values->bytes : 0;
    records_.erase(cached);
  }
  if (added.values && added.values->bytes > limit_) added.values = nullptr;
  bytes_ += added.values ? added.values->bytes : 0;
  added.last_used = ++use_count_;
  records_.emplace(path, std::move(added));
  evict(path);
}

void value_cache::evict(const std::string& added_path) {
  while (bytes_ > limit_ || records_.size() > max_files) {
    auto oldest = records_.end();
    for (auto entry = records_.begin(); entry != records_.end(); ++entry) {
      if (entry->first != added_path && (oldest == records_.end() || entry->second.last_used < oldest->second.last_used))
        oldest = entry;
    }
    if (oldest == records_.end()) return;
    bytes_ -= oldest->second.values ? oldest->second.values->bytes : 0;
    records_.erase(oldest);
  }
}

void value_cache::erase(const std::string& path) {
  const std::lock_guard lock(mutex_);
  const auto cached = records_.find(path);
  if (cached == records_.end()) return;
  bytes_ -= cached->second.values ? cached->second.values->bytes : 0;
  records_.erase(cached);
}

bool value_cache::contains(const std::string& path) const {
  const std::lock_guard lock(mutex_);
  return records_.contains(path);
}

std::vector<std::string> value_cache::describe_errors() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> errors;
  for (const auto& [path, entry] : records_) {
    if (errors.size() == max_reported_errors) break;
    if (!entry.stale_reason.empty()) errors.push_back(path + ": " + entry.stale_reason);
  }
  return errors;
}

}  // namespace hondana::config_files

/// Tells, by kernel events, whether files and lists are unchanged since they were read.
#include "sources/files/change_tracker.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include <hondana/clock.hpp>

namespace hondana::files {
namespace {

using clock = monotonic_clock;

// How long one check of a file is trusted.
constexpr std::chrono::milliseconds max_validity{20};

// Names that decide about others in their folder and below: ignore files, and names that make a folder a git repository.
constexpr std::array<std::string_view, 6> governing_names{".gitignore", ".hondanaignore", ".git", "HEAD", "objects", "refs"};

constexpr std::uint64_t hash_multiplier = 0x9E3779B97F4A7C15u;

/// One step of FNV-1a, which yields a hash for every folder on a path.
constexpr std::uint64_t next_hash(std::uint64_t hash, char byte) noexcept {
  return (hash ^ static_cast<unsigned char>(byte)) * 0x100000001B3u;
}

}  // namespace

class change_tracker::file_validator final : public cache_validator {
 public:
  /// Takes the time, then the sum of the counters. `make_validator` then checks that the path is watched, and only after that
  /// the caller reads the file. A change after any of these steps shows in `is_valid`; an earlier one shows in the file.
  file_validator(const std::shared_ptr<const change_tracker>& tracker, const counter_path& counters) noexcept
      : tracker_(tracker), counters_(counters), created_at_(clock::now()), sum_(tracker->sum_of(counters_)) {}

  /// The order matters. An event is taken from the queue after `is_counting_` is set. If the queue is found empty, the kernel's
  /// lock of the queue makes that flag visible here. If the flag is no longer set, every event taken by then has been counted,
  /// and the acquiring load sees the counters. Reading the counters before the queue would miss events that are taken and
  /// counted in between.
  [[nodiscard]] bool is_valid() const noexcept override {
    if (clock::now() - created_at_ > max_validity) return false;
    const auto tracker = tracker_.lock();
    if (!tracker || !tracker->folders_->is_idle()) return false;
    if (tracker->is_counting_.load(std::memory_order_acquire)) return false;
    return tracker->sum_of(counters_) == sum_;
  }

 private:
  // Weak, so that a cached reading does not keep the queue of a removed source alive.
  const std::weak_ptr<const change_tracker> tracker_;
  const counter_path counters_;
  const clock::time_point created_at_;
  const std::uint64_t sum_;
};

change_tracker::counter_path change_tracker::counters_of(std::size_t tree, std::string_view path) noexcept {
  counter_path counters;
  std::uint64_t hash = 0xCBF29CE484222325u ^ (tree * hash_multiplier);
  const auto add = [&] { counters.indices[counters.length++] = static_cast<std::uint16_t>((hash * hash_multiplier) >> 52); };
  add();
  for (const char byte : path) {
    if (byte == '/') {
      if (counters.length == max_depth) return {};
      add();
    }
    hash = next_hash(hash, byte);
  }
  if (!path.empty()) add();
  return counters;
}

std::uint64_t change_tracker::sum_of(const counter_path& counters) const noexcept {
  auto sum = global_count_.load(std::memory_order_acquire) + folders_->loss_count();
  for (std::size_t i = 0; i < counters.length; ++i) sum += counts_[counters.indices[i]].load(std::memory_order_acquire);
  return sum;
}

void change_tracker::counting_scope::count(std::size_t tree, std::string_view path) noexcept {
  const auto count_path = [&](std::string_view changed_path) {
    const auto counters = counters_of(tree, changed_path);
    if (counters.length == 0) return count_all();  // too deep for a validator, but it may decide about other files
    tracker_.counts_[counters.indices[counters.length - 1]].fetch_add(1, std::memory_order_relaxed);
  };
  count_path(path);
  const auto slash = path.rfind('/');
  const auto name = path.substr(slash == std::string_view::npos ? 0 : slash + 1);
  if (std::find(governing_names.begin(), governing_names.end(), name) == governing_names.end()) return;
  count_path(path.substr(0, slash == std::string_view::npos ? 0 : slash));
}

bool change_tracker::can_validate(std::string_view path) noexcept {
  return !path.empty() && static_cast<std::size_t>(std::count(path.begin(), path.end(), '/')) < max_depth;
}

std::shared_ptr<const cache_validator> change_tracker::make_validator(std::size_t tree, std::string_view path) const {
  if (!can_validate(path)) return nullptr;
  auto validator = std::make_shared<const file_validator>(shared_from_this(), counters_of(tree, path));
  const auto slash = path.rfind('/');
  return folders_->is_watched(tree, path.substr(0, slash == std::string_view::npos ? 0 : slash)) ? validator : nullptr;
}

}  // namespace hondana::files

/// Tells, by kernel events, whether files and lists are unchanged since they were read.
#include "sources/files/freshness.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include <hondana/clock.hpp>

namespace hondana::files {
namespace {

using clock = monotonic_clock;

// How long one check of a file is trusted.
constexpr std::chrono::milliseconds longest{20};

// Names that decide about others in their folder and below: ignore files, and names that make a folder a git repository.
constexpr std::array<std::string_view, 6> deciding{".gitignore", ".hondanaignore", ".git", "HEAD", "objects", "refs"};

constexpr std::uint64_t mixing = 0x9E3779B97F4A7C15u;

/// One step of FNV-1a, which yields a hash for every folder on a path.
constexpr std::uint64_t next_hash(std::uint64_t hash, char byte) noexcept {
  return (hash ^ static_cast<unsigned char>(byte)) * 0x100000001B3u;
}

}  // namespace

class freshness::voucher final : public validity {
 public:
  /// Takes the time, then the sum of the counters. `vouch` then checks that the path is watched, and only after that the caller
  /// reads the file. A change after any of these steps shows in `holds`; an earlier one shows in the file.
  voucher(const std::shared_ptr<const freshness>& by, const chain& about) noexcept
      : by_(by), about_(about), since_(clock::now()), sum_(by->sum_of(about_)) {}

  /// The order matters. An event is taken from the queue after `is_hearing_` is set. If the queue is found empty, the kernel's
  /// lock of the queue makes that flag visible here. If the flag is no longer set, every event taken by then has been counted,
  /// and the acquiring load sees the counters. Reading the counters before the queue would miss events that are taken and
  /// counted in between.
  [[nodiscard]] bool holds() const noexcept override {
    if (clock::now() - since_ > longest) return false;
    const auto by = by_.lock();
    if (!by || !by->heard_->is_silent()) return false;
    if (by->is_hearing_.load(std::memory_order_acquire)) return false;
    return by->sum_of(about_) == sum_;
  }

 private:
  // Weak, so that a cached reading does not keep the queue of a removed source alive.
  const std::weak_ptr<const freshness> by_;
  const chain about_;
  const clock::time_point since_;
  const std::uint64_t sum_;
};

freshness::chain freshness::chain_of(std::size_t tree, std::string_view path) noexcept {
  chain out;
  std::uint64_t hash = 0xCBF29CE484222325u ^ (tree * mixing);
  const auto add = [&] { out.at[out.length++] = static_cast<std::uint16_t>((hash * mixing) >> 52); };
  add();
  for (const char byte : path) {
    if (byte == '/') {
      if (out.length == deepest) return {};
      add();
    }
    hash = next_hash(hash, byte);
  }
  if (!path.empty()) add();
  return out;
}

std::uint64_t freshness::sum_of(const chain& what) const noexcept {
  auto sum = of_all_.load(std::memory_order_acquire) + heard_->losses();
  for (std::size_t i = 0; i < what.length; ++i) sum += counts_[what.at[i]].load(std::memory_order_acquire);
  return sum;
}

void freshness::hearing::count(std::size_t tree, std::string_view path) noexcept {
  const auto count_one = [&](std::string_view what) {
    const auto where = chain_of(tree, what);
    if (where.length == 0) return count_all();  // too deep to be vouched for, but it may decide about other files
    of_.counts_[where.at[where.length - 1]].fetch_add(1, std::memory_order_relaxed);
  };
  count_one(path);
  const auto slash = path.rfind('/');
  const auto name = path.substr(slash == std::string_view::npos ? 0 : slash + 1);
  if (std::find(deciding.begin(), deciding.end(), name) == deciding.end()) return;
  count_one(path.substr(0, slash == std::string_view::npos ? 0 : slash));
}

bool freshness::can_vouch(std::string_view path) noexcept {
  return !path.empty() && static_cast<std::size_t>(std::count(path.begin(), path.end(), '/')) < deepest;
}

std::shared_ptr<const validity> freshness::vouch(std::size_t tree, std::string_view path) const {
  if (!can_vouch(path)) return nullptr;
  auto made = std::make_shared<const voucher>(shared_from_this(), chain_of(tree, path));
  const auto slash = path.rfind('/');
  return heard_->reaches(tree, path.substr(0, slash == std::string_view::npos ? 0 : slash)) ? made : nullptr;
}

}  // namespace hondana::files

/// Whether files and lists are unchanged since they were read, judged by kernel events.
#include "sources/files/freshness.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include <hondana/clock.hpp>

namespace hondana::files {
namespace {

using clock = monotonic_clock;

// For how long one look at a file is trusted.
constexpr std::chrono::milliseconds longest{20};

// Names that decide about others in their folder and below: ignore files, and what makes a folder a repository.
constexpr std::array<std::string_view, 6> deciding{".gitignore", ".hondanaignore", ".git", "HEAD", "objects", "refs"};

constexpr std::uint64_t mixing = 0x9E3779B97F4A7C15u;

/// FNV-1a, which gives the hash of every folder on the way to a path.
constexpr std::uint64_t next_hash(std::uint64_t hash, char byte) noexcept {
  return (hash ^ static_cast<unsigned char>(byte)) * 0x100000001B3u;
}

}  // namespace

class freshness::voucher final : public validity {
 public:
  /// The time first, then the counts, then whether the way is watched, and only then does the caller look at the file: what
  /// happens from each of these on shows in `holds`, and what happened before shows in the file.
  voucher(const std::shared_ptr<const freshness>& by, const chain& about) noexcept
      : by_(by), about_(about), since_(clock::now()), sum_(by->sum_of(about_)) {}

  /// The order matters. An event that was taken from the queue by the time the queue is found empty was taken after
  /// `is_hearing_` was set, and the kernel's lock of the queue has that seen here. If it is not set any more, everything that
  /// was taken then has been counted, and the acquiring load sees the counts. Looking at the counts before the queue would miss
  /// what is taken and counted in between.
  [[nodiscard]] bool holds() const noexcept override {
    if (clock::now() - since_ > longest) return false;
    const auto by = by_.lock();
    if (!by || !by->heard_->is_silent()) return false;
    if (by->is_hearing_.load(std::memory_order_acquire)) return false;
    return by->sum_of(about_) == sum_;
  }

 private:
  // What is kept must not keep the queue of a source that has gone.
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
    if (where.length == 0) return count_all();  // so deep that nothing is vouched for there, but who knows what it decides
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

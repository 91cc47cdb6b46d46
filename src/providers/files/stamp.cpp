/// Stamps from stat, and their digests.
#include "providers/files/stamp.hpp"

#include <array>
#include <string_view>

namespace hondana::files {
namespace {

constexpr std::int64_t racy_nanoseconds = 50'000'000;

std::int64_t nanoseconds(const timespec& time) noexcept {
  return static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

}  // namespace

stamp stamp_of(const struct stat& facts) noexcept {
  return {static_cast<std::uint64_t>(facts.st_dev), static_cast<std::uint64_t>(facts.st_ino),
          static_cast<std::uint64_t>(facts.st_size), nanoseconds(facts.st_mtim), nanoseconds(facts.st_ctim)};
}

bytes::digest digest_of(const stamp& state) {
  const std::array<std::uint64_t, 5> words{state.device, state.inode, state.size, static_cast<std::uint64_t>(state.modified),
                                           static_cast<std::uint64_t>(state.changed)};
  return bytes::digest_of(std::string_view(reinterpret_cast<const char*>(words.data()), sizeof words));
}

std::string version_of(const stamp& state) { return bytes::to_hex(digest_of(state)); }

bool is_racy(const stamp& state, std::int64_t now) noexcept { return now - state.changed < racy_nanoseconds; }

std::int64_t wall_clock() noexcept {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  return nanoseconds(now);
}

}  // namespace hondana::files

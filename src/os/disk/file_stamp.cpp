/// The state of a file according to its inode, and the version derived from it.
#include "os/disk/file_stamp.hpp"

#include <array>
#include <atomic>
#include <limits>
#include <string_view>

namespace hondana::disk {
namespace {

constexpr std::int64_t racy_nanoseconds = 50'000'000;
constexpr std::int64_t coarse_nanoseconds = 2'100'000'000;

constexpr std::int64_t last_second = std::numeric_limits<std::int64_t>::max() / 1'000'000'000 - 1;

/// Converts to nanoseconds since 1970. Times before 1677 or after 2262 do not fit into 64 bits and are clamped.
std::int64_t to_nanoseconds(const timespec& time) noexcept {
  if (time.tv_sec > last_second) return time_out_of_range;
  if (time.tv_sec < -last_second) return -time_out_of_range;
  return static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

std::atomic<std::int64_t> tick_length{1};
std::atomic<std::int64_t> fixed_time{0};

std::int64_t round_to_tick(std::int64_t time) noexcept {
  const auto length = tick_length.load(std::memory_order_relaxed);
  return length == 1 ? time : time - time % length;
}

}  // namespace

void coarsen_times_for_tests(std::int64_t length) noexcept { tick_length = length; }

stamp stamp_of(const struct stat& attributes) noexcept {
  return {static_cast<std::uint64_t>(attributes.st_dev), static_cast<std::uint64_t>(attributes.st_ino),
          static_cast<std::uint64_t>(attributes.st_size), round_to_tick(to_nanoseconds(attributes.st_mtim)),
          round_to_tick(to_nanoseconds(attributes.st_ctim))};
}

bytes::digest digest_of(const stamp& state) {
  const std::array<std::uint64_t, 5> words{state.device, state.inode, state.size, static_cast<std::uint64_t>(state.modified),
                                           static_cast<std::uint64_t>(state.changed)};
  return bytes::digest_of(std::string_view(reinterpret_cast<const char*>(words.data()), sizeof words));
}

std::string version_of(const stamp& state) { return bytes::to_hex(digest_of(state)); }

bool is_racy(const stamp& state, std::int64_t now) noexcept {
  // Whole seconds usually mean that the file system stores times with a resolution of one or two seconds.
  const bool is_coarse = state.changed % 1'000'000'000 == 0;
  return state.changed > now - (is_coarse ? coarse_nanoseconds : racy_nanoseconds);
}

void set_wall_clock_for_tests(std::int64_t time) noexcept { fixed_time = time; }

std::int64_t wall_clock() noexcept {
  if (const auto time = fixed_time.load(std::memory_order_relaxed); time != 0) return time;
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  return to_nanoseconds(now);
}

}  // namespace hondana::disk

/// A line on a terminal that shows how far a long read or list has come.
#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>

namespace hondana::cli {

/// Appears on standard error once something takes longer than half a second, changes in place ten times a second at most, and
/// is gone when it is destroyed. Threads: any.
class progress_line {
 public:
  enum class unit : std::uint8_t { bytes, entries };

  /// `is_shown`: false makes every call do nothing. `width`: of the terminal.
  progress_line(bool is_shown, unit counts, std::size_t width);
  ~progress_line();
  progress_line(const progress_line&) = delete;
  progress_line& operator=(const progress_line&) = delete;

  void expect(std::optional<std::uint64_t> total);
  void advance(std::uint64_t more);

 private:
  void draw(std::chrono::steady_clock::time_point now);

  std::mutex mutex_;
  bool is_shown_;
  unit counts_;
  std::size_t width_;
  bool is_drawn_ = false;
  std::uint64_t done_ = 0;
  std::optional<std::uint64_t> total_;
  std::chrono::steady_clock::time_point begin_;
  std::chrono::steady_clock::time_point next_;
};

/// The line itself, no wider than `width`: `[#####-----]  52%  512 MiB of 1.0 GiB  84 MiB/s`, and without a total what there
/// is.
[[nodiscard]] std::string progress_text(std::uint64_t done, std::optional<std::uint64_t> total, double seconds,
                                        progress_line::unit counts, std::size_t width);

}  // namespace hondana::cli

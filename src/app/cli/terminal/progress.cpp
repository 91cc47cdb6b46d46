/// Drawing the progress line.
#include "app/cli/terminal/progress.hpp"

#include <algorithm>
#include <cstdio>

#include <hondana/clock.hpp>

#include "app/cli/terminal/quantities.hpp"
#include "app/cli/terminal/width.hpp"

namespace hondana::cli {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds before_first{500};
constexpr milliseconds between_two{100};
constexpr std::size_t bar_width = 24;

}  // namespace

std::string progress_text(std::uint64_t done, std::optional<std::uint64_t> total, double seconds, progress_line::unit counts,
                          std::size_t width) {
  if (counts == progress_line::unit::entries) return cut_at_end(std::to_string(done) + " entries", width);
  std::string text;
  if (total && *total > 0) {
    const auto share = std::min(1.0, static_cast<double>(done) / static_cast<double>(*total));
    const auto full = static_cast<std::size_t>(share * static_cast<double>(bar_width));
    const auto percent = std::to_string(static_cast<int>(share * 100));
    text = '[' + std::string(full, '#') + std::string(bar_width - full, '-') + "] " + std::string(3 - percent.size(), ' ') +
           percent + "%  " + human_size(done) + " of " + human_size(*total);
  } else {
    text = human_size(done);
  }
  if (seconds > 0) text += "  " + human_size(static_cast<std::uint64_t>(static_cast<double>(done) / seconds)) + "/s";
  return cut_at_end(text, width);
}

progress_line::progress_line(bool is_shown, unit counts, std::size_t width)
    : is_shown_(is_shown),
      counts_(counts),
      width_(width > 1 ? width - 1 : 1),
      begin_(monotonic_clock::now()),
      next_(begin_ + before_first) {}

progress_line::~progress_line() {
  if (!is_drawn_) return;
  std::fputs("\r\x1b[K", stderr);
  std::fflush(stderr);
}

void progress_line::expect(std::optional<std::uint64_t> total) {
  const std::lock_guard lock(mutex_);
  if (total) total_ = total;
}

void progress_line::advance(std::uint64_t more) {
  if (!is_shown_) return;
  const std::lock_guard lock(mutex_);
  done_ += more;
  const auto now = monotonic_clock::now();
  if (now >= next_) draw(now);
}

void progress_line::draw(std::chrono::steady_clock::time_point now) {
  const std::chrono::duration<double> taken = now - begin_;
  std::fputs(("\r" + progress_text(done_, total_, taken.count(), counts_, width_) + "\x1b[K").c_str(), stderr);
  std::fflush(stderr);
  is_drawn_ = true;
  next_ = now + between_two;
}

}  // namespace hondana::cli

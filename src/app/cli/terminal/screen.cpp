/// The terminal: what standard streams are connected to, a filter for printed text, and the progress line.
#include "app/cli/terminal/screen.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <utility>

#include <hondana/clock.hpp>

#include "app/cli/output.hpp"
#include "app/cli/terminal/columns.hpp"
#include "app/cli/terminal/quantities.hpp"
#include "base/ascii/ascii.hpp"
#include "base/json/utf8.hpp"
#include "text/language/language.hpp"

namespace hondana::cli {
namespace {

std::string_view variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string_view() : std::string_view(value);
}

}  // namespace

screen present_screen() {
  screen now;
  now.shows_output = ::isatty(STDOUT_FILENO) != 0;
  now.shows_errors = ::isatty(STDERR_FILENO) != 0;
  now.reads_answers = now.shows_errors && ::isatty(STDIN_FILENO) != 0;
  now.in_colour = now.shows_output && variable("NO_COLOR").empty() && variable("TERM") != "dumb";
  winsize size{};
  for (const int one : {STDOUT_FILENO, STDERR_FILENO}) {
    if (::ioctl(one, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
      now.width = size.ws_col;
      break;
    }
  }
  return now;
}

namespace {

/// The number of bytes at the end of `text` that are an incomplete character, or a carriage return that may belong to CR LF.
std::size_t unfinished(std::string_view text) {
  if (text.ends_with('\r')) return 1;
  for (std::size_t back = 1; back <= 3 && back <= text.size(); ++back) {
    const auto byte = static_cast<unsigned char>(text[text.size() - back]);
    if ((byte & 0xC0u) == 0x80) continue;
    const std::size_t whole = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : byte >= 0xC2 ? 2 : 1;
    return whole > back ? back : 0;
  }
  return 0;
}

}  // namespace

std::string text_filter::pass(std::string_view piece) {
  held_ += piece;
  const auto kept = unfinished(held_);
  auto shown = visible_lines(std::string_view(held_).substr(0, held_.size() - kept));
  held_.erase(0, held_.size() - kept);
  return shown;
}

std::string text_filter::rest() { return visible(std::exchange(held_, {})); }

bool looks_like_text(std::string_view beginning) {
  beginning.remove_suffix(unfinished(beginning));
  return beginning.find('\0') == std::string_view::npos && json::is_utf8(beginning);
}

namespace {

constexpr std::string_view bold = "\x1b[1m";
constexpr std::string_view plain = "\x1b[0m";

}  // namespace

std::vector<std::string> quoted_words(std::string_view reason) {
  std::vector<std::string> out;
  for (;;) {
    const auto begin = reason.find('"');
    if (begin == std::string_view::npos) return out;
    const auto end = reason.find('"', begin + 1);
    if (end == std::string_view::npos) return out;
    out.emplace_back(reason.substr(begin + 1, end - begin - 1));
    reason.remove_prefix(end + 1);
  }
}

std::string highlighted(std::string_view text, const std::vector<std::string>& words) {
  const auto folded = language::folded_with_sources(text);
  std::vector<bool> stands_out(text.size(), false);
  for (const auto& written : words) {
    const auto word = language::folded(written);
    if (word.size() < 2) continue;
    for (auto at = folded.text.find(word); at != std::string::npos; at = folded.text.find(word, at + 1)) {
      // A Latin word must match at the start of a word. It may match only part of a word, for inflected forms.
      if (ascii::is_lower_or_digit(word.front()) && at > 0 && ascii::is_lower_or_digit(folded.text[at - 1])) continue;
      const auto begin = folded.source[at];
      const auto end = folded.source[at + word.size()];
      std::fill(stands_out.begin() + static_cast<std::ptrdiff_t>(begin), stands_out.begin() + static_cast<std::ptrdiff_t>(end),
                true);
    }
  }
  std::string out;
  out.reserve(text.size() + 64);
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool before = i > 0 && stands_out[i - 1];
    if (stands_out[i] != before) out += stands_out[i] ? bold : plain;
    out += text[i];
  }
  if (!text.empty() && stands_out.back()) out += plain;
  return out;
}

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

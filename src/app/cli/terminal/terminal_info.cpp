/// The terminal: what standard streams are connected to, a filter for printed text, and the progress line.
#include "app/cli/terminal/terminal_info.hpp"

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

terminal_info detect_terminal() {
  terminal_info terminal;
  terminal.is_stdout_tty = ::isatty(STDOUT_FILENO) != 0;
  terminal.is_stderr_tty = ::isatty(STDERR_FILENO) != 0;
  terminal.can_prompt = terminal.is_stderr_tty && ::isatty(STDIN_FILENO) != 0;
  terminal.has_colour = terminal.is_stdout_tty && variable("NO_COLOR").empty() && variable("TERM") != "dumb";
  winsize size{};
  for (const int descriptor : {STDOUT_FILENO, STDERR_FILENO}) {
    if (::ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
      terminal.width = size.ws_col;
      break;
    }
  }
  return terminal;
}

namespace {

/// The number of bytes at the end of `text` that are an incomplete character, or a carriage return that may belong to CR LF.
std::size_t incomplete_bytes(std::string_view text) {
  if (text.ends_with('\r')) return 1;
  for (std::size_t back = 1; back <= 3 && back <= text.size(); ++back) {
    const auto byte = static_cast<unsigned char>(text[text.size() - back]);
    if ((byte & 0xC0u) == 0x80) continue;
    const std::size_t length = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : byte >= 0xC2 ? 2 : 1;
    return length > back ? back : 0;
  }
  return 0;
}

}  // namespace

std::string text_filter::feed(std::string_view chunk) {
  pending_ += chunk;
  const auto pending = incomplete_bytes(pending_);
  auto output = sanitize_lines(std::string_view(pending_).substr(0, pending_.size() - pending));
  pending_.erase(0, pending_.size() - pending);
  return output;
}

std::string text_filter::finish() { return sanitize(std::exchange(pending_, {})); }

bool looks_like_text(std::string_view prefix) {
  prefix.remove_suffix(incomplete_bytes(prefix));
  return prefix.find('\0') == std::string_view::npos && json::is_utf8(prefix);
}

namespace {

constexpr std::string_view bold = "\x1b[1m";
constexpr std::string_view reset = "\x1b[0m";

}  // namespace

std::vector<std::string> extract_quoted(std::string_view reason) {
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

std::string highlight(std::string_view text, const std::vector<std::string>& words) {
  const auto folded = language::fold_with_offsets(text);
  std::vector<bool> is_bold(text.size(), false);
  for (const auto& written : words) {
    const auto word = language::fold(written);
    if (word.size() < 2) continue;
    for (auto position = folded.text.find(word); position != std::string::npos;
         position = folded.text.find(word, position + 1)) {
      // A Latin word must match at the start of a word. It may match only part of a word, for inflected forms.
      if (ascii::is_lower_or_digit(word.front()) && position > 0 && ascii::is_lower_or_digit(folded.text[position - 1]))
        continue;
      const auto begin = folded.source_offsets[position];
      const auto end = folded.source_offsets[position + word.size()];
      std::fill(is_bold.begin() + static_cast<std::ptrdiff_t>(begin), is_bold.begin() + static_cast<std::ptrdiff_t>(end), true);
    }
  }
  std::string out;
  out.reserve(text.size() + 64);
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool was_highlighted = i > 0 && is_bold[i - 1];
    if (is_bold[i] != was_highlighted) out += is_bold[i] ? bold : reset;
    out += text[i];
  }
  if (!text.empty() && is_bold.back()) out += reset;
  return out;
}

namespace {

using std::chrono::milliseconds;

constexpr milliseconds initial_delay{500};
constexpr milliseconds redraw_interval{100};
constexpr std::size_t bar_width = 24;

}  // namespace

std::string progress_text(std::uint64_t done, std::optional<std::uint64_t> total, double seconds, progress_line::unit unit,
                          std::size_t width) {
  if (unit == progress_line::unit::entries) return truncate_end(std::to_string(done) + " entries", width);
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
  return truncate_end(text, width);
}

progress_line::progress_line(bool is_shown, unit unit, std::size_t width)
    : is_shown_(is_shown),
      unit_(unit),
      width_(width > 1 ? width - 1 : 1),
      start_(monotonic_clock::now()),
      next_draw_(start_ + initial_delay) {}

progress_line::~progress_line() {
  if (!is_drawn_) return;
  std::fputs("\r\x1b[K", stderr);
  std::fflush(stderr);
}

void progress_line::set_total(std::optional<std::uint64_t> total) {
  const std::lock_guard lock(mutex_);
  if (total) total_ = total;
}

void progress_line::advance(std::uint64_t amount) {
  if (!is_shown_) return;
  const std::lock_guard lock(mutex_);
  done_ += amount;
  const auto now = monotonic_clock::now();
  if (now >= next_draw_) draw(now);
}

void progress_line::draw(std::chrono::steady_clock::time_point now) {
  const std::chrono::duration<double> elapsed = now - start_;
  std::fputs(("\r" + progress_text(done_, total_, elapsed.count(), unit_, width_) + "\x1b[K").c_str(), stderr);
  std::fflush(stderr);
  is_drawn_ = true;
  next_draw_ = now + redraw_interval;
}

}  // namespace hondana::cli

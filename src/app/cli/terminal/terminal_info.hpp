/// The terminal: what standard streams are connected to, a filter for printed text, and the progress line.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hondana::cli {

/// What the standard streams are connected to.
struct terminal_info {
  bool is_stdout_tty = false;  ///< Standard output is a terminal.
  bool is_stderr_tty = false;  ///< Standard error is a terminal.
  bool can_prompt = false;     ///< Standard input and standard error are terminals, so the user can be asked questions.
  bool has_colour = false;  ///< Standard output can show colours: it is a terminal, TERM is not dumb, and NO_COLOR is not set.
  std::size_t width = 80;   ///< Columns of the terminal of standard output, otherwise of standard error; 80 if unknown.
};

/// Examines the standard streams now. Spec: https://no-color.org.
[[nodiscard]] terminal_info detect_terminal();

/// Replaces control characters in a text that arrives in pieces, like `sanitize_lines`. Characters may be split across two
/// pieces.
class text_filter {
 public:
  /// Adds a piece. Returns the part of the text that can be printed now.
  [[nodiscard]] std::string feed(std::string_view chunk);
  /// Returns the rest at the end of the text.
  [[nodiscard]] std::string finish();

 private:
  std::string pending_;  // an incomplete character
};

/// Whether the beginning of some content looks like text: no NUL byte, and well-formed UTF-8 except for a last character that
/// is cut off.
[[nodiscard]] bool looks_like_text(std::string_view prefix);

/// Returns the text with every occurrence of `words` in bold. Ignores case and character width (half or full). Latin words must
/// match at the start of a word. Ignores words of a single ASCII letter. Precondition: the text has passed through `sanitize`.
[[nodiscard]] std::string highlight(std::string_view text, const std::vector<std::string>& words);

/// The parts in quotation marks of a search result's reason: the words that were found.
[[nodiscard]] std::vector<std::string> extract_quoted(std::string_view reason);

/// A progress line on standard error. It appears after half a second, updates in place at most ten times a second, and
/// disappears on destruction. Threads: any.
class progress_line {
 public:
  enum class unit : std::uint8_t { bytes, entries };

  /// `is_shown`: false: the line never appears. `width`: of the terminal, in columns.
  progress_line(bool is_shown, unit unit, std::size_t width);
  ~progress_line();
  progress_line(const progress_line&) = delete;
  progress_line& operator=(const progress_line&) = delete;

  /// Sets the total amount. nullopt: no effect.
  void set_total(std::optional<std::uint64_t> total);
  /// Adds to the amount that is done, and draws the line if it is time.
  void advance(std::uint64_t amount);

 private:
  void draw(std::chrono::steady_clock::time_point now);

  std::mutex mutex_;
  bool is_shown_;
  unit unit_;
  std::size_t width_;
  bool is_drawn_ = false;
  std::uint64_t done_ = 0;
  std::optional<std::uint64_t> total_;
  std::chrono::steady_clock::time_point start_;
  std::chrono::steady_clock::time_point next_draw_;
};

/// The text of the progress line, no wider than `width` columns: `[#####-----] 52%  512 MiB of 1.0 GiB  84 MiB/s`. Without a
/// total, only amount and rate. For entries: "512 entries". `seconds`: since the start.
[[nodiscard]] std::string progress_text(std::uint64_t done, std::optional<std::uint64_t> total, double seconds,
                                        progress_line::unit unit, std::size_t width);

}  // namespace hondana::cli

/// The terminal: what output is connected to, text on its way there, and the progress line.
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

struct screen {
  bool shows_output = false;   ///< Standard output is a terminal.
  bool shows_errors = false;   ///< Standard error is one.
  bool reads_answers = false;  ///< Standard input and standard error are: somebody can be asked.
  bool in_colour = false;      ///< Of the output: a terminal that is not dumb, and NO_COLOR does not forbid it.
  std::size_t width = 80;      ///< Columns of the terminal of the output, else of that of the errors.
};

/// As it is now. Spec: https://no-color.org.
[[nodiscard]] screen present_screen();

/// Makes what passes visible (`visible`), but lets tabs and line ends through; characters may lie across two pieces.
class text_filter {
 public:
  /// What of the piece can be shown already.
  [[nodiscard]] std::string pass(std::string_view piece);
  /// What was held back, at the end.
  [[nodiscard]] std::string rest();

 private:
  std::string held_;  // the beginning of a character
};

/// Whether bytes are text as far as they show: no NUL and well-formed UTF-8, but for a last character that is cut.
[[nodiscard]] bool looks_like_text(std::string_view beginning);

/// The text with every place that has one of the words, in any case and width, in bold. Words of one ASCII letter are left out.
/// The text must be `visible`.
[[nodiscard]] std::string highlighted(std::string_view text, const std::vector<std::string>& words);

/// What is between the quotation marks of a reason that a search gives.
[[nodiscard]] std::vector<std::string> quoted_words(std::string_view reason);

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

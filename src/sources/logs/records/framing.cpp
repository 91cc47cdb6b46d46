/// Decides at which lines of a log file records begin.
#include "sources/logs/records/framing.hpp"

#include <re2/re2.h>

#include <algorithm>
#include <array>

#include "base/ascii/ascii.hpp"
#include "sources/logs/records/fields.hpp"
#include "sources/logs/records/matcher.hpp"

namespace hondana::records {
namespace {

constexpr std::size_t max_lines_per_start = 50;  // at least one line in this many

std::string_view first_line_of(std::string_view text) noexcept {
  text = text.substr(0, record_framing::line_bytes);
  return text.substr(0, std::min(text.find('\n'), text.size()));
}

/// "ValueError: x", "java.io.IOException: x": the end of a Python stack trace, or the beginning of a Java one.
bool names_an_exception(std::string_view line) noexcept {
  std::size_t end = 0;
  while (end < line.size() &&
         (ascii::is_letter(line[end]) || line[end] == '.' || line[end] == '_' || (line[end] >= '0' && line[end] <= '9')))
    ++end;
  const auto name = line.substr(0, end);
  if (end < line.size() && line[end] != ':') return false;
  constexpr std::array<std::string_view, 4> suffixes{"Error", "Exception", "KeyboardInterrupt", "SystemExit"};
  return std::any_of(suffixes.begin(), suffixes.end(), [name](std::string_view suffix) {
    return name.ends_with(suffix) && (name.size() > suffix.size() || suffix.size() > 9);
  });
}

/// Whether a line belongs to a stack trace, by its beginning.
bool is_trace_line(std::string_view line) noexcept {
  constexpr std::array<std::string_view, 8> prefixes{"Caused by:",
                                                     "Suppressed:",
                                                     "Traceback (most recent call last)",
                                                     "During handling of the above",
                                                     "The above exception was",
                                                     "goroutine ",
                                                     "... ",
                                                     "}"};
  return std::any_of(prefixes.begin(), prefixes.end(), [line](std::string_view prefix) { return line.starts_with(prefix); }) ||
         names_an_exception(line);
}

bool is_continuation(std::string_view line) noexcept {
  return line.empty() || line == "\r" || line[0] == ' ' || line[0] == '\t' || is_trace_line(line);
}

constexpr std::string_view slow_log_time = "# Time: ";
constexpr std::string_view slow_log_user = "# User@Host:";

/// The last line of a text, without its line end. Empty: it has `max_bytes` or more.
std::string_view last_line_of(std::string_view text, std::size_t max_bytes) noexcept {
  if (text.ends_with('\n')) text.remove_suffix(1);
  const bool is_whole = text.size() < max_bytes;
  text = text.substr(text.size() - std::min(text.size(), max_bytes));
  const auto newline = text.rfind('\n');
  if (newline == std::string_view::npos) return is_whole ? text : std::string_view();
  return text.substr(newline + 1);
}

}  // namespace

result<framing_options> parse_framing(std::string_view setting) {
  if (setting.empty() || setting == "auto") return framing_options{};
  if (setting == "never") return framing_options{true, {}};
  HONDANA_TRY(auto compiled, compile_expression(setting, "multi_line"));
  return framing_options{false, std::move(compiled)};
}

record_framing::record_framing(framing_options options, std::string_view sample, const timestamp_parser& timestamps)
    : options_(std::move(options)), timestamps_(timestamps) {
  sample = sample.substr(0, sample_bytes);
  std::size_t lines = 0;
  std::size_t timestamped = 0;
  std::size_t braces = 0;
  while (!sample.empty()) {
    const auto line = first_line_of(sample);
    if (!line.empty()) {
      ++lines;
      const bool is_brace = line.substr(skip_escapes(line)).starts_with('{');
      const bool has_time = timestamps_.find_in_line(line).has_value();
      has_times_ = has_times_ || has_time;
      has_container_parts_ = has_container_parts_ || parse_container_header(line).size != 0;
      is_slow_log_ = is_slow_log_ || line.starts_with(slow_log_user);
      if (is_brace) {
        ++braces;
      } else if (has_time) {
        ++timestamped;
      }
    }
    sample.remove_prefix(std::min(sample.find('\n'), sample.size() - 1) + 1);
  }
  uses_braces_ = braces > 0 && braces >= timestamped && braces * max_lines_per_start >= lines;
  uses_times_ = (timestamped > 0 && timestamped * max_lines_per_start >= lines) || uses_braces_;
}

std::size_t record_framing::previous_bytes() const noexcept {
  // A container runtime splits lines after 16 KiB.
  constexpr std::size_t container_line_bytes = 20u << 10;
  if (options_.is_every_line || options_.first_line) return 0;
  return has_container_parts_ ? container_line_bytes : is_slow_log_ || !uses_times_ ? line_bytes : 0;
}

bool record_framing::is_record_start(std::string_view line, std::string_view before) const {
  if (options_.is_every_line) return true;
  line = first_line_of(line);
  if (options_.first_line) return re2::RE2::PartialMatch(re2::StringPiece(line.data(), line.size()), *options_.first_line);
  if (is_slow_log_ && uses_times_ && line.starts_with('#')) {
    // The line with the time is missing if the entry is of the same second as the one before.
    return line.starts_with(slow_log_time) ||
           (line.starts_with(slow_log_user) && !last_line_of(before, previous_bytes()).starts_with(slow_log_time));
  }
  if (!uses_times_) {
    // The end of one stack trace and the beginning of the next.
    constexpr std::string_view traceback = "Traceback (most recent call last)";
    return !is_continuation(line) ||
           (line.starts_with(traceback) && names_an_exception(last_line_of(before, previous_bytes())));
  }
  const bool is_brace = line.substr(skip_escapes(line)).starts_with('{');
  if (is_brace) return uses_braces_;
  const auto time = timestamps_.find_in_line(line);
  if (!time) return false;
  if (time->begin <= 1) {
    if (!has_container_parts_) return true;
    const auto header = parse_container_header(line);
    const auto previous =
        header.size == 0 ? container_header() : parse_container_header(last_line_of(before, previous_bytes()));
    return !previous.is_partial || previous.stream != header.stream;
  }
  return !is_slow_log_ && !is_trace_line(line);
}

}  // namespace hondana::records

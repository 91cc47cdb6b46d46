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

constexpr std::size_t least_share = 50;  // at least one line in this many

std::string_view first_of(std::string_view text) noexcept {
  text = text.substr(0, framing::line_bytes);
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
  constexpr std::array<std::string_view, 4> endings{"Error", "Exception", "KeyboardInterrupt", "SystemExit"};
  return std::any_of(endings.begin(), endings.end(), [name](std::string_view one) {
    return name.ends_with(one) && (name.size() > one.size() || one.size() > 9);
  });
}

bool goes_on(std::string_view line) noexcept {
  if (line.empty() || line == "\r" || line[0] == ' ' || line[0] == '\t') return true;
  constexpr std::array<std::string_view, 8> words{"Caused by:",
                                                  "Suppressed:",
                                                  "Traceback (most recent call last)",
                                                  "During handling of the above",
                                                  "The above exception was",
                                                  "goroutine ",
                                                  "... ",
                                                  "}"};
  return std::any_of(words.begin(), words.end(), [line](std::string_view one) { return line.starts_with(one); }) ||
         names_an_exception(line);
}

}  // namespace

result<framing_choice> framing_named(std::string_view setting) {
  if (setting.empty() || setting == "auto") return framing_choice{};
  if (setting == "never") return framing_choice{true, {}};
  HONDANA_TRY(auto made, compile_expression(setting, "multi_line"));
  return framing_choice{false, std::move(made)};
}

framing::framing(framing_choice how, std::string_view sample, const time_reader& times) : how_(std::move(how)), times_(times) {
  sample = sample.substr(0, sample_bytes);
  std::size_t lines = 0;
  std::size_t stamped = 0;
  std::size_t braces = 0;
  while (!sample.empty()) {
    const auto line = first_of(sample);
    if (!line.empty()) {
      ++lines;
      const bool is_brace = line.substr(skipped_escapes(line)).starts_with('{');
      const bool has_time = times_.of_line(line).has_value();
      has_times_ = has_times_ || has_time;
      if (is_brace) {
        ++braces;
      } else if (has_time) {
        ++stamped;
      }
    }
    sample.remove_prefix(std::min(sample.find('\n'), sample.size() - 1) + 1);
  }
  by_braces_ = braces > 0 && braces >= stamped && braces * least_share >= lines;
  by_times_ = (stamped > 0 && stamped * least_share >= lines) || by_braces_;
}

bool framing::begins(std::string_view line) const {
  if (how_.every_line) return true;
  line = first_of(line);
  if (how_.first_line) return re2::RE2::PartialMatch(re2::StringPiece(line.data(), line.size()), *how_.first_line);
  if (!by_times_) return !goes_on(line);
  const bool is_brace = line.substr(skipped_escapes(line)).starts_with('{');
  if (is_brace) return by_braces_;
  return times_.of_line(line).has_value();
}

}  // namespace hondana::records

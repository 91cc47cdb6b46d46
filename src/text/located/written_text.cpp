/// Going along a value and its writing side by side.
#include "text/located/written_text.hpp"
#include "base/ascii/characters.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace hondana::located {
namespace {

constexpr auto nowhere = static_cast<std::size_t>(-1);

/// Which of the spans a place is in; `nowhere` for none.
std::size_t covering(std::span<const secrets::span> spans, std::size_t at) noexcept {
  const auto after = std::upper_bound(spans.begin(), spans.end(), at,
                                      [](std::size_t place, const secrets::span& one) { return place < one.begin; });
  if (after == spans.begin() || at >= std::prev(after)->end) return nowhere;
  return static_cast<std::size_t>(std::prev(after) - spans.begin());
}

/// Where in `written` each byte of `text` stands, white space being `nowhere`, if it is written from `from` on but for white
/// space; empty when it is not.
std::vector<std::size_t> places_of(std::string_view text, std::string_view written, std::size_t from) {
  std::vector<std::size_t> found(text.size(), nowhere);
  auto at = from;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (ascii::is_json_space(text[i])) continue;
    while (at < written.size() && ascii::is_json_space(written[at])) ++at;
    if (at >= written.size() || written[at] != text[i]) return {};
    found[i] = at++;
  }
  return found;
}

/// Writes asterisks where spans cover it; white space between two covered bytes of one span is covered, too.
bool mask_covered(std::string& text, const std::vector<std::size_t>& places, std::size_t begin,
                  std::span<const secrets::span> spans) {
  auto before = nowhere;  // the span of the last byte
  std::size_t behind = 0;
  bool is_any = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (places[i] == nowhere) continue;
    const auto which = covering(spans, begin + places[i]);
    for (auto blank = behind; which != nowhere && which == before && blank < i; ++blank) {
      if (text[blank] != '\n' && text[blank] != '\r') text[blank] = '*';
    }
    if (which != nowhere) {
      text[i] = '*';
      is_any = true;
    }
    before = which;
    behind = i + 1;
  }
  return is_any;
}

/// Where a value may begin in how it is written: at once, behind quotes, behind the first line of a block.
std::vector<std::size_t> beginnings(std::string_view written) {
  std::vector<std::size_t> all{0};
  if (written.empty()) return all;
  const char first = written.front();
  if (first == '"' || first == '\'' || first == '`') {
    all.push_back(1);
    if (written.substr(1).starts_with(std::string(2, first))) all.push_back(3);
  }
  if (first == '|' || first == '>') all.push_back(std::min(written.find('\n'), written.size()));
  return all;
}

}  // namespace

bool mask_as_written(std::string& text, std::string_view written, std::size_t begin, std::span<const secrets::span> spans) {
  const auto first =
      std::partition_point(spans.begin(), spans.end(), [begin](const secrets::span& one) { return one.end <= begin; });
  const auto last = std::partition_point(first, spans.end(),
                                         [end = begin + written.size()](const secrets::span& one) { return one.begin < end; });
  const std::span<const secrets::span> near(first, last);
  if (near.empty() || text.empty()) return false;
  for (const auto from : beginnings(written)) {
    const auto places = places_of(text, written, from);
    if (!places.empty()) return mask_covered(text, places, begin, near);
  }
  text.assign(text.size(), '*');
  return true;
}

void append_lines(std::string_view source, secrets::span at, std::vector<secrets::span>& into) {
  const auto stop = std::min(at.end, source.size());
  const auto is_end_of_line = [source](std::size_t i) { return source[i] == '\n' || source[i] == '\r'; };
  for (auto begin = at.begin; begin < stop;) {
    if (begin == 0 || is_end_of_line(begin - 1)) {
      while (begin < stop && (source[begin] == ' ' || source[begin] == '\t')) ++begin;
    }
    auto end = begin;
    while (end < stop && !is_end_of_line(end)) ++end;
    // Where a line goes on in the next.
    const bool goes_on = end < stop && end > begin && source[end - 1] == '\\';
    if (end - (goes_on ? 1 : 0) > begin) into.push_back({begin, end - (goes_on ? 1 : 0)});
    begin = end;
    while (begin < stop && is_end_of_line(begin)) ++begin;
  }
}

namespace {

/// A writing without its quotes and the first line of a block.
secrets::span content_of(std::string_view written) noexcept {
  if (written.empty()) return {};
  const char first = written.front();
  if ((first == '|' || first == '>') && written.find('\n') != std::string_view::npos) {
    const auto header = written.substr(0, written.find('\n'));
    const auto mark = header.find_first_not_of("|>+-0123456789 \t\r");
    if (mark == std::string_view::npos || (header[mark] == '#' && header[mark - 1] == ' '))
      return {header.size(), written.size()};
  }
  if (first != '"' && first != '\'' && first != '`') return {0, written.size()};
  std::size_t count = 1;
  if (written.size() >= 6 && written.substr(1, 2) == std::string(2, first)) count = 3;
  const bool is_closed = written.size() >= 2 * count && written.ends_with(std::string(count, first));
  return {count, written.size() - (is_closed ? count : 0)};
}

}  // namespace

void append_places(std::string_view text, std::string_view masked, std::string_view written, std::size_t begin,
                   std::vector<secrets::span>& into) {
  std::vector<secrets::span> parts;
  const bool is_part = masked.size() == text.size() && masked.find_first_not_of("*\r\n") != std::string_view::npos;
  std::vector<std::size_t> places;
  for (const auto from : beginnings(written)) {
    if (is_part && places.empty()) places = places_of(text, written, from);
  }
  if (places.empty()) parts.push_back(content_of(written));
  for (std::size_t i = 0; i < places.size();) {
    std::optional<secrets::span> run;
    for (; i < places.size() && masked[i] == '*'; ++i) {
      if (places[i] == nowhere) continue;
      if (!run) run = secrets::span{places[i], 0};
      run->end = places[i] + 1;
    }
    if (run) parts.push_back(*run);
    if (!run) ++i;
  }
  std::vector<secrets::span> lines;
  for (const auto& one : parts) append_lines(written, one, lines);
  for (const auto& one : lines) into.push_back({begin + one.begin, begin + one.end});
}

}  // namespace hondana::located

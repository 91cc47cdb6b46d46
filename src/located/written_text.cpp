/// Going along a value and its writing side by side.
#include "located/written_text.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace hondana::located {
namespace {

bool is_white_space(char c) noexcept { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

bool is_covered(std::span<const secrets::span> spans, std::size_t at) noexcept {
  const auto after = std::upper_bound(spans.begin(), spans.end(), at,
                                      [](std::size_t place, const secrets::span& one) { return place < one.begin; });
  return after != spans.begin() && at < std::prev(after)->end;
}

/// Which bytes of `text` stand in spans, if it is written from `from` on but for white space; empty when it is not.
std::vector<bool> covered(std::string_view text, std::string_view written, std::size_t from, std::size_t begin,
                          std::span<const secrets::span> spans) {
  std::vector<bool> found(text.size());
  bool is_inside = false;
  auto at = from;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (is_white_space(text[i])) {
      found[i] = is_inside && text[i] != '\n' && text[i] != '\r';
      continue;
    }
    while (at < written.size() && is_white_space(written[at])) ++at;
    if (at >= written.size() || written[at] != text[i]) return {};
    found[i] = is_inside = is_covered(spans, begin + at);
    ++at;
  }
  return found;
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
    const auto found = covered(text, written, from, begin, near);
    if (found.empty()) continue;
    bool is_any = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (!found[i]) continue;
      text[i] = '*';
      is_any = true;
    }
    return is_any;
  }
  text.assign(text.size(), '*');
  return true;
}

}  // namespace hondana::located

/// Reading a range, and counting lines.
#include "app/cli/verbs/line_range.hpp"

#include <charconv>
#include <system_error>

namespace hondana::cli {

result<line_range> range_of(const std::string& text) {
  line_range out;
  const auto dash = text.find('-');
  const auto number = [](std::string_view digits, std::uint64_t& into) {
    const auto [end, wrong] = std::from_chars(digits.data(), digits.data() + digits.size(), into);
    return wrong == std::errc() && end == digits.data() + digits.size() && into > 0;
  };
  const std::string_view all(text);
  bool is_right = number(all.substr(0, dash), out.first);
  if (dash == std::string::npos) {
    out.last = out.first;
  } else if (dash + 1 < text.size()) {
    is_right = is_right && number(all.substr(dash + 1), out.last) && out.first <= out.last;
  }
  if (is_right) return out;
  return fail(errc::invalid_argument, "--lines is A-B, A- or A, counted from 1, not \"" + text + '"');
}

std::string line_cutter::pass(std::string_view piece) {
  std::string out;
  while (!piece.empty() && line_ <= range_.last) {
    const auto end = piece.find('\n');
    const auto part = piece.substr(0, end == std::string_view::npos ? end : end + 1);
    if (line_ >= range_.first) out += part;
    piece.remove_prefix(part.size());
    if (end != std::string_view::npos) ++line_;
  }
  return out;
}

}  // namespace hondana::cli

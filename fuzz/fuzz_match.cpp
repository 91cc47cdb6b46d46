/// Matching: what is typed is the first line of the input, the value is the rest; compared with a naive subsequence test.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "base/json/utf8.hpp"
#include "base/match/fuzzy_match.hpp"

namespace {

char folded(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

/// The code points, each as its bytes; of well-formed text.
std::vector<std::string> points(std::string_view text) {
  std::vector<std::string> all;
  for (const char c : text) {
    if ((static_cast<unsigned char>(c) & 0xC0) == 0x80 && !all.empty()) {
      all.back() += c;
    } else {
      all.emplace_back(1, folded(c));
    }
  }
  return all;
}

bool in_order(const std::vector<std::string>& typed, const std::vector<std::string>& value) {
  std::size_t next = 0;
  for (const auto& one : value) {
    if (next < typed.size() && one == typed[next]) ++next;
  }
  return next == typed.size();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hondana;
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const auto line = std::min(input.find('\n'), input.size());
  const auto typed = input.substr(0, line);
  const auto value = input.substr(std::min(line + 1, input.size()));
  const auto anywhere = match::matcher(typed)(value);
  const auto at_the_end = match::matcher(typed, match::match_scope::last_segment)(value);
  if (at_the_end && !anywhere) std::abort();
  if (value.starts_with(typed) != (anywhere && anywhere->tier == match::match_tier::prefix)) std::abort();
  if (!json::is_utf8(typed) || !json::is_utf8(value)) return 0;
  const auto wanted = points(typed);
  if (wanted.size() > 64 || value.size() > 8192) return 0;
  if (anywhere.has_value() != in_order(wanted, points(value))) std::abort();
  return 0;
}

/// The grammar of IPv6 and future addresses.
#include "base/uri/authority.hpp"

#include <cstddef>

#include "base/uri/octet_set.hpp"

namespace hondana::uri {
namespace {

constexpr octet_set hexadecimal = digits.with("ABCDEFabcdef");
constexpr octet_set future_address = unreserved.with(sub_delimiters).with(":");

bool all_in(const octet_set& set, std::string_view text) noexcept {
  for (const char c : text) {
    if (!set.has(c)) return false;
  }
  return !text.empty();
}

bool is_ipv4(std::string_view text) noexcept {
  for (int part = 0; part < 4; ++part) {
    const std::size_t end = part < 3 ? text.find('.') : text.size();
    if (end == std::string_view::npos) return false;
    const std::string_view number = text.substr(0, end);
    if (!all_in(digits, number) || number.size() > 3 || (number.size() > 1 && number[0] == '0')) return false;
    int value = 0;
    for (const char digit : number) value = value * 10 + (digit - '0');
    if (value > 255) return false;
    text.remove_prefix(part < 3 ? end + 1 : end);
  }
  return true;
}

/// Counts the 16-bit groups of a colon-separated run that may end in an IPv4 address; -1 when it is not one.
int groups_of(std::string_view text, bool ipv4_may_end) noexcept {
  if (text.empty()) return 0;
  int groups = 0;
  while (true) {
    const std::size_t end = text.find(':');
    const std::string_view group = text.substr(0, end);
    if (end == std::string_view::npos && ipv4_may_end && is_ipv4(group)) return groups + 2;
    if (group.size() > 4 || !all_in(hexadecimal, group) || ++groups > 8) return -1;
    if (end == std::string_view::npos) return groups;
    text.remove_prefix(end + 1);
  }
}

bool is_ipv6(std::string_view text) noexcept {
  const std::size_t gap = text.find("::");
  if (gap == std::string_view::npos) return groups_of(text, true) == 8;
  const int before = groups_of(text.substr(0, gap), false);
  const int after = groups_of(text.substr(gap + 2), true);
  return before >= 0 && after >= 0 && before + after <= 7;
}

}  // namespace

bool is_ip_literal(std::string_view text) noexcept {
  if (text.empty() || (text[0] != 'v' && text[0] != 'V')) return is_ipv6(text);
  const std::size_t dot = text.find('.');
  return dot != std::string_view::npos && all_in(hexadecimal, text.substr(1, dot - 1)) &&
         all_in(future_address, text.substr(dot + 1));
}

}  // namespace hondana::uri

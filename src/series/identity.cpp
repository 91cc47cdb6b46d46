/// Names and labels: whether they can be, in order, and as text.
#include "series/identity.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace hondana::series {
namespace {

constexpr bool begins_name(char c) noexcept { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
constexpr bool is_in_name(char c) noexcept { return begins_name(c) || (c >= '0' && c <= '9'); }

/// How many bytes the sequence has that begins `text`; 0: it is ill-formed.
std::size_t sequence_length(std::string_view text) noexcept {
  const auto byte = [text](std::size_t at) { return static_cast<unsigned char>(text[at]); };
  const auto goes_on = [&](std::size_t at, unsigned least = 0x80, unsigned most = 0xbf) {
    return at < text.size() && byte(at) >= least && byte(at) <= most;
  };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first <= 0xdf) return goes_on(1) ? 2 : 0;
  if (first >= 0xe0 && first <= 0xef)
    return goes_on(1, first == 0xe0 ? 0xa0 : 0x80, first == 0xed ? 0x9f : 0xbf) && goes_on(2) ? 3 : 0;
  if (first >= 0xf0 && first <= 0xf4)
    return goes_on(1, first == 0xf0 ? 0x90 : 0x80, first == 0xf4 ? 0x8f : 0xbf) && goes_on(2) && goes_on(3) ? 4 : 0;
  return 0;
}

}  // namespace

std::string_view identity::value_of(std::string_view label_name) const noexcept {
  if (label_name == "__name__") return name;
  const auto at = std::lower_bound(labels.begin(), labels.end(), label_name,
                                   [](const label& one, std::string_view wanted) { return one.first < wanted; });
  return at != labels.end() && at->first == label_name ? std::string_view(at->second) : std::string_view();
}

bool normalise(identity& of) {
  if (!of.name.empty() && !is_metric_name(of.name)) return false;
  for (const auto& [name, value] : of.labels)
    if (!is_label_name(name) || name == "__name__" || !is_utf8(value)) return false;
  const auto by_name = [](const label& a, const label& b) { return a.first < b.first; };
  if (!std::is_sorted(of.labels.begin(), of.labels.end(), by_name)) std::sort(of.labels.begin(), of.labels.end(), by_name);
  if (std::adjacent_find(of.labels.begin(), of.labels.end(),
                         [](const label& a, const label& b) { return a.first == b.first; }) != of.labels.end())
    return false;
  std::erase_if(of.labels, [](const label& one) { return one.second.empty(); });
  return true;
}

bool is_metric_name(std::string_view text) noexcept {
  return !text.empty() && (begins_name(text[0]) || text[0] == ':') &&
         std::all_of(text.begin(), text.end(), [](char c) { return is_in_name(c) || c == ':'; });
}

bool is_label_name(std::string_view text) noexcept {
  return !text.empty() && begins_name(text[0]) && std::all_of(text.begin(), text.end(), is_in_name);
}

bool is_utf8(std::string_view text) noexcept {
  while (!text.empty()) {
    if (text.size() >= sizeof(std::uint64_t)) {
      std::uint64_t eight = 0;
      std::memcpy(&eight, text.data(), sizeof eight);
      if ((eight & 0x8080808080808080u) == 0) {
        text.remove_prefix(sizeof eight);
        continue;
      }
    }
    const auto length = sequence_length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

std::string to_text(const identity& of) {
  std::string out;
  append_text(out, of);
  return out;
}

void append_text(std::string& out, const identity& of) {
  out += of.name;
  if (of.labels.empty()) {
    if (of.name.empty()) out += "{}";
    return;
  }
  char before = '{';
  for (const auto& [name, value] : of.labels) {
    out += before;
    out.append(name).append("=\"");
    for (const char c : value) {
      if (c == '\n') {
        out += "\\n";
        continue;
      }
      if (c == '\\' || c == '"') out += '\\';
      out += c;
    }
    out += '"';
    before = ',';
  }
  out += '}';
}

}  // namespace hondana::series

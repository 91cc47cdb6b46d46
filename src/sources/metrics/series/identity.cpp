/// Names and labels: whether they can be, in order, and as text.
#include "sources/metrics/series/identity.hpp"

#include <algorithm>

#include "base/counters/text_format.hpp"

namespace hondana::series {
namespace {

constexpr bool begins_name(char c) noexcept { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
constexpr bool is_in_name(char c) noexcept { return begins_name(c) || (c >= '0' && c <= '9'); }

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
    counters::append_label(out, before, name, value);
    before = ',';
  }
  out += '}';
}

}  // namespace hondana::series

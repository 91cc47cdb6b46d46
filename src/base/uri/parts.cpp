/// Splitting and ordering URIs as text, without validating them.
#include <algorithm>
#include <hondana/uri.hpp>

namespace hondana::inline v0 {

uri_parts split_uri(std::string_view uri) noexcept {
  uri_parts parts;
  if (const std::size_t hash = uri.find('#'); hash != std::string_view::npos) {
    parts.fragment = uri.substr(hash + 1);
    uri = uri.substr(0, hash);
  }
  if (const std::size_t mark = uri.find('?'); mark != std::string_view::npos) {
    parts.query = uri.substr(mark + 1);
    uri = uri.substr(0, mark);
  }
  const std::size_t end = uri.find_first_of(":/");
  if (end != std::string_view::npos && end != 0 && uri[end] == ':') {
    parts.scheme = uri.substr(0, end);
    uri.remove_prefix(end + 1);
  }
  if (uri.starts_with("//")) {
    uri.remove_prefix(2);
    const std::size_t path = std::min(uri.find('/'), uri.size());
    parts.authority = uri.substr(0, path);
    uri.remove_prefix(path);
  }
  parts.path = uri;
  return parts;
}

std::strong_ordering compare_by_segment(std::string_view a, std::string_view b) noexcept {
  const auto [x, y] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  if (x == a.end() || y == b.end()) return (x != a.end()) <=> (y != b.end());
  const auto rank = [](char c) { return c == '/' ? 0 : static_cast<unsigned char>(c) + 1; };
  return rank(*x) <=> rank(*y);
}

std::string key_before(std::string_view prefix) {
  // No URI has a byte this high, so that nothing lies between it and the next greater byte in the place before it.
  constexpr char beyond_all = static_cast<char>(0xFF);
  if (prefix.empty()) return {};
  const char last = prefix.back();
  std::string key(prefix.substr(0, prefix.size() - 1));
  if (last == '/') return key;  // `a/` and what starts with it come directly after `a`
  if (last == '\0') return key += '/', key += beyond_all;
  const char before = static_cast<char>(last - 1);
  key += before == '/' ? static_cast<char>(before - 1) : before;
  return key += beyond_all;
}

bool covers(std::string_view prefix, std::string_view uri) noexcept {
  if (!uri.starts_with(prefix)) return false;
  if (uri.size() == prefix.size() || prefix.ends_with('/')) return true;
  const char next = uri[prefix.size()];
  return next == '/' || next == '?' || next == '#';
}

}  // namespace hondana::inline v0

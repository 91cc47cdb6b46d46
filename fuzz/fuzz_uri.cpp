/// Fuzzes canonical_uri and the functions that take URIs apart: first line a URI, the rest another.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <hondana/uri.hpp>
#include <string>
#include <string_view>

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

void check_canonical(std::string_view text) {
  const auto uri = hondana::canonical_uri(text);
  if (!uri) {
    require(uri.error().code == hondana::errc::invalid_argument && !uri.error().public_text.empty());
    return;
  }
  require(uri->size() <= hondana::max_uri_bytes);
  require(hondana::canonical_uri(*uri).value() == *uri);
  for (const char c : *uri) require(c > ' ' && c < '\x7f');

  const auto parts = hondana::split_uri(*uri);
  std::string joined(parts.scheme);
  joined += ':';
  if (parts.authority) joined.append("//").append(*parts.authority);
  joined += parts.path;
  if (parts.query) joined.append("?").append(*parts.query);
  if (parts.fragment) joined.append("#").append(*parts.fragment);
  require(joined == *uri);

  // What 5.2.4 promises of a hierarchical path, and what keeps a path from being read as an authority.
  require(parts.authority || !parts.path.starts_with("//"));
  if (!parts.path.starts_with('/')) return;
  const std::string bounded = std::string(parts.path) + '/';
  require(bounded.find("/./") == std::string::npos && bounded.find("/../") == std::string::npos);
}

void check_pair(std::string_view a, std::string_view b) {
  const auto order = hondana::compare_by_segment(a, b);
  require((order == 0) == (a == b));
  require((order < 0) == (hondana::compare_by_segment(b, a) > 0));
  require(hondana::uri_covers(a, a) && hondana::uri_covers(b, b));
  if (hondana::uri_covers(a, b)) require(b.starts_with(a) && order <= 0);
  (void)hondana::split_uri(a);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::size_t end = std::min(input.find('\n'), input.size());
  const std::string_view first = input.substr(0, end);
  const std::string_view second = input.substr(std::min(end + 1, input.size()));
  check_canonical(first);
  check_canonical(second);
  check_pair(first, second);
  require(hondana::percent_decode(hondana::percent_encode(input)).value() == input);
  require(hondana::percent_decode(hondana::percent_encode(input, true)).value() == input);
  (void)hondana::percent_decode(input);
  return 0;
}

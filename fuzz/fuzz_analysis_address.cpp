/// URIs of analyses: whatever is asked for, an index goes back to the URI it came from, and Markdown keeps what it quotes
/// apart.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include <hondana/uri.hpp>

#include "sources/analyses/analysis_rendering.hpp"
#include "sources/analyses/analysis_resources.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hondana::analyses_source;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  (void)list_start_id(text);
  const auto quotation = quote_block(text);
  for (std::size_t at = 0; at < quotation.size(); at = quotation.find('\n', at) + 1) {
    if (quotation[at] != '>') std::abort();
  }
  if (escape_line(text).find('\n') != std::string::npos) std::abort();
  const auto uri = hondana::canonical_uri(text);
  if (!uri) return 0;
  const auto at = parse_address(*uri);
  if (!at || at->kind != resource_kind::index) return 0;
  const auto again = parse_address(index_page_uri(*at));
  if (!again || index_page_uri(*again) != index_page_uri(*at)) std::abort();
  return 0;
}

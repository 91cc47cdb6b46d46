/// URIs of Drive: whatever is taken has an id that is one, or a path that stays what it is when it is spelled again.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include <hondana/uri.hpp>

#include "sources/gdrive/address.hpp"
#include "sources/gdrive/drive/api_types.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hondana;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  // Names are anybody's.
  const auto segment = gdrive::path_segment(text);
  if (segment.find('/') != std::string::npos) std::abort();
  if (!segment.empty() && segment.size() < 4000) {
    const auto uri = "gdrive://my-drive/" + segment;
    const auto canonical = canonical_uri(uri);
    if (canonical && *canonical != uri) std::abort();
  }
  const auto uri = canonical_uri("gdrive:" + std::string(text));
  if (!uri) return 0;
  const auto what = gdrive::parse_address("gdrive", *uri);
  if (!what) return 0;
  if (what->kind == gdrive::address::resource_kind::id && !drive::is_id(what->id)) std::abort();
  const auto once = gdrive::to_listed_uri(what->uri);
  if (gdrive::to_listed_uri(once) != once) std::abort();
  return 0;
}

/// Media types: whatever the bytes, the type told is one that holds against them, and what is active is told by a type that is.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/bytes/media_type.hpp"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view all(reinterpret_cast<const char*>(data), size);
  const auto declared = all.substr(0, all.find('\n'));
  const auto front = all.substr(std::min(declared.size() + 1, all.size()));
  for (const bool is_text : {true, false}) {
    const auto told = hondana::bytes::effective_media_type(declared, front, is_text);
    require(hondana::bytes::effective_media_type(told, front, is_text) == told);
    require(told.empty() == declared.empty());
  }
  const auto found = hondana::bytes::detect_active_content(declared, front);
  const auto type = hondana::bytes::media_type_of(found);
  require(hondana::bytes::active_content_by_type(type) == found);
  require(hondana::bytes::sniff_media_type(front).size() < 100);
  return 0;
}

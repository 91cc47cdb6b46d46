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
    const auto told = hondana::bytes::agreeing_type(declared, front, is_text);
    require(hondana::bytes::agreeing_type(told, front, is_text) == told);
    require(told.empty() == declared.empty());
  }
  const auto found = hondana::bytes::active_as(declared, front);
  const auto type = hondana::bytes::type_of(found);
  require(hondana::bytes::active_by_type(type) == found);
  require(hondana::bytes::type_of_signature(front).size() < 100);
  return 0;
}

/// What a child writes of a workbook: sheets that are written again as they were read.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "text/rendering/render_protocol.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hondana;
  const auto made = rendering::parse_sheets(std::string_view(reinterpret_cast<const char*>(data), size));
  if (!made) return 0;
  std::string again;
  for (const auto& one : *made) again += rendering::to_line(one);
  const auto same = rendering::parse_sheets(again);
  if (!same || same->size() != made->size()) std::abort();
  for (std::size_t i = 0; i < made->size(); ++i) {
    if ((*same)[i].name != (*made)[i].name || (*same)[i].csv != (*made)[i].csv) std::abort();
  }
  return 0;
}

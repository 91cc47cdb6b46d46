/// Titles and descriptions from the fronts of files: whatever the bytes, short clean text comes out.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/json/utf8.hpp"
#include "sources/files/description.hpp"
#include "sources/files/media_type.hpp"

namespace {

void expect_clean(std::string_view text) {
  if (!hondana::json::is_utf8(text)) std::abort();
  std::size_t points = 0;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7F) std::abort();
    if ((byte & 0xC0) != 0x80) ++points;
  }
  if (points > 200) std::abort();
  if (text.starts_with(' ') || text.find("  ") != std::string_view::npos) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::array<std::string_view, 14> types{"text/markdown", "text/x-rst",         "text/plain", "text/x-python",
                                                   "text/x-c++src", "text/x-shellscript", "text/html",  "text/x-sql",
                                                   "text/x-lisp",   "text/x-haskell",     "text/x-lua", "text/x-bat",
                                                   "text/x-ini",    "application/json"};
  if (size < 1) return 0;
  const std::string_view front(reinterpret_cast<const char*>(data) + 1, size - 1);
  const auto type = types[data[0] % types.size()];
  const bool is_whole = data[0] >= 128;
  const auto found = hondana::files::describe(type, front, is_whole);
  expect_clean(found.title);
  expect_clean(found.summary);
  if (hondana::files::describe(type, front, is_whole) != found) std::abort();
  // libmagic is not ours to fuzz: text only.
  if (hondana::json::is_utf8(front) && hondana::files::sniff(front, hondana::content_kind::text).empty()) std::abort();
  return 0;
}

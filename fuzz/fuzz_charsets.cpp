/// Any bytes, with any declaration: what comes out is well-formed UTF-8 without NUL, and says so of itself.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/ascii/code_points.hpp"
#include "text/charsets/charset_decoder.hpp"

namespace {

using namespace hondana;

void check(std::string_view bytes, std::string_view declared) {
  const auto out = charsets::decode(bytes, declared);
  if (!out) return;
  if (out->charset.empty() || out->text.size() > 3 * bytes.size() + 3 || out->replacements > bytes.size()) std::abort();
  for (std::string_view rest = out->text; !rest.empty();) {
    const auto c = ascii::first_character(rest);
    if (!c.is_well_formed || c.code == 0) std::abort();
    rest.remove_prefix(c.bytes);
  }
  // Text that came out is UTF-8 from then on, but for escape sequences and a mark in it, which are another text.
  if (out->text.find('\x1b') != std::string_view::npos || out->text.rfind("\xef\xbb\xbf", 0) == 0) return;
  const auto again = charsets::decode(out->text);
  if (again && (again->charset != "UTF-8" || again->text != out->text)) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  static constexpr std::array<std::string_view, 10> declared = {
      "",       "utf-8",    "shift_jis", "euc-jp",       "iso-2022-jp",
      "utf-16", "utf-16le", "gb18030",   "windows-1251", "text/html;charset=big5"};
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  check(text, {});
  check(text.substr(1), declared[data[0] % declared.size()]);
  check(text.substr(1), text);
  return 0;
}

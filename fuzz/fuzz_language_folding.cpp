/// Any bytes folded and composed: compared with utf8proc doing it at once, and every byte comes from where it says.
#include <utf8proc.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/ascii/code_points.hpp"
#include "text/language/language.hpp"

namespace {

using namespace hondana;

std::string at_once(std::string_view text, unsigned how) {
  utf8proc_uint8_t* made = nullptr;
  const auto size = utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                 static_cast<utf8proc_ssize_t>(text.size()), &made, static_cast<utf8proc_option_t>(how));
  if (size < 0) std::abort();
  std::string out(reinterpret_cast<const char*>(made), static_cast<std::size_t>(size));
  std::free(made);
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto folded = language::fold_with_offsets(text);
  if (folded.text != language::fold(text) || folded.source_offsets.size() != folded.text.size() + 1) std::abort();
  if (folded.text.size() > 18 * text.size() || folded.source_offsets.back() != size) std::abort();
  if (!std::is_sorted(folded.source_offsets.begin(), folded.source_offsets.end())) std::abort();

  std::string valid;
  bool is_valid = true, has_dash = false;
  for (auto rest = text; !rest.empty();) {
    const auto c = ascii::first_character(rest);
    is_valid = is_valid && c.is_well_formed;
    has_dash = has_dash || c.code == 0x2010 || c.code == 0x2011 || c.code == 0x2212 || c.code == 0x2500;
    ascii::append_utf8(valid, c.code);
    rest.remove_prefix(c.bytes);
  }
  if (!is_valid && language::fold(valid) != folded.text) std::abort();
  if (!has_dash && at_once(valid, static_cast<unsigned>(UTF8PROC_STABLE) | UTF8PROC_COMPOSE | UTF8PROC_COMPAT |
                                      UTF8PROC_CASEFOLD | UTF8PROC_IGNORE) != folded.text)
    std::abort();
  const auto composed = language::to_nfc(text);
  if (is_valid && composed != at_once(text, static_cast<unsigned>(UTF8PROC_STABLE) | UTF8PROC_COMPOSE)) std::abort();
  static_cast<void>(language::detect_language(text));
  return 0;
}

/// Fuzzes the masking of variables: what is no secret stays in its place, and line ends and UTF-8 stay. Names are looked at,
/// too.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/json/utf8.hpp"
#include "sources/env/env_file.hpp"
#include "sources/env/masked_value.hpp"
#include "sources/env/variables.hpp"
#include "text/secrets/secret_names.hpp"

namespace {

using namespace hondana::env;

void require(bool holds) {
  if (!holds) std::abort();
}

bool is_end_of_line(char byte) { return byte == '\n' || byte == '\r'; }

}  // namespace

/// The input: a name up to a `=`, the value.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const auto equals = input.find('=');
  const auto name = input.substr(0, equals);
  const auto value = equals == std::string_view::npos ? std::string_view() : input.substr(equals + 1);

  const auto masked = mask_value(name, value);
  if (value.empty()) {
    require(masked.text.empty() && masked.count == 0);
  } else if (hondana::secrets::classify_name(name) != hondana::secrets::sensitivity::none) {
    require(masked.text == full_mask && masked.count == 1);
  } else if (masked.text != full_mask) {
    require(masked.text.size() == value.size());
    require(masked.count > 0 || masked.text == value);
    for (std::size_t i = 0; i < value.size(); ++i) {
      require(masked.text[i] == value[i] || masked.text[i] == '*');
      require(is_end_of_line(masked.text[i]) == is_end_of_line(value[i]));
    }
  }
  require(!hondana::json::is_utf8(value) || hondana::json::is_utf8(masked.text));

  (void)is_secret_name(name);
  require(is_slug(make_slug(name)));
  if (const auto list = allow_list::create({std::string(name.substr(0, allow_list::max_pattern_bytes))})) {
    const bool is_allowed = list->allows(value.substr(0, 1000));
    require(is_allowed || name != value);
  }
  return 0;
}

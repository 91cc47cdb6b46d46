/// Frontmatter: whatever the bytes, an object that JSON can say and that is read back the same, or an error with a reason.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include <hondana/value.hpp>

#include "text/front_matter/front_matter.hpp"
#include "text/front_matter/yaml.hpp"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

void expect_sound(const hondana::result<hondana::value>& parsed) {
  if (!parsed) {
    require(parsed.error().code == hondana::errc::invalid_argument && !parsed.error().public_text.empty());
    return;
  }
  const auto again = hondana::value::parse(parsed->to_text());
  require(again.has_value() && *again == *parsed);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  expect_sound(hondana::front_matter::parse_yaml(text));
  const auto whole = "---\n" + std::string(text) + "\n---\n";
  for (const auto front : {text, std::string_view(whole)}) {
    const auto parsed = hondana::front_matter::parse_frontmatter(front);
    expect_sound(parsed);
    if (!parsed) continue;
    require(parsed->as_object() != nullptr);
    const auto checked = hondana::front_matter::check_frontmatter(*parsed, "a");
    if (checked) require(*parsed->find("name")->as_string() == "a");
  }
  return 0;
}

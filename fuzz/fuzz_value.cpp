/// JSON values from text: what is read is written so that it reads back equal.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include <hondana/value.hpp>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hondana;
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const auto read = value::parse(input, {.max_bytes = 64 * 1024, .max_values = 10'000});
  if (!read) {
    if (read.error().code != errc::invalid_argument || read.error().public_text.empty()) std::abort();
    return 0;
  }
  const auto text = read->to_text();
  const auto again = value::parse(text);
  if (!again || !(*again == *read) || again->to_text() != text) std::abort();
  const auto sorted = value::parse(read->to_canonical_text());
  if (!sorted || !(*sorted == *read)) std::abort();
  return 0;
}

/// Any text is a configuration or an error that names a line; nothing else happens.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "sources/config/settings.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > 1 << 16) return 0;
  const auto made = hondana::config::parse({reinterpret_cast<const char*>(data), size}, "f.toml");
  if (!made && made.error().public_text.rfind("f.toml:", 0) != 0) std::abort();
  return 0;
}

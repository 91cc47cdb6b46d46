/// Cursors from peers: whatever is accepted is exactly what would be written.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "server/catalog/cursor.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hondana;
  static const auto scope = catalog::cursor_scope("resources", "", nullptr);
  const std::string_view input(reinterpret_cast<const char*>(data), size);

  const auto key = catalog::read_cursor(input, scope);
  if (key) {
    if (key->empty() || key->size() > 16 * 1024 || catalog::write_cursor(scope, *key) != input) std::abort();
  } else if (key.error().code != errc::invalid_argument || !key.error().public_text.starts_with("cursor:")) {
    std::abort();
  }

  // The input as a key: it comes back unchanged or not at all, and never under another scope.
  const auto cursor = catalog::write_cursor(scope, input);
  const auto back = catalog::read_cursor(cursor, scope);
  if (back && *back != input) std::abort();
  if (catalog::read_cursor(cursor, scope + 1)) std::abort();
  return 0;
}

/// Sealed states from peers: nothing opens but what was closed.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/seal/seal.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hondana;
  static const auto by = seal::sealer::with_key(std::string(32, 'k')).value();
  static const seal::binding mine{"local", "tools/call", "{}"};
  static const seal::clock::time_point now(std::chrono::seconds(1'800'000'000));
  const std::string_view input(reinterpret_cast<const char*>(data), size);

  // A code of 256 bits is not found by chance.
  if (by->unseal(input, mine, now)) std::abort();
  const auto closed = by->seal(input, mine, now + std::chrono::minutes(1));
  if (!closed) return 0;
  const auto back = by->unseal(*closed, mine, now);
  // Ill-formed UTF-8 is repaired when it is written.
  if (!back || back->as_string() == nullptr) std::abort();
  if (by->unseal(*closed, {mine.caller, mine.method, "[]"}, now)) std::abort();
  return 0;
}

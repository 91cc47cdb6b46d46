/// Kept credentials: what is read is written and read again the same.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "auth/credentials/credential_document.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace credentials = hondana::credentials;
  const auto read = credentials::decode({reinterpret_cast<const char*>(data), size});
  if (!read) return 0;
  const auto again = credentials::decode(credentials::encode(*read));
  if (!again || *again != *read || read->tokens.size() > credentials::max_entries) std::abort();
  return 0;
}

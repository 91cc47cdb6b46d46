/// What a client's certificate says of it, whatever its bytes are.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "base/crypto/openssl.hpp"
#include "transport/tls/certificate.hpp"

namespace {

bool is_printable(const std::string& text) {
  for (const unsigned char c : text) {
    if (c < ' ' || c == 0x7f) return false;
  }
  return true;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const hondana::crypto::certificate_pointer shown(d2i_X509(nullptr, &data, static_cast<long>(size)));
  if (!shown) return 0;
  const auto told = hondana::tls::describe(shown.get());
  if (told.sha256.size() != 64 || !is_printable(told.subject)) std::abort();
  for (const auto& name : told.alternative_names) {
    if (!is_printable(name) || name.find(':') == std::string::npos) std::abort();
  }
  return 0;
}

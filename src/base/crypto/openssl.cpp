/// Owning pointers for OpenSSL objects, access to its error queue, and host names of certificates.
#include "base/crypto/openssl.hpp"

#include <openssl/err.h>

namespace hondana::crypto {

quiet::quiet() noexcept { ERR_set_mark(); }
quiet::~quiet() { ERR_pop_to_mark(); }

std::string last_reason() {
  const char* const text = ERR_reason_error_string(ERR_peek_last_error());
  return text != nullptr ? text : "OpenSSL gives no reason";
}

}  // namespace hondana::crypto

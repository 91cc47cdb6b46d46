/// Owning pointers for OpenSSL objects, access to its error queue, and a check of certificates.
#include "base/crypto/openssl.hpp"

#include <openssl/err.h>

namespace hondana::crypto {

error_queue_guard::error_queue_guard() noexcept { ERR_set_mark(); }
error_queue_guard::~error_queue_guard() { ERR_pop_to_mark(); }

std::string last_error_reason() {
  const char* const text = ERR_reason_error_string(ERR_peek_last_error());
  return text != nullptr ? text : "OpenSSL gives no reason";
}

}  // namespace hondana::crypto

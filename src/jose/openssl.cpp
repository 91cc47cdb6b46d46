/// OpenSSL's queue of errors.
#include "jose/openssl.hpp"

#include <openssl/err.h>

namespace hondana::jose {

quiet::quiet() noexcept { ERR_set_mark(); }
quiet::~quiet() { ERR_pop_to_mark(); }

}  // namespace hondana::jose

/// OpenSSL's objects with owners, and its queue of errors.
#pragma once

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/x509.h>

#include <memory>
#include <string>

namespace hondana::crypto {

template <auto Free>
struct frees {
  template <class T>
  void operator()(T* of) const noexcept {
    Free(of);
  }
};

using key_pointer = std::unique_ptr<EVP_PKEY, frees<EVP_PKEY_free>>;
using certificate_pointer = std::unique_ptr<X509, frees<X509_free>>;
using memory_file = std::unique_ptr<BIO, frees<BIO_free>>;

/// Leaves none of our failures in the queue of errors that OpenSSL keeps for each thread, where others would read them.
class quiet {
 public:
  quiet() noexcept;
  ~quiet();
  quiet(const quiet&) = delete;
  quiet& operator=(const quiet&) = delete;
};

/// The reason of the latest failure in that queue, such as "ee key too small".
[[nodiscard]] std::string last_reason();

}  // namespace hondana::crypto

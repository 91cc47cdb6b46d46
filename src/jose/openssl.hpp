/// OpenSSL's objects with owners.
#pragma once

#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/ecdsa.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>

#include <memory>

namespace hondana::jose {

template <auto Free>
struct frees {
  template <class T>
  void operator()(T* of) const noexcept {
    Free(of);
  }
};

using key_pointer = std::unique_ptr<EVP_PKEY, frees<EVP_PKEY_free>>;
using key_context = std::unique_ptr<EVP_PKEY_CTX, frees<EVP_PKEY_CTX_free>>;
using digest_context = std::unique_ptr<EVP_MD_CTX, frees<EVP_MD_CTX_free>>;
using number = std::unique_ptr<BIGNUM, frees<BN_free>>;
using ecdsa_signature = std::unique_ptr<ECDSA_SIG, frees<ECDSA_SIG_free>>;
using parameter_builder = std::unique_ptr<OSSL_PARAM_BLD, frees<OSSL_PARAM_BLD_free>>;
using parameters = std::unique_ptr<OSSL_PARAM, frees<OSSL_PARAM_free>>;
using memory_file = std::unique_ptr<BIO, frees<BIO_free>>;

/// Leaves none of our failures in the queue of errors that OpenSSL keeps for each thread, where others would read them.
class quiet {
 public:
  quiet() noexcept;
  ~quiet();
  quiet(const quiet&) = delete;
  quiet& operator=(const quiet&) = delete;
};

}  // namespace hondana::jose

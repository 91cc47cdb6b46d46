/// OpenSSL's objects with owners.
#pragma once

#include <openssl/bn.h>
#include <openssl/ecdsa.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>

#include <memory>

#include "base/crypto/openssl.hpp"

namespace hondana::jose {

using crypto::frees;
using crypto::key_pointer;
using crypto::memory_file;
using crypto::quiet;
using key_context = std::unique_ptr<EVP_PKEY_CTX, frees<EVP_PKEY_CTX_free>>;
using digest_context = std::unique_ptr<EVP_MD_CTX, frees<EVP_MD_CTX_free>>;
using number = std::unique_ptr<BIGNUM, frees<BN_free>>;
using ecdsa_signature = std::unique_ptr<ECDSA_SIG, frees<ECDSA_SIG_free>>;
using parameter_builder = std::unique_ptr<OSSL_PARAM_BLD, frees<OSSL_PARAM_BLD_free>>;
using parameters = std::unique_ptr<OSSL_PARAM, frees<OSSL_PARAM_free>>;

}  // namespace hondana::jose

/// OpenSSL objects for keys and numbers, and ECDSA signatures in both of their forms.
#pragma once

#include <openssl/bn.h>
#include <openssl/ecdsa.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

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

/// Size of each of the two numbers of an ES256 signature. Bytes.
inline constexpr std::size_t es256_half = 32;

/// Converts a signature from the two concatenated numbers of tokens (RFC 7518 section 3.4) to the DER of OpenSSL. Empty for
/// another length.
[[nodiscard]] std::optional<std::string> der_of(std::string_view pair);
/// Converts a signature from DER to the form of tokens.
[[nodiscard]] std::optional<std::string> pair_of(std::string_view der);

}  // namespace hondana::jose

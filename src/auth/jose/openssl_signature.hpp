/// Pointers to OpenSSL objects, and conversion of ECDSA signatures between JSON Web Tokens and OpenSSL.
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

using crypto::bio_pointer;
using crypto::error_queue_guard;
using crypto::key_pointer;
using crypto::openssl_deleter;
using key_context = std::unique_ptr<EVP_PKEY_CTX, openssl_deleter<EVP_PKEY_CTX_free>>;
using digest_context = std::unique_ptr<EVP_MD_CTX, openssl_deleter<EVP_MD_CTX_free>>;
using bignum = std::unique_ptr<BIGNUM, openssl_deleter<BN_free>>;
using ecdsa_signature = std::unique_ptr<ECDSA_SIG, openssl_deleter<ECDSA_SIG_free>>;
using parameter_builder = std::unique_ptr<OSSL_PARAM_BLD, openssl_deleter<OSSL_PARAM_BLD_free>>;
using parameters = std::unique_ptr<OSSL_PARAM, openssl_deleter<OSSL_PARAM_free>>;

/// Size of each of the two numbers of an ES256 signature. Bytes.
inline constexpr std::size_t es256_component_bytes = 32;

/// Converts an ES256 signature from the form of tokens, two concatenated numbers (RFC 7518 section 3.4), to the DER of OpenSSL.
/// Empty for another length, or without memory.
[[nodiscard]] std::optional<std::string> jose_to_der(std::string_view pair);
/// Converts an ES256 signature from DER to the form of tokens. Empty for invalid DER, or without memory.
[[nodiscard]] std::optional<std::string> der_to_jose(std::string_view der);

}  // namespace hondana::jose

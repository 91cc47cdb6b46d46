/// Owning pointers for OpenSSL objects, access to its error queue, and a check of certificates.
#pragma once

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <memory>
#include <string>

namespace hondana::crypto {

template <auto Free>
struct openssl_deleter {
  template <class T>
  void operator()(T* object) const noexcept {
    Free(object);
  }
};

using key_pointer = std::unique_ptr<EVP_PKEY, openssl_deleter<EVP_PKEY_free>>;
using certificate_pointer = std::unique_ptr<X509, openssl_deleter<X509_free>>;
using bio_pointer = std::unique_ptr<BIO, openssl_deleter<BIO_free>>;

/// On destruction, removes the errors since construction from the thread's OpenSSL error queue, where other code would read
/// them.
class error_queue_guard {
 public:
  error_queue_guard() noexcept;
  ~error_queue_guard();
  error_queue_guard(const error_queue_guard&) = delete;
  error_queue_guard& operator=(const error_queue_guard&) = delete;
};

/// The reason of the latest error in the thread's OpenSSL queue, such as "ee key too small". Leaves the error in the queue.
[[nodiscard]] std::string last_error_reason();

/// Whether a certificate has a well-formed subjectAltName extension. Without one it has no host names: the common name is not
/// used as one. Spec: RFC 9525 6.3.
[[nodiscard]] inline bool has_subject_alt_name(const X509* certificate) noexcept {
  const std::unique_ptr<GENERAL_NAMES, decltype(&GENERAL_NAMES_free)> names(
      static_cast<GENERAL_NAMES*>(X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr)), &GENERAL_NAMES_free);
  return names != nullptr;
}

}  // namespace hondana::crypto

/// The host names of a certificate.
#pragma once

#include <openssl/x509v3.h>

#include <memory>

namespace hondana::crypto {

/// Whether the certificate has a subjectAltName extension. The common name is not used as a host name.
/// Spec: RFC 9525 6.3.
[[nodiscard]] inline bool names_hosts(const X509* certificate) noexcept {
  const std::unique_ptr<GENERAL_NAMES, decltype(&GENERAL_NAMES_free)> names(
      static_cast<GENERAL_NAMES*>(X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr)), &GENERAL_NAMES_free);
  return names != nullptr;
}

}  // namespace hondana::crypto

/// Whom a certificate is for.
#pragma once

#include <openssl/x509v3.h>

#include <memory>

namespace hondana::crypto {

/// Whether it has names of hosts or addresses where they belong (subjectAltName). A common name alone is no name of a host.
/// Spec: RFC 9525 6.3.
[[nodiscard]] inline bool names_hosts(const X509* certificate) noexcept {
  const std::unique_ptr<GENERAL_NAMES, decltype(&GENERAL_NAMES_free)> names(
      static_cast<GENERAL_NAMES*>(X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr)), &GENERAL_NAMES_free);
  return names != nullptr;
}

}  // namespace hondana::crypto

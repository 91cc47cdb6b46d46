/// Reading certificates.
#include "transport/tls/peer.hpp"

#include <arpa/inet.h>
#include <openssl/evp.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <optional>
#include <string>
#include <string_view>

#include "base/bytes/hex.hpp"
#include "base/crypto/openssl.hpp"

namespace hondana::tls {
namespace {

using general_names = std::unique_ptr<GENERAL_NAMES, crypto::frees<GENERAL_NAMES_free>>;

std::string subject_of(X509* certificate) {
  const crypto::memory_file out(BIO_new(BIO_s_mem()));
  // UTF-8 stays as it is.
  constexpr unsigned long form = XN_FLAG_RFC2253 & ~static_cast<unsigned long>(ASN1_STRFLGS_ESC_MSB);
  if (!out || X509_NAME_print_ex(out.get(), X509_get_subject_name(certificate), 0, form) < 0) return {};
  char* text = nullptr;
  const auto size = BIO_get_mem_data(out.get(), &text);
  return size > 0 ? std::string(text, static_cast<std::size_t>(size)) : std::string();
}

std::string_view bytes_of(const ASN1_STRING* text) {
  return {reinterpret_cast<const char*>(ASN1_STRING_get0_data(text)), static_cast<std::size_t>(ASN1_STRING_length(text))};
}

/// "good\0.evil" is no name.
std::optional<std::string> spelled(const char* kind, const ASN1_STRING* text) {
  const auto bytes = bytes_of(text);
  if (std::any_of(bytes.begin(), bytes.end(), [](unsigned char c) { return c <= ' ' || c >= 0x7f; })) return std::nullopt;
  return kind + std::string(bytes);
}

std::optional<std::string> address(const ASN1_STRING* text) {
  const auto bytes = bytes_of(text);
  std::array<char, INET6_ADDRSTRLEN> out{};
  const int family = bytes.size() == 4 ? AF_INET : AF_INET6;
  if (bytes.size() != 4 && bytes.size() != 16) return std::nullopt;
  if (::inet_ntop(family, bytes.data(), out.data(), out.size()) == nullptr) return std::nullopt;
  return std::string("IP:") + out.data();
}

std::optional<std::string> name_in(const GENERAL_NAME& one) {
  switch (one.type) {
    case GEN_DNS:
      return spelled("DNS:", one.d.dNSName);
    case GEN_EMAIL:
      return spelled("email:", one.d.rfc822Name);
    case GEN_URI:
      return spelled("URI:", one.d.uniformResourceIdentifier);
    case GEN_IPADD:
      return address(one.d.iPAddress);
    default:
      return std::nullopt;
  }
}

std::vector<std::string> names_of(X509* certificate) {
  std::vector<std::string> out;
  const general_names all(static_cast<GENERAL_NAMES*>(X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr)));
  for (int i = 0; i < sk_GENERAL_NAME_num(all.get()); ++i) {
    if (auto name = name_in(*sk_GENERAL_NAME_value(all.get(), i))) out.push_back(std::move(*name));
  }
  return out;
}

std::string digest_of(X509* certificate) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> raw{};
  unsigned size = 0;
  if (X509_digest(certificate, EVP_sha256(), raw.data(), &size) != 1) return {};
  return bytes::to_hex({reinterpret_cast<const char*>(raw.data()), size});
}

}  // namespace

peer_certificate describe(X509* certificate) {
  const crypto::quiet errors;
  return {subject_of(certificate), names_of(certificate), digest_of(certificate)};
}

std::chrono::sys_seconds end_of(const X509* certificate) {
  std::tm parts{};
  if (ASN1_TIME_to_tm(X509_get0_notAfter(certificate), &parts) != 1) return {};
  return std::chrono::sys_seconds(std::chrono::seconds(::timegm(&parts)));
}

}  // namespace hondana::tls

/// Checking certificates before they are used, and explaining what became of them.
#include "transport/http_client/identity.hpp"

#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "base/crypto/host_names.hpp"
#include "transport/http_client/failed_transfer.hpp"
#include "transport/tls/pem_file.hpp"

namespace hondana::transport::http_client {
namespace {

/// What servers say of certificates they do not take, as OpenSSL spells their alerts.
constexpr std::array<std::string_view, 6> refusals{"alert unknown ca",          "alert bad certificate",
                                                   "alert certificate expired", "alert certificate revoked",
                                                   "alert certificate unknown", "alert unsupported certificate"};

bool says(const std::string& why, std::string_view what) { return why.find(what) != std::string::npos; }

/// Of a server that has a word to say about our certificate; empty: it has none.
std::string fault_of_ours(const std::string& why, const std::string& origin, const identity& ours) {
  if (says(why, "alert certificate required"))
    return origin + " requires a client certificate and accepted none; give one (--cert FILE and --key FILE, or " +
           "certificate and key of its [[source]])";
  if (std::any_of(refusals.begin(), refusals.end(), [&why](std::string_view one) { return says(why, one); }))
    return origin + " rejected the client certificate " + (ours.certificate.empty() ? "that was sent" : ours.certificate) +
           "; check its issuer and its expiry date";
  // All that a server of TLS 1.2 says when a certificate is missing.
  if (says(why, "alert handshake failure") && ours.certificate.empty())
    return origin + " ended the TLS handshake; it may require a client certificate (--cert FILE and --key FILE)";
  return {};
}

/// Refuses a server certificate without subjectAltName.
int verify(int is_fine, X509_STORE_CTX* about) {
  if (is_fine != 1 || X509_STORE_CTX_get_error_depth(about) != 0) return is_fine;
  if (crypto::names_hosts(X509_STORE_CTX_get0_cert(about))) return 1;
  X509_STORE_CTX_set_error(about, X509_V_ERR_HOSTNAME_MISMATCH);
  return 0;
}

CURLcode set_verification(CURL*, void* context, void*) {
  auto* const with = static_cast<SSL_CTX*>(context);
  SSL_CTX_set_verify(with, SSL_CTX_get_verify_mode(with), &verify);
  return CURLE_OK;
}

}  // namespace

result<identity> check_identity(const http_target& target) {
  if (!target.authorities.empty()) {
    HONDANA_TRY(const auto file, tls::pem_file::read("the authorities", target.authorities));
    HONDANA_TRY(file.certificates());
  }
  if (target.certificate.empty()) {
    if (target.key.empty()) return identity{target.authorities, {}, {}};
    return fail(errc::invalid_argument, "the key " + target.key + " has no certificate; give the certificate's file, too");
  }
  HONDANA_TRY(const auto file, tls::pem_file::read("the certificate", target.certificate));
  HONDANA_TRY(const auto chain, file.certificates());
  const auto& key_path = target.key.empty() ? target.certificate : target.key;
  const auto key_file = tls::pem_file::read("the key", key_path);
  if (!key_file) return tl::unexpected(key_file.error());
  HONDANA_TRY(const auto key, key_file->key());
  const crypto::quiet errors;
  if (X509_check_private_key(chain.front().get(), key.get()) != 1)
    return key_file->refuse("it does not belong to the certificate in " + target.certificate + '.');
  return identity{target.authorities, target.certificate, key_path};
}

bool use_identity(CURL* handle, const identity& what) {
  // One that was built without OpenSSL has rules of its own.
  const auto taken = curl().easy_setopt(handle, CURLOPT_SSL_CTX_FUNCTION, &set_verification);
  bool is_set = taken == CURLE_OK || taken == CURLE_NOT_BUILT_IN || taken == CURLE_UNKNOWN_OPTION;
  const auto set = [&](CURLoption option, const char* value) {
    is_set = is_set && curl().easy_setopt(handle, option, value) == CURLE_OK;
  };
  if (!what.authorities.empty()) {
    set(CURLOPT_CAINFO, what.authorities.c_str());
    set(CURLOPT_CAPATH, nullptr);
  }
  if (!what.certificate.empty()) {
    set(CURLOPT_SSLCERT, what.certificate.c_str());
    set(CURLOPT_SSLKEY, what.key.c_str());
  }
  return is_set;
}

std::optional<failure> failed_handshake(CURLcode how, const std::string& why, const std::string& origin, const identity& ours) {
  std::string text;
  switch (how) {
    case CURLE_SSL_CONNECT_ERROR:
      if (speaks_no_tls(how, why) && origin.starts_with("https://")) {
        text = origin + " does not speak TLS; check the port, or use http" + origin.substr(std::string_view("https").size());
        break;
      }
      text = fault_of_ours(why, origin, ours);
      break;
    // With TLS 1.3 the handshake is over for us when the server looks at our certificate.
    case CURLE_RECV_ERROR:
    case CURLE_SEND_ERROR:
      text = fault_of_ours(why, origin, ours);
      break;
    case CURLE_SSL_CERTPROBLEM:
      text = "the certificate " + ours.certificate + " with the key " + ours.key + " cannot be used";
      break;
    case CURLE_PEER_FAILED_VERIFICATION:
      if (why.find("ostname mismatch") != std::string::npos)
        return failure{errc::source_unavailable,
                       "the certificate of " + origin +
                           " names no host in its subjectAltName; have it reissued with the name " + "or address in the URL",
                       why, nullptr};
      if (why.find("subject name") != std::string::npos)
        return failure{
            errc::source_unavailable,
            "the certificate of " + origin + " is for another name: " + why + "; use a name of the certificate in the URL", why,
            nullptr};
      [[fallthrough]];
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_ISSUER_ERROR:
      return failure{errc::source_unavailable,
                     "the certificate of " + origin + " is not trusted" +
                         (ours.authorities.empty() ? "" : " by " + ours.authorities) + ": " + why +
                         (ours.authorities.empty() ? "; if it is the right server, add its issuer to the system's certificates "
                                                     "(update-ca-certificates), or use --cacert FILE"
                                                   : "; if it is the right server, use a file that contains its issuer"),
                     why, nullptr};
    default:
      break;
  }
  if (text.empty()) return std::nullopt;
  return failure{errc::source_unavailable, text + " (" + why + ')', why, nullptr};
}

}  // namespace hondana::transport::http_client

/// Sets the options of a request in libcurl, and explains why a request failed. All clients use it.
#include "transport/http_client/easy_request.hpp"

#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/crypto/openssl.hpp"

namespace hondana::transport::http_client {
namespace {

constexpr long buffer_bytes = 64L << 10;

/// Rejects a server certificate without subjectAltName.
int verify(int is_valid, X509_STORE_CTX* store_context) {
  if (is_valid != 1 || X509_STORE_CTX_get_error_depth(store_context) != 0) return is_valid;
  if (crypto::has_subject_alt_name(X509_STORE_CTX_get0_cert(store_context))) return 1;
  X509_STORE_CTX_set_error(store_context, X509_V_ERR_HOSTNAME_MISMATCH);
  return 0;
}

CURLcode set_verification(CURL*, void* context, void*) {
  auto* const ssl_context = static_cast<SSL_CTX*>(context);
  SSL_CTX_set_verify(ssl_context, SSL_CTX_get_verify_mode(ssl_context), &verify);
  return CURLE_OK;
}

}  // namespace

result<void> set_options(CURL* easy, const easy_options& options) {
  curl().easy_reset(easy);
  // A libcurl without OpenSSL does not support this option.
  const auto status = curl().easy_setopt(easy, CURLOPT_SSL_CTX_FUNCTION, &set_verification);
  bool is_set = status == CURLE_OK || status == CURLE_NOT_BUILT_IN || status == CURLE_UNKNOWN_OPTION;
  const auto set = [&](CURLoption option, auto value) {
    is_set = is_set && curl().easy_setopt(easy, option, value) == CURLE_OK;
  };
  set(CURLOPT_URL, options.url);
  set(CURLOPT_PROTOCOLS_STR, options.schemes);
  set(CURLOPT_FOLLOWLOCATION, 0L);
  set(CURLOPT_HTTP_CONTENT_DECODING, 0L);
  set(CURLOPT_USERAGENT, "hondana/" HONDANA_VERSION);
  set(CURLOPT_HTTPHEADER, options.lines);
  set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
  set(CURLOPT_NOSIGNAL, 1L);
  set(CURLOPT_NOPROGRESS, 1L);
  // An abandoned name lookup must not block the thread.
  set(CURLOPT_QUICK_EXIT, 1L);
  set(CURLOPT_BUFFERSIZE, buffer_bytes);
  set(CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(options.connect_timeout.count()));
  set(CURLOPT_SSL_VERIFYPEER, 1L);
  set(CURLOPT_SSL_VERIFYHOST, 2L);
  const auto& files = options.target.tls;
  if (!files.ca_file.empty()) {
    set(CURLOPT_CAINFO, files.ca_file.c_str());
    set(CURLOPT_CAPATH, static_cast<const char*>(nullptr));
  }
  if (!files.certificate_file.empty()) {
    set(CURLOPT_SSLCERT, files.certificate_file.c_str());
    set(CURLOPT_SSLKEY, files.key_file.c_str());
  }
  if (!options.target.socket_path.empty()) set(CURLOPT_UNIX_SOCKET_PATH, options.target.socket_path.c_str());
  if (options.target.proxy) {
    set(CURLOPT_PROXY, options.target.proxy->c_str());
    // no_proxy of the environment would bypass the proxy and checks of addresses.
    set(CURLOPT_NOPROXY, "");
  }
  if (options.user != nullptr) {
    set(CURLOPT_HTTPAUTH, static_cast<long>(CURLAUTH_BASIC));
    set(CURLOPT_USERNAME, options.user);
    set(CURLOPT_PASSWORD, options.password);
  }
  switch (options.method) {
    case http_method::get:
      break;
    case http_method::post:
      set(CURLOPT_POST, 1L);
      set(CURLOPT_POSTFIELDS, options.body.data());
      set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(options.body.size()));
      break;
    case http_method::remove:
      set(CURLOPT_CUSTOMREQUEST, "DELETE");
      break;
  }
  options.error_text[0] = '\0';
  set(CURLOPT_ERRORBUFFER, options.error_text);
  set(CURLOPT_HEADERFUNCTION, options.on_header);
  set(CURLOPT_HEADERDATA, options.owner);
  set(CURLOPT_WRITEFUNCTION, options.on_body);
  set(CURLOPT_WRITEDATA, options.owner);
  if (options.open_socket != nullptr) {
    set(CURLOPT_OPENSOCKETFUNCTION, options.open_socket);
    set(CURLOPT_OPENSOCKETDATA, options.owner);
  }
  if (!is_set) return fail(errc::source_unavailable, "libcurl rejected an option; it is older than 7.88 or out of memory");
  return {};
}

namespace {

constexpr int too_large = 100;  // CURLE_TOO_LARGE, since libcurl 8.6

/// OpenSSL's texts of the alerts with which servers reject client certificates.
constexpr std::array<std::string_view, 6> certificate_alerts{"alert unknown ca",          "alert bad certificate",
                                                             "alert certificate expired", "alert certificate revoked",
                                                             "alert certificate unknown", "alert unsupported certificate"};

bool contains(const std::string& text, std::string_view fragment) { return text.find(fragment) != std::string::npos; }

/// Whether a header line exceeds libcurl's limit (100 KiB). Older versions report this as out of memory.
bool has_too_long_line(const failed_request& request) noexcept {
  if (request.head.is_complete()) return false;
  if (request.code == too_large) return true;
  // Without a received byte, memory is really short.
  curl_off_t first_byte = 0;
  return request.code == CURLE_OUT_OF_MEMORY &&
         curl().easy_getinfo(request.easy, CURLINFO_STARTTRANSFER_TIME_T, &first_byte) == CURLE_OK && first_byte > 0;
}

/// Makes the texts about one request.
class explanation {
 public:
  explanation(const failed_request& request, const request_names& names)
      : request_(request),
        names_(names),
        detail_(*request.error_text != '\0' ? request.error_text : curl().easy_strerror(request.code)) {}

  [[nodiscard]] failure make() const {
    if (request_.head.is_too_long() || has_too_long_line(request_))
      return about_server(errc::protocol_error, "sent more than 64 KiB of header fields");
    switch (request_.code) {
      case CURLE_COULDNT_RESOLVE_HOST:
        return unreachable("unknown host name");
      case CURLE_COULDNT_RESOLVE_PROXY:
        return unreachable("unknown host name of the proxy");
      case CURLE_COULDNT_CONNECT:
        return no_connection();
      case CURLE_OPERATION_TIMEDOUT:
        return about_request(errc::timed_out,
                             "no connection within " + std::to_string(request_.connect_timeout.count()) + " ms");
      case CURLE_PEER_FAILED_VERIFICATION:
        return untrusted();
      case CURLE_SSL_CACERT_BADFILE:
        return about_request(errc::source_unavailable, "the certificates to trust cannot be read" + file_detail());
      case CURLE_SSL_CERTPROBLEM:
        return about_request(errc::source_unavailable, "the client certificate or its key cannot be used" + file_detail());
      case CURLE_SSL_CONNECT_ERROR:
        return no_handshake();
      // With TLS 1.3 our handshake is complete before the server checks our certificate, so its alert arrives during the first
      // read or write.
      case CURLE_SEND_ERROR:
      case CURLE_RECV_ERROR:
        if (auto text = client_certificate_error(); !text.empty())
          return about_server(errc::source_unavailable, text + " (" + detail_ + ')');
        [[fallthrough]];
      case CURLE_GOT_NOTHING:
      case CURLE_PARTIAL_FILE:
        return about_server(errc::source_unavailable, "ended the connection before its answer was complete: " + detail_);
      case CURLE_WEIRD_SERVER_REPLY:
      case CURLE_UNSUPPORTED_PROTOCOL:
      case CURLE_BAD_CONTENT_ENCODING:
      case CURLE_HTTP2:
      case CURLE_HTTP2_STREAM:
      case CURLE_OK:
        return about_server(errc::protocol_error, "does not answer in HTTP: " + detail_ + "; check the URL");
      default:
        return about_request(errc::source_unavailable, detail_);
    }
  }

 private:
  [[nodiscard]] failure about_request(errc code, const std::string& reason) const {
    return {code, names_.action + ": " + reason, detail_, nullptr};
  }
  [[nodiscard]] failure about_server(errc code, const std::string& predicate) const {
    return {code, (names_.server.empty() ? names_.action + ": it" : names_.server) + ' ' + predicate, detail_, nullptr};
  }
  [[nodiscard]] failure about_certificate(const std::string& predicate) const {
    return {
        errc::source_unavailable,
        (names_.server.empty() ? names_.action + ": its certificate" : "the certificate of " + names_.server) + ' ' + predicate,
        detail_, nullptr};
  }
  [[nodiscard]] failure unreachable(const std::string& reason) const {
    return about_request(errc::source_unavailable, reason + "; check the URL and that the server runs");
  }
  /// libcurl's texts about TLS files contain their paths.
  [[nodiscard]] std::string file_detail() const { return names_.shows_files ? " (" + detail_ + ')' : std::string(); }

  [[nodiscard]] failure no_connection() const {
    long number = 0;
    curl().easy_getinfo(request_.easy, CURLINFO_OS_ERRNO, &number);
    const std::string reason = number == 0 ? "nothing listens there" : std::strerror(static_cast<int>(number));
    if (request_.target.socket_path.empty()) return unreachable(reason);
    // libcurl's own text names a host and port instead of the socket.
    return {errc::source_unavailable,
            names_.action + ": " + reason +
                (number == EACCES || number == EPERM ? "; check the mode and group of the socket and of its folders"
                                                     : "; check the path and that the server runs"),
            {},
            nullptr};
  }

  [[nodiscard]] failure no_handshake() const {
    constexpr std::string_view scheme = "https";
    if (contains(detail_, "wrong version number") || contains(detail_, "packet length too long"))
      return about_server(
          errc::source_unavailable,
          "does not speak TLS; check the port" +
              (names_.server.starts_with(scheme) ? ", or use http" + names_.server.substr(scheme.size()) : std::string()) +
              " (" + detail_ + ')');
    if (auto text = client_certificate_error(); !text.empty())
      return about_server(errc::source_unavailable, text + " (" + detail_ + ')');
    return about_request(errc::source_unavailable, "the TLS handshake failed: " + detail_);
  }

  /// The predicate if a TLS alert is about our client certificate; otherwise empty.
  [[nodiscard]] std::string client_certificate_error() const {
    const auto& file = request_.target.tls.certificate_file;
    if (contains(detail_, "alert certificate required"))
      return "requires a client certificate and accepted none; give one (--cert FILE and --key FILE, or certificate and key of "
             "its [[source]])";
    if (std::any_of(certificate_alerts.begin(), certificate_alerts.end(),
                    [this](std::string_view alert) { return contains(detail_, alert); }))
      return "rejected the client certificate " + (file.empty() || !names_.shows_files ? "that was sent" : file) +
             "; check its issuer and its expiry date";
    // A server with TLS 1.2 sends only this alert if a certificate is missing.
    if (contains(detail_, "alert handshake failure") && file.empty())
      return "ended the TLS handshake; it may require a client certificate (--cert FILE and --key FILE)";
    return {};
  }

  [[nodiscard]] failure untrusted() const {
    if (contains(detail_, "ostname mismatch"))
      return about_certificate("names no host in its subjectAltName; have it reissued with the name or address in the URL");
    if (contains(detail_, "subject name"))
      return about_certificate("is for another name: " + detail_ + "; use a name of the certificate in the URL");
    const auto& file = request_.target.tls.ca_file;
    return about_certificate("is not trusted" + (file.empty() || !names_.shows_files ? std::string() : " by " + file) + ": " +
                             detail_ + "; if it is the right server, " +
                             (file.empty() ? names_.trust_advice : "use a file that contains its issuer"));
  }

  const failed_request& request_;
  const request_names& names_;
  const std::string detail_;
};

}  // namespace

failure explain_failure(const failed_request& request, const request_names& names) {
  return explanation(request, names).make();
}

}  // namespace hondana::transport::http_client

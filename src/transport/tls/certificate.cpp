/// Reads certificates and keys from PEM files, and describes client certificates.
#include "transport/tls/certificate.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/bytes/random_token.hpp"
#include "base/crypto/openssl.hpp"
#include "os/disk/file_descriptor.hpp"

namespace hondana::tls {
namespace {

using general_names = std::unique_ptr<GENERAL_NAMES, crypto::openssl_deleter<GENERAL_NAMES_free>>;

std::string subject_of(X509* certificate) {
  const crypto::bio_pointer out(BIO_new(BIO_s_mem()));
  // Do not escape UTF-8.
  constexpr unsigned long form = XN_FLAG_RFC2253 & ~static_cast<unsigned long>(ASN1_STRFLGS_ESC_MSB);
  if (!out || X509_NAME_print_ex(out.get(), X509_get_subject_name(certificate), 0, form) < 0) return {};
  char* text = nullptr;
  const auto size = BIO_get_mem_data(out.get(), &text);
  return size > 0 ? std::string(text, static_cast<std::size_t>(size)) : std::string();
}

std::string_view bytes_of(const ASN1_STRING* text) {
  return {reinterpret_cast<const char*>(ASN1_STRING_get0_data(text)), static_cast<std::size_t>(ASN1_STRING_length(text))};
}

/// Rejects names such as "good\0.evil".
std::optional<std::string> printable_name(const char* prefix, const ASN1_STRING* text) {
  const auto bytes = bytes_of(text);
  if (std::any_of(bytes.begin(), bytes.end(), [](unsigned char c) { return c <= ' ' || c >= 0x7f; })) return std::nullopt;
  return prefix + std::string(bytes);
}

std::optional<std::string> format_ip_address(const ASN1_STRING* text) {
  const auto bytes = bytes_of(text);
  std::array<char, INET6_ADDRSTRLEN> out{};
  const int family = bytes.size() == 4 ? AF_INET : AF_INET6;
  if (bytes.size() != 4 && bytes.size() != 16) return std::nullopt;
  if (::inet_ntop(family, bytes.data(), out.data(), out.size()) == nullptr) return std::nullopt;
  return std::string("IP:") + out.data();
}

std::optional<std::string> format_name(const GENERAL_NAME& name) {
  switch (name.type) {
    case GEN_DNS:
      return printable_name("DNS:", name.d.dNSName);
    case GEN_EMAIL:
      return printable_name("email:", name.d.rfc822Name);
    case GEN_URI:
      return printable_name("URI:", name.d.uniformResourceIdentifier);
    case GEN_IPADD:
      return format_ip_address(name.d.iPAddress);
    default:
      return std::nullopt;
  }
}

std::vector<std::string> names_of(X509* certificate) {
  std::vector<std::string> out;
  const general_names names(static_cast<GENERAL_NAMES*>(X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr)));
  for (int i = 0; i < sk_GENERAL_NAME_num(names.get()); ++i) {
    if (auto name = format_name(*sk_GENERAL_NAME_value(names.get(), i))) out.push_back(std::move(*name));
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
  const crypto::error_queue_guard errors;
  return {subject_of(certificate), names_of(certificate), digest_of(certificate)};
}

std::chrono::sys_seconds expiry_of(const X509* certificate) {
  std::tm fields{};
  if (ASN1_TIME_to_tm(X509_get0_notAfter(certificate), &fields) != 1) return {};
  return std::chrono::sys_seconds(std::chrono::seconds(::timegm(&fields)));
}

namespace {

constexpr std::size_t max_pem_bytes = 1u << 20;

tl::unexpected<failure> cannot_use(std::string_view role, const std::string& path, const std::string& reason) {
  failure out{errc::invalid_argument, "Cannot use " + std::string(role) + ' ' + path + ": " + reason, {}};
  out.subject = role;
  return tl::unexpected(std::move(out));
}

/// A passphrase callback that fails and records the call. Otherwise OpenSSL would prompt on the terminal.
int passphrase_callback(char*, int, int, void* was_called) {
  *static_cast<bool*>(was_called) = true;
  return -1;
}

}  // namespace

pem_file::pem_file(std::string role, std::string path, std::string text, bool is_world_readable)
    : role_(std::move(role)), path_(std::move(path)), text_(std::move(text)), is_world_readable_(is_world_readable) {}

pem_file::~pem_file() { OPENSSL_cleanse(text_.data(), text_.size()); }

result<pem_file> pem_file::read(std::string_view role, const std::string& path) {
  if (path.find('\0') != std::string::npos) return cannot_use(role, path, "the path contains a NUL byte.");
  // O_NONBLOCK: opening a named pipe must not wait for its writer.
  const disk::handle file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  struct stat status{};
  if (!file.is_open() || ::fstat(file.get(), &status) != 0)
    return cannot_use(role, path, std::string(std::strerror(errno)) + '.');
  if (!S_ISREG(status.st_mode)) return cannot_use(role, path, "it is not a regular file.");
  std::string text(max_pem_bytes + 1, '\0');
  const auto size = disk::read_at(file.get(), text.data(), text.size(), 0);
  if (!size) return cannot_use(role, path, std::string(std::strerror(size.error())) + '.');
  if (*size > max_pem_bytes) return cannot_use(role, path, "it is larger than 1 MiB, too large for PEM. Check the path.");
  text.resize(*size);
  return pem_file(std::string(role), path, std::move(text), (status.st_mode & S_IROTH) != 0);
}

crypto::bio_pointer pem_file::open() const {
  return crypto::bio_pointer(BIO_new_mem_buf(text_.data(), static_cast<int>(text_.size())));
}

tl::unexpected<failure> pem_file::reject(const std::string& reason) const { return cannot_use(role_, path_, reason); }

result<std::vector<crypto::certificate_pointer>> pem_file::certificates() const {
  const crypto::error_queue_guard errors;
  const auto bio = open();
  bool has_passphrase = false;
  std::vector<crypto::certificate_pointer> chain;
  while (bio) {
    crypto::certificate_pointer certificate(PEM_read_bio_X509(bio.get(), nullptr, &passphrase_callback, &has_passphrase));
    if (!certificate) break;
    chain.push_back(std::move(certificate));
  }
  const auto end = ERR_peek_last_error();
  if (ERR_GET_LIB(end) != ERR_LIB_PEM || ERR_GET_REASON(end) != PEM_R_NO_START_LINE)
    return reject("certificate " + std::to_string(chain.size() + 1) + " in it cannot be read (" + crypto::last_error_reason() +
                  ").");
  if (chain.empty()) return reject("it contains no certificate. Expected PEM, which begins with -----BEGIN CERTIFICATE-----.");
  return chain;
}

result<crypto::key_pointer> pem_file::key() const {
  const crypto::error_queue_guard errors;
  const auto bio = open();
  bool has_passphrase = false;
  crypto::key_pointer key(PEM_read_bio_PrivateKey(bio.get(), nullptr, &passphrase_callback, &has_passphrase));
  if (key) return key;
  if (has_passphrase)
    return reject("it is protected by a passphrase, which is not supported. Write it without one: openssl pkey -in FILE.");
  if (text_.find("PRIVATE KEY-----") == std::string::npos)
    return reject("it contains no key. Expected PEM, which begins with -----BEGIN PRIVATE KEY-----.");
  return reject("the key in it cannot be read (" + crypto::last_error_reason() + ").");
}

}  // namespace hondana::tls

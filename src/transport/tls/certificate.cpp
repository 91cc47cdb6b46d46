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

using general_names = std::unique_ptr<GENERAL_NAMES, crypto::frees<GENERAL_NAMES_free>>;

std::string subject_of(X509* certificate) {
  const crypto::memory_file out(BIO_new(BIO_s_mem()));
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

namespace {

constexpr std::size_t most_bytes = 1u << 20;

tl::unexpected<failure> cannot_use(std::string_view what, const std::string& path, const std::string& why) {
  failure out{errc::invalid_argument, "Cannot use " + std::string(what) + ' ' + path + ": " + why, {}};
  out.about = what;
  return tl::unexpected(std::move(out));
}

/// A passphrase callback that fails and records the call. Otherwise OpenSSL would prompt on the terminal.
int note_that_it_is_asked(char*, int, int, void* was_asked) {
  *static_cast<bool*>(was_asked) = true;
  return -1;
}

}  // namespace

pem_file::pem_file(std::string what, std::string path, std::string text, bool is_readable_by_all)
    : what_(std::move(what)), path_(std::move(path)), text_(std::move(text)), is_readable_by_all_(is_readable_by_all) {}

pem_file::~pem_file() { OPENSSL_cleanse(text_.data(), text_.size()); }

result<pem_file> pem_file::read(std::string_view what, const std::string& path) {
  if (path.find('\0') != std::string::npos) return cannot_use(what, path, "the path contains a NUL byte.");
  // O_NONBLOCK: opening a named pipe must not wait for its writer.
  const disk::handle file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  struct stat is{};
  if (!file.is_open() || ::fstat(file.get(), &is) != 0) return cannot_use(what, path, std::string(std::strerror(errno)) + '.');
  if (!S_ISREG(is.st_mode)) return cannot_use(what, path, "it is not a regular file.");
  std::string text(most_bytes + 1, '\0');
  const auto size = disk::read_at(file.get(), text.data(), text.size(), 0);
  if (!size) return cannot_use(what, path, std::string(std::strerror(size.error())) + '.');
  if (*size > most_bytes) return cannot_use(what, path, "it is larger than 1 MiB, too large for PEM. Check the path.");
  text.resize(*size);
  return pem_file(std::string(what), path, std::move(text), (is.st_mode & S_IROTH) != 0);
}

crypto::memory_file pem_file::open() const {
  return crypto::memory_file(BIO_new_mem_buf(text_.data(), static_cast<int>(text_.size())));
}

tl::unexpected<failure> pem_file::refuse(const std::string& why) const { return cannot_use(what_, path_, why); }

result<std::vector<crypto::certificate_pointer>> pem_file::certificates() const {
  const crypto::quiet errors;
  const auto from = open();
  bool has_passphrase = false;
  std::vector<crypto::certificate_pointer> all;
  while (from) {
    crypto::certificate_pointer one(PEM_read_bio_X509(from.get(), nullptr, &note_that_it_is_asked, &has_passphrase));
    if (!one) break;
    all.push_back(std::move(one));
  }
  const auto end = ERR_peek_last_error();
  if (ERR_GET_LIB(end) != ERR_LIB_PEM || ERR_GET_REASON(end) != PEM_R_NO_START_LINE)
    return refuse("certificate " + std::to_string(all.size() + 1) + " in it cannot be read (" + crypto::last_reason() + ").");
  if (all.empty()) return refuse("it contains no certificate. Expected PEM, which begins with -----BEGIN CERTIFICATE-----.");
  return all;
}

result<crypto::key_pointer> pem_file::key() const {
  const crypto::quiet errors;
  const auto from = open();
  bool has_passphrase = false;
  crypto::key_pointer key(PEM_read_bio_PrivateKey(from.get(), nullptr, &note_that_it_is_asked, &has_passphrase));
  if (key) return key;
  if (has_passphrase)
    return refuse("it is protected by a passphrase, which is not supported. Write it without one: openssl pkey -in FILE.");
  if (text_.find("PRIVATE KEY-----") == std::string::npos)
    return refuse("it contains no key. Expected PEM, which begins with -----BEGIN PRIVATE KEY-----.");
  return refuse("the key in it cannot be read (" + crypto::last_reason() + ").");
}

}  // namespace hondana::tls

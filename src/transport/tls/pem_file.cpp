/// Reading PEM files.
#include "transport/tls/pem_file.hpp"

#include <fcntl.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "os/disk/handle.hpp"
#include "os/disk/read_at.hpp"

namespace hondana::tls {
namespace {

constexpr std::size_t most_bytes = 1u << 20;

tl::unexpected<failure> cannot_use(std::string_view what, const std::string& path, const std::string& why) {
  failure out{errc::invalid_argument, "Cannot use " + std::string(what) + ' ' + path + ": " + why, {}};
  out.about = what;
  return tl::unexpected(std::move(out));
}

/// OpenSSL would ask at the terminal.
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
  // Opening a pipe would wait for its writer.
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

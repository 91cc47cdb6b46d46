/// Publishing one key.
#include "issuer.hpp"

#include <netinet/in.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <memory>
#include <stdexcept>

#include <hondana/value.hpp>

namespace auth_bench {
namespace {

using hondana::value;

constexpr const char* key_id = "bench";

template <class T>
T taken(hondana::result<T> from) {
  if (!from) throw std::runtime_error(from.error().public_text);
  return std::move(*from);
}

hondana::jose::signing_key new_key() {
  const std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key(EVP_EC_gen("P-256"), &EVP_PKEY_free);
  const std::unique_ptr<BIO, decltype(&BIO_free)> text(BIO_new(BIO_s_mem()), &BIO_free);
  char* bytes = nullptr;
  if (!key || !text || PEM_write_bio_PrivateKey(text.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr) != 1)
    throw std::runtime_error("no key can be made");
  const auto size = BIO_get_mem_data(text.get(), &bytes);
  return taken(hondana::jose::signing_key::from_pem(std::string_view(bytes, static_cast<std::size_t>(size))));
}

}  // namespace

issuer::issuer() : key_(new_key()), listening_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in where{};
  where.sin_family = AF_INET;
  where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof where;
  auto* const address = reinterpret_cast<sockaddr*>(&where);
  if (listening_ < 0 || ::bind(listening_, address, size) != 0 || ::listen(listening_, 16) != 0 ||
      ::getsockname(listening_, address, &size) != 0)
    throw std::runtime_error("the issuer cannot listen");
  url_ = "http://127.0.0.1:" + std::to_string(ntohs(where.sin_port));
  thread_ = std::thread([this] { serve(); });
}

issuer::~issuer() {
  ::shutdown(listening_, SHUT_RDWR);
  thread_.join();
  ::close(listening_);
}

std::string issuer::token(const std::string& audience) const {
  const auto now =
      std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch()).count();
  return taken(key_.sign(value::object{{"iss", url_},
                                       {"aud", audience},
                                       {"sub", "bench"},
                                       {"client_id", "bench"},
                                       {"scope", "shelf:read"},
                                       {"iat", now},
                                       {"exp", now + 3600}},
                         key_id));
}

std::string issuer::answer_to(const std::string& request) const {
  if (request.starts_with("GET /jwks "))
    return value(value::object{{"keys", value::array{taken(key_.public_jwk(key_id))}}}).to_text();
  return value(value::object{{"issuer", url_},
                             {"jwks_uri", url_ + "/jwks"},
                             {"authorization_endpoint", url_ + "/authorize"},
                             {"token_endpoint", url_ + "/token"},
                             {"response_types_supported", value::array{value("code")}}})
      .to_text();
}

void issuer::serve() {
  for (;;) {
    const int one = ::accept4(listening_, nullptr, nullptr, SOCK_CLOEXEC);
    if (one < 0) return;
    std::string request;
    char piece[2048];
    while (request.find("\r\n\r\n") == std::string::npos) {
      const auto count = ::recv(one, piece, sizeof piece, 0);
      if (count <= 0) break;
      request.append(piece, static_cast<std::size_t>(count));
    }
    const auto body = answer_to(request);
    const auto answer = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: " +
                        std::to_string(body.size()) + "\r\n\r\n" + body;
    (void)::send(one, answer.data(), answer.size(), MSG_NOSIGNAL);
    ::close(one);
  }
}

}  // namespace auth_bench

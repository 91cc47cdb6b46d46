/// One connection to a Redis server, with TLS and log-in.
#include "sources/analyses/cache/redis/redis_connection.hpp"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/x509v3.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include <hondana/clock.hpp>

#include "transport/tls/certificate.hpp"
#include "transport/tls/socket_bio.hpp"

namespace hondana::analyses {
namespace {

using clock_of_waits = monotonic_clock;

struct known_error {
  std::string_view begins;
  std::string_view advice;
};
constexpr std::array known_errors{
    known_error{"OOM",
                "it is out of memory (maxmemory), so nothing was written; raise maxmemory, lower max_size, or run 'hondana "
                "analysis rm'"},
    known_error{"NOAUTH", "it requires a password; set redis_password_file or redis_password_env"},
    known_error{"WRONGPASS", "it rejected the user or the password; check redis_password_file or redis_password_env"},
    known_error{"NOPERM", "this user lacks rights; its ACL must allow the commands and keys that docs/analyses.md names"},
    known_error{"LOADING", "it is starting and loading its data; retry later"},
    known_error{"READONLY", "it is a read-only replica; use the address of the master"},
    known_error{"MISCONF", "it cannot write to its disk, so nothing was written; free space on that disk"},
    known_error{"BUSY", "it is busy with the script of another client; retry later, or end that script"},
    known_error{"MASTERDOWN", "it is a replica that lost its master; use the address of the master"},
    known_error{"CLUSTERDOWN", "its cluster is down"},
    known_error{"MOVED", "it is part of a cluster; use the address of a single server"},
    known_error{"ERR invalid password", "it rejected the password"},
    known_error{"ERR AUTH", "it requires no password, but one is set; remove it from the configuration"},
    known_error{"ERR unknown command",
                "it does not know a required command; check that it is Redis, and which of its commands are renamed"},
    known_error{"ERR DB index", "it has no database with that number"},
    known_error{"ERR max number of clients", "it has too many clients; raise its maxclients, or disconnect others"},
    known_error{"NOREPLICAS", "it has too few replicas to accept writes"},
};

}  // namespace

tl::unexpected<failure> refused_by(const std::string& name, const reply& what) {
  const std::string begin = "cannot use " + name + " for analyses: ";
  for (const auto& one : known_errors) {
    if (what.text.starts_with(one.begins))
      return fail(errc::source_unavailable, begin + std::string(one.advice), what.text.substr(0, 500));
  }
  return fail(errc::source_unavailable, begin + "it rejected a command; see the log for the reason", what.text.substr(0, 500));
}

result<tls_context> make_client_context(const redis_options& from) {
  const crypto::quiet errors;
  const auto cannot = [](const std::string& what) {
    return fail(errc::invalid_argument, "cannot set up TLS to Redis: " + what, "OpenSSL: " + crypto::last_reason());
  };
  tls_context made(SSL_CTX_new(TLS_client_method()));
  if (!made || SSL_CTX_set_min_proto_version(made.get(), TLS1_2_VERSION) != 1) return cannot("out of memory");
  SSL_CTX_set_verify(made.get(), SSL_VERIFY_PEER, nullptr);
  SSL_CTX_set_mode(made.get(), SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  if (from.authorities.empty()) {
    if (SSL_CTX_set_default_verify_paths(made.get()) != 1) return cannot("the system's certificate authorities cannot be read");
  } else {
    const auto file = tls::pem_file::read("the certificate authorities for Redis", from.authorities);
    if (!file) return tl::unexpected(file.error());
    const auto trusted = file->certificates();
    if (!trusted) return tl::unexpected(trusted.error());
    for (const auto& one : *trusted)
      if (X509_STORE_add_cert(SSL_CTX_get_cert_store(made.get()), one.get()) != 1)
        return file->refuse(crypto::last_reason() + '.');
  }
  if (from.certificate.empty()) return made;
  const auto file = tls::pem_file::read("the certificate for Redis", from.certificate);
  if (!file) return tl::unexpected(file.error());
  HONDANA_TRY(const auto chain, file->certificates());
  const auto key_file = tls::pem_file::read("the key for Redis", from.key);
  if (!key_file) return tl::unexpected(key_file.error());
  HONDANA_TRY(const auto key, key_file->key());
  if (X509_check_private_key(chain.front().get(), key.get()) != 1)
    return key_file->refuse("it does not match the certificate in " + from.certificate +
                            ", which must be the first in that file.");
  if (SSL_CTX_use_certificate(made.get(), chain.front().get()) != 1 || SSL_CTX_use_PrivateKey(made.get(), key.get()) != 1)
    return file->refuse(crypto::last_reason() + '.');
  for (std::size_t i = 1; i < chain.size(); ++i)
    if (SSL_CTX_add1_chain_cert(made.get(), chain[i].get()) != 1) return file->refuse(crypto::last_reason() + '.');
  return made;
}

tl::unexpected<failure> redis_connection::lost(const std::string& inner) const {
  return fail(errc::source_unavailable,
              "the connection to " + name_ + ", where analyses are stored, was lost; the next call reconnects", inner);
}

tl::unexpected<failure> redis_connection::too_slow() const {
  return fail(errc::timed_out, name_ + ", where analyses are stored, did not answer within " +
                                   std::to_string(patience_.count()) + " ms; check its load, or raise redis_timeout");
}

bool redis_connection::wait(short events, deadline until) const {
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - clock_of_waits::now()).count();
    if (left < 0) return false;
    pollfd one{socket_.get(), events, 0};
    const int ready = ::poll(&one, 1, monotonic_clock::poll_timeout(std::min<std::int64_t>(left + 1, 60'000)));
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR) return true;  // the next call reports the error
  }
}

bool redis_connection::is_quiet() const noexcept {
  pollfd one{socket_.get(), POLLIN | POLLRDHUP, 0};
  return ::poll(&one, 1, 0) == 0;
}

result<void> redis_connection::connect(const redis_address& where, deadline until) {
  const auto cannot = [&](const std::string& inner) {
    return fail(
        errc::source_unavailable,
        "cannot connect to " + where.name + ", where analyses are stored; check that it runs and that the address is right",
        inner);
  };
  const auto try_one = [&](int family, const sockaddr* to, socklen_t size) -> int {
    socket_ = disk::handle(::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!socket_.is_open()) return errno;
    if (::connect(socket_.get(), to, size) == 0) return 0;
    // On a Unix socket, EAGAIN means a full backlog, not a connection in progress.
    if (errno != EINPROGRESS) return errno;
    if (!wait(POLLOUT, until)) return ETIMEDOUT;
    int error = 0;
    socklen_t length = sizeof error;
    return ::getsockopt(socket_.get(), SOL_SOCKET, SO_ERROR, &error, &length) == 0 ? error : errno;
  };
  if (!where.socket.empty()) {
    sockaddr_un to{};
    to.sun_family = AF_UNIX;
    std::memcpy(to.sun_path, where.socket.data(), std::min(where.socket.size(), sizeof to.sun_path - 1));
    if (const int error = try_one(AF_UNIX, reinterpret_cast<const sockaddr*>(&to), sizeof to); error != 0)
      return cannot(std::strerror(error));
    return {};
  }
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_ADDRCONFIG;
  addrinfo* found = nullptr;
  if (const int error = ::getaddrinfo(where.host.c_str(), std::to_string(where.port).c_str(), &hints, &found); error != 0)
    return cannot(::gai_strerror(error));
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> all(found, ::freeaddrinfo);
  int error = EHOSTUNREACH;
  for (const auto* one = found; one != nullptr; one = one->ai_next) {
    error = try_one(one->ai_family, one->ai_addr, one->ai_addrlen);
    if (error != 0) continue;
    const int on = 1;
    ::setsockopt(socket_.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    ::setsockopt(socket_.get(), SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    return {};
  }
  return cannot(std::strerror(error));
}

result<void> redis_connection::shake_hands(const redis_address& where, SSL_CTX* tls, deadline until) {
  const crypto::quiet errors;
  tls_.reset(SSL_new(tls));
  BIO* const through = tls_ ? tls::make_descriptor_bio(socket_.get()) : nullptr;
  if (through == nullptr) return fail(errc::internal, "out of memory for a TLS connection to " + where.name);
  SSL_set_bio(tls_.get(), through, through);
  in6_addr address{};
  const bool is_address =
      ::inet_pton(AF_INET, where.host.c_str(), &address) == 1 || ::inet_pton(AF_INET6, where.host.c_str(), &address) == 1;
  // The certificate's common name is not a host name. Spec: RFC 9525 6.3.
  SSL_set_hostflags(tls_.get(), X509_CHECK_FLAG_NEVER_CHECK_SUBJECT);
  const bool is_set = is_address ? X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(tls_.get()), where.host.c_str()) == 1
                                 : SSL_set1_host(tls_.get(), where.host.c_str()) == 1 &&
                                       SSL_set_tlsext_host_name(tls_.get(), where.host.c_str()) == 1;
  if (!is_set) return fail(errc::invalid_argument, "cannot set up TLS to " + where.name + ": its host name is invalid");
  for (;;) {
    const int done = SSL_connect(tls_.get());
    if (done == 1) return {};
    const int why = SSL_get_error(tls_.get(), done);
    if (why == SSL_ERROR_WANT_READ || why == SSL_ERROR_WANT_WRITE) {
      if (wait(why == SSL_ERROR_WANT_READ ? POLLIN : POLLOUT, until)) continue;
      return too_slow();
    }
    const auto verified = SSL_get_verify_result(tls_.get());
    const auto reason = crypto::last_reason();
    if (verified != X509_V_OK)
      return fail(errc::source_unavailable,
                  "the certificate of " + where.name +
                      " is not trusted; set redis_ca to the file of its certificate authorities, or use the host name in the "
                      "certificate",
                  X509_verify_cert_error_string(verified));
    return fail(errc::source_unavailable, "TLS handshake failed with " + where.name + "; check that this port expects TLS",
                "OpenSSL: " + reason);
  }
}

result<void> redis_connection::introduce(const redis_address& where, const redis_options& how) {
  // Redis accepts any password for a user with nopass.
  if (!how.password.empty() || !where.user.empty()) {
    const auto said = where.user.empty() ? ask({"AUTH", how.password}) : ask({"AUTH", where.user, how.password});
    if (!said) return tl::unexpected(said.error());
    if (said->is_error()) {
      // Some servers repeat the request in the error, so only its code is reported.
      auto refused = refused_by(where.name, *said);
      const auto code = said->text.substr(0, std::min<std::size_t>(said->text.find(' '), 32));
      const bool is_told = how.password.empty() ||
                           (code.find(how.password) == std::string::npos && how.password.find(code) == std::string::npos);
      refused.value().private_text = is_told ? "AUTH failed with " + code : "it rejected AUTH";
      return refused;
    }
  }
  const auto number = std::to_string(where.database);
  HONDANA_TRY(const auto said, ask({"SELECT", number}));
  if (said.is_error()) return refused_by(where.name, said);
  return {};
}

result<redis_connection> redis_connection::open(const redis_address& where, const redis_options& how, SSL_CTX* tls) {
  redis_connection out;
  out.name_ = where.name;
  out.patience_ = how.patience;
  const auto until = clock_of_waits::now() + how.patience;
  auto done = out.connect(where, until);
  if (done && where.is_tls) done = out.shake_hands(where, tls, until);
  if (done) done = out.introduce(where, how);
  if (!done) return tl::unexpected(std::move(done.error()));
  return out;
}

result<void> redis_connection::send(std::string_view bytes, deadline until) {
  const crypto::quiet errors;
  while (!bytes.empty()) {
    short wants = POLLOUT;
    if (tls_) {
      std::size_t count = 0;
      const int done = SSL_write_ex(tls_.get(), bytes.data(), std::min<std::size_t>(bytes.size(), 1u << 20), &count);
      if (done == 1) {
        bytes.remove_prefix(count);
        was_sent_ = true;
        continue;
      }
      const int why = SSL_get_error(tls_.get(), done);
      if (why != SSL_ERROR_WANT_READ && why != SSL_ERROR_WANT_WRITE) return lost("OpenSSL: " + crypto::last_reason());
      wants = why == SSL_ERROR_WANT_READ ? POLLIN : POLLOUT;
    } else {
      const auto count = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (count > 0) {
        bytes.remove_prefix(static_cast<std::size_t>(count));
        was_sent_ = true;
        continue;
      }
      if (count < 0 && !tls::has_to_wait()) return lost(std::strerror(errno));
    }
    if (!wait(wants, until)) return too_slow();
  }
  return {};
}

result<reply> redis_connection::receive(deadline until) {
  const crypto::quiet errors;
  std::array<char, 32768> buffer{};
  for (;;) {
    HONDANA_TRY(auto got, replies_.next());
    if (got) return std::move(*got);
    short wants = POLLIN;
    if (tls_) {
      std::size_t count = 0;
      const int done = SSL_read_ex(tls_.get(), buffer.data(), buffer.size(), &count);
      if (done == 1) {
        replies_.feed({buffer.data(), count});
        continue;
      }
      const int why = SSL_get_error(tls_.get(), done);
      if (why != SSL_ERROR_WANT_READ && why != SSL_ERROR_WANT_WRITE) return lost("OpenSSL: " + crypto::last_reason());
      wants = why == SSL_ERROR_WANT_WRITE ? POLLOUT : POLLIN;
    } else {
      const auto count = ::recv(socket_.get(), buffer.data(), buffer.size(), 0);
      if (count > 0) {
        replies_.feed({buffer.data(), static_cast<std::size_t>(count)});
        continue;
      }
      if (count == 0) return lost("the server closed it");
      if (!tls::has_to_wait()) return lost(std::strerror(errno));
    }
    if (!wait(wants, until)) return too_slow();
  }
}

result<reply> redis_connection::ask(std::span<const std::string_view> words, std::chrono::milliseconds longer) {
  const auto until = clock_of_waits::now() + patience_ + longer;
  was_sent_ = false;
  HONDANA_TRY(send(command_of(words), until));
  return receive(until);
}

}  // namespace hondana::analyses

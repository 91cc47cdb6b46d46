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

using io_clock = monotonic_clock;

struct known_error {
  std::string_view prefix;
  std::string_view advice;
};
constexpr std::array known_errors{
    known_error{
        "OOM",
        "it is out of memory (maxmemory), so nothing was written; raise maxmemory, lower max_store_bytes, or run 'hondana "
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

tl::unexpected<failure> server_failure(const std::string& server_name, const redis_reply& reply) {
  const std::string message = "cannot use " + server_name + " for analyses: ";
  for (const auto& known : known_errors) {
    if (reply.text.starts_with(known.prefix))
      return fail(errc::source_unavailable, message + std::string(known.advice), reply.text.substr(0, 500));
  }
  return fail(errc::source_unavailable, message + "it rejected a command; see the log for the reason",
              reply.text.substr(0, 500));
}

result<tls_context> make_client_context(const redis_options& options) {
  const crypto::error_queue_guard errors;
  const auto setup_failure = [](const std::string& reason) {
    return fail(errc::invalid_argument, "cannot set up TLS to Redis: " + reason, "OpenSSL: " + crypto::last_error_reason());
  };
  tls_context context(SSL_CTX_new(TLS_client_method()));
  if (!context || SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION) != 1) return setup_failure("out of memory");
  SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);
  SSL_CTX_set_mode(context.get(), SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  if (options.ca_file.empty()) {
    if (SSL_CTX_set_default_verify_paths(context.get()) != 1)
      return setup_failure("the system's certificate authorities cannot be read");
  } else {
    const auto file = tls::pem_file::read("the certificate authorities for Redis", options.ca_file);
    if (!file) return tl::unexpected(file.error());
    const auto trusted = file->certificates();
    if (!trusted) return tl::unexpected(trusted.error());
    for (const auto& certificate : *trusted)
      if (X509_STORE_add_cert(SSL_CTX_get_cert_store(context.get()), certificate.get()) != 1)
        return file->reject(crypto::last_error_reason() + '.');
  }
  if (options.certificate_file.empty()) return context;
  const auto certificate_file = tls::pem_file::read("the certificate for Redis", options.certificate_file);
  if (!certificate_file) return tl::unexpected(certificate_file.error());
  HONDANA_TRY(const auto chain, certificate_file->certificates());
  const auto key_file = tls::pem_file::read("the key for Redis", options.key_file);
  if (!key_file) return tl::unexpected(key_file.error());
  HONDANA_TRY(const auto key, key_file->key());
  if (X509_check_private_key(chain.front().get(), key.get()) != 1)
    return key_file->reject("it does not match the certificate in " + options.certificate_file +
                            ", which must be the first in that file.");
  if (SSL_CTX_use_certificate(context.get(), chain.front().get()) != 1 || SSL_CTX_use_PrivateKey(context.get(), key.get()) != 1)
    return certificate_file->reject(crypto::last_error_reason() + '.');
  for (std::size_t i = 1; i < chain.size(); ++i)
    if (SSL_CTX_add1_chain_cert(context.get(), chain[i].get()) != 1)
      return certificate_file->reject(crypto::last_error_reason() + '.');
  return context;
}

tl::unexpected<failure> redis_connection::connection_lost(const std::string& detail) const {
  return fail(errc::source_unavailable,
              "the connection to " + display_name_ + ", where analyses are stored, was lost; the next call reconnects", detail);
}

tl::unexpected<failure> redis_connection::timed_out() const {
  return fail(errc::timed_out, display_name_ + ", where analyses are stored, did not answer within " +
                                   std::to_string(timeout_.count()) + " ms; check its load, or raise redis_timeout");
}

bool redis_connection::wait(short events, time_point deadline) const {
  for (;;) {
    const auto remaining_ms = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - io_clock::now()).count();
    if (remaining_ms < 0) return false;
    pollfd descriptor{socket_.get(), events, 0};
    const int ready = ::poll(&descriptor, 1, monotonic_clock::poll_timeout(std::min<std::int64_t>(remaining_ms + 1, 60'000)));
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR) return true;  // the next call reports the error
  }
}

bool redis_connection::is_reusable() const noexcept {
  pollfd descriptor{socket_.get(), POLLIN | POLLRDHUP, 0};
  return ::poll(&descriptor, 1, 0) == 0;
}

result<void> redis_connection::connect(const redis_address& address, time_point deadline) {
  const auto connect_failure = [&](const std::string& detail) {
    return fail(errc::source_unavailable,
                "cannot connect to " + address.display_name +
                    ", where analyses are stored; check that it runs and that the address is right",
                detail);
  };
  const auto try_connect = [&](int family, const sockaddr* target, socklen_t size) -> int {
    socket_ = disk::handle(::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!socket_.is_open()) return errno;
    if (::connect(socket_.get(), target, size) == 0) return 0;
    // On a Unix socket, EAGAIN means a full backlog, not a connection in progress.
    if (errno != EINPROGRESS) return errno;
    if (!wait(POLLOUT, deadline)) return ETIMEDOUT;
    int error = 0;
    socklen_t length = sizeof error;
    return ::getsockopt(socket_.get(), SOL_SOCKET, SO_ERROR, &error, &length) == 0 ? error : errno;
  };
  if (!address.socket_path.empty()) {
    sockaddr_un socket_address{};
    socket_address.sun_family = AF_UNIX;
    std::memcpy(socket_address.sun_path, address.socket_path.data(),
                std::min(address.socket_path.size(), sizeof socket_address.sun_path - 1));
    if (const int error = try_connect(AF_UNIX, reinterpret_cast<const sockaddr*>(&socket_address), sizeof socket_address);
        error != 0)
      return connect_failure(std::strerror(error));
    return {};
  }
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_ADDRCONFIG;
  addrinfo* results = nullptr;
  if (const int error = ::getaddrinfo(address.host.c_str(), std::to_string(address.port).c_str(), &hints, &results); error != 0)
    return connect_failure(::gai_strerror(error));
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> results_owner(results, ::freeaddrinfo);
  int error = EHOSTUNREACH;
  for (const auto* candidate = results; candidate != nullptr; candidate = candidate->ai_next) {
    error = try_connect(candidate->ai_family, candidate->ai_addr, candidate->ai_addrlen);
    if (error != 0) continue;
    const int enabled = 1;
    ::setsockopt(socket_.get(), IPPROTO_TCP, TCP_NODELAY, &enabled, sizeof enabled);
    ::setsockopt(socket_.get(), SOL_SOCKET, SO_KEEPALIVE, &enabled, sizeof enabled);
    return {};
  }
  return connect_failure(std::strerror(error));
}

result<void> redis_connection::handshake(const redis_address& address, SSL_CTX* tls, time_point deadline) {
  const crypto::error_queue_guard errors;
  tls_.reset(SSL_new(tls));
  BIO* const bio = tls_ ? tls::make_socket_bio(socket_.get()) : nullptr;
  if (bio == nullptr) return fail(errc::internal, "out of memory for a TLS connection to " + address.display_name);
  SSL_set_bio(tls_.get(), bio, bio);
  in6_addr ip_address{};
  const bool is_ip_address = ::inet_pton(AF_INET, address.host.c_str(), &ip_address) == 1 ||
                             ::inet_pton(AF_INET6, address.host.c_str(), &ip_address) == 1;
  // The certificate's common name is not a host name. Spec: RFC 9525 6.3.
  SSL_set_hostflags(tls_.get(), X509_CHECK_FLAG_NEVER_CHECK_SUBJECT);
  const bool is_set = is_ip_address ? X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(tls_.get()), address.host.c_str()) == 1
                                    : SSL_set1_host(tls_.get(), address.host.c_str()) == 1 &&
                                          SSL_set_tlsext_host_name(tls_.get(), address.host.c_str()) == 1;
  if (!is_set)
    return fail(errc::invalid_argument, "cannot set up TLS to " + address.display_name + ": its host name is invalid");
  for (;;) {
    const int status = SSL_connect(tls_.get());
    if (status == 1) return {};
    const int error_code = SSL_get_error(tls_.get(), status);
    if (error_code == SSL_ERROR_WANT_READ || error_code == SSL_ERROR_WANT_WRITE) {
      if (wait(error_code == SSL_ERROR_WANT_READ ? POLLIN : POLLOUT, deadline)) continue;
      return timed_out();
    }
    const auto verify_result = SSL_get_verify_result(tls_.get());
    const auto reason = crypto::last_error_reason();
    if (verify_result != X509_V_OK)
      return fail(
          errc::source_unavailable,
          "the certificate of " + address.display_name +
              " is not trusted; set redis_ca_file to the file of its certificate authorities, or use the host name in the "
              "certificate",
          X509_verify_cert_error_string(verify_result));
    return fail(errc::source_unavailable,
                "TLS handshake failed with " + address.display_name + "; check that this port expects TLS",
                "OpenSSL: " + reason);
  }
}

result<void> redis_connection::authenticate(const redis_address& address, const redis_options& options) {
  // Redis accepts any password for a user with nopass.
  if (!options.password.empty() || !address.user.empty()) {
    const auto reply =
        address.user.empty() ? execute({"AUTH", options.password}) : execute({"AUTH", address.user, options.password});
    if (!reply) return tl::unexpected(reply.error());
    if (reply->is_error()) {
      // Some servers repeat the request in the error, so only its code is reported.
      auto rejection = server_failure(address.display_name, *reply);
      const auto code = reply->text.substr(0, std::min<std::size_t>(reply->text.find(' '), 32));
      const bool is_code_safe = options.password.empty() || (code.find(options.password) == std::string::npos &&
                                                             options.password.find(code) == std::string::npos);
      rejection.value().private_text = is_code_safe ? "AUTH failed with " + code : "it rejected AUTH";
      return rejection;
    }
  }
  const auto number = std::to_string(address.database);
  HONDANA_TRY(const auto reply, execute({"SELECT", number}));
  if (reply.is_error()) return server_failure(address.display_name, reply);
  return {};
}

result<redis_connection> redis_connection::open(const redis_address& address, const redis_options& options, SSL_CTX* tls) {
  redis_connection out;
  out.display_name_ = address.display_name;
  out.timeout_ = options.timeout;
  const auto deadline = io_clock::now() + options.timeout;
  auto status = out.connect(address, deadline);
  if (status && address.uses_tls) status = out.handshake(address, tls, deadline);
  if (status) status = out.authenticate(address, options);
  if (!status) return tl::unexpected(std::move(status.error()));
  return out;
}

result<void> redis_connection::send(std::string_view bytes, time_point deadline) {
  const crypto::error_queue_guard errors;
  while (!bytes.empty()) {
    short events = POLLOUT;
    if (tls_) {
      std::size_t count = 0;
      const int status = SSL_write_ex(tls_.get(), bytes.data(), std::min<std::size_t>(bytes.size(), 1u << 20), &count);
      if (status == 1) {
        bytes.remove_prefix(count);
        was_sent_ = true;
        continue;
      }
      const int error_code = SSL_get_error(tls_.get(), status);
      if (error_code != SSL_ERROR_WANT_READ && error_code != SSL_ERROR_WANT_WRITE)
        return connection_lost("OpenSSL: " + crypto::last_error_reason());
      events = error_code == SSL_ERROR_WANT_READ ? POLLIN : POLLOUT;
    } else {
      const auto count = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (count > 0) {
        bytes.remove_prefix(static_cast<std::size_t>(count));
        was_sent_ = true;
        continue;
      }
      if (count < 0 && !tls::would_block()) return connection_lost(std::strerror(errno));
    }
    if (!wait(events, deadline)) return timed_out();
  }
  return {};
}

result<redis_reply> redis_connection::receive(time_point deadline) {
  const crypto::error_queue_guard errors;
  std::array<char, 32768> buffer{};
  for (;;) {
    HONDANA_TRY(auto reply, parser_.next());
    if (reply) return std::move(*reply);
    short events = POLLIN;
    if (tls_) {
      std::size_t count = 0;
      const int status = SSL_read_ex(tls_.get(), buffer.data(), buffer.size(), &count);
      if (status == 1) {
        parser_.feed({buffer.data(), count});
        continue;
      }
      const int error_code = SSL_get_error(tls_.get(), status);
      if (error_code != SSL_ERROR_WANT_READ && error_code != SSL_ERROR_WANT_WRITE)
        return connection_lost("OpenSSL: " + crypto::last_error_reason());
      events = error_code == SSL_ERROR_WANT_WRITE ? POLLOUT : POLLIN;
    } else {
      const auto count = ::recv(socket_.get(), buffer.data(), buffer.size(), 0);
      if (count > 0) {
        parser_.feed({buffer.data(), static_cast<std::size_t>(count)});
        continue;
      }
      if (count == 0) return connection_lost("the server closed it");
      if (!tls::would_block()) return connection_lost(std::strerror(errno));
    }
    if (!wait(events, deadline)) return timed_out();
  }
}

result<redis_reply> redis_connection::execute(std::span<const std::string_view> arguments,
                                              std::chrono::milliseconds extra_timeout) {
  const auto deadline = io_clock::now() + timeout_ + extra_timeout;
  was_sent_ = false;
  HONDANA_TRY(send(encode_command(arguments), deadline));
  return receive(deadline);
}

}  // namespace hondana::analyses

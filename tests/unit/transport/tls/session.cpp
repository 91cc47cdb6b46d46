/// The server's side of TLS over a pair of sockets, step by step.
#include "transport/tls/tls_session.hpp"

#include <openssl/err.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "transport/tls/socket_bio.hpp"
#include "unit/transport/tls/certificates.hpp"

namespace {

using hondana::tls_options;
using hondana::tls::context;
using hondana::tls::io_status;
using hondana::tls::session;
using hondana_test::issued;
using hondana_test::pem_folder;

constexpr std::string_view hello_http = "POST /mcp HTTP/1.1\r\n";

/// A server and a client that each act when they are told to.
class tls_session : public ::testing::Test {
 public:
  tls_session() { open({}); }
  ~tls_session() override {
    SSL_free(client);
    for (const int one : ends) ::close(one);
    EXPECT_EQ(ERR_peek_error(), 0u);
  }

 protected:
  void open(const std::optional<std::string>& client_authorities) {
    const auto made =
        context::make({folder.write("certificate.pem", own.certificate_text()), folder.write("key.pem", own.key_text()),
                       client_authorities, client_authorities.has_value()});
    if (!made) throw std::runtime_error(made.error().public_text);
    for (const int one : ends) ::close(one);
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends.data()) != 0)
      throw std::runtime_error("no sockets");
    server = session::make(**made, ends[0]);
  }
  void begin_client(int newest = 0, const issued* showing = nullptr) {
    SSL_CTX* with = SSL_CTX_new(TLS_client_method());
    SSL_CTX_set_max_proto_version(with, newest);
    if (showing != nullptr) {
      SSL_CTX_use_certificate(with, showing->certificate());
      SSL_CTX_use_PrivateKey(with, showing->key());
    }
    client = SSL_new(with);
    SSL_CTX_free(with);
    BIO* const bio = hondana::tls::make_socket_bio(ends[1]);
    SSL_set_bio(client, bio, bio);
    SSL_set_connect_state(client);
  }
  /// Both act in turn until neither gets further.
  void shake_hands() {
    for (int i = 0; i < 8; ++i) {
      (void)SSL_do_handshake(client);
      ERR_clear_error();
      last = server->read(buffer).status;
    }
  }
  std::string received() {
    std::string out(64u << 10, '\0');
    const int count = SSL_read(client, out.data(), static_cast<int>(out.size()));
    out.resize(static_cast<std::size_t>(std::max(count, 0)));
    ERR_clear_error();
    return out;
  }
  /// Puts bytes on the wire as they are.
  void put(std::string_view bytes) {
    ASSERT_EQ(::send(ends[1], bytes.data(), bytes.size(), MSG_NOSIGNAL), static_cast<ssize_t>(bytes.size()));
  }

  issued own;
  pem_folder folder;
  std::array<int, 2> ends{-1, -1};
  std::unique_ptr<session> server;
  SSL* client = nullptr;
  std::array<char, 64u << 10> buffer{};
  io_status last = io_status::failed;
};

TEST_F(tls_session, both_sides_read_what_the_other_writes) {
  begin_client();
  shake_hands();
  EXPECT_TRUE(server->is_handshake_done());
  EXPECT_EQ(last, io_status::wants_input);
  ASSERT_EQ(SSL_write(client, "hello", 5), 5);
  const auto got = server->read(buffer);
  EXPECT_EQ(got.status, io_status::transferred);
  EXPECT_EQ(std::string_view(buffer.data(), got.bytes), "hello");
  EXPECT_EQ(server->write({}, "you").bytes, 3u);
  EXPECT_EQ(received(), "you");
}

TEST_F(tls_session, speaks_the_newest_version_and_1_2_with_fresh_keys) {
  begin_client();
  shake_hands();
  EXPECT_STREQ(SSL_get_version(client), "TLSv1.3");
  SSL_free(client);
  open({});
  begin_client(TLS1_2_VERSION);
  shake_hands();
  EXPECT_STREQ(SSL_get_version(client), "TLSv1.2");
  EXPECT_NE(std::string(SSL_get_cipher(client)).find("ECDHE"), std::string::npos);
  EXPECT_EQ(SSL_get_current_compression(client), nullptr);
}

TEST_F(tls_session, a_head_and_its_body_go_in_one_record) {
  begin_client();
  shake_hands();
  EXPECT_EQ(server->write("head ", "body").bytes, 9u);
  EXPECT_EQ(received(), "head body");
  const std::string large(session::max_record_bytes, 'x');
  EXPECT_EQ(server->write("head ", large).bytes, session::max_record_bytes);
  EXPECT_EQ(server->write({}, large).bytes, large.size());
}

TEST_F(tls_session, reads_all_of_a_record_so_that_nothing_waits_unseen) {
  begin_client();
  shake_hands();
  const std::string three(3 * session::max_record_bytes + 7, 'x');
  ASSERT_EQ(SSL_write(client, three.data(), static_cast<int>(three.size())), static_cast<int>(three.size()));
  EXPECT_EQ(server->read(buffer).bytes, three.size());
  EXPECT_EQ(server->read(buffer).status, io_status::wants_input);
}

TEST_F(tls_session, what_was_not_taken_is_taken_when_brought_again_from_elsewhere) {
  begin_client();
  shake_hands();
  received();  // the ticket
  const std::string record(session::max_record_bytes, 'x');
  std::size_t written = 0;
  auto did = server->write({}, record);
  for (; did.status == io_status::transferred; did = server->write({}, record)) written += did.bytes;
  ASSERT_EQ(did.status, io_status::wants_output);
  std::size_t read = 0;
  const std::string moved(record.size(), 'x');
  for (std::string got = received(); !got.empty(); got = received()) {
    read += got.size();
    if (did.status == io_status::wants_output) did = server->write({}, moved);
  }
  EXPECT_EQ(did.status, io_status::transferred);
  EXPECT_EQ(read, written + did.bytes);
}

TEST_F(tls_session, a_greeting_may_come_byte_by_byte) {
  begin_client();
  // What the client sends goes by way of us.
  BIO* const out = BIO_new(BIO_s_mem());
  SSL_set0_wbio(client, out);
  (void)SSL_do_handshake(client);
  ERR_clear_error();
  char* bytes = nullptr;
  const auto size = BIO_get_mem_data(out, &bytes);
  ASSERT_GT(size, 100);
  for (long i = 0; i < size; ++i) {
    put(std::string_view(bytes + i, 1));
    ASSERT_EQ(server->read(buffer).status, io_status::wants_input) << i;
  }
  SSL_set0_wbio(client, hondana::tls::make_socket_bio(ends[1]));
  shake_hands();
  EXPECT_TRUE(server->is_handshake_done());
}

TEST_F(tls_session, garbage_instead_of_a_greeting_fails) {
  put(std::string(300, '\x07'));
  EXPECT_EQ(server->read(buffer).status, io_status::failed);
  EXPECT_FALSE(server->received_plain_http());
  EXPECT_EQ(server->read(buffer).status, io_status::failed);
  EXPECT_EQ(server->write({}, "x").status, io_status::failed);
  EXPECT_EQ(server->send_close_notify(), io_status::closed);
}

TEST_F(tls_session, a_request_in_http_is_told_from_other_garbage) {
  put(hello_http);
  EXPECT_EQ(server->read(buffer).status, io_status::failed);
  EXPECT_TRUE(server->received_plain_http());
}

TEST_F(tls_session, a_damaged_record_fails) {
  begin_client();
  shake_hands();
  put("\x17\x03\x03" + std::string("\0\x20", 2) + std::string(32, 'x'));
  EXPECT_EQ(server->read(buffer).status, io_status::failed);
}

TEST_F(tls_session, a_farewell_is_understood_and_told) {
  begin_client();
  shake_hands();
  (void)SSL_shutdown(client);
  EXPECT_EQ(server->read(buffer).status, io_status::closed);
  EXPECT_EQ(server->send_close_notify(), io_status::closed);
  EXPECT_EQ(received(), "");
  EXPECT_NE(SSL_get_shutdown(client) & SSL_RECEIVED_SHUTDOWN, 0);
}

TEST_F(tls_session, a_peer_that_is_gone_raises_no_signal) {
  begin_client();
  shake_hands();
  ::close(std::exchange(ends[1], -1));
  EXPECT_EQ(server->write({}, "x").status, io_status::failed);
}

TEST_F(tls_session, a_flood_of_new_keys_is_taken_one_at_a_time) {
  begin_client();
  shake_hands();
  for (int i = 0; i < 100; ++i) {
    ASSERT_EQ(SSL_key_update(client, SSL_KEY_UPDATE_NOT_REQUESTED), 1);
    ASSERT_EQ(SSL_do_handshake(client), 1);
  }
  ASSERT_EQ(SSL_write(client, "x", 1), 1);
  int turns = 0;
  auto got = server->read(buffer);
  for (; got.status == io_status::wants_input && turns < 1000; got = server->read(buffer)) ++turns;
  EXPECT_EQ(got.status, io_status::transferred);
  EXPECT_EQ(turns, 100);
}

TEST_F(tls_session, new_keys_that_are_asked_for_without_reading_wait_for_the_reader) {
  begin_client();
  shake_hands();
  auto got = server->read(buffer);
  for (int i = 0; i < 100'000 && got.status == io_status::wants_input; ++i) {
    ASSERT_EQ(SSL_key_update(client, SSL_KEY_UPDATE_REQUESTED), 1);
    (void)SSL_do_handshake(client);
    ERR_clear_error();
    got = server->read(buffer);
  }
  EXPECT_EQ(got.status, io_status::wants_output);
}

TEST_F(tls_session, renegotiation_is_declined) {
  begin_client(TLS1_2_VERSION);
  shake_hands();
  ASSERT_EQ(SSL_renegotiate(client), 1);
  (void)SSL_do_handshake(client);
  ERR_clear_error();
  const auto how = server->read(buffer).status;
  EXPECT_TRUE(how == io_status::wants_input || how == io_status::failed);
  EXPECT_LE(SSL_do_handshake(client), 0);
  EXPECT_EQ(ERR_GET_REASON(ERR_peek_error()), SSL_R_NO_RENEGOTIATION);
  ERR_clear_error();
}

TEST_F(tls_session, a_certificate_is_told_once_it_was_verified) {
  const issued authority({.name = "authority", .names = {}, .is_authority = true});
  const issued alice({.name = "alice/O=Example", .names = "DNS:alice.example", .serial = 2}, &authority);
  open(folder.write("authorities.pem", authority.certificate_text()));
  EXPECT_FALSE(server->certificate());
  begin_client(0, &alice);
  shake_hands();
  ASSERT_TRUE(server->is_handshake_done());
  const auto& told = server->certificate();
  ASSERT_TRUE(told);
  EXPECT_EQ(told->subject, "CN=alice,O=Example");
  EXPECT_EQ(told->alternative_names, std::vector<std::string>{"DNS:alice.example"});
  EXPECT_EQ(told->sha256.size(), 64u);
}

TEST_F(tls_session, a_certificate_that_does_not_hold_ends_the_handshake) {
  const issued authority({.name = "authority", .names = {}, .is_authority = true});
  const issued imitation({.name = "authority", .names = {}, .is_authority = true});
  const auto trusted = folder.write("authorities.pem", authority.certificate_text());
  const issued stranger({.name = "alice"}, &imitation);
  const issued expired({.name = "alice", .from = -7200, .until = -3600}, &authority);
  const issued self_signed({.name = "alice"});
  for (const auto* one : {&stranger, &expired, &self_signed}) {
    open(trusted);
    begin_client(0, one);
    shake_hands();
    EXPECT_EQ(last, io_status::failed);
    EXPECT_FALSE(server->is_handshake_done());
    EXPECT_FALSE(server->certificate());
    SSL_free(std::exchange(client, nullptr));
  }
}

TEST_F(tls_session, who_is_not_asked_shows_no_certificate) {
  const issued alice({.name = "alice"});
  begin_client(0, &alice);
  shake_hands();
  ASSERT_TRUE(server->is_handshake_done());
  EXPECT_FALSE(server->certificate());
}

}  // namespace

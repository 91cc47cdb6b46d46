/// What no client of TLS should do.
#include <openssl/err.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <hondana/clock.hpp>

#include "unit/transport/http_server/secure_library.hpp"

namespace {

using hondana_test::client;
using hondana_test::eventually;
using hondana_test::issued;
using hondana_test::library;
using hondana_test::post;
using hondana_test::secure_library;
using hondana_test::tls_manner;

constexpr auto header_time = hondana::transport::http_server::limits().header_timeout;

bool is_served(client& peer) {
  peer.send(post(library::read("memo:///a")));
  return peer.receive().body.find("hello") != std::string::npos;
}

void expect_service(secure_library& with) {
  auto peer = with.connect();
  EXPECT_TRUE(is_served(peer));
}

TEST(tls_bad_input, garbage_instead_of_a_greeting_ends_the_connection) {
  secure_library with;
  using namespace std::string_literals;
  const std::vector<std::string> all{
      "\x07\x07\x07\x07\x07\x07\x07\x07"s,
      "\x16\x03\x01\xff\xff"s + std::string(100, 'x'),
      "\x16\x03\x01\x00\x05\x01\xff\xff\xff\xff"s,
      "\x16\x03\x01\x00\x04\x01\x00\x00\x00"s,
      "\x17\x03\x03\x00\x20"s + std::string(32, 'x'),
      "\x80\x2e\x01\x00\x02"s + std::string(43, '\0'),
      "OPTIONS /mcp HTTP/1.1\r\n\r\n"s,
      std::string(100'000, '\0'),
  };
  for (const auto& bytes : all) {
    client peer(with->port());
    peer.send(bytes);
    // An alert may come, and then the end.
    EXPECT_EQ(peer.receive_until("never").find("HTTP/1.1 2"), std::string::npos) << bytes.substr(0, 20);
    EXPECT_TRUE(peer.sees_the_end());
  }
  expect_service(with);
}

/// Keeps what a client would send.
class held_client {
 public:
  held_client() : with_(SSL_CTX_new(TLS_client_method())), tls_(SSL_new(with_)) {
    SSL_set_bio(tls_, BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));
    SSL_set_connect_state(tls_);
    (void)SSL_do_handshake(tls_);
    ERR_clear_error();
  }
  ~held_client() {
    SSL_free(tls_);
    SSL_CTX_free(with_);
  }
  held_client(const held_client&) = delete;
  held_client& operator=(const held_client&) = delete;

  std::string greeting() const {
    char* bytes = nullptr;
    const auto size = BIO_get_mem_data(SSL_get_wbio(tls_), &bytes);
    return {bytes, static_cast<std::size_t>(size)};
  }

 private:
  SSL_CTX* with_;
  SSL* tls_;
};

TEST(tls_bad_input, a_greeting_byte_by_byte_is_answered) {
  secure_library with;
  client peer(with->port());
  for (const char byte : held_client().greeting()) ASSERT_TRUE(peer.send(std::string_view(&byte, 1)));
  // A handshake record, of which the first message is the server's greeting.
  const auto got = peer.receive_until(std::string("\x16\x03\x03", 3));
  EXPECT_EQ(got, std::string("\x16\x03\x03", 3));
}

TEST(tls_bad_input, a_handshake_that_is_never_finished_is_closed_in_time) {
  hondana::manual_clock clock;
  secure_library with;
  const auto greeting = held_client().greeting();
  for (const auto& begun : {std::string(), greeting.substr(0, 1), greeting.substr(0, 50), greeting}) {
    client peer(with->port());
    peer.send(begun);
    EXPECT_TRUE(eventually([&] {
      clock.advance(header_time);
      return peer.has_received("never");
    }));
    (void)peer.receive_until("never");
    EXPECT_TRUE(peer.sees_the_end()) << begun.size();
  }
  expect_service(with);
}

TEST(tls_bad_input, a_farewell_at_once_ends_the_connection) {
  secure_library with;
  auto peer = with.connect();
  ASSERT_EQ(peer.trouble(), "");
  (void)SSL_shutdown(peer.tls());
  EXPECT_TRUE(peer.sees_the_end());
  EXPECT_NE(SSL_get_shutdown(peer.tls()) & SSL_RECEIVED_SHUTDOWN, 0);
  using namespace std::string_literals;
  client hasty(with->port());
  hasty.send("\x15\x03\x01\x00\x02\x01\x00"s);
  (void)hasty.receive_until("never");
  EXPECT_TRUE(hasty.sees_the_end());
  expect_service(with);
}

TEST(tls_bad_input, a_flood_of_new_keys_leaves_others_their_turn) {
#ifdef HONDANA_IS_SANITIZED  // which takes a multiple of the time for each
  constexpr int flood = 4'000;
#else
  constexpr int flood = 20'000;
#endif
  const hondana::manual_clock clock;
  secure_library with;
  auto flooding = with.connect();
  for (int i = 0; i < flood; ++i) {
    ASSERT_EQ(SSL_key_update(flooding.tls(), SSL_KEY_UPDATE_NOT_REQUESTED), 1);
    ASSERT_EQ(SSL_do_handshake(flooding.tls()), 1);
    if (i % (flood / 4) == 0) expect_service(with);
  }
  EXPECT_TRUE(is_served(flooding));
}

TEST(tls_bad_input, a_flood_of_new_keys_whose_answers_are_not_read_is_closed_in_time) {
  hondana::manual_clock clock;
  secure_library with;
  client flooding(with->port(), 4096);
  ASSERT_TRUE(flooding.shake_hands()) << flooding.trouble();
  const timeval soon{0, 200'000};
  ::setsockopt(flooding.socket(), SOL_SOCKET, SO_SNDTIMEO, &soon, sizeof soon);
  const auto takes = [&flooding](int keys) {
    bool is_taken = true;
    for (int i = 0; i < keys && is_taken; ++i) {
      is_taken = SSL_key_update(flooding.tls(), SSL_KEY_UPDATE_REQUESTED) == 1 && SSL_do_handshake(flooding.tls()) == 1;
    }
    ERR_clear_error();
    return is_taken;
  };
  (void)takes(60'000);
  auto other = with.connect();
  EXPECT_TRUE(is_served(other));
  EXPECT_TRUE(eventually([&] {
    clock.advance(header_time / 4);
    EXPECT_TRUE(is_served(other));
    return with->service->connections() == 1;
  }));
  EXPECT_FALSE(takes(1'000'000));
}

TEST(tls_bad_input, renegotiation_is_declined_and_harms_nobody) {
  secure_library with;
  tls_manner how;
  how.newest = TLS1_2_VERSION;
  auto peer = with.connect(how);
  ASSERT_TRUE(is_served(peer));
  ASSERT_EQ(SSL_renegotiate(peer.tls()), 1);
  EXPECT_LE(SSL_do_handshake(peer.tls()), 0);
  EXPECT_EQ(ERR_GET_REASON(ERR_peek_error()), SSL_R_NO_RENEGOTIATION);
  ERR_clear_error();
  expect_service(with);
}

TEST(tls_bad_input, a_damaged_record_ends_the_connection) {
  secure_library with;
  auto peer = with.connect();
  ASSERT_TRUE(is_served(peer));
  using namespace std::string_literals;
  const auto damaged = "\x17\x03\x03\x00\x20"s + std::string(32, 'x');
  ASSERT_EQ(::send(peer.socket(), damaged.data(), damaged.size(), MSG_NOSIGNAL), static_cast<ssize_t>(damaged.size()));
  EXPECT_TRUE(peer.sees_the_end());
  expect_service(with);
}

}  // namespace

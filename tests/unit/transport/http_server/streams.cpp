/// Answers that are pulled while they are sent.
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <gtest/gtest.h>

#include "unit/transport/http_server/client.hpp"
#include "unit/transport/http_server/shelf.hpp"

namespace {

using hondana_test::client;
using hondana_test::letters;
using hondana_test::library;
using hondana_test::post;

/// Puts `size` letters at `memo:///big`; says how many of them have been pulled to be sent.
std::shared_ptr<std::atomic<std::uint64_t>> put_letters(library& with, std::uint64_t size, std::uint64_t fails_after = ~0ull) {
  const auto given = std::make_shared<std::atomic<std::uint64_t>>(0);
  with.source->entries["memo:///big"] = [given, size, fails_after](const auto&) {
    hondana::read_result out;
    out.contents.push_back(
        {"", "big", "", "text/plain", hondana::content_kind::text, std::make_shared<letters>(size, given, fails_after)});
    return out;
  };
  return given;
}

TEST(http_streams, a_large_content_arrives_whole_in_chunks) {
  library with;
  put_letters(with, 5u << 20);
  client peer(with.port());
  for (int i = 0; i < 2; ++i) {
    peer.send(post(library::read("memo:///big")));
    const auto got = peer.receive();
    EXPECT_TRUE(got.is_complete);
    EXPECT_EQ(got.fields.at("transfer-encoding"), "chunked");
    EXPECT_NE(got.body.find("\"text\":\"" + std::string(5u << 20, 'x') + "\""), std::string::npos);
    EXPECT_TRUE(got.body.ends_with("}")) << got.body.substr(got.body.size() - 20);
  }
}

TEST(http_streams, a_slow_reader_costs_little_memory_and_no_thread) {
  library with;
  const auto given = put_letters(with, 32u << 20);
  client slow(with.port(), 4096);
  slow.send(post(library::read("memo:///big")));
  EXPECT_TRUE(slow.receive_until("\r\n\r\n").starts_with("HTTP/1.1 200 OK\r\n"));
  // The source has one thread; were it waiting for the slow reader, nobody else could read.
  for (int i = 0; i < 20; ++i) {
    client quick(with.port());
    quick.send(post(library::read("memo:///a")));
    ASSERT_NE(quick.receive().body.find("hello"), std::string::npos);
  }
  // What was pulled ahead is what the kernel has taken (its send buffer grows to 4 MiB here) and one piece.
  EXPECT_LT(given->load(), std::uint64_t{8} << 20);
}

TEST(http_streams, a_stream_that_fails_has_no_end) {
  library with;
  put_letters(with, 5u << 20, 2u << 20);
  client peer(with.port());
  peer.send(post(library::read("memo:///big")));
  const auto got = peer.receive();
  EXPECT_EQ(got.status, 200);
  EXPECT_FALSE(got.is_complete);
  EXPECT_TRUE(peer.sees_the_end());
  EXPECT_NE(with.log().find("an answer was cut off: The source has gone. (EIO)"), std::string::npos) << with.log();
}

TEST(http_streams, clients_of_http_1_0_get_it_until_the_connection_closes) {
  library with;
  put_letters(with, 2u << 20);
  const auto body = library::read("memo:///big");
  client peer(with.port());
  peer.send(hondana_test::old_post(body));
  const auto got = peer.receive();
  EXPECT_EQ(got.status, 200);
  EXPECT_FALSE(got.fields.contains("transfer-encoding"));
  EXPECT_FALSE(got.fields.contains("content-length"));
  EXPECT_NE(got.body.find(std::string(2u << 20, 'x')), std::string::npos);
}

TEST(http_streams, leaving_in_the_middle_of_one_harms_nobody) {
  library with;
  put_letters(with, 32u << 20);
  for (int i = 0; i < 10; ++i) {
    client peer(with.port());
    peer.send(post(library::read("memo:///big")));
    peer.receive_until("\r\n\r\n");
    peer.vanish();
  }
  client quick(with.port());
  quick.send(post(library::read("memo:///a")));
  EXPECT_NE(quick.receive().body.find("hello"), std::string::npos);
}

}  // namespace

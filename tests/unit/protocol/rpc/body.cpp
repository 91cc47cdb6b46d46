/// Bodies: text and contents in order, pulled in pieces, cut off when content changes.
#include "protocol/rpc/message_body.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "base/json/base64.hpp"
#include "unit/base/bytes/scripted_reader.hpp"

namespace {

using namespace hondana;
using rpc::body;
using test::scripted_reader;

const auto home = std::make_shared<executor::inline_executor>();

bytes::prepared_content held(std::string bytes, bool is_text) {
  return {"memo:///a", "", "", "", is_text, std::make_shared<const std::string>(std::move(bytes))};
}

bytes::prepared_content pulled(std::shared_ptr<byte_reader> reader, const std::string& expected, bool is_text) {
  return {"memo:///a", "", "", "", is_text, bytes::verified_stream{std::move(reader), bytes::digest_of(expected)}};
}

/// Everything a body gives, checking that each step adds at most about 256 KiB.
result<std::string> drained(body& from) {
  std::string all;
  for (int steps = 0; steps < 1000; ++steps) {
    const auto before = all.size();
    const auto more = from.pull(all);
    if (!more) return tl::unexpected(more.error());
    EXPECT_LE(all.size() - before, 300u * 1024);
    if (!*more) return all;
  }
  ADD_FAILURE() << "the body does not end";
  return all;
}

TEST(body, of_text_and_held_contents_is_whole) {
  body message("{\"text\":\"");
  message.append(held("a\"b\n", true), home);
  message.text() += "\",\"blob\":\"";
  message.append(held("abc", false), home);
  message.text() += "\"}";
  EXPECT_TRUE(message.is_single_text());
  EXPECT_EQ(message.next_executor(), nullptr);
  EXPECT_EQ(message.extract_text(), R"({"text":"a\"b\n","blob":"YWJj"})");
}

TEST(body, of_nothing_is_whole_and_empty) {
  body message;
  EXPECT_TRUE(message.is_single_text());
  EXPECT_EQ(drained(message), "");
  EXPECT_EQ(message.extract_text(), "");
}

TEST(body, pulls_text_and_streams_in_order) {
  body message("[\"");
  message.append(pulled(std::make_shared<scripted_reader>("say \"hi\""), "say \"hi\"", true), home);
  message.text() += "\",\"";
  message.append(pulled(std::make_shared<scripted_reader>("abcd"), "abcd", false), home);
  message.text() += "\"]";
  EXPECT_FALSE(message.is_single_text());
  EXPECT_EQ(message.next_executor(), nullptr);
  std::string out;
  ASSERT_TRUE(message.pull(out));
  EXPECT_EQ(out, "[\"");
  EXPECT_EQ(message.next_executor(), home);
  const auto rest = drained(message);
  ASSERT_TRUE(rest);
  EXPECT_EQ(out + *rest, R"(["say \"hi\"","YWJjZA=="])");
  EXPECT_EQ(message.next_executor(), nullptr);
}

TEST(body, concatenates_base64_over_pieces_of_any_size) {
  for (const std::size_t size : {196'607u, 196'608u, 196'609u, 500'000u}) {
    std::string bytes(size, '\0');
    for (std::size_t at = 0; at < size; ++at) bytes[at] = static_cast<char>(at * 31 % 251);
    body message;
    message.append(pulled(std::make_shared<scripted_reader>(bytes, 1000), bytes, false), home);
    const auto all = drained(message);
    ASSERT_TRUE(all);
    EXPECT_EQ(json::decode_base64(*all), bytes) << size;
  }
}

TEST(body, is_appended_to_another_in_order) {
  body first("[");
  body second("1,");
  second.append(pulled(std::make_shared<scripted_reader>("2"), "2", true), home);
  first.append(std::move(second));
  first.append(body("]"));
  EXPECT_EQ(drained(first), "[1,2]");
}

TEST(body, whose_content_changed_fails_before_its_end) {
  body message("\"");
  message.append(pulled(std::make_shared<scripted_reader>("new content"), "old content", true), home);
  message.text() += "\"";
  const auto all = drained(message);
  ASSERT_FALSE(all);
  EXPECT_EQ(all.error().code, errc::content_changed);
}

TEST(body, passes_on_the_failure_of_a_reader) {
  const auto broken = std::make_shared<scripted_reader>("x");
  broken->fault = failure{errc::source_unavailable, "The disk is gone.", ""};
  body message;
  message.append(pulled(broken, "x", true), home);
  EXPECT_EQ(drained(message).error().code, errc::source_unavailable);
}

TEST(body, lets_go_of_a_reader_that_has_been_pulled) {
  const auto reader = std::make_shared<scripted_reader>("x");
  body message;
  message.append(pulled(reader, "x", true), home);
  message.text() += "end";
  ASSERT_EQ(drained(message), "xend");
  EXPECT_EQ(reader.use_count(), 1);
}

TEST(body, that_settles_gives_back_what_was_lent_and_says_the_same) {
  const std::string text(300'000, '"');
  auto lent = held(text, true);
  const auto memory = std::weak_ptr(std::get<shared_bytes>(lent.data));
  body message("<");
  message.append(std::move(lent), home);
  message.text() += ">";
  EXPECT_FALSE(message.is_single_text());
  EXPECT_TRUE(message.encode_content());
  EXPECT_TRUE(memory.expired());
  EXPECT_EQ(message.buffered_bytes(), 2 * text.size() + 2);
  std::string escaped;
  for (std::size_t i = 0; i < text.size(); ++i) escaped += "\\\"";
  EXPECT_EQ(message.extract_text(), "<" + escaped + ">");
  body streamed;
  streamed.append(pulled(std::make_shared<scripted_reader>("abc"), "abc", true), home);
  EXPECT_FALSE(streamed.encode_content());
  EXPECT_GT(streamed.buffered_bytes(), 100'000u) << "an open reader costs something";
  EXPECT_EQ(drained(streamed), "abc");
}

bytes::prepared_content kept(const shared_bytes& inside, std::uint64_t size) {
  return {"memo:///a", "", "", "", true, bytes::encoded_content{inside, size}};
}

TEST(body, lends_what_is_kept_encoded_without_copying_it) {
  const auto inside = std::make_shared<const std::string>(100'000, 'x');
  body message("[\"");
  message.append(kept(inside, 100'000), home);
  message.text() += "\"]";
  EXPECT_FALSE(message.is_single_text());
  EXPECT_EQ(message.next_executor(), nullptr);
  EXPECT_EQ(message.length(), 100'004u);
  EXPECT_EQ(message.buffered_bytes(), 4u) << "what is lent counts where it is kept";
  EXPECT_EQ(message.min_encoded_bytes(), 100'004u);
  EXPECT_TRUE(message.is_next_cached());
  EXPECT_EQ(message.take_cached().json_text, nullptr) << "a text comes before it";
  EXPECT_EQ(message.take_text_piece(), "[\"");
  EXPECT_TRUE(message.is_next_cached());
  EXPECT_EQ(message.take_text_piece(), "");
  EXPECT_EQ(message.take_cached().json_text, inside);
  EXPECT_EQ(inside.use_count(), 1);
  EXPECT_FALSE(message.is_next_cached());
  EXPECT_TRUE(message.has_more());
  EXPECT_EQ(message.take_text_piece(), "\"]");
  EXPECT_FALSE(message.has_more());
  EXPECT_EQ(drained(message), "");
}

TEST(body, gives_what_is_lent_in_pieces_to_those_who_copy) {
  std::string text;
  for (int i = 0; text.size() < 500'000; ++i) text += std::to_string(i);
  const auto inside = std::make_shared<const std::string>(text);
  body message("<");
  message.append(kept(inside, 1), home);
  message.text() += ">";
  EXPECT_EQ(drained(message), "<" + text + ">");
  EXPECT_EQ(inside.use_count(), 1);
  body settled("<");
  settled.append(kept(inside, 1), home);
  EXPECT_TRUE(settled.encode_content());
  EXPECT_EQ(inside.use_count(), 1) << "given back";
  EXPECT_EQ(settled.buffered_bytes(), text.size() + 1);
  EXPECT_EQ(settled.extract_text(), "<" + text);
}

TEST(body, has_no_length_while_something_has_to_be_encoded_or_pulled) {
  EXPECT_EQ(body().length(), 0u);
  EXPECT_EQ(body("12").length(), 2u);
  body big;
  big.append(held(std::string(100'000, 'x'), true), home);
  EXPECT_EQ(big.length(), std::nullopt);
  body streamed;
  streamed.append(pulled(std::make_shared<scripted_reader>("abc"), "abc", true), home);
  EXPECT_EQ(streamed.length(), std::nullopt);
}

TEST(body, holds_big_content_in_memory_once_and_unencoded_until_it_is_pulled) {
  const std::string bytes(1'000'001, '\x01');
  for (const bool is_text : {true, false}) {
    body message("\"");
    message.append(held(bytes, is_text), home);
    message.text() += "\"";
    EXPECT_FALSE(message.is_single_text());
    EXPECT_EQ(message.buffered_bytes(), bytes.size() + 2);
    EXPECT_EQ(message.next_executor(), nullptr);
    std::string all;
    for (bool more = true; more;) {
      const auto before = all.size();
      more = message.pull(all).value();
      EXPECT_LE(all.size() - before, 6u * 192 * 1024 + 2);
      EXPECT_EQ(message.next_executor(), nullptr);
    }
    std::string expected = "\"";
    if (is_text) {
      for (std::size_t i = 0; i < bytes.size(); ++i) expected += "\\u0001";
    } else {
      json::append_base64_portable(expected, bytes);
    }
    EXPECT_EQ(all, expected += '"');
  }
}

}  // namespace

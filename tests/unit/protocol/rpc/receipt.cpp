/// Receipts: whoever wants to know how an answer left is told once, whatever becomes of it.
#include "protocol/rpc/message_body.hpp"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "unit/base/bytes/scripted_reader.hpp"

namespace {

using namespace hondana;
using rpc::body;
using rpc::delivery_outcome;

struct told {
  delivery_outcome how;
  std::uint64_t bytes;
};

std::shared_ptr<rpc::receipt> into(std::vector<told>& all) {
  return std::make_shared<rpc::receipt>([&all](delivery_outcome how, std::uint64_t bytes) { all.push_back({how, bytes}); });
}

TEST(receipt, is_told_once_and_counts_what_is_ready_at_once) {
  std::vector<told> all;
  {
    body message("0123456789");
    message.attach_receipt(into(all));
    auto leaving = message.attached_receipts();
    EXPECT_EQ(message.extract_text(), "0123456789");
    EXPECT_TRUE(all.empty());
    leaving.finish(delivery_outcome::sent);
    EXPECT_TRUE(leaving.empty());
    message.attached_receipts().report(delivery_outcome::truncated);
  }
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].how, delivery_outcome::sent);
  EXPECT_EQ(all[0].bytes, 10u);
}

TEST(receipt, of_a_message_that_is_dropped_says_that_it_is_gone) {
  std::vector<told> all;
  {
    body message("0123");
    message.attach_receipt(into(all));
    const body elsewhere = std::move(message);
    EXPECT_TRUE(all.empty());
  }
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].how, delivery_outcome::disconnected);
}

TEST(receipt, counts_a_stream_as_it_is_pulled) {
  const std::string content(500'000, 'x');
  std::vector<told> all;
  body message("{\"text\":\"");
  message.append({"memo:///a", "", "", "", true,
                  bytes::verified_stream{std::make_shared<test::scripted_reader>(content, 100'000), bytes::digest_of(content)}},
                 std::make_shared<executor::inline_executor>());
  message.text() += "\"}";
  message.attach_receipt(into(all));
  std::string out;
  ASSERT_TRUE(message.pull(out).value());
  ASSERT_TRUE(message.pull(out).value());
  message.attached_receipts().report(delivery_outcome::truncated);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].how, delivery_outcome::truncated);
  EXPECT_EQ(all[0].bytes, out.size() + 2) << "with what is ready behind it";
}

/// `[xxxx…`
body lending(std::size_t size) {
  body message("[");
  message.append({"memo:///a", "", "", "", true, bytes::encoded_content{std::make_shared<const std::string>(size, 'x'), 1}},
                 nullptr);
  return message;
}

TEST(receipt, leaves_what_is_lent_to_be_counted_by_whoever_writes_it) {
  std::vector<told> all;
  auto message = lending(100'000);
  message.attach_receipt(into(all));
  (void)message.take_text_piece();
  const auto lent = message.take_cached();
  ASSERT_TRUE(lent.counter);
  lent.counter->count(10);
  message.attached_receipts().report(delivery_outcome::truncated);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].bytes, 11u);
}

TEST(receipt, counts_what_is_lent_when_it_is_copied) {
  std::vector<told> all;
  auto settled = lending(100'000);
  settled.attach_receipt(into(all));
  ASSERT_TRUE(settled.encode_content());
  settled.attached_receipts().report(delivery_outcome::sent);
  auto pulled = lending(500'000);
  pulled.attach_receipt(into(all));
  std::string out;
  ASSERT_TRUE(pulled.pull(out).value());
  ASSERT_TRUE(pulled.pull(out).value());
  pulled.attached_receipts().report(delivery_outcome::disconnected);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].bytes, 100'001u);
  EXPECT_EQ(all[1].bytes, out.size());
  EXPECT_LT(out.size(), 500'000u);
}

TEST(receipt, of_each_answer_of_a_batch_is_told_with_its_own_bytes) {
  std::vector<told> first;
  std::vector<told> second;
  body one("12345");
  one.attach_receipt(into(first));
  body other("123");
  other.append({"memo:///a", "", "", "", true, std::make_shared<const std::string>(std::string(100'000, 'y'))}, nullptr);
  other.attach_receipt(into(second));
  (void)other.encode_content();

  body all("[");
  all.append(std::move(one));
  all.text() += ',';
  all.append(std::move(other));
  all.text() += ']';
  auto leaving = all.attached_receipts();
  ASSERT_TRUE(all.is_single_text());
  EXPECT_EQ(all.extract_text().size(), 1u + 5 + 1 + 100'003 + 1);
  leaving.finish(delivery_outcome::sent);
  ASSERT_EQ(first.size(), 1u);
  EXPECT_EQ(first[0].bytes, 5u);
  ASSERT_EQ(second.size(), 1u);
  EXPECT_EQ(second[0].bytes, 100'003u);
}

}  // namespace

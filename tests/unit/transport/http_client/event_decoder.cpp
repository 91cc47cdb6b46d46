/// Server-sent events: the rules of the standard, and our caps.
#include "transport/http_client/event_stream.hpp"

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

namespace {

using hondana::transport::http_client::event_decoder;

struct told_events final : event_decoder::listener {
  void on_data(std::string_view, std::string_view piece) override { coming += piece; }
  void on_event(std::string_view type) override {
    all.push_back(std::string(type) + "|" + coming);
    coming.clear();
  }
  std::string coming;
  std::vector<std::string> all;
};

struct read_stream {
  std::vector<std::string> events;
  std::string last_id;
  std::optional<std::chrono::milliseconds> retry;
  friend bool operator==(const read_stream&, const read_stream&) = default;
};

read_stream read_in_pieces(std::string_view stream, std::size_t piece) {
  told_events told;
  event_decoder decoder(told);
  for (std::size_t at = 0; at < stream.size(); at += piece) decoder.feed(stream.substr(at, piece));
  return {told.all, decoder.last_id(), decoder.retry()};
}

/// The same in pieces of every size.
read_stream read(std::string_view stream) {
  const auto whole = read_in_pieces(stream, stream.size() + 1);
  for (std::size_t piece = 1; piece <= stream.size(); ++piece) EXPECT_EQ(read_in_pieces(stream, piece), whole) << piece;
  return whole;
}

using texts = std::vector<std::string>;

TEST(event_decoder, lines_of_data_are_joined_by_line_feeds) {
  EXPECT_EQ(read("data: a\ndata:b\ndata:  c\n\n").events, (texts{"|a\nb\n c"}));
  EXPECT_EQ(read("data\ndata\n\n").events, (texts{"|\n"}));
  EXPECT_EQ(read("data:\n\n").events, (texts{"|"}));
}

TEST(event_decoder, lines_end_in_any_of_three_ways) {
  EXPECT_EQ(read("data: a\r\rdata: b\n\ndata: c\r\n\r\ndata: d\r\n\ndata: e\n\r\n").events,
            (texts{"|a", "|b", "|c", "|d", "|e"}));
}

TEST(event_decoder, one_byte_order_mark_is_skipped) {
  EXPECT_EQ(read("\xEF\xBB\xBF"
                 "data: a\n\n")
                .events,
            (texts{"|a"}));
  EXPECT_EQ(read("\xEF\xBB\xBF\xEF\xBB\xBF"
                 "data: a\n\n")
                .events,
            texts{});
  EXPECT_EQ(read("\xEF\xBB"
                 "data: a\n\n")
                .events,
            texts{});
}

TEST(event_decoder, comments_and_unknown_fields_are_skipped) {
  EXPECT_EQ(read(": keep-alive\n\n:\nfoo: bar\ndatax: b\ndat: c\n Data: d\ndata: a\n\n").events, (texts{"|a"}));
}

TEST(event_decoder, events_without_data_are_not_told_but_their_ids_count) {
  const auto got = read("event: ping\nid: 7\n\n");
  EXPECT_TRUE(got.events.empty());
  EXPECT_EQ(got.last_id, "7");
}

TEST(event_decoder, a_type_holds_for_one_event) {
  EXPECT_EQ(read("event: endpoint\ndata: /x\n\ndata: y\n\n").events, (texts{"endpoint|/x", "|y"}));
}

TEST(event_decoder, an_id_counts_when_its_event_is_complete_and_stays) {
  EXPECT_EQ(read("id: 1\ndata: a\n\ndata: b\n\nid: 2\ndata: c\n").last_id, "1");
  EXPECT_EQ(read("id: 1\n\nid\n\n").last_id, "");
}

TEST(event_decoder, an_id_with_nul_is_ignored) {
  using namespace std::string_view_literals;
  EXPECT_EQ(read("id: 1\n\nid: a\0b\n\n"sv).last_id, "1");
}

TEST(event_decoder, an_id_that_is_too_long_leaves_none) {
  EXPECT_EQ(read("id: 1\n\nid: " + std::string(1024, 'x') + "\n\n").last_id, std::string(1024, 'x'));
  EXPECT_EQ(read("id: 1\n\nid: " + std::string(1025, 'x') + "\n\n").last_id, "");
}

TEST(event_decoder, retry_takes_digits_only_and_is_capped) {
  using std::chrono::milliseconds;
  EXPECT_EQ(read("retry: 500\n").retry, milliseconds(500));
  EXPECT_EQ(read("retry: 5s\nretry:\nretry: -1\nretry: 1.5\n").retry, std::nullopt);
  EXPECT_EQ(read("retry: 99999999999999999999999999\n").retry, event_decoder::max_retry);
  EXPECT_EQ(read("retry: " + std::string(200, '9') + "\n").retry, event_decoder::max_retry);
}

TEST(event_decoder, an_event_that_is_cut_off_is_forgotten) {
  told_events told;
  event_decoder decoder(told);
  decoder.feed("id: 1\ndata: a\n\nid: 2\ndata: b");
  decoder.restart();
  told.coming.clear();
  decoder.feed(
      "\xEF\xBB\xBF"
      "data: c\n\n");
  EXPECT_EQ(told.all, (texts{"|a", "|c"}));
  EXPECT_EQ(decoder.last_id(), "1");
}

}  // namespace

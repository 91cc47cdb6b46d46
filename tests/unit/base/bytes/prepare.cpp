/// The first pass over readings: form, size, digest, and readers that misbehave.
#include "base/bytes/prepared_content.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include "unit/base/bytes/scripted_reader.hpp"

namespace {

using namespace hondana;
using namespace std::string_literals;
using bytes::prepare_content;
using test::scripted_reader;

read_request request_of(std::string uri = "memo:///a") {
  read_request made;
  made.uri = uri;
  made.requested_uri = std::move(uri);
  return made;
}

resource_content held(std::string bytes, content_kind form = content_kind::detect) {
  resource_content made;
  made.kind = form;
  made.data = std::make_shared<const std::string>(std::move(bytes));
  return made;
}

resource_content checked(std::string bytes, content_kind form) {
  auto made = held(std::move(bytes), form);
  made.is_validated = true;
  return made;
}

resource_content pulled(std::shared_ptr<byte_reader> reader, content_kind form = content_kind::detect) {
  resource_content made;
  made.kind = form;
  made.data = std::move(reader);
  return made;
}

read_result of(std::vector<resource_content> contents) {
  read_result made;
  made.contents = std::move(contents);
  made.version = "v";
  return made;
}

bool is_text(resource_content one) {
  const auto ready = prepare_content(of({std::move(one)}), request_of());
  EXPECT_TRUE(ready);
  return ready && ready->contents.at(0).is_text;
}

std::shared_ptr<scripted_reader> reader(std::string bytes) { return std::make_shared<scripted_reader>(std::move(bytes)); }

TEST(prepare, believes_bytes_to_be_text_of_an_encoding_that_is_named_unless_they_are_something_else) {
  const auto told = [](std::string type, std::string bytes, content_kind form = content_kind::blob) {
    auto one = held(std::move(bytes), form);
    one.mime_type = std::move(type);
    const auto ready = prepare_content(of({std::move(one)}), request_of());
    EXPECT_TRUE(ready);
    return ready ? ready->contents.at(0).mime_type : std::string();
  };
  EXPECT_EQ(told("text/plain; charset=Shift_JIS", "\x96\x7b"), "text/plain; charset=Shift_JIS");
  EXPECT_EQ(told("Text/HTML;CHARSET=EUC-JP", "<p>\xcb\xdc"), "Text/HTML;CHARSET=EUC-JP");
  EXPECT_EQ(told("text/plain", "\x96\x7b"), "application/octet-stream");
  EXPECT_EQ(told("text/plain; charset=Shift_JIS", "\x96\x7b", content_kind::detect), "application/octet-stream");
  EXPECT_EQ(told("text/plain; charset=Shift_JIS", "\x89PNG\r\n\x1a\n"), "image/png");
}

TEST(prepare, decides_text_or_blob_over_the_whole_content) {
  std::string late_break(500'000, 'x');
  late_break.push_back('\xFF');
  EXPECT_TRUE(is_text(held("plain")));
  EXPECT_TRUE(is_text(held("")));
  EXPECT_TRUE(is_text(held("日本語")));
  EXPECT_FALSE(is_text(held(std::string("nul\0", 4))));
  EXPECT_FALSE(is_text(held(late_break)));
  EXPECT_FALSE(is_text(held("cut off \xE6\x97")));
  EXPECT_TRUE(is_text(pulled(reader("日本語 in pieces of seven bytes"))));
  EXPECT_TRUE(is_text(pulled(reader(""))));
  EXPECT_FALSE(is_text(pulled(reader(late_break))));
  EXPECT_FALSE(is_text(pulled(reader("cut off \xE6\x97"))));
}

TEST(prepare, hands_on_the_facts_about_contents_held_and_pulled) {
  auto first = held("a");
  auto second = pulled(reader("b"));
  first.metadata = {{"dev.example/one", std::int64_t{1}}};
  second.metadata = {{"dev.example/two", std::int64_t{2}}};
  const auto ready = prepare_content(of({first, second}), request_of());
  ASSERT_TRUE(ready);
  EXPECT_EQ(ready->contents.at(0).metadata, first.metadata);
  EXPECT_EQ(ready->contents.at(1).metadata, second.metadata);
}

/// Knows how many bytes it has given.
class counting_reader final : public scripted_reader {
 public:
  using scripted_reader::scripted_reader;
  [[nodiscard]] metadata trailing_metadata() const override { return {{"dev.example/reads", std::int64_t{reads}}}; }
};

TEST(prepare, asks_a_reader_for_facts_when_all_has_been_read) {
  auto one = pulled(std::make_shared<counting_reader>("0123456789"));
  one.metadata = {{"dev.example/one", true}};
  const auto ready = prepare_content(of({std::move(one)}), request_of());
  ASSERT_TRUE(ready);
  EXPECT_EQ(ready->contents.at(0).metadata, (metadata{{"dev.example/one", true}, {"dev.example/reads", std::int64_t{3}}}));
}

TEST(prepare, obeys_a_declared_form_except_where_text_is_not_text) {
  EXPECT_FALSE(is_text(held("plain", content_kind::blob)));
  EXPECT_FALSE(is_text(pulled(reader("plain"), content_kind::blob)));
  EXPECT_TRUE(is_text(held("plain", content_kind::text)));
  EXPECT_FALSE(is_text(held("\x80", content_kind::text)));
  EXPECT_FALSE(is_text(pulled(reader("\x80"), content_kind::text)));
}

TEST(prepare, looks_again_at_nothing_that_its_provider_has_looked_at) {
  EXPECT_TRUE(is_text(checked("plain", content_kind::text)));
  EXPECT_FALSE(is_text(checked("plain", content_kind::blob)));
  EXPECT_FALSE(is_text(checked(std::string("nul\0", 4), content_kind::detect))) << "which says nothing";
}

TEST(prepare, gives_contents_without_a_uri_the_one_that_was_asked_for) {
  auto named = held("b");
  named.uri = "memo:///b";
  auto request = request_of("memo:///a");
  request.requested_uri = "MEMO:///a";
  const auto ready = prepare_content(of({held("a"), named}), request);
  ASSERT_TRUE(ready);
  EXPECT_EQ(ready->contents[0].uri, "MEMO:///a");
  EXPECT_EQ(ready->contents[1].uri, "memo:///b");
  EXPECT_EQ(ready->version, "v");
}

TEST(prepare, digests_pulled_contents_and_rewinds_them) {
  const auto source = reader("some content");
  int rewound = 0;
  source->on_rewind = [&rewound](std::string&) { ++rewound; };
  const auto ready = prepare_content(of({pulled(source)}), request_of());
  ASSERT_TRUE(ready);
  const auto& stream = std::get<bytes::verified_stream>(ready->contents[0].data);
  EXPECT_EQ(stream.expected_digest, bytes::digest_of("some content"));
  EXPECT_EQ(stream.reader, source);
  EXPECT_EQ(rewound, 1);
}

TEST(prepare, refuses_contents_that_are_together_too_large) {
  auto request = request_of("memo:///big");
  request.max_bytes = 10;
  EXPECT_TRUE(prepare_content(of({held("12345"), pulled(reader("12345"))}), request));
  const auto big = reader("123456");
  const auto refused = prepare_content(of({held("12345"), pulled(big)}), request);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, errc::response_too_large);
  EXPECT_NE(refused.error().public_text.find("memo:///big"), std::string::npos);
  EXPECT_NE(refused.error().public_text.find("11 bytes"), std::string::npos);
  EXPECT_NE(refused.error().public_text.find("10 bytes"), std::string::npos);
  EXPECT_EQ(big->reads, 0);
}

TEST(prepare, is_not_fooled_by_sizes_whose_sum_overflows) {
  const auto huge = reader("x");
  huge->said_size = 18'446'744'073'709'551'615u;
  const auto refused = prepare_content(of({held("12345"), pulled(huge)}), request_of());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, errc::response_too_large);
}

TEST(prepare, refuses_a_reader_that_gives_more_or_fewer_bytes_than_its_size) {
  for (const std::uint64_t size : {0u, 9u, 11u, 1000u}) {
    const auto wrong = reader("ten bytes.");
    wrong->said_size = size;
    const auto refused = prepare_content(of({pulled(wrong)}), request_of());
    ASSERT_FALSE(refused) << size;
    EXPECT_EQ(refused.error().code, errc::content_changed);
  }
}

TEST(prepare, passes_on_the_failure_of_a_reader) {
  const auto broken = reader("x");
  broken->fault = failure{errc::source_unavailable, "The disk is gone.", "EIO"};
  const auto refused = prepare_content(of({pulled(broken)}), request_of());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, errc::source_unavailable);
  EXPECT_EQ(refused.error().private_text, "EIO");
}

TEST(prepare, refuses_a_reading_without_contents) {
  EXPECT_EQ(prepare_content(of({}), request_of()).error().code, errc::internal);
  EXPECT_EQ(prepare_content(of({pulled(nullptr)}), request_of()).error().code, errc::internal);
  auto nothing = held("");
  nothing.data = shared_bytes();
  EXPECT_TRUE(prepare_content(of({nothing}), request_of()));
}

TEST(prepare, stops_when_it_is_cancelled_or_late) {
  std::stop_source stop;
  stop.request_stop();
  auto stopped = request_of();
  stopped.stop = stop.get_token();
  EXPECT_EQ(prepare_content(of({pulled(reader("x"))}), stopped).error().code, errc::cancelled);
  auto late = request_of();
  late.deadline = std::chrono::steady_clock::now() - std::chrono::seconds(1);
  EXPECT_EQ(prepare_content(of({pulled(reader("x"))}), late).error().code, errc::timed_out);
}

TEST(prepare, reports_growing_progress_over_pulled_bytes) {
  std::vector<double> reports;
  auto request = request_of();
  request.report_progress = [&reports](const progress& one) {
    EXPECT_EQ(one.total, 20.0);
    reports.push_back(one.done);
  };
  ASSERT_TRUE(prepare_content(of({pulled(reader("twenty bytes of text"))}), request));
  EXPECT_EQ(reports, (std::vector<double>{7, 14, 20}));
}

TEST(digest, does_not_depend_on_the_pieces) {
  const std::string all(1'000'000, 'x');
  bytes::digester pieces;
  for (std::size_t at = 0; at < all.size(); at += 997) pieces.update(std::string_view(all).substr(at, 997));
  EXPECT_EQ(pieces.value(), bytes::digest_of(all));
  pieces.reset();
  EXPECT_EQ(pieces.value(), bytes::digest_of(""));
  EXPECT_NE(bytes::digest_of("a"), bytes::digest_of("b"));
}

TEST(digest, is_the_xxh3_of_128_bits_in_hexadecimal) {
  EXPECT_EQ(bytes::to_hex(bytes::digest_of("")), "99aa06d3014798d86001c324468d497f");
}

TEST(prepare, a_type_the_content_belies_gives_way) {
  const auto type_of = [](std::string declared, std::string bytes) {
    auto item = held(std::move(bytes));
    item.mime_type = std::move(declared);
    auto ready = prepare_content(of({std::move(item)}), request_of());
    return ready ? ready->contents.at(0).mime_type : ready.error().public_text;
  };
  EXPECT_EQ(type_of("text/markdown", "# a"), "text/markdown");
  EXPECT_EQ(type_of("text/markdown", "\xff\xfe"), "application/octet-stream");
  EXPECT_EQ(type_of("application/octet-stream", "plain"), "text/plain");
  EXPECT_EQ(type_of("image/png", "\x89PNG\r\n\x1a\n\1"), "image/png");
  EXPECT_EQ(type_of("image/png", "\xff\xd8\xff\xe0"), "image/jpeg");
  EXPECT_EQ(type_of("image/png", "\xff of nothing known"), "application/octet-stream");
  EXPECT_EQ(type_of("image/png", "<html><script>alert(1)</script>"), "text/plain");
  EXPECT_EQ(type_of("image/svg+xml", "<svg/>"), "image/svg+xml");
  EXPECT_EQ(type_of("", "plain"), "");
}

/// As what a browser would run it, as told; the types told with it.
std::string label_of(resource_content item, std::string uri = "memo:///a") {
  const auto ready = prepare_content(of({std::move(item)}), request_of(std::move(uri)));
  if (!ready) return ready.error().public_text;
  std::string all;
  for (const auto& [name, held] : ready->contents.at(0).metadata) {
    if (name == "dev.hondana/active") all += std::get<std::string>(held) + ";";
  }
  return all;
}

resource_content typed(resource_content item, std::string type) {
  item.mime_type = std::move(type);
  return item;
}

TEST(prepare, labels_what_a_browser_would_run_by_type_and_by_content) {
  EXPECT_EQ(label_of(held("plain")), "");
  EXPECT_EQ(label_of(typed(held("# words"), "text/markdown")), "");
  EXPECT_EQ(label_of(typed(held("words"), "text/html")), "text/html;");
  EXPECT_EQ(label_of(typed(held("<svg/>"), "image/svg+xml")), "image/svg+xml;");
  EXPECT_EQ(label_of(typed(held("<script>alert(1)</script>"), "image/png")), "text/html;");
  EXPECT_EQ(label_of(typed(held("<script>alert(1)</script>"), "application/json")), "text/html;");
  EXPECT_EQ(label_of(held("\xff\xfe<\0?\0x\0m\0l\0"s)), "text/xml;");
  // A type that gave way has been said to a browser all the same.
  EXPECT_EQ(label_of(typed(held("\xff\xfe"), "text/html")), "text/html;");
  EXPECT_EQ(label_of(typed(pulled(reader("   <!doctype html><title>x</title>")), "text/plain")), "text/html;");
  EXPECT_EQ(label_of(typed(pulled(reader(std::string(100'000, 'x') + "<html>")), "text/plain")), "");
}

TEST(prepare, keeps_the_label_of_a_source_that_knows_more_and_says_it_once) {
  auto part = held("only words");
  part.metadata = {{"dev.hondana/active", std::string("text/html")}};
  EXPECT_EQ(label_of(part), "text/html;");
  auto contradicted = typed(held("<script>"), "text/javascript");
  contradicted.metadata = {{"dev.hondana/active", std::string("text/plain")}};
  EXPECT_EQ(label_of(contradicted), "text/javascript;");
}

TEST(prepare, takes_the_type_of_a_part_from_its_source) {
  auto part = typed(held("\xffmiddle of a picture"), "image/png");
  const auto ready = prepare_content(of({part}), request_of("memo:///a.png?bytes=100-200"));
  ASSERT_TRUE(ready);
  EXPECT_EQ(ready->contents[0].mime_type, "image/png");
  EXPECT_EQ(label_of(typed(held("<script>"), "text/plain"), "memo:///a.txt?lines=7-9"), "text/html;");
}

TEST(prepare, does_not_take_every_query_for_a_part) {
  const auto ready = prepare_content(of({typed(held("<html>not a picture"), "image/png")}), request_of("x://a?q"));
  ASSERT_TRUE(ready);
  EXPECT_EQ(ready->contents[0].mime_type, "text/plain");
}

}  // namespace

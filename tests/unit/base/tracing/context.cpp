/// `traceparent` and its companions, read and written.
#include "base/tracing/tracing.hpp"

#include <string>

#include <gtest/gtest.h>

namespace {

using namespace hondana::tracing;

constexpr std::string_view good = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

TEST(traceparent, reads_what_it_writes) {
  const auto read = parse_traceparent(good);
  ASSERT_TRUE(read);
  EXPECT_TRUE(read->is_sampled);
  EXPECT_EQ(to_hex(read->trace), "4bf92f3577b34da6a3ce929d0e0e4736");
  EXPECT_EQ(to_hex(read->span), "00f067aa0ba902b7");
  EXPECT_EQ(format_traceparent(*read), good);
  EXPECT_EQ(trace_id_in(good), "4bf92f3577b34da6a3ce929d0e0e4736");
}

TEST(traceparent, looks_at_the_sampled_flag_alone) {
  auto text = std::string(good);
  text.replace(53, 2, "fe");
  ASSERT_TRUE(parse_traceparent(text));
  EXPECT_FALSE(parse_traceparent(text)->is_sampled);
  text.replace(53, 2, "03");
  EXPECT_TRUE(parse_traceparent(text)->is_sampled);
}

TEST(traceparent, of_a_version_to_come_may_have_more) {
  EXPECT_TRUE(parse_traceparent("cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-what-the-future"));
  EXPECT_FALSE(parse_traceparent("cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01.what"));
  EXPECT_FALSE(parse_traceparent(std::string(good) + "-more"));
}

TEST(traceparent, malformed_is_none) {
  for (const char* text :
       {"", "00", "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        "00-00000000000000000000000000000000-00f067aa0ba902b7-01", "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
        "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01", "00-4bf92f3577b34da6a3ce929d0e0e473-00f067aa0ba902b77-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0g", "00_4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7"}) {
    EXPECT_FALSE(parse_traceparent(text)) << text;
  }
}

TEST(tracestate, has_members_within_bounds) {
  EXPECT_TRUE(is_tracestate("rojo=00f067aa0ba902b7,congo=t61rcWkgMzE"));
  EXPECT_TRUE(is_tracestate("a=1, ,b=2"));
  EXPECT_TRUE(is_tracestate("a=" + std::string(max_tracestate_bytes - 2, 'x')));
  for (const auto& text : {std::string(), std::string(","), std::string("a"), std::string("=1"), std::string("a=1\nb"),
                           std::string("a=\xc3\xa4"), "a=" + std::string(max_tracestate_bytes - 1, 'x')}) {
    EXPECT_FALSE(is_tracestate(text)) << text;
  }
}

TEST(baggage, is_visible_text_within_its_bound) {
  EXPECT_TRUE(is_baggage("userId=alice,isProduction=false;meta=1"));
  EXPECT_TRUE(is_baggage(std::string(max_baggage_bytes, 'x')));
  EXPECT_FALSE(is_baggage(""));
  EXPECT_FALSE(is_baggage("a=1\r\nX: y"));
  EXPECT_FALSE(is_baggage(std::string(max_baggage_bytes + 1, 'x')));
}

TEST(ids, differ) {
  EXPECT_NE(new_trace_id(), new_trace_id());
  EXPECT_NE(new_span_id(), new_span_id());
}

}  // namespace

/// Names, kinds, units and numbers.
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "sources/metrics/series/data_model.hpp"

namespace hondana::series {
namespace {

TEST(series_identity, sorts_its_labels_and_drops_those_without_a_value) {
  identity one{"up", {{"z", "1"}, {"a", "2"}, {"m", ""}}};
  ASSERT_TRUE(normalize(one));
  EXPECT_EQ(to_text(one), "up{a=\"2\",z=\"1\"}");
  EXPECT_EQ(one.value_of("z"), "1");
  EXPECT_EQ(one.value_of("m"), "");
  EXPECT_EQ(one.value_of("__name__"), "up");
}

TEST(series_identity, refuses_names_and_values_that_cannot_be) {
  for (identity one :
       {identity{"1up", {}}, identity{"up", {{"a-b", "1"}}}, identity{"up", {{"", "1"}}}, identity{"up", {{"a:b", "1"}}},
        identity{"up", {{"a", "1"}, {"a", "2"}}}, identity{"up", {{"a", ""}, {"a", "2"}}}, identity{"up", {{"__name__", "x"}}},
        identity{"up", {{"a", "\xff"}}}, identity{"up", {{"a", "\xed\xa0\x80"}}}, identity{"up", {{"a", "\xc0\xaf"}}},
        identity{"up", {{"a", "12345678\xe2\x82"}}}})
    EXPECT_FALSE(normalize(one)) << to_text(one);
  identity nameless{"", {{"a", "\xf0\x9d\x84\x9e"}}};
  EXPECT_TRUE(normalize(nameless));
  EXPECT_EQ(to_text(nameless), "{a=\"\xf0\x9d\x84\x9e\"}");
  EXPECT_EQ(to_text(identity{}), "{}");
}

TEST(series_identity, writes_values_that_nothing_can_end) {
  EXPECT_EQ(to_text(identity{"a", {{"b", "\"\\\n}"}}}), "a{b=\"\\\"\\\\\\n}\"}");
}

TEST(series_kinds, have_the_names_of_the_format) {
  for (const auto one : {kind::unknown, kind::counter, kind::gauge, kind::histogram, kind::summary, kind::info, kind::stateset})
    EXPECT_EQ(parse_kind(name_of(one)), one);
  EXPECT_EQ(name_of(kind::counter), "counter");
  EXPECT_EQ(parse_kind("untyped"), kind::unknown);
  EXPECT_EQ(parse_kind("gaugehistogram"), kind::gauge);
}

TEST(series_kinds, parts_of_families_are_counters) {
  EXPECT_EQ(kind_of_series("x_bucket", kind::histogram), kind::counter);
  EXPECT_EQ(kind_of_series("x_count", kind::summary), kind::counter);
  EXPECT_EQ(kind_of_series("x", kind::summary), kind::summary);
  EXPECT_EQ(kind_of_series("x_total", kind::unknown), kind::counter);
  EXPECT_EQ(kind_of_series("x_total", kind::gauge), kind::gauge);
  EXPECT_EQ(kind_of_series("x_count", kind::unknown), kind::unknown);
}

TEST(series_names, tell_units_and_families) {
  EXPECT_EQ(unit_from_name("node_cpu_seconds_total"), "seconds");
  EXPECT_EQ(unit_from_name("node_memory_MemTotal_bytes"), "bytes");
  EXPECT_EQ(unit_from_name("request_seconds_sum"), "seconds");
  EXPECT_EQ(unit_from_name("request_seconds_count"), "");
  EXPECT_EQ(unit_from_name("request_seconds_bucket"), "");
  EXPECT_EQ(unit_from_name("up"), "");
  EXPECT_EQ(unit_from_name("_total"), "");
  EXPECT_EQ(family_of("a_seconds_bucket", kind::histogram), "a_seconds");
  EXPECT_EQ(family_of("a_total", kind::counter), "a");
  EXPECT_EQ(family_of("a_total", kind::gauge), "a_total");
  EXPECT_EQ(family_of("build_info", kind::info), "build");
  EXPECT_EQ(family_of("_sum", kind::summary), "_sum");
}

TEST(series_numbers, are_written_so_short_that_they_read_back) {
  for (const double one : {0.0, 1.0, -1.5, 0.1, 1e21, 5e-324, 1.7976931348623157e308, 123456789.125, 1.0 / 3})
    EXPECT_EQ(parse_number(format_number(one)), one) << format_number(one);
  EXPECT_EQ(format_number(0.1), "0.1");
  EXPECT_EQ(format_number(std::numeric_limits<double>::infinity()), "+Inf");
  EXPECT_EQ(format_number(-std::numeric_limits<double>::infinity()), "-Inf");
  EXPECT_EQ(format_number(stale_marker()), "NaN");
}

TEST(series_numbers, are_read_as_the_formats_allow) {
  for (const char* const one : {"", "+", "-", "0x10", "1_000", "1e", "1 ", " 1", "--1", "+-1", ".", "nan(1)", "infinit",
                                "1e400", "-1e309", "1p3", "Inf1", "0x1p-2", "1,5"})
    EXPECT_FALSE(parse_number(one)) << one;
  EXPECT_EQ(parse_number("+1.5e3"), 1500);
  EXPECT_EQ(parse_number(".5"), 0.5);
  EXPECT_EQ(parse_number("5."), 5);
  EXPECT_EQ(parse_number("-inf"), -std::numeric_limits<double>::infinity());
  EXPECT_EQ(parse_number("Infinity"), std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(parse_number("nan").value_or(0)));
  EXPECT_EQ(parse_number("1e-400"), 0);
  EXPECT_EQ(parse_number("0." + std::string(400, '0') + "1"), 0);
  EXPECT_FALSE(parse_number("1" + std::string(400, '0')));
  EXPECT_EQ(parse_number("1" + std::string(400, '0') + "e-400"), 1);
  EXPECT_FALSE(is_stale(*parse_number("NaN")));
}

}  // namespace
}  // namespace hondana::series

/// Whole charts, as SVG and PNG.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "sources/metrics/charts/chart.hpp"
#include "unit/sources/metrics/charts/samples_made.hpp"
#include "unit/sources/metrics/charts/xml_read.hpp"

namespace hondana::charts {
namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double without_end = std::numeric_limits<double>::infinity();

std::string svg_of(const chart& what, const image_size& how = {600, 320, 1, false}) {
  auto drawn = draw(what, image_format::svg, how);
  EXPECT_TRUE(drawn) << (drawn ? "" : drawn.error().public_text);
  return drawn.value_or("");
}

std::vector<xml_element> elements_of(const std::string& svg) {
  auto read = xml_reader(svg).read();
  EXPECT_TRUE(read) << "it is not well-formed:\n" << svg.substr(0, 4000);
  return read.value_or(std::vector<xml_element>());
}

std::vector<std::string> texts_of(const chart& what, const image_size& how = {600, 320, 1, false}) {
  std::vector<std::string> out;
  for (const auto& one : elements_of(svg_of(what, how)))
    if (one.name == "text") out.push_back(one.text);
  return out;
}

bool has_text(const std::vector<std::string>& all, const std::string& wanted) {
  return std::find(all.begin(), all.end(), wanted) != all.end();
}

/// The paths of the one group of that name.
std::vector<std::string> paths_of(const chart& what, const std::string& name) {
  std::vector<std::string> out;
  const auto all = elements_of(svg_of(what));
  for (std::size_t at = 0; at + 1 < all.size(); ++at) {
    if (all[at].name != "g" || all[at + 1].text != name) continue;
    for (std::size_t next = at + 2; next < all.size() && all[next].name == "path"; ++next)
      out.push_back(all[next].attributes.at("d"));
    break;
  }
  return out;
}

std::ptrdiff_t count_in(const std::string& text, char c) { return std::count(text.begin(), text.end(), c); }

errc refusal_of(const chart& what, image_format as, const image_size& how) {
  const auto drawn = draw(what, as, how);
  return drawn ? errc{} : drawn.error().code;
}

std::uint32_t big_endian(const std::string& bytes, std::size_t at) {
  std::uint32_t out = 0;
  for (std::size_t next = at; next < at + 4; ++next) out = out << 8 | static_cast<unsigned char>(bytes[next]);
  return out;
}

TEST(chart, as_svg_says_in_words_what_it_shows) {
  auto what = chart_of({line_of("idle", {0.25, 0.5, 0.125}), line_of("user", {not_a_number})});
  what.title = "node_cpu";
  what.subtitle = "avg by (mode)";
  what.unit = "ratio";
  const auto all = elements_of(svg_of(what));
  ASSERT_GT(all.size(), 3U);
  EXPECT_EQ(all[0].name, "svg");
  EXPECT_EQ(all[0].attributes.at("xmlns"), "http://www.w3.org/2000/svg");
  EXPECT_EQ(all[0].attributes.at("width"), "600");
  EXPECT_EQ(all[0].attributes.at("viewBox"), "0 0 600 320");
  EXPECT_EQ(all[0].attributes.at("role"), "img");
  EXPECT_EQ(all[0].attributes.at("aria-label"), "node_cpu");
  EXPECT_EQ(all[1].name, "title");
  EXPECT_EQ(all[1].text, "node_cpu");
  EXPECT_EQ(all[2].name, "desc");
  EXPECT_EQ(all[2].text,
            "avg by (mode). From 2026-11-24 00:00 to 2026-11-24 01:00, UTC.\n"
            "idle: least 12.5%, greatest 50%, last 12.5%.\n"
            "user: no samples.");
}

TEST(chart, as_svg_has_axes_units_and_a_legend_as_text) {
  auto what = chart_of({line_of("eth0", {0, 1024 * 1024}), line_of("eth1", {4.0 * 1024 * 1024})});
  what.title = "node_network_receive_bytes_total";
  what.unit = "bytes/s";
  const auto texts = texts_of(what);
  for (const char* const wanted : {"node_network_receive_bytes_total", "UTC", "00:00", "00:30", "01:00", "2026-11-24", "0",
                                   "2\u00a0MiB/s", "4\u00a0MiB/s", "eth0", "eth1"}) {
    EXPECT_TRUE(has_text(texts, wanted)) << wanted;
  }
}

TEST(chart, with_hostile_texts_is_no_more_than_a_picture) {
  const std::string hostile =
      "</title><script>alert(1)</script>\"' onload=\"x\" <image href=\"http://evil.example/\"/>&x; ]]>\x1b\0";
  chart what = chart_of({line_of(hostile, {1, 2}), line_of("&#x3c;", {2, 3})});
  what.title = what.subtitle = what.unit = what.zone = hostile;
  what.thresholds.push_back({2.5, hostile});
  const std::set<std::string> elements{"svg", "title", "desc", "rect", "path", "text", "g"};
  const std::set<std::string> attributes{
      "xmlns",      "width",       "height",       "viewBox",         "role",           "aria-label",       "font-family",
      "x",          "y",           "fill",         "fill-opacity",    "font-size",      "font-weight",      "text-anchor",
      "d",          "stroke",      "stroke-width", "stroke-linejoin", "stroke-linecap", "stroke-dasharray", "paint-order",
      "textLength", "lengthAdjust"};
  for (const bool is_stacked : {false, true}) {
    what.is_stacked = is_stacked;
    const auto all = elements_of(svg_of(what));
    EXPECT_GT(all.size(), 20U);
    for (const auto& one : all) {
      EXPECT_TRUE(elements.contains(one.name)) << one.name;
      for (const auto& [name, value] : one.attributes) EXPECT_TRUE(attributes.contains(name)) << name;
    }
    EXPECT_EQ(all[1].text.substr(0, 16), "</title><script>");
  }
  EXPECT_TRUE(draw(what, image_format::png));
}

TEST(chart, parts_a_line_where_samples_are_missing_or_no_numbers) {
  const auto with = [](std::vector<double> values) {
    return chart_of({line_of("a", std::move(values)), line_of("b", {1, 1})});
  };
  auto paths = paths_of(with({1, 2, 3, 4, 5}), "a");
  ASSERT_EQ(paths.size(), 1U);
  EXPECT_EQ(count_in(paths[0], 'M'), 1);
  paths = paths_of(with({1, 2, not_a_number, 4, 5, not_a_number, not_a_number, 8, 9}), "a");
  ASSERT_EQ(paths.size(), 1U);
  EXPECT_EQ(count_in(paths[0], 'M'), 3);

  auto late = with({1, 2, 3, 4});
  for (std::size_t at = 2; at < 4; ++at) late.lines[0].samples[at].time += 60'000;
  EXPECT_EQ(count_in(paths_of(late, "a").at(0), 'M'), 2);
  late.step = 0;
  EXPECT_EQ(count_in(paths_of(late, "a").at(0), 'M'), 1) << "without a step only what is no number parts them";
}

TEST(chart, shows_a_sample_that_stands_alone_as_a_dot) {
  const auto paths = paths_of(chart_of({line_of("a", {1, not_a_number, 3, not_a_number, 5, 6}), line_of("b", {1})}), "a");
  ASSERT_EQ(paths.size(), 2U);
  EXPECT_EQ(count_in(paths[0], 'M'), 1);
  EXPECT_EQ(count_in(paths[1], 'M'), 2) << "the dots";
  EXPECT_NE(paths[1].find("h0"), std::string::npos);
}

TEST(chart, that_is_stacked_has_closed_areas_that_end_at_gaps) {
  auto what = chart_of({line_of("a", {1, 2, not_a_number, 4, 5}), line_of("b", {1, 1, 1, 1, 1})});
  what.is_stacked = true;
  auto paths = paths_of(what, "a");
  ASSERT_EQ(paths.size(), 2U) << "the area and its edge";
  EXPECT_EQ(count_in(paths[0], 'z'), 2);
  EXPECT_EQ(count_in(paths[1], 'M'), 2);
  EXPECT_EQ(count_in(paths_of(what, "b").at(0), 'z'), 1);
  EXPECT_TRUE(has_text(texts_of(what), "6")) << "the axis reaches over the sum";
}

TEST(chart, of_infinities_and_numbers_that_are_hardly_any_is_drawn) {
  const double least = std::numeric_limits<double>::denorm_min();
  const std::vector<std::vector<double>> all{{without_end, -without_end},
                                             {without_end, 1, -without_end, 2},
                                             {1e308, -1e308, 0},
                                             {least, 0, -least},
                                             {not_a_number},
                                             {-0.0, 0.0},
                                             {1e15, 1e15 + 1},
                                             {5}};
  for (const auto& values : all) {
    for (const bool is_stacked : {false, true}) {
      auto what = chart_of({line_of("a", values), line_of("b", {1, not_a_number, 2})});
      what.is_stacked = is_stacked;
      what.thresholds = {{without_end, "above"}, {not_a_number, "below"}, {1e300, ""}};
      const auto svg = svg_of(what);
      EXPECT_FALSE(elements_of(svg).empty());
      for (const char* const wrong : {"nan", "inf\"", "inf ", "-0\""}) EXPECT_EQ(svg.find(wrong), std::string::npos) << wrong;
      EXPECT_TRUE(draw(what, image_format::png));
    }
  }
}

TEST(chart, without_samples_says_so) {
  for (const auto& lines :
       {std::vector<line>{}, {line{"a", {}}}, {line_of("a", {not_a_number})}, {line_of("a", {1}, 1, tuesday - 1)}}) {
    EXPECT_TRUE(has_text(texts_of(chart_of(lines)), "no samples between 2026-11-24 00:00 and 2026-11-24 01:00"));
  }
  EXPECT_FALSE(has_text(texts_of(chart_of({line_of("a", {1})})), "no samples between 2026-11-24 00:00 and 2026-11-24 01:00"));
}

TEST(chart, of_one_instant_shows_its_sample) {
  auto what = chart_of({line_of("a", {7}), line_of("b", {8})});
  what.end = what.start;
  EXPECT_EQ(paths_of(what, "a").size(), 1U);
}

TEST(chart, in_a_zone_that_is_not_known_is_in_utc_and_says_so) {
  auto what = chart_of({line_of("a", {1, 2})});
  what.zone = "Mars/Olympus";
  EXPECT_TRUE(has_text(texts_of(what), "UTC (unknown time zone Mars/Olympus)"));
  what.zone = "../../etc/passwd";
  EXPECT_TRUE(has_text(texts_of(what), "UTC (unknown time zone ../../etc/passwd)"));
  what.zone = "Asia/Tokyo";
  const auto texts = texts_of(what);
  EXPECT_TRUE(has_text(texts, "Asia/Tokyo (UTC+09:00)"));
  EXPECT_TRUE(has_text(texts, "09:30"));
}

TEST(chart, in_japanese_keeps_its_words) {
  auto what = chart_of({line_of("東棟・ラック1（吸気）", {21, 22}), line_of("屋上", {9, 8})});
  what.title = "サーバー室の温度";
  what.unit = "celsius";
  what.thresholds.push_back({30, "上限"});
  const auto texts = texts_of(what);
  for (const char* const wanted : {"サーバー室の温度", "東棟・ラック1（吸気）", "屋上", "上限 30\u00a0°C"})
    EXPECT_TRUE(has_text(texts, wanted)) << wanted;
  EXPECT_TRUE(draw(what, image_format::png));
}

TEST(chart, with_a_limit_far_away_tells_of_it_at_the_edge) {
  auto what = chart_of({line_of("a", {1, 2, 3})});
  what.thresholds = {{1000, "above"}, {2.5, "below"}, {-1000, "least"}};
  const auto texts = texts_of(what);
  for (const char* const wanted : {"↑ above 1000", "below 2.5", "↓ least −1000"})
    EXPECT_TRUE(has_text(texts, wanted)) << wanted;
  what.thresholds.assign(20, {2, "limit"});
  const auto many = texts_of(what);
  EXPECT_EQ(std::count(many.begin(), many.end(), "limit 2"), 8);
}

TEST(chart, writes_a_limit_where_no_line_goes_through_it) {
  auto what = chart_of({line_of("a", std::vector<double>(61, 4.2)), line_of("b", {1})});
  what.thresholds = {{4, "above"}};
  const auto label = [&] {
    for (const auto& one : elements_of(svg_of(what)))
      if (one.text == "above 4") return one;
    ADD_FAILURE() << "there is no label";
    return xml_element();
  };
  const auto y_of_limit = [&] { return std::stod(label().attributes.at("y")); };
  const double below = y_of_limit();
  what.lines[0] = line_of("a", std::vector<double>(61, 3.8));
  EXPECT_LT(y_of_limit(), below - 10) << "above its line, when the data are below";
  // At the left both sides are taken, at the right neither is.
  what.lines[0] = line_of("a", {3.8, 4.2, 3.8, 4.2, 3.8, 4.2, 3.8, 4.2, 3.8, 4.2, 3.8, 4.2, 3.8, 4.2});
  EXPECT_GT(std::stod(label().attributes.at("x")), 400);
}

TEST(chart, of_too_many_lines_leaves_out_the_flattest_and_counts_them) {
  std::vector<line> lines;
  for (int at = 0; at < 60; ++at) lines.push_back(line_of("series " + std::to_string(at), {0, at * 1.0}));
  const auto what = chart_of(std::move(lines));
  const auto svg = svg_of(what);
  const auto all = elements_of(svg);
  EXPECT_EQ(std::count_if(all.begin(), all.end(), [](const auto& one) { return one.name == "g"; }), 50);
  EXPECT_NE(svg.find("Lines not drawn because they vary less: 10."), std::string::npos);
  EXPECT_EQ(svg.find("<title>series 9</title>"), std::string::npos);
  EXPECT_NE(svg.find("<title>series 10</title>"), std::string::npos);
  const auto texts = texts_of(what);
  EXPECT_TRUE(std::any_of(texts.begin(), texts.end(),
                          [](const auto& one) { return one.starts_with("and ") && one.ends_with(" more"); }));
}

TEST(chart, of_a_million_samples_is_under_four_hundred_kilobytes) {
  std::vector<line> lines;
  double value = 0.5;
  for (int at = 0; at < 50; ++at) {
    std::vector<double> values;
    for (int sample = 0; sample < 20'000; ++sample) values.push_back(value = 3.99 * value * (1 - value));
    lines.push_back(line_of("a line with a name that says much " + std::to_string(at), values, 180));
  }
  auto what = chart_of(std::move(lines));
  what.step = 180;
  for (const bool is_stacked : {false, true}) {
    what.is_stacked = is_stacked;
    const auto svg = svg_of(what, {4000, 4000, 1, false});
    EXPECT_LT(svg.size(), 400U << 10);
    EXPECT_FALSE(elements_of(svg).empty());
  }
}

TEST(chart, of_sizes_and_times_that_cannot_be_is_refused) {
  const auto good = chart_of({line_of("a", {1, 2})});
  for (const auto& how :
       {image_size{199, 400}, image_size{4001, 400}, image_size{800, 199}, image_size{800, 4001}, image_size{800, 400, 0.5},
        image_size{800, 400, 4.1}, image_size{800, 400, not_a_number}, image_size{0, 0}}) {
    for (const auto as : {image_format::svg, image_format::png}) EXPECT_EQ(refusal_of(good, as, how), errc::invalid_argument);
  }
  for (const auto& how : {image_size{200, 200}, image_size{4000, 4000}}) EXPECT_TRUE(draw(good, image_format::svg, how));
  auto what = good;
  what.end = what.start - 1;
  EXPECT_EQ(refusal_of(what, image_format::svg, {}), errc::invalid_argument);
  what = good;
  what.end = std::numeric_limits<series::instant>::max();
  EXPECT_EQ(refusal_of(what, image_format::png, {}), errc::invalid_argument);
  what = good;
  what.start = std::numeric_limits<series::instant>::min();
  EXPECT_EQ(refusal_of(what, image_format::svg, {}), errc::invalid_argument);
}

TEST(chart, of_too_many_pixels_is_refused_and_told_what_to_ask_for) {
  const auto drawn = draw(chart_of({}), image_format::png, {2000, 2001, 2, false});
  ASSERT_FALSE(drawn);
  EXPECT_EQ(drawn.error().code, errc::response_too_large);
  EXPECT_EQ(drawn.error().public_text,
            "the image would have more than 16000000 pixels; request a smaller width, height or scale, or SVG");
}

TEST(chart, as_png_has_the_size_that_was_asked_for) {
  const auto what = chart_of({line_of("a", {1, 2, 3})});
  for (const double scale : {1.0, 2.0}) {
    const auto png = draw(what, image_format::png, {600, 300, scale, false});
    ASSERT_TRUE(png);
    EXPECT_EQ(png->substr(0, 8), "\x89PNG\r\n\x1a\n");
    EXPECT_EQ(png->substr(12, 4), "IHDR");
    EXPECT_EQ(big_endian(*png, 16), 600 * scale);
    EXPECT_EQ(big_endian(*png, 20), 300 * scale);
    EXPECT_EQ(png->substr(png->size() - 8, 4), "IEND");
  }
}

TEST(chart, is_dark_where_that_is_asked_for) {
  const auto what = chart_of({line_of("a", {1, 2, 3})});
  EXPECT_NE(svg_of(what).find("fill=\"#ffffff\""), std::string::npos);
  EXPECT_NE(svg_of(what, {600, 320, 1, true}).find("fill=\"#16191f\""), std::string::npos);
}

TEST(chart, is_the_same_each_time_and_in_several_threads) {
  auto what = chart_of({line_of("a", {1, 5, 3, 8}), line_of("温度", {4, 4, 2})});
  what.zone = "Europe/Berlin";
  const auto svg = svg_of(what);
  const auto png = draw(what, image_format::png).value_or("");
  std::vector<std::thread> drawers;
  std::vector<int> differs(4, 0);
  for (auto& differ : differs) {
    drawers.emplace_back([&] {
      for (int at = 0; at < 5; ++at) {
        differ += draw(what, image_format::svg, {600, 320, 1, false}).value_or("") != svg;
        differ += draw(what, image_format::png).value_or("") != png;
      }
    });
  }
  for (auto& one : drawers) one.join();
  EXPECT_EQ(differs, (std::vector<int>{0, 0, 0, 0}));
}

}  // namespace
}  // namespace hondana::charts

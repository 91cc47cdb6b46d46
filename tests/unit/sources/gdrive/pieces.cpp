/// Names, slugs, URIs, formats and priorities, without a Drive.
#include <chrono>
#include <string>

#include <gtest/gtest.h>

#include <hondana/uri.hpp>

#include "sources/gdrive/address.hpp"
#include "sources/gdrive/item.hpp"

namespace hondana::gdrive {
namespace {

drive::shared_drive called(std::string id, std::string name) {
  drive::shared_drive made;
  made.id = std::move(id);
  made.name = std::move(name);
  return made;
}

TEST(gdrive_names, a_slash_a_quote_and_a_line_break_stay_in_one_segment) {
  EXPECT_EQ(path_segment("a/b"), "a%2Fb");
  EXPECT_EQ(path_segment("it's \"so\"\\"), "it%27s%20%22so%22%5C");
  EXPECT_EQ(path_segment("two\nlines"), "two%0Alines");
  for (const std::string name : {"a/b", "..", "100%", "?x=#y", "売上 2025", "a\tb", "~"}) {
    const auto uri = "gdrive://my-drive/" + (path_segment(name).empty() ? path_segment(name, "ID") : path_segment(name));
    EXPECT_EQ(canonical_uri(uri).value_or("none"), uri) << name;
  }
}

TEST(gdrive_names, nfd_is_written_as_nfc_and_nul_as_a_replacement) {
  EXPECT_EQ(path_segment("\xE3\x81\x8B\xE3\x82\x99"), "%E3%81%8C");
  EXPECT_EQ(path_segment(std::string("a\0b", 3)), "a%EF%BF%BDb");
  EXPECT_EQ(to_listed_uri("gdrive://my-drive/%E3%81%8B%E3%82%99/a!b"), "gdrive://my-drive/%E3%81%8C/a%21b");
  EXPECT_EQ(to_listed_uri("gdrive://my-drive/a!b/"), "gdrive://my-drive/a%21b");
  EXPECT_EQ(to_listed_uri("gdrive://my-drive/"), "gdrive://my-drive");
}

TEST(gdrive_names, dots_and_nothing_are_no_segments_and_have_their_ids) {
  for (const auto* name : {"", ".", ".."}) EXPECT_EQ(path_segment(name), "") << name;
  EXPECT_EQ(path_segment("..", "1aB"), "..~1aB");
}

TEST(gdrive_names, control_characters_are_not_shown) { EXPECT_EQ(display_text("a\r\n\x1b[31mb"), "a [31mb"); }

TEST(gdrive_slugs, drives_are_told_apart_whatever_order_they_come_in) {
  const auto a = called("0A", "Sales");
  const auto b = called("0B", "sales!");
  const auto c = called("0C", "営業部");
  const auto d = called("0D", "My Drive");
  const auto slugs = make_slugs({b, d, a, c});
  EXPECT_EQ(slugs, make_slugs({a, b, c, d}));
  EXPECT_EQ(slugs.at("0A"), "sales");
  EXPECT_TRUE(slugs.at("0B").starts_with("sales-")) << slugs.at("0B");
  EXPECT_TRUE(slugs.at("0C").starts_with("drive-")) << slugs.at("0C");
  EXPECT_TRUE(slugs.at("0D").starts_with("my-drive-")) << slugs.at("0D");
  const auto longest = make_slugs({called("1", std::string(200, 'x')), called("2", std::string(200, 'x'))});
  EXPECT_LE(longest.at("2").size(), 64u);
  EXPECT_NE(longest.at("1"), longest.at("2"));
}

TEST(gdrive_addresses, ids_that_are_none_are_not_found) {
  for (const auto* uri :
       {"gdrive:///..%2F..%2Fadmin", "gdrive:///a/b", "gdrive:///a%00b", "gdrive:///%27%20or%201%3D1", "gdrive:///a%5Cb",
        "gdrive://Evil/x", "gdrive://a.b/x", "other:///x", "gdrive:x", "gdrive://l//", "gdrive://l/a//b"}) {
    const auto what = parse_address("gdrive", uri);
    ASSERT_FALSE(what) << uri;
    EXPECT_EQ(what.error().code, errc::resource_not_found) << uri;
  }
  EXPECT_FALSE(parse_address("gdrive", "gdrive:///" + std::string(5000, 'a')));
  // What is left of a traversal once it is canonical.
  EXPECT_EQ(canonical_uri("gdrive:///../../admin").value_or("none"), "gdrive:///admin");
}

TEST(gdrive_addresses, parameters_are_checked) {
  EXPECT_EQ(parse_address("gdrive", "gdrive://my-drive/a?sheet=Q1%20%26").value().sheet, "Q1 &");
  EXPECT_TRUE(parse_address("gdrive", "gdrive:///1aB?format=original").value().is_original);
  EXPECT_TRUE(parse_address("gdrive", "gdrive:///1aB?format=original&").value().is_original);
  for (const auto* uri : {"gdrive:///1aB?sheet=", "gdrive:///1aB?sheet", "gdrive:///1aB?format="}) {
    const auto whole = parse_address("gdrive", uri);
    ASSERT_TRUE(whole) << uri;
    EXPECT_FALSE(whole->sheet || whole->is_original) << uri;
  }
  for (const auto* uri :
       {"gdrive:///1aB?format=pdf", "gdrive:///1aB?x=1", "gdrive:///recent?sheet=a", "gdrive:///1aB?&format=original",
        "gdrive:///1aB?format=original&&", "gdrive:///1aB?sheet=a&sheet=b", "gdrive:///1aB?sheet=a&format=original"}) {
    const auto what = parse_address("gdrive", uri);
    ASSERT_FALSE(what) << uri;
    EXPECT_EQ(what.error().code, errc::invalid_argument) << uri;
  }
  EXPECT_EQ(parse_address("gdrive", "gdrive://").value().kind, address::resource_kind::drive_list);
  EXPECT_EQ(parse_address("gdrive", "gdrive:///").value().kind, address::resource_kind::drive_list);
  EXPECT_EQ(parse_address("gdrive-x", "gdrive-x:///starred").value().kind, address::resource_kind::starred);
}

TEST(gdrive_formats, each_type_has_its_way) {
  const auto of = [](std::string_view type, std::string name = "x") {
    item one;
    one.mime_type = type;
    one.name = std::move(name);
    return format_of(one).method;
  };
  EXPECT_EQ(of("application/vnd.google-apps.document"), read_method::exported);
  EXPECT_EQ(of("application/vnd.google-apps.spreadsheet"), read_method::workbook);
  EXPECT_EQ(of("application/vnd.google-apps.presentation"), read_method::slides);
  EXPECT_EQ(of("application/vnd.google-apps.drawing"), read_method::exported);
  EXPECT_EQ(of("application/vnd.google-apps.script"), read_method::exported);
  EXPECT_EQ(of("application/vnd.google-apps.form"), read_method::none);
  EXPECT_EQ(of("application/pdf"), read_method::rendered);
  EXPECT_EQ(of("application/octet-stream", "a.docx"), read_method::rendered);
  EXPECT_EQ(of("image/png"), read_method::bytes);
  EXPECT_EQ(type_word("application/vnd.google-apps.form"), "form");
}

TEST(gdrive_weights, stars_links_and_age_count) {
  const auto now = std::chrono::system_clock::time_point(std::chrono::seconds(1'800'000'000));
  item one;
  EXPECT_DOUBLE_EQ(rate_item(one, 0, now).priority, 0.5);
  one.modified = std::chrono::floor<std::chrono::milliseconds>(now - std::chrono::hours(24));
  EXPECT_DOUBLE_EQ(rate_item(one, 0, now).priority, 0.65);
  EXPECT_DOUBLE_EQ(rate_item(one, 1, now).priority, 0.75);
  one.is_starred = true;
  EXPECT_DOUBLE_EQ(rate_item(one, 5, now).priority, 0.95);
  EXPECT_EQ(rate_item(one, 1, now).reason, "starred, target of a shortcut, changed within a week");
  one = item();
  one.modified = std::chrono::floor<std::chrono::milliseconds>(now - std::chrono::hours(24 * 800));
  EXPECT_DOUBLE_EQ(rate_item(one, 0, now).priority, 0.4);
}

}  // namespace
}  // namespace hondana::gdrive

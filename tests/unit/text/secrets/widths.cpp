/// UTF-16 and UTF-32 of Japanese, with marks and without.
#include "text/secrets/redactor.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "text/secrets/masking_reader.hpp"
#include "unit/base/bytes/scripted_reader.hpp"
#include "unit/text/secrets/corpus.hpp"

namespace {

using namespace hondana;
using namespace std::string_view_literals;
using secrets::detect_encodings;
using secrets::masking_policy;
using secrets::redactor;
using secrets::wide_encoding;

std::string written(std::u32string_view text, wide_encoding how) {
  std::string out;
  for (const char32_t one : text) {
    for (std::size_t i = 0; i < secrets::unit_size(how); ++i) {
      const auto shift = 8 * (secrets::ascii_byte_index(how) == 0 ? i : secrets::unit_size(how) - 1 - i);
      out += static_cast<char>(one >> shift & 0xFF);
    }
  }
  return out;
}

std::u32string widened(std::string_view ascii) { return {ascii.begin(), ascii.end()}; }

/// Such as the first paragraph of an essay: longer than a front, without a line end.
std::u32string prose(std::size_t characters) {
  constexpr std::u32string_view words = U"吾輩は猫である。名前はまだ無い。どこで生れたかとんと見当がつかぬ。";
  std::u32string out;
  while (out.size() < characters) out += words;
  out.resize(characters);
  return out;
}

/// All that the reader gives.
std::string all_of(const std::string& source) {
  secrets::masking_reader reader(std::make_shared<test::scripted_reader>(source, 50'001), masking_policy::settings);
  std::string out;
  std::string piece(33'333, '\0');
  for (auto count = reader.read(piece); count && *count != 0; count = reader.read(piece)) out += piece.substr(0, *count);
  EXPECT_EQ(reader.size(), out.size());
  return out;
}

TEST(wide_texts, of_japanese_show_no_secrets_whatever_their_width) {
  for (const auto how : secrets::all_wide_encodings) {
    for (const bool has_mark : {false, true}) {
      // What stands before: less than a front with a line end in it, and more without.
      for (const std::size_t before : {3u, 60u, 700u, 100'000u}) {
        test::lots from(41);
        const auto shapes = test::secret_shapes();
        for (std::size_t i = 0; i < shapes.size(); i += before == 60 ? 1 : before < 1000 ? 7 : 40) {
          const auto one = shapes[i].draw(from);
          const auto around = [&](const std::string& middle) {
            return written((has_mark ? U"\xFEFF" : U"") + prose(before) + U"\n" + widened(middle) + U"\n" + prose(before), how);
          };
          const auto text = around(one.text());
          const auto expected = around(one.masked());
          auto masked = text;
          EXPECT_EQ(redactor(shapes[i].how, text).mask(masked), 1u) << shapes[i].name;
          ASSERT_EQ(masked, expected) << shapes[i].name << ' ' << static_cast<int>(how) << ' ' << has_mark << ' ' << before;
          const bool is_of_settings = shapes[i].how == masking_policy::settings;
          EXPECT_EQ(is_of_settings ? all_of(text) : masked, expected) << shapes[i].name;
        }
      }
    }
  }
}

TEST(wide_texts, are_masked_in_parts_as_in_the_whole) {
  test::lots from(42);
  const auto shape = test::secret_shapes().front();
  for (const auto how : secrets::all_wide_encodings) {
    std::u32string text;
    std::u32string wanted;
    for (const std::size_t before : {700u, 120'000u, 5u, 90'000u, 30'001u}) {
      const auto one = shape.draw(from);
      text += prose(before) + U"\n" + widened(one.text()) + U"\n";
      wanted += prose(before) + U"\n" + widened(one.masked()) + U"\n";
    }
    const auto source = written(text, how);
    EXPECT_EQ(all_of(source), written(wanted, how)) << static_cast<int>(how);
  }
}

TEST(wide_texts, are_masked_also_behind_a_front_that_says_otherwise) {
  test::lots from(41);
  const auto token = from.alnum(36);
  const auto in_width = [](std::string_view text, wide_encoding how) { return written(widened(text), how); };
  const std::string log(700, 'x');
  for (const auto how : secrets::all_wide_encodings) {
    const auto other = how == wide_encoding::utf16_le ? wide_encoding::utf16_be : wide_encoding::utf16_le;
    std::u32string records;
    while (records.size() < 700) records += std::u32string(U"記録\0\xE000", 4);
    for (const auto& front : {log + "\r\n\r\n--", in_width(log, other), written(records, how)}) {
      auto text = front;
      text.resize((text.size() + 3) / 4 * 4, '\n');
      const auto begin = text.size();
      text += in_width("\r\ntoken ghp_" + token + "\r\n", how);
      redactor(masking_policy::text, front.substr(0, secrets::front_bytes)).mask(text);
      EXPECT_EQ(text.substr(begin), in_width("\r\ntoken ghp_" + std::string(36, '*') + "\r\n", how)) << static_cast<int>(how);
      EXPECT_EQ(text.substr(0, front.size()), front);
    }
  }
  // One byte off the front.
  auto text = log + "\n" + in_width("token ghp_" + token + "\r\n", wide_encoding::utf16_le);
  ASSERT_EQ((log.size() + 1) % 2, 1u);
  redactor(masking_policy::text, text.substr(0, secrets::front_bytes)).mask(text);
  EXPECT_EQ(text.find(in_width(token, wide_encoding::utf16_le).substr(0, 60)), std::string::npos);
}

TEST(wide_texts, are_masked_from_a_dozen_characters_on_wherever_they_begin) {
  for (const auto how : {wide_encoding::utf16_le, wide_encoding::utf16_be}) {
    for (const std::string_view row : {"a://u:p@h", "ab a://u:p@h"}) {
      for (std::size_t before = 600; before < 632; before += 2) {
        const auto text = std::string(before, '\xE3') + written(widened(row), how) + std::string(64, '\xE3');
        auto out = text;
        redactor(masking_policy::text, text).mask(out);
        const auto wanted = row.size() < 12 ? std::string(row) : "ab a://u:*@h";
        EXPECT_TRUE(out.substr(before) == written(widened(wanted), how) + std::string(64, '\xE3')) << row << before;
      }
    }
  }
}

TEST(widths, are_told_by_rows_of_ascii) {
  for (const auto how : secrets::all_wide_encodings) {
    for (std::size_t before = 0; before < 64; before += 4) {
      const auto row = widened("a dozen here");
      const auto within = secrets::find_encodings(std::string(before, '\xE3') + written(row, how) + std::string(9, '\0'));
      for (const auto other : secrets::all_wide_encodings) EXPECT_EQ(within.contains(other), other == how) << before;
    }
  }
  EXPECT_FALSE(secrets::find_encodings(std::string(100, '\0')).any());
  EXPECT_FALSE(secrets::find_encodings(std::string(100, 'a')).any());
  EXPECT_FALSE(secrets::find_encodings("").any());
}

TEST(widths, are_told_by_marks) {
  const auto told = [](std::string_view front) {
    const auto out = detect_encodings(front);
    EXPECT_TRUE(out.is_evident);
    return out;
  };
  EXPECT_TRUE(told("\xFF\xFE"sv).contains(wide_encoding::utf16_le));
  EXPECT_TRUE(told("\xFE\xFF\0a"sv).contains(wide_encoding::utf16_be));
  EXPECT_TRUE(told("\0\0\xFE\xFF\0\0\0a"sv).contains(wide_encoding::utf32_be));
  // UTF-16 may begin with NUL, too.
  EXPECT_TRUE(told("\xFF\xFE\0\0"sv).contains(wide_encoding::utf32_le));
  EXPECT_TRUE(told("\xFF\xFE\0\0"sv).contains(wide_encoding::utf16_le));
  EXPECT_EQ(told("\xFF\xFE\0\0"sv).max_unit_size(), 4u);
  EXPECT_EQ(told("\xFE\xFF"sv).max_unit_size(), 2u);
}

TEST(widths, of_ascii_are_evident_and_those_of_japanese_possible) {
  for (const auto how : secrets::all_wide_encodings) {
    const auto ascii = detect_encodings(written(U"plain text", how));
    EXPECT_TRUE(ascii.contains(how));
    EXPECT_EQ(ascii.is_evident, secrets::unit_size(how) == 2);
    EXPECT_TRUE(detect_encodings(written(prose(700), how)).contains(how));
    EXPECT_EQ(detect_encodings(written(prose(700), how)).max_unit_size(), secrets::unit_size(how));
  }
}

TEST(widths, of_plain_utf_8_and_of_binary_files_are_none) {
  const std::string japanese = "吾輩は猫である。名前はまだ無い。";
  std::string longer;
  while (longer.size() < 600) longer += japanese + "\t\x1b[31mplain\r\n";
  for (std::size_t cut = 0; cut < 12; ++cut) EXPECT_FALSE(detect_encodings(longer.substr(cut / 4 * 3)).any()) << cut;
  for (std::size_t size = 500; size < 512; ++size) {
    std::string front(size, 'a');
    front += japanese;
    EXPECT_FALSE(detect_encodings(front).any()) << size;
  }
  for (const auto& front : {std::string(), std::string("plain text"), "\xEF\xBB\xBF" + japanese, std::string(100, '\0'),
                            std::string("\x7F"
                                        "ELF\2\1\1\0\0\0\0\0\0\0\0\0\3\0\x3E\0\1\0\0\0\x10\x20\0\0\0\0\0\0",
                                        32)}) {
    EXPECT_FALSE(detect_encodings(front).any()) << front;
    EXPECT_EQ(detect_encodings(front).max_unit_size(), 1u);
    EXPECT_EQ(redactor(masking_policy::text, front).margin_bytes(), secrets::margin);
  }
}

TEST(widths, of_what_is_compressed_are_none) {
  test::lots from(7);
  for (int times = 0; times < 1000; ++times) {
    std::string front(secrets::front_bytes, '\0');
    for (char& byte : front) byte = static_cast<char>(from.below(256));
    EXPECT_FALSE(detect_encodings(front).any()) << times;
  }
}

}  // namespace

/// Escaping: both kernels against a naive one, at every length, alignment and cut.
#include "base/json/escape.hpp"

#include <cstdio>
#include <random>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "base/json/buffer.hpp"

namespace {

using namespace std::string_view_literals;
using hondana::json::append_escaped;
using hondana::json::append_escaped_portable;
using hondana::json::is_plain_ascii;

std::string naive(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\b':
        out += "\\b";
        break;
      case '\f':
        out += "\\f";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\r':
        out += "\\r";
        break;
      case '\t':
        out += "\\t";
        break;
      default:
        if (static_cast<unsigned char>(c) < 0x20) {
          char escape[7];
          std::snprintf(escape, sizeof escape, "\\u%04x", static_cast<unsigned>(c));
          out += escape;
        } else {
          out += c;
        }
    }
  }
  return out;
}

/// Into a string and into a buffer, which must have the same behind what it had.
using appends = void(std::string&, std::string_view);
using buffers = void(hondana::json::buffer&, std::string_view);
std::string both(appends* append, buffers* into, std::string_view text) {
  std::string out;
  append(out, text);
  hondana::json::buffer buffered;
  buffered.append("before ");
  into(buffered, text);
  EXPECT_EQ(buffered.view(), "before " + out);
  return out;
}

std::string escaped(std::string_view text) { return both(append_escaped, append_escaped, text); }

std::string escaped_portable(std::string_view text) { return both(append_escaped_portable, append_escaped_portable, text); }

/// `size` bytes, of which about one in `rarity` needs escaping.
std::string sample(std::mt19937& random, std::size_t size, unsigned rarity) {
  std::string text;
  while (text.size() < size) {
    text += random() % rarity == 0 ? "\"\\\n\r\t\b\f\x01\x1F"sv[random() % 9] : static_cast<char>(0x20 + random() % 0xE0);
  }
  return text;
}

TEST(json_escape, escapes_every_control_character_quote_and_backslash) {
  constexpr std::string_view expected[] = {
      "\\u0000", "\\u0001", "\\u0002", "\\u0003", "\\u0004", "\\u0005", "\\u0006", "\\u0007", "\\b",     "\\t",     "\\n",
      "\\u000b", "\\f",     "\\r",     "\\u000e", "\\u000f", "\\u0010", "\\u0011", "\\u0012", "\\u0013", "\\u0014", "\\u0015",
      "\\u0016", "\\u0017", "\\u0018", "\\u0019", "\\u001a", "\\u001b", "\\u001c", "\\u001d", "\\u001e", "\\u001f"};
  for (std::size_t c = 0; c < 0x20; ++c) {
    EXPECT_EQ(escaped(std::string(1, static_cast<char>(c))), expected[c]);
    EXPECT_EQ(escaped_portable(std::string(1, static_cast<char>(c))), expected[c]);
  }
  EXPECT_EQ(escaped("say \"a\\b\""), R"(say \"a\\b\")");
  EXPECT_EQ(escaped_portable("say \"a\\b\""), R"(say \"a\\b\")");
}

TEST(json_escape, leaves_every_other_byte_alone) {
  std::string others;
  for (int c = 0x20; c < 0x100; ++c) {
    if (c != '"' && c != '\\') others += static_cast<char>(c);
  }
  EXPECT_EQ(escaped(others), others);
  EXPECT_EQ(escaped_portable(others), others);
  EXPECT_EQ(escaped("</script> \x7F 本棚 \u2028"), "</script> \x7F 本棚 \u2028");
}

TEST(json_escape, appends_behind_what_is_there) {
  std::string out("before ");
  append_escaped(out, "a\n");
  append_escaped(out, "");
  append_escaped(out, std::string_view());
  append_escaped_portable(out, std::string_view());
  EXPECT_EQ(out, "before a\\n");
}

TEST(json_escape, agrees_with_the_naive_one_at_every_length_and_alignment) {
  std::mt19937 random(2);
  for (std::size_t size = 0; size <= 130; ++size) {
    for (std::size_t offset = 0; offset < 64; ++offset) {
      // The end of the allocation is the end of the text, so that a sanitizer sees a load too far.
      const std::string room = sample(random, offset + size, offset % 2 == 0 ? 3 : 20);
      const auto text = std::string_view(room).substr(offset);
      const std::string expected = naive(text);
      ASSERT_EQ(escaped(text), expected) << size << " bytes at " << offset;
      ASSERT_EQ(escaped_portable(text), expected) << size << " bytes at " << offset;
    }
  }
}

TEST(json_escape, escapes_one_byte_at_every_place_of_every_length) {
  for (std::size_t size = 1; size <= 130; ++size) {
    for (std::size_t at = 0; at < size; ++at) {
      std::string text(size, 'x');
      text[at] = '\x02';
      const std::string expected = std::string(at, 'x') + "\\u0002" + std::string(size - at - 1, 'x');
      ASSERT_EQ(escaped(text), expected) << at << " of " << size;
      ASSERT_EQ(escaped_portable(text), expected) << at << " of " << size;
    }
  }
}

TEST(json_escape, agrees_with_the_naive_one_on_long_texts) {
  std::mt19937 random(3);
  for (const std::size_t size : {2047U, 2048U, 2049U, 4096U, 10007U, 70000U}) {
    for (const unsigned rarity : {1U, 2U, 40U, 1000000U}) {
      const std::string text = sample(random, size, rarity);
      ASSERT_EQ(escaped(text), naive(text));
      ASSERT_EQ(escaped_portable(text), naive(text));
    }
  }
}

TEST(json_escape, grows_sixfold_where_every_byte_is_a_control) {
  const std::string text(5000, '\x01');
  EXPECT_EQ(escaped(text).size(), 30000U);
  EXPECT_EQ(escaped_portable(text), escaped(text));
}

TEST(json_escape, does_not_make_a_buffer_grow_that_has_room_for_a_step) {
  hondana::json::buffer out;
  out.reserve(hondana::json::escape_capacity);
  const auto room = out.capacity();
  append_escaped(out, std::string(hondana::json::escape_step, '\x01'));
  EXPECT_EQ(out.size(), 6 * hondana::json::escape_step);
  EXPECT_EQ(out.capacity(), room);
}

TEST(json_escape, cut_anywhere_gives_the_same) {
  std::mt19937 random(4);
  const std::string text = sample(random, 300, 5) + "本棚😀\"";
  const std::string whole = naive(text);
  for (std::size_t cut = 0; cut <= text.size(); ++cut) {
    std::string out;
    append_escaped(out, std::string_view(text).substr(0, cut));
    append_escaped(out, std::string_view(text).substr(cut));
    ASSERT_EQ(out, whole) << cut;
  }
}

TEST(json_escape, plain_ascii_has_no_byte_that_is_special_or_above_127) {
  for (std::size_t size = 0; size <= 130; ++size) {
    ASSERT_TRUE(is_plain_ascii(std::string(size, 'x'))) << size;
    ASSERT_TRUE(is_plain_ascii(std::string(size, ' '))) << size;
    ASSERT_TRUE(is_plain_ascii(std::string(size, '\x7F'))) << size;
    for (std::size_t at = 0; at < size; ++at) {
      for (const char c : {'\0', '\n', '\x1F', '"', '\\', '\x80', '\xFF'}) {
        std::string text(size, '!');
        text[at] = c;
        ASSERT_FALSE(is_plain_ascii(text)) << static_cast<int>(c) << " at " << at << " of " << size;
      }
    }
  }
  for (int c = 0; c < 256; ++c) {
    const bool plain = c >= 0x20 && c < 0x80 && c != '"' && c != '\\';
    for (const std::size_t size : {1U, 8U, 16U, 32U})
      EXPECT_EQ(is_plain_ascii(std::string(size, static_cast<char>(c))), plain) << c;
  }
}

TEST(json_escape, a_plain_run_ends_at_the_first_byte_that_needs_an_escape) {
  for (std::size_t size = 0; size < 140; ++size) {
    EXPECT_EQ(hondana::json::plain_run(std::string(size, '\xE9')), size);
    for (std::size_t at = 0; at < size; ++at) {
      for (const char c : {'"', '\\', '\n', '\0', '\x1F'}) {
        std::string text(size, 'a');
        text[at] = c;
        if (at + 1 < size) text.back() = '"';
        EXPECT_EQ(hondana::json::plain_run(text), at);
      }
    }
  }
  EXPECT_EQ(hondana::json::plain_run("!#[]~\x7F"), 6U);
}

}  // namespace

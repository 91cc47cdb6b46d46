/// Base64: the vectors of RFC 4648, both kernels against a naive one, and what strict decoding refuses.
#include "base/json/base64.hpp"

#include <random>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "base/json/buffer.hpp"

namespace {

using namespace std::string_view_literals;
using hondana::json::append_base64;
using hondana::json::append_base64_portable;
using hondana::json::base64_size;
using hondana::json::decode_base64;
using hondana::json::decode_base64url;
using hondana::json::encode_base64url;

std::string naive(std::string_view bytes) {
  std::string bits;
  for (const char c : bytes) {
    for (int bit = 7; bit >= 0; --bit) bits += (static_cast<unsigned char>(c) >> bit & 1) != 0 ? '1' : '0';
  }
  while (bits.size() % 6 != 0) bits += '0';
  std::string out;
  for (std::size_t i = 0; i < bits.size(); i += 6) {
    out += "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"[std::stoul(bits.substr(i, 6), nullptr, 2)];
  }
  while (out.size() % 4 != 0) out += '=';
  return out;
}

/// Into a string and into a buffer, which must have the same behind what it had.
using appends = void(std::string&, std::string_view);
using buffers = void(hondana::json::buffer&, std::string_view);
std::string both(appends* append, buffers* into, std::string_view bytes) {
  std::string out;
  append(out, bytes);
  hondana::json::buffer buffered;
  buffered.append("before ");
  into(buffered, bytes);
  EXPECT_EQ(buffered.view(), "before " + out);
  return out;
}

std::string encoded(std::string_view bytes) { return both(append_base64, append_base64, bytes); }

std::string encoded_portable(std::string_view bytes) { return both(append_base64_portable, append_base64_portable, bytes); }

TEST(json_base64, gives_the_vectors_of_rfc_4648) {
  constexpr std::pair<std::string_view, std::string_view> vectors[] = {
      {"", ""},
      {"f", "Zg=="},
      {"fo", "Zm8="},
      {"foo", "Zm9v"},
      {"foob", "Zm9vYg=="},
      {"fooba", "Zm9vYmE="},
      {"foobar", "Zm9vYmFy"},
  };
  for (const auto& [bytes, text] : vectors) {
    EXPECT_EQ(encoded(bytes), text);
    EXPECT_EQ(encoded_portable(bytes), text);
    EXPECT_EQ(decode_base64(text), bytes);
  }
}

TEST(json_base64, uses_the_whole_alphabet_in_order) {
  std::string bytes;
  for (unsigned group = 0; group < 16; ++group) {
    const unsigned bits = (group * 4) << 18 | (group * 4 + 1) << 12 | (group * 4 + 2) << 6 | (group * 4 + 3);
    bytes += {static_cast<char>(bits >> 16), static_cast<char>(bits >> 8), static_cast<char>(bits)};
  }
  EXPECT_EQ(encoded(bytes), "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/");
  EXPECT_EQ(encoded_portable(bytes), "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/");
  EXPECT_EQ(encode_base64url(bytes), "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_");
}

TEST(json_base64, agrees_with_the_naive_one_at_every_length_and_alignment) {
  std::mt19937 random(5);
  for (std::size_t size = 0; size <= 130; ++size) {
    for (std::size_t offset = 0; offset < 64; ++offset) {
      std::string room(offset + size, '\0');
      for (char& c : room) c = static_cast<char>(random());
      const auto bytes = std::string_view(room).substr(offset);
      const std::string expected = naive(bytes);
      ASSERT_EQ(encoded(bytes), expected) << size << " bytes at " << offset;
      ASSERT_EQ(encoded_portable(bytes), expected) << size << " bytes at " << offset;
      ASSERT_EQ(expected.size(), base64_size(size));
      ASSERT_EQ(decode_base64(expected), bytes);
      ASSERT_EQ(decode_base64url(encode_base64url(bytes)), bytes);
    }
  }
}

TEST(json_base64, pieces_of_a_multiple_of_three_concatenate) {
  std::mt19937 random(6);
  std::string bytes(1000, '\0');
  for (char& c : bytes) c = static_cast<char>(random());
  const std::string whole = naive(bytes);
  for (std::size_t cut = 0; cut <= bytes.size(); cut += 3) {
    std::string out("data:");
    append_base64(out, std::string_view(bytes).substr(0, cut));
    append_base64(out, std::string_view(bytes).substr(cut));
    ASSERT_EQ(out, "data:" + whole) << cut;
  }
}

TEST(json_base64, decoding_refuses_what_is_not_canonical) {
  for (const auto text : {"Z"sv,      "Zg"sv,      "Zg="sv,       "Zm8"sv,      "Zm9vYg"sv,    // padding missing
                          "Zg==="sv,  "===="sv,    "=Zg="sv,      "Zg==Zg=="sv, "Zm9v===="sv,  // padding misplaced
                          "Z==="sv,   "Z=g="sv,                                                //
                          "Zh=="sv,   "Zm9="sv,                                                // unused bits set
                          "Zm9v\n"sv, "Zm 9"sv,    "Zm\n9vYg="sv, " Zm9v"sv,                   // white space
                          "Zm-_"sv,   "Zm9\xFF"sv, "Zm9\0"sv,     "本AB"sv}) {
    EXPECT_EQ(decode_base64(text), std::nullopt) << text;
  }
}

TEST(json_base64, decoding_refuses_every_foreign_byte_at_every_place) {
  constexpr std::string_view alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (int c = 0; c < 256; ++c) {
    if (alphabet.find(static_cast<char>(c)) != std::string_view::npos) continue;
    for (std::size_t at = 0; at < 8; ++at) {
      if (c == '=' && at == 7) continue;
      std::string text("AAAAAAAA");
      text[at] = static_cast<char>(c);
      EXPECT_EQ(decode_base64(text), std::nullopt) << c << " at " << at;
    }
  }
}

TEST(json_base64, url_form_has_neither_padding_nor_reserved_characters) {
  EXPECT_EQ(encode_base64url(""), "");
  EXPECT_EQ(encode_base64url("\xFF"), "_w");
  EXPECT_EQ(encode_base64url("\xFB\xEF"), "--8");
  EXPECT_EQ(encode_base64url("\xFB\xEF\xBE"), "----");
  EXPECT_EQ(decode_base64url("_w"), "\xFF");
  EXPECT_EQ(decode_base64url("--8"), "\xFB\xEF");
  EXPECT_EQ(decode_base64url(""), "");
}

TEST(json_base64, url_decoding_refuses_what_is_not_canonical) {
  for (const auto text : {"_"sv, "_w=="sv, "_w="sv, "_x"sv, "--9"sv, "/w"sv, "+w"sv, "_w\n"sv, "_w ="sv, "AAAAA"sv}) {
    EXPECT_EQ(decode_base64url(text), std::nullopt) << text;
  }
}

TEST(json_base64, a_stream_decodes_what_comes_in_any_pieces_as_strictly) {
  std::mt19937 random(7);
  for (std::size_t size = 0; size < 50; ++size) {
    std::string bytes(size, '\0');
    for (char& c : bytes) c = static_cast<char>(random());
    const auto text = encoded(bytes);
    for (std::size_t width = 1; width <= text.size() + 1; ++width) {
      hondana::json::base64_stream stream;
      std::string out;
      for (std::size_t at = 0; at < text.size(); at += width) {
        EXPECT_TRUE(stream.feed(std::string_view(text).substr(at, width), out));
      }
      EXPECT_TRUE(stream.finish());
      EXPECT_EQ(out, bytes);
    }
  }
  for (const auto text :
       {"Zg"sv, "Zg="sv, "Zh=="sv, "Zg==Zg=="sv, "Zm9vZg==Z"sv, "Zm9v*m9vZm9v"sv, "Zm9vZm9\n"sv, "=Zm9"sv, "Zm9v\0m9v"sv}) {
    for (std::size_t width = 1; width <= text.size(); ++width) {
      hondana::json::base64_stream stream;
      std::string out;
      for (std::size_t at = 0; at < text.size(); at += width) stream.feed(text.substr(at, width), out);
      EXPECT_FALSE(stream.finish()) << text << width;
    }
  }
}

}  // namespace

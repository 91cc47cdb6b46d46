/// Text or blob: every place of a piece counts, however the content is cut.
#include "base/bytes/prepared_content.hpp"

#include <cstddef>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

namespace {

using hondana::content_kind;
using hondana::bytes::content_kind_detector;
using hondana::bytes::content_kind_of;

content_kind cut_at(std::string_view bytes, std::size_t cut) {
  content_kind_detector form;
  form.feed(bytes.substr(0, cut));
  form.feed(bytes.substr(cut));
  return form.value();
}

TEST(form, is_text_for_utf_8_without_nul_of_any_size) {
  EXPECT_EQ(content_kind_of(""), content_kind::text);
  std::string text;
  while (text.size() < 20'000) text += "A long row of plain words, many of them, and then one of others: 本棚 😀.\n";
  EXPECT_EQ(content_kind_of(text), content_kind::text);
  for (std::size_t cut = 0; cut <= text.size(); cut += 37) EXPECT_EQ(cut_at(text, cut), content_kind::text) << cut;
  EXPECT_EQ(content_kind_of(std::string_view(text).substr(0, text.find("本") + 1)), content_kind::blob) << "cut in a character";
}

TEST(form, is_blob_for_one_bad_byte_anywhere) {
  for (const std::size_t size : {1u, 63u, 128u, 129u, 4096u, 4097u, 9000u}) {
    for (std::size_t at = 0; at < size; at += size < 200 ? 1 : 61) {
      for (const char c : {'\0', '\xFF', '\xE6'}) {
        std::string bytes(size, 'x');
        bytes[at] = c;
        ASSERT_EQ(content_kind_of(bytes), content_kind::blob) << at << " of " << size;
        ASSERT_EQ(cut_at(bytes, at), content_kind::blob) << at << " of " << size;
        ASSERT_EQ(cut_at(bytes, at + 1), content_kind::blob) << at << " of " << size;
      }
    }
  }
}

}  // namespace

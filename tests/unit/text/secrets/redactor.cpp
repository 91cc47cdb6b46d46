/// UTF-16, readers, lines for people and URIs.
#include "text/secrets/redactor.hpp"

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "text/secrets/masking_reader.hpp"
#include "unit/base/bytes/scripted_reader.hpp"
#include "unit/text/secrets/corpus.hpp"

namespace {

using namespace hondana;
using secrets::masking_policy;
using secrets::redactor;
using test::lots;

std::string wide(std::string_view text, bool is_big, bool has_mark) {
  std::string out = !has_mark ? "" : is_big ? "\xFE\xFF" : "\xFF\xFE";
  for (const char byte : text) {
    const std::string pair{byte, '\0'};
    out.append(is_big ? std::string(pair.rbegin(), pair.rend()) : pair);
  }
  return out;
}

TEST(the_redactor, masks_utf_16_of_both_orders_with_a_mark_and_without) {
  for (const auto& shape : test::secret_shapes()) {
    lots from(3);
    for (const bool is_big : {false, true}) {
      for (const bool has_mark : {false, true}) {
        const auto one = shape.draw(from);
        auto text = wide(one.text(), is_big, has_mark);
        redactor(shape.how, text).mask(text);
        EXPECT_EQ(text, wide(one.masked(), is_big, has_mark)) << shape.name;
      }
    }
  }
}

TEST(the_redactor, masks_bytes_behind_utf_16) {
  lots from(21);
  const auto one = test::secret_shapes().front().draw(from);
  const auto token = from.alnum(36);
  for (const bool is_big : {false, true}) {
    // With a mark that is all there is of it, and as a log that somebody went on with in bytes.
    for (const auto& front :
         {wide("", is_big, true), wide("begun\r\n", is_big, true), wide(one.text() + from.of("ab ", 400), is_big, false)}) {
      auto text = front + "token ghp_" + token + "\n" + one.text();
      const auto whole = text;
      redactor by(masking_policy::text, text);
      EXPECT_TRUE(secrets::detect_encodings(text).any());
      const auto count = by.mask(text);
      EXPECT_EQ(text.substr(front.size()), "token ghp_" + std::string(36, '*') + "\n" + one.masked());
      EXPECT_EQ(count, front.size() > 100 ? 3u : 2u);
      std::vector<secrets::span> found;
      by.find(whole, found);
      EXPECT_EQ(found.size(), count);
    }
  }
}

/// All that a reader gives, in pieces of some size.
std::string all_of(byte_reader& from, std::size_t piece) {
  std::string out;
  std::string window(piece, '\0');
  for (;;) {
    const auto count = from.read(window);
    EXPECT_TRUE(count);
    if (!count || *count == 0) return out;
    out += window.substr(0, *count);
  }
}

// attacks: secrets (a tag that switches masking off)
TEST(the_redactor, masks_values_behind_tags_of_yaml) {
  lots from(24);
  const auto one = from.alnum(9) + "#v2";
  const std::string stars(one.size(), '*');
  for (const std::string tag : {"!unsafe", "!Sub", "!<tag:yaml.org,2002:str>", "!!str", "!!binary", "!", "!Ref", "!secret"}) {
    for (const std::string quote : {"", "'", "\""}) {
      auto text = "db_password: " + tag + " " + quote + one + quote + "\n";
      redactor(masking_policy::settings, text).mask(text);
      EXPECT_EQ(text, "db_password: " + tag + " " + quote + stars + quote + "\n");
    }
  }
  for (const std::string named : {"!Ref DbPassword", "!secret wifi_password", "!vault |", "!reference [.all, password]",
                                  "!Ref &db DbPassword", "&db !Ref DbPassword", "&db", "*db", "& more", "&db1 required"}) {
    auto text = "db_password: " + named + "\n";
    redactor(masking_policy::settings, text).mask(text);
    EXPECT_EQ(text, "db_password: " + named + "\n");
  }
}

// attacks: secrets (a tag that switches masking off)
TEST(the_redactor, masks_values_behind_any_tags_and_anchors_of_yaml) {
  lots from(25);
  const auto one = from.alnum(9) + "#v2";
  const std::string stars(one.size(), '*');
  for (const std::string front : {"!aes256 ", "!kms-v1 ", "&dbpass ", "&db1 ", "!unsafe &a ", "&a !unsafe ", "!<tag:x,2002:y> ",
                                  "!<tag:x,2002:y>\t&a ", "!<!x1> ", "!e!x%20\t", "! &a\t ", "!x@1 &b ", "!!str &c1 "}) {
    for (const std::string quote : {"", "'", "\""}) {
      auto text = "db_password: " + front + quote + one + quote + "\nuser: x\n";
      redactor(masking_policy::settings, text).mask(text);
      EXPECT_EQ(text, "db_password: " + front + quote + stars + quote + "\nuser: x\n");
    }
  }
}

TEST(the_redactor, masks_what_may_be_a_tag_or_a_password_with_what_follows) {
  lots from(26);
  const auto one = from.alnum(9) + "#v2";
  const std::string stars(one.size(), '*');
  const auto masked_line = [](std::string text) {
    redactor(masking_policy::settings, text).mask(text);
    return text;
  };
  for (const std::string sign : {"!", "&"}) {
    EXPECT_EQ(masked_line("password: " + sign + one + " # old\n"), "password: *" + stars + " # old\n");
    EXPECT_EQ(masked_line("password: " + sign + one + " |\n"), "password: *" + stars + " |\n");
    EXPECT_EQ(masked_line("password: " + sign + one + " " + one + "\n"), "password: *" + stars + "*" + stars + "\n");
    EXPECT_EQ(masked_line("x: {password: " + sign + one + ", user_name1: b}\n"),
              "x: {password: *" + stars + ", user_name1: b}\n");
  }
}

TEST(the_redactor, takes_no_reference_of_a_program_for_an_anchor) {
  for (const std::string line :
       {"  password: &mut HmacSecret,\n", "  password: &dyn PasswordProvider,\n", "  token: !x && isEditing,\n"}) {
    auto text = line;
    redactor(masking_policy::settings, text).mask(text);
    EXPECT_EQ(text, line);
  }
}

TEST(a_masking_reader, gives_what_masking_the_whole_gives_in_whatever_pieces) {
  lots from(8);
  std::string text;
  while (text.size() < 700'000) {
    for (const auto& shape : test::secret_shapes()) {
      if (shape.how == masking_policy::text)
        text += shape.draw(from).text() + "\nSome prose stands between.\n" + from.of("abc def\n", from.below(3000));
    }
  }
  for (const bool is_wide : {false, true}) {
    const auto source = is_wide ? wide(text.substr(0, 400'000), false, true) : text;
    auto whole = source;
    const auto count = redactor(masking_policy::text, source).mask(whole);
    ASSERT_GT(count, 50u);
    for (const std::size_t piece : {std::size_t{1000}, std::size_t{4096}, std::size_t{262'144}}) {
      secrets::masking_reader reader(std::make_shared<test::scripted_reader>(source, 65'521), masking_policy::text);
      EXPECT_EQ(reader.size(), source.size());
      ASSERT_TRUE(all_of(reader, piece) == whole) << piece;
      EXPECT_EQ(reader.trailing_metadata(), (metadata{{"dev.hondana/redacted", static_cast<std::int64_t>(count)}}));
      ASSERT_TRUE(reader.rewind());
      ASSERT_TRUE(all_of(reader, 100'000) == whole) << piece;
    }
  }
}

TEST(a_masking_reader, masks_secrets_of_all_shapes_that_lie_across_the_end_of_a_piece) {
  constexpr std::size_t piece = 196'608;
  lots from(12);
  const auto filler = from.of("abc\n", piece);
  for (const auto& shape : test::secret_shapes()) {
    if (shape.how != masking_policy::text) continue;
    const auto one = shape.draw(from);
    const auto length = one.text().size();
    // Short of its last byte, of its first, and in between.
    for (const auto within : {std::size_t{1}, length / 4, length / 2, length * 3 / 4, length - 1}) {
      const auto before = filler.substr(0, piece - within - 1) + "\n";
      secrets::masking_reader reader(std::make_shared<test::scripted_reader>(before + one.text() + "\nrest of it\n", 1 << 20),
                                     masking_policy::text);
      ASSERT_TRUE(all_of(reader, 50'000) == before + one.masked() + "\nrest of it\n") << shape.name << ' ' << within;
      EXPECT_EQ(reader.trailing_metadata().size(), 1u) << shape.name;
    }
  }
}

TEST(a_masking_reader, says_what_its_source_says_when_it_fails) {
  const auto source = std::make_shared<test::scripted_reader>("text");
  source->fault = failure{errc::source_unavailable, "gone", {}};
  secrets::masking_reader reader(source, masking_policy::text);
  std::string into(10, '\0');
  const auto count = reader.read(into);
  ASSERT_FALSE(count);
  EXPECT_EQ(count.error().public_text, "gone");
}

TEST(lines_for_people, show_no_secrets) {
  lots from(14);
  for (const auto& shape : test::secret_shapes()) {
    const auto one = shape.draw(from);
    EXPECT_EQ(secrets::redact_text("12:00 asked: " + one.text()).find(one.secret), std::string::npos) << shape.name;
  }
  EXPECT_EQ(secrets::redact_text("indexed 12 entries in 0.1 s"), "indexed 12 entries in 0.1 s");
}

TEST(uris_in_logs, show_no_passwords_and_no_values_of_telling_parameters) {
  EXPECT_EQ(secrets::redact_uri("file:///srv/a.txt?lines=1-2"), "file:///srv/a.txt?lines=1-2");
  EXPECT_EQ(secrets::redact_uri("https://u:p@h/x"), "https://u:*@h/x");
  EXPECT_EQ(secrets::redact_uri("https://u:$p@h:80/x@y"), "https://u:**@h:80/x@y");
  EXPECT_EQ(secrets::redact_uri("db://h/t?Token=abc&limit=3&sig=a%2Bb#code=9&x=1"),
            "db://h/t?Token=***&limit=3&sig=*****#code=*&x=1");
  EXPECT_EQ(secrets::redact_uri("db://h/t?token"), "db://h/t?token");
  EXPECT_EQ(secrets::redact_uri(""), "");
}

}  // namespace

/// Words in PostgreSQL's forms.
#include "search/index/postgres/tsvector.hpp"

#include <gtest/gtest.h>

#include <map>

namespace hondana::search {
namespace {

std::vector<tokenizer::token> tokens_named(const std::vector<std::string>& all) {
  std::vector<tokenizer::token> out;
  for (const auto& one : all) out.push_back({one});
  return out;
}

std::map<std::string, std::vector<std::pair<document_field, std::uint32_t>>> read_back(const std::string& bytes) {
  std::map<std::string, std::vector<std::pair<document_field, std::uint32_t>>> out;
  const auto read = for_each_occurrence(bytes, [&](std::string_view word, std::span<const occurrence> where) {
    for (const auto& one : where) out[std::string(word)].emplace_back(one.field, one.offset);
  });
  EXPECT_TRUE(read);
  return out;
}

TEST(word_vector, has_each_word_once_with_its_places_and_weights) {
  word_vector words;
  words.add(document_field::title, tokens_named({"b", "a"}));
  words.add(document_field::text, tokens_named({"a", "'", "a"}));
  const auto bytes = words.bytes();
  using namespace std::string_literals;
  EXPECT_EQ(bytes, "\0\0\0\x03'\0\0\x01\x10\x01"s + "a\0\0\x03\xC0\x02\x10\0\x10\x02"s + "b\0\0\x01\xC0\x01"s);
  const auto back = read_back(bytes);
  ASSERT_EQ(back.size(), 3u);
  EXPECT_EQ(back.at("a"), (std::vector<std::pair<document_field, std::uint32_t>>{
                              {document_field::title, 1}, {document_field::text, 0}, {document_field::text, 2}}));
  EXPECT_EQ(back.at("b"), (std::vector<std::pair<document_field, std::uint32_t>>{{document_field::title, 0}}));
}

TEST(word_vector, keeps_within_the_limits_of_postgres) {
  word_vector words;
  std::vector<tokenizer::token> many(20'000, {"same"});
  many.push_back({std::string(5000, 'x')});
  for (const auto where : {document_field::title, document_field::heading, document_field::name, document_field::text})
    words.add(where, many);
  const auto back = read_back(words.bytes());
  ASSERT_EQ(back.size(), 2u);
  EXPECT_EQ(back.at("same").size(), max_positions);
  EXPECT_EQ(back.at(std::string(max_lexeme_bytes, 'x')).back(),
            (std::pair<document_field, std::uint32_t>{document_field::text, 12'287}));
  std::vector<tokenizer::token> large;
  for (int i = 0; i < 2000; ++i) large.push_back({std::to_string(i) + std::string(1000, 'y')});
  words.add(document_field::text, large);
  EXPECT_LE(words.bytes().size(), 1'000'000u);
  EXPECT_TRUE(read_back(words.bytes()).contains("0" + std::string(1000, 'y')));
}

TEST(word_vector, cuts_long_words_between_characters_and_has_no_nul) {
  std::string long_word = "x";
  while (long_word.size() < 3000) long_word += "日";
  const auto cut = lexeme_of(long_word);
  EXPECT_EQ(cut.size(), 2044u);
  EXPECT_TRUE(long_word.starts_with(cut));
  EXPECT_EQ(lexeme_of(std::string("a\0b", 3)),
            "a\xEF\xBF\xBF"
            "b");
  EXPECT_EQ(lexeme_of("\xFF"), "");
}

TEST(word_vector, is_refused_when_its_bytes_are_none) {
  using namespace std::string_literals;
  const auto whole =
      "\0\0\0\x01"
      "a\0\0\x01\xC0\x01"s;
  const auto reads = [](const std::string& bytes) { return for_each_occurrence(bytes, [](auto, auto) {}).has_value(); };
  EXPECT_TRUE(reads(whole));
  for (std::size_t size = 0; size < whole.size(); ++size) EXPECT_FALSE(reads(whole.substr(0, size))) << size;
  EXPECT_FALSE(reads(whole + "x"));
  EXPECT_FALSE(
      reads("\xFF\xFF\xFF\xFF"
            "a\0\0\x01\xC0\x01"s));
  EXPECT_FALSE(
      reads("\0\0\0\x01"
            "a\0\xFF\xFF\xC0\x01"s));
  EXPECT_FALSE(
      reads("\0\0\0\x01"
            "a\0\0\x01\xC0\0"s));
}

TEST(word_vector, quotes_words_of_a_query_whatever_is_in_them) {
  const std::vector<query_word> words{{"it's"}, {"back\\slash", true}, {"a & !b"}, {"left out"}};
  EXPECT_EQ(make_tsquery(words, {true, true, true, false}), R"('it''s' | 'back\\slash':* | 'a & !b')");
}

}  // namespace
}  // namespace hondana::search

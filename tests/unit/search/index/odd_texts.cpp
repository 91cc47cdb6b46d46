/// Texts and words that no store may stumble over.
#include <string>
#include <vector>

#include "unit/search/index/store_contract.hpp"

namespace hondana::search {

TEST_P(store_contract, refuses_malformed_text_and_keeps_the_rest_of_the_transaction) {
  ASSERT_TRUE(store_->put(named_document("good"), std::vector{said("good text")}));
  const std::string bad = "caf\xE9 text";
  auto document = named_document("bad");
  const auto refused = [&](const auto& done) { return !done && done.error().code == errc::invalid_argument; };
  EXPECT_TRUE(refused(store_->put(document, std::vector{said("fine"), said(bad)})));
  EXPECT_TRUE(refused(store_->put(document, std::vector{said("fine", bad)})));
  document.title = bad;
  EXPECT_TRUE(refused(store_->put(document, {})));
  EXPECT_TRUE(refused(store_->describe(document)));
  document = named_document("bad");
  document.uri = {};
  EXPECT_TRUE(refused(store_->put(document, {})));
  document.uri = std::string("x://h/\0", 7);
  EXPECT_TRUE(refused(store_->put(document, {})));
  const std::vector<chunking::passage> too_many(passage_id::max_per_document, said("x"));
  EXPECT_TRUE(refused(store_->put(named_document("long"), too_many)));
  EXPECT_TRUE(store_->remove("x://h/\xFF"));
  ASSERT_TRUE(store_->commit());
  EXPECT_EQ(found("text").size(), 1u);
  EXPECT_TRUE(found("fine").empty());
  EXPECT_EQ(store_->counts()->documents, 1u);
}

TEST_P(store_contract, leaves_nul_bytes_out_of_texts) {
  auto what = named_document("n", std::string("ti\0tle", 6));
  put(what, {said(std::string("be\0fore \0 after", 15), std::string("\0", 1))});
  EXPECT_EQ(found("before").size(), 1u);
  EXPECT_EQ(found("title").size(), 1u);
  const auto shown = store_->load(found("after"));
  ASSERT_TRUE(shown);
  ASSERT_EQ(shown->size(), 1u);
  EXPECT_EQ(shown->at(0).passage.text, "before  after");
  EXPECT_EQ(shown->at(0).passage.heading, "");
  // As it was asked to be, so that it is not put again.
  ASSERT_TRUE(
      store_->for_each_document([&](const store::stored_document& one) { EXPECT_EQ(one.listed_digest, digest_of(what)); }));
  EXPECT_TRUE(find(std::string("be\0fore", 7)).passages.empty());
}

TEST_P(store_contract, finds_whatever_marks_a_word_has_and_no_other) {
  const std::vector<std::string> odd{"o'brien",
                                     "\"quoted\"",
                                     "it''s",
                                     "back\\slash",
                                     "\\",
                                     "'",
                                     "\"",
                                     "a&b",
                                     "!",
                                     "|",
                                     "(",
                                     ")",
                                     ":*x",
                                     "a:*b",
                                     "<->",
                                     "AND",
                                     "near(",
                                     "{col}:",
                                     "^start",
                                     "-minus",
                                     "50%",
                                     "$1",
                                     "?1",
                                     ";--",
                                     "a,b",
                                     "\xEE\x80\x80",
                                     "\xEE\x80\xA7",
                                     "\xF0\x9F\x98\x80",
                                     "\xF0\x9F\x91\xA9\xE2\x80\x8D\xF0\x9F\x92\xBB",
                                     std::string(300, 'x'),
                                     std::string(299, 'x'),
                                     std::string(1500, 'y'),
                                     "e\xCC\x81",
                                     "日",
                                     "本"};
  for (std::size_t i = 0; i < odd.size(); ++i)
    ASSERT_TRUE(store_->put(named_document("d" + std::to_string(i)), std::vector{said(odd[i])}));
  ASSERT_TRUE(store_->commit());
  const auto by = plain_words();
  for (std::size_t i = 0; i < odd.size(); ++i) {
    std::vector<query_word> words;
    for (const auto& one : by->tokenize(odd[i], tokenizer::tokenize_mode::query)) words.push_back({one.text});
    const auto got = store_->find(words, {}, 1000);
    ASSERT_TRUE(got) << odd[i] << got.error().private_text;
    ASSERT_GE(got->passages.size(), 1u) << odd[i];
    const std::vector<passage_id> which{got->passages[0].id};
    if (words.size() == 1) {
      ASSERT_EQ(got->passages.size(), 1u) << odd[i];
      EXPECT_EQ(store_->load(which)->at(0).passage.text, odd[i]);
    }
    words.front().is_prefix = true;
    EXPECT_TRUE(store_->find(words, {}, 1000)) << odd[i];
  }
  const std::vector<query_word> never{{"' OR true --"}, {"\xFF\xFE"},    {""},
                                      {"", true},       {"zz\" OR \"a"}, {std::string("\0", 1)}};
  const auto got = store_->find(never, {}, 1000);
  ASSERT_TRUE(got) << got.error().private_text;
  EXPECT_TRUE(got->passages.empty());
  document_filter which;
  which.kind = "' OR 1=1 --";
  EXPECT_TRUE(find("日", which).passages.empty());
  which.kind = "\xFF";
  EXPECT_TRUE(find("日", which).passages.empty());
  for (const auto* owner : {"', ')>0 OR 1=1 --", "\xFF", ", ", "%"}) {
    which = {};
    which.owner = owner;
    EXPECT_TRUE(find("日", which).passages.empty()) << owner;
  }
  EXPECT_FALSE(store_->find(std::vector<query_word>(65, {"a"}), {}, 10));
}

}  // namespace hondana::search

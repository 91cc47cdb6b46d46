/// In which order passages come, and what is said of it.
#include "search/index/ranking.hpp"

#include <gtest/gtest.h>

#include "search/index/bm25.hpp"

namespace hondana::search {
namespace {

using namespace std::chrono_literals;

match by_words(std::int64_t document, double score, std::uint64_t words = 1) {
  return {passage_id::create(document, 0), score, words};
}

TEST(search_ranking, without_meaning_the_order_is_that_of_the_words_and_the_best_has_one) {
  const auto got = fuse({by_words(1, 2), by_words(2, 4), by_words(3, 1)}, {});
  ASSERT_EQ(got.size(), 3u);
  EXPECT_EQ(got[0].id.document(), 2);
  EXPECT_DOUBLE_EQ(got[0].score, 1);
  EXPECT_EQ(got[1].id.document(), 1);
  EXPECT_DOUBLE_EQ(got[1].score, 0.5);
  EXPECT_EQ(got[2].lexical_rank, 3u);
}

TEST(search_ranking, of_equals_the_older_passage_comes_first) {
  const auto got = fuse({by_words(7, 1), by_words(3, 1), by_words(5, 1)}, {});
  EXPECT_EQ(got[0].id.document(), 3);
  EXPECT_EQ(got[1].id.document(), 5);
  EXPECT_EQ(got[2].id.document(), 7);
}

TEST(search_ranking, what_is_high_in_both_lists_comes_before_what_is_first_in_one) {
  const std::vector<near_passage> near{{passage_id::create(9, 0), 0.9}, {passage_id::create(2, 0), 0.8}};
  const auto got = fuse({by_words(1, 5), by_words(2, 4)}, near);
  ASSERT_EQ(got.size(), 3u);
  EXPECT_EQ(got[0].id.document(), 2);
  EXPECT_EQ(got[0].lexical_rank, 2u);
  EXPECT_EQ(got[0].semantic_rank, 2u);
  EXPECT_LE(got[0].score, 1);
  EXPECT_EQ(got[1].id.document(), 1) << "words weigh more than meaning";
  EXPECT_EQ(got[2].words, 0u);
}

TEST(search_ranking, nothing_found_is_nothing) { EXPECT_TRUE(fuse({}, {}).empty()); }

TEST(search_ranking, priority_and_recency_weigh_in_a_little) {
  const auto now = std::chrono::system_clock::now();
  document plain;
  EXPECT_DOUBLE_EQ(document_weight(plain, now), 1);
  document important;
  important.priority = 1;
  document unimportant;
  unimportant.priority = 0;
  EXPECT_NEAR(document_weight(important, now), 1.15, 1e-9);
  EXPECT_NEAR(document_weight(unimportant, now), 0.85, 1e-9);
  document fresh;
  fresh.modified = std::chrono::time_point_cast<std::chrono::milliseconds>(now);
  document old;
  old.modified = std::chrono::time_point_cast<std::chrono::milliseconds>(now - half_life);
  EXPECT_NEAR(document_weight(fresh, now), 1.05, 1e-3);
  EXPECT_NEAR(document_weight(old, now), 1.025, 1e-3);
  document from_the_future;
  from_the_future.modified = std::chrono::time_point_cast<std::chrono::milliseconds>(now + 1000h);
  EXPECT_NEAR(document_weight(from_the_future, now), 1.05, 1e-9);
}

TEST(search_ranking, says_where_the_words_are_and_which_place_it_has) {
  candidate what;
  what.words = 0b1011;
  what.in_title = 0b0001;
  what.in_heading = 0b0010;
  what.lexical_rank = 1;
  what.semantic_rank = 22;
  what.similarity = 0.714;
  document of;
  of.priority = 0.9;
  const std::vector<query_word> words{{"復旧"}, {"backup"}, {"absent"}, {"key"}};
  EXPECT_EQ(explain_rank(what, words, of),
            "\"復旧\" in the title, \"backup\" in the heading, \"key\" in the text; 1st by words, 22nd by meaning (0.71); "
            "priority 0.9");
  candidate by_meaning_alone;
  by_meaning_alone.semantic_rank = 11;
  by_meaning_alone.similarity = 0.5;
  EXPECT_EQ(explain_rank(by_meaning_alone, words, document()), "none of the words; 11th by meaning (0.5)");
}

TEST(search_bm25, rare_words_count_more_and_none_counts_against) {
  EXPECT_GT(idf(1000, 1), idf(1000, 10));
  EXPECT_GT(idf(1000, 1000), 0);
  EXPECT_GT(idf(10, 1000), 0) << "counts may be older than the number of passages";
  EXPECT_DOUBLE_EQ(term_score(1, {0, 0, 0, 0}, 10, 10), 0);
}

TEST(search_bm25, titles_and_headings_count_more_than_texts_and_short_passages_more_than_long_ones) {
  EXPECT_GT(term_score(1, {1, 0, 0, 0}, 10, 10), term_score(1, {0, 0, 0, 1}, 10, 10));
  EXPECT_GT(term_score(1, {0, 1, 0, 0}, 10, 10), term_score(1, {0, 0, 1, 0}, 10, 10));
  EXPECT_GT(term_score(1, {0, 0, 0, 1}, 5, 10), term_score(1, {0, 0, 0, 1}, 50, 10));
  EXPECT_LT(term_score(1, {0, 0, 0, 1000}, 10, 10), saturation + 1) << "often is not endlessly better";
}

TEST(search_bm25, the_rarest_words_decide_as_far_as_the_limit_goes) {
  EXPECT_EQ(select_required(std::vector<std::uint64_t>{50'000, 10, 200}, 1'000), (std::vector<bool>{false, true, true}));
  EXPECT_EQ(select_required(std::vector<std::uint64_t>{50'000, 60'000}, 1'000), (std::vector<bool>{true, false}))
      << "at least one does";
  EXPECT_EQ(select_required(std::vector<std::uint64_t>{0, 5}, 1'000), (std::vector<bool>{false, true}))
      << "what nothing has does not";
  EXPECT_TRUE(select_required(std::vector<std::uint64_t>{}, 1'000).empty());
}

TEST(search_documents, pass_filters_by_all_that_is_set) {
  document what;
  what.uri = "docs://manual/a.md";
  what.language = "ja";
  what.mime_type = "text/markdown; charset=utf-8";
  what.kind = "document";
  what.priority = 0.5;
  what.audience = {chat_role::assistant};
  EXPECT_TRUE(passes({}, what));
  const auto with = [](auto set) {
    document_filter out;
    set(out);
    return out;
  };
  EXPECT_TRUE(passes(with([](auto& f) { f.uri_prefix = "docs://manual/"; }), what));
  EXPECT_FALSE(passes(with([](auto& f) { f.uri_prefix = "docs://other/"; }), what));
  EXPECT_TRUE(passes(with([](auto& f) { f.scheme = "docs"; }), what));
  EXPECT_FALSE(passes(with([](auto& f) { f.scheme = "doc"; }), what));
  EXPECT_TRUE(passes(with([](auto& f) { f.language = "JA"; }), what));
  EXPECT_FALSE(passes(with([](auto& f) { f.language = "j"; }), what));
  EXPECT_TRUE(passes(with([](auto& f) { f.mime_type = "text/markdown"; }), what));
  EXPECT_TRUE(passes(with([](auto& f) { f.mime_type = "text/"; }), what));
  EXPECT_FALSE(passes(with([](auto& f) { f.mime_type = "text/mark"; }), what));
  EXPECT_TRUE(passes(with([](auto& f) { f.min_priority = 0.5; }), what));
  EXPECT_FALSE(passes(with([](auto& f) { f.min_priority = 0.51; }), what));
  EXPECT_TRUE(passes(with([](auto& f) { f.audience = chat_role::assistant; }), what));
  EXPECT_FALSE(passes(with([](auto& f) { f.audience = chat_role::user; }), what));
  EXPECT_FALSE(passes(with([](auto& f) { f.modified_since = milliseconds(); }), what)) << "it does not say when it changed";
}

}  // namespace
}  // namespace hondana::search

/// Documents in every kind of store: put, changed, described, taken out, shown and counted.
#include "unit/search/index/store_contract.hpp"

#include <algorithm>
#include <atomic>
#include <map>
#include <set>
#include <thread>

namespace hondana::search {
namespace {

/// As `plain_words` says.
class plain_tokenizer final : public tokenizer::tokenizer {
 public:
  explicit plain_tokenizer(std::string id) : id_(std::move(id)) {}
  std::vector<hondana::tokenizer::token> tokenize(std::string_view text, hondana::tokenizer::tokenize_mode) const override {
    std::vector<hondana::tokenizer::token> out;
    std::string word;
    const auto end_word = [&](std::size_t at) {
      if (word.empty()) return;
      const auto size = word.size();
      out.push_back({std::move(word), at - size, at});
      word.clear();
    };
    for (std::size_t i = 0; i < text.size();) {
      const auto c = static_cast<unsigned char>(text[i]);
      const std::size_t size = c < 0xC2 ? 1 : c < 0xE0 ? 2 : c < 0xF0 ? 3 : 4;
      const bool is_malformed = (c >= 0x80 && c < 0xC2) || c >= 0xF5 || i + size > text.size();
      if (is_malformed || c <= ' ' || c == '/') {
        end_word(i);
        ++i;
        continue;
      }
      if (c >= 0xE3 && c != 0xEE && c != 0xEF) end_word(i);
      for (std::size_t j = 0; j < size; ++j) {
        const char one = text[i + j];
        word += one >= 'A' && one <= 'Z' ? static_cast<char>(one - 'A' + 'a') : one;
      }
      i += size;
      if (c >= 0xE3 && c != 0xEE && c != 0xEF) end_word(i);
    }
    end_word(text.size());
    return out;
  }
  const std::string& id() const noexcept override { return id_; }
  const std::string& description() const noexcept override { return id_; }

 private:
  std::string id_;
};

std::vector<std::string> texts_of(const std::vector<document_passage>& all) {
  std::vector<std::string> out;
  out.reserve(all.size());
  for (const auto& one : all) out.push_back(one.passage.text);
  return out;
}

}  // namespace

std::shared_ptr<const tokenizer::tokenizer> plain_words(const std::string& id) { return std::make_shared<plain_tokenizer>(id); }

document named_document(const std::string& name, const std::string& title) {
  document out;
  out.uri = "x://h/" + name;
  out.name = name;
  out.title = title;
  return out;
}

chunking::passage said(const std::string& text, const std::string& heading) {
  chunking::passage out;
  out.text = text;
  out.heading = heading;
  return out;
}

std::vector<query_word> words_of(const std::string& query) {
  std::vector<query_word> out;
  for (std::size_t at = 0; at < query.size();) {
    const auto end = std::min(query.find(' ', at), query.size());
    query_word one{query.substr(at, end - at)};
    if (one.text.starts_with('+')) {
      one.follows = true;
      one.text.erase(0, 1);
    }
    if (one.text.ends_with('*')) {
      one.is_prefix = true;
      one.text.pop_back();
    }
    out.push_back(one);
    at = end + 1;
  }
  return out;
}

void store_contract::SetUp() {
  data_ = GetParam().make();
  store_ = data_->open();
  ASSERT_NE(store_, nullptr);
}

void store_contract::TearDown() {
  store_.reset();
  data_.reset();
}

std::vector<passage_id> store_contract::put(const document& what, const std::vector<chunking::passage>& of) {
  auto gone = store_->put(what, of);
  EXPECT_TRUE(gone) << gone.error().public_text << " | " << gone.error().private_text;
  const auto done = store_->commit();
  EXPECT_TRUE(done) << done.error().public_text << " | " << done.error().private_text;
  return gone ? *gone : std::vector<passage_id>();
}

word_matches store_contract::find(const std::string& query, const document_filter& which, std::size_t most) const {
  const auto words = words_of(query);
  auto got = store_->find(words, which, most);
  EXPECT_TRUE(got) << query << ": " << got.error().public_text << " | " << got.error().private_text;
  return got ? std::move(*got) : word_matches();
}

std::vector<passage_id> store_contract::found(const std::string& query) const {
  std::vector<passage_id> out;
  for (const auto& one : find(query).passages) out.push_back(one.id);
  std::sort(out.begin(), out.end());
  return out;
}

TEST_P(store_contract, finds_nothing_in_an_empty_store) {
  EXPECT_TRUE(found("word wor*").empty());
  EXPECT_TRUE(found("").empty());
  const auto counts = store_->counts();
  ASSERT_TRUE(counts);
  EXPECT_EQ(counts->documents + counts->passages + counts->vectors + counts->without_text, 0u);
  const std::vector<passage_id> some{{65536}, {3}};
  const auto shown = store_->load(some);
  ASSERT_TRUE(shown);
  EXPECT_TRUE(shown->empty());
  const auto gone = store_->remove("x://h/none");
  ASSERT_TRUE(gone);
  EXPECT_TRUE(gone->empty());
  EXPECT_TRUE(store_->describe(named_document("none")));
  EXPECT_TRUE(store_->commit());
  EXPECT_TRUE(store_->commit());
}

TEST_P(store_contract, puts_a_document_in_the_place_of_what_was_there_and_never_uses_a_number_again) {
  std::set<std::int64_t> ever;
  std::vector<passage_id> before;
  for (int round = 0; round < 4; ++round) {
    auto gone = put(named_document("a"), {said("apple one"), said("apple two"), said("only" + std::to_string(round))});
    std::sort(gone.begin(), gone.end());
    EXPECT_EQ(gone, before);
    before = found("apple only0 only1 only2 only3");
    ASSERT_EQ(before.size(), 3u);
    for (const auto& one : before) EXPECT_TRUE(ever.insert(one.number).second);
    EXPECT_EQ(found("only" + std::to_string(round)).size(), 1u);
    if (round > 0) {
      EXPECT_TRUE(found("only" + std::to_string(round - 1)).empty());
    }
    if (round == 2) {
      auto removed = store_->remove("x://h/a");
      ASSERT_TRUE(removed);
      ASSERT_TRUE(store_->commit());
      EXPECT_EQ(removed->size(), 3u);
      EXPECT_TRUE(found("apple").empty());
      before.clear();
      if (!data_->is_in_memory()) {
        store_.reset();
        store_ = data_->open();
      }
    }
  }
  EXPECT_EQ(before.front().document(), before.back().document());
}

TEST_P(store_contract, keeps_what_was_committed_and_forgets_what_was_rolled_back) {
  put(named_document("a"), {said("first text")});
  ASSERT_TRUE(store_->put(named_document("a"), std::vector{said("second text")}));
  ASSERT_TRUE(store_->put(named_document("b"), std::vector{said("second other")}));
  if (!data_->is_in_memory()) {
    EXPECT_EQ(found("first").size(), 1u);
    EXPECT_TRUE(found("second").empty());
  }
  store_->roll_back();
  EXPECT_EQ(found("first").size(), 1u);
  EXPECT_TRUE(found("second").empty());
  EXPECT_EQ(store_->counts()->documents, 1u);
  put(named_document("b"), {said("third text")});
  EXPECT_EQ(found("text").size(), 2u);
  ASSERT_TRUE(store_->remove("x://h/a"));
  store_->roll_back();
  store_->roll_back();
  EXPECT_EQ(found("first").size(), 1u);
}

TEST_P(store_contract, knows_every_document_by_uri_version_and_digest) {
  auto a = named_document("a", "Title");
  a.version = "v1";
  auto b = named_document("b");
  b.problem = "it is encrypted";
  b.listed_digest = 1u << 31;
  put(a, {said("text")});
  put(b, {});
  std::map<std::string, store::stored_document> all;
  ASSERT_TRUE(store_->for_each_document([&](store::stored_document one) { all[one.uri] = one; }));
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[a.uri].version, "v1");
  EXPECT_EQ(all[a.uri].listed_digest, digest_of(a));
  EXPECT_FALSE(all[a.uri].has_problem);
  EXPECT_EQ(all[b.uri].listed_digest, b.listed_digest) << "what its list says is not what stands there";
  EXPECT_TRUE(all[b.uri].has_problem);
  const auto counts = store_->counts();
  ASSERT_TRUE(counts);
  EXPECT_EQ(counts->documents, 2u);
  EXPECT_EQ(counts->without_text, 1u);
  EXPECT_EQ(counts->passages, 2u);
  EXPECT_GT(counts->bytes, 1000u);
}

TEST_P(store_contract, shows_all_that_was_put_in_the_order_asked_for_without_what_has_gone) {
  auto a = named_document("a", "A title");
  a.version = "v";
  a.description = "What it is";
  a.mime_type = "text/plain;charset=utf-8";
  a.kind = "docs";
  a.language = "ja-JP";
  a.problem = "cut off";
  a.owners = "ann@example.com, 花子";
  a.priority = 0.25;
  a.audience = {chat_role::user, chat_role::assistant};
  a.modified = milliseconds(std::chrono::milliseconds(-1500));
  a.size = UINT64_MAX;
  auto first = said("first 一", "Part › One");
  first.first_line = 3;
  first.last_line = 9;
  first.page = 2;
  put(a, {first, said("second 二")});
  put(named_document("b"), {said("third 三")});
  const auto one = found("first").at(0), two = found("second").at(0), three = found("third").at(0);
  const std::vector<passage_id> which{three, one, {12345}, two, one};
  const auto shown = store_->load(which);
  ASSERT_TRUE(shown) << shown.error().private_text;
  ASSERT_EQ(texts_of(*shown), (std::vector<std::string>{"third 三", "first 一", "second 二", "first 一"}));
  const auto& got = shown->at(1);
  EXPECT_EQ(got.id, one);
  EXPECT_EQ(got.passage.heading, "Part › One");
  EXPECT_EQ(got.passage.first_line, 3u);
  EXPECT_EQ(got.passage.last_line, 9u);
  EXPECT_EQ(got.passage.page, 2u);
  EXPECT_EQ(got.metadata.uri, a.uri);
  EXPECT_EQ(got.metadata.version, a.version);
  EXPECT_EQ(got.metadata.name, a.name);
  EXPECT_EQ(got.metadata.title, a.title);
  EXPECT_EQ(got.metadata.description, a.description);
  EXPECT_EQ(got.metadata.mime_type, a.mime_type);
  EXPECT_EQ(got.metadata.kind, a.kind);
  EXPECT_EQ(got.metadata.language, a.language);
  EXPECT_EQ(got.metadata.problem, a.problem);
  EXPECT_EQ(got.metadata.owners, a.owners);
  EXPECT_EQ(got.metadata.priority, a.priority);
  EXPECT_EQ(got.metadata.audience, a.audience);
  EXPECT_EQ(got.metadata.modified, a.modified);
  EXPECT_EQ(got.metadata.size, a.size);
  const auto other = shown->at(0).metadata;
  EXPECT_FALSE(other.priority || other.modified || other.size || !other.audience.empty() || !other.owners.empty());
  ASSERT_TRUE(store_->remove(a.uri));
  ASSERT_TRUE(store_->commit());
  const auto after = store_->load(which);
  ASSERT_TRUE(after);
  EXPECT_EQ(texts_of(*after), (std::vector<std::string>{"third 三"}));
}

TEST_P(store_contract, has_a_passage_of_name_title_and_description_where_there_is_no_other) {
  auto what = named_document("manual.pdf", "Great title");
  what.uri = "x://h/some/path%20to/manual.pdf";
  what.description = "about everything";
  put(what, {});
  for (const auto* word : {"great", "about", "manual.pdf", "path", "to"}) EXPECT_EQ(found(word).size(), 1u) << word;
  const auto got = find("great about path");
  ASSERT_EQ(got.passages.size(), 1u);
  EXPECT_EQ(got.passages[0].words, 7u);
  EXPECT_EQ(got.passages[0].in_title, 5u);
  EXPECT_EQ(got.passages[0].in_heading, 0u);
  const std::vector<passage_id> which{got.passages[0].id};
  const auto shown = store_->load(which);
  ASSERT_TRUE(shown);
  EXPECT_EQ(shown->at(0).passage.text, "about everything");
  EXPECT_EQ(shown->at(0).passage.first_line, 0u);
  EXPECT_EQ(store_->counts()->passages, 1u);
  EXPECT_EQ(put(what, {said("contents")}), which);
  EXPECT_TRUE(found("about").empty());
}

TEST_P(store_contract, describes_a_document_anew_without_other_numbers_for_its_passages) {
  auto with = named_document("a", "Old title");
  auto without = named_document("b");
  without.description = "old words";
  put(with, {said("the contents", "Heading"), said("more contents")});
  put(without, {});
  const auto before = found("contents");
  with.title = "New title";
  with.version = "v2";
  with.priority = 1;
  with.owners = "bob@example.com";
  without.description = "new words";
  ASSERT_TRUE(store_->describe(with));
  ASSERT_TRUE(store_->describe(without));
  ASSERT_TRUE(store_->describe(named_document("none")));
  ASSERT_TRUE(store_->commit());
  EXPECT_EQ(found("contents"), before);
  EXPECT_EQ(found("new").size(), 3u);
  EXPECT_TRUE(found("old").empty());
  EXPECT_EQ(found("heading").size(), 1u);
  const auto shown = store_->load(found("contents"));
  ASSERT_TRUE(shown);
  EXPECT_EQ(shown->at(0).metadata.title, "New title");
  EXPECT_EQ(shown->at(0).metadata.priority, 1);
  EXPECT_EQ(shown->at(0).metadata.owners, "bob@example.com");
  ASSERT_TRUE(store_->for_each_document([&](const store::stored_document& one) {
    EXPECT_EQ(one.listed_digest, digest_of(one.uri == with.uri ? with : without));
    EXPECT_EQ(one.version, one.uri == with.uri ? "v2" : "");
  }));
  // Words are taken out as they were put.
  ASSERT_TRUE(store_->remove(with.uri));
  ASSERT_TRUE(store_->remove(without.uri));
  ASSERT_TRUE(store_->commit());
  EXPECT_TRUE(found("new title words contents heading a b").empty());
}

TEST_P(store_contract, shows_from_outside_how_full_it_is_and_how_far_who_indexes_has_come) {
  if (data_->is_in_memory()) GTEST_SKIP() << "nobody else sees what is in memory";
  auto there = data_->look();
  ASSERT_TRUE(there);
  EXPECT_EQ(there->counts.documents, 0u);
  EXPECT_FALSE(there->last_progress);
  put(named_document("a"), {said("one"), said("two")});
  const progress how{12, false, milliseconds(std::chrono::milliseconds(1'700'000'000'123)), "cannot list x: it is 遠い", true};
  ASSERT_TRUE(store_->put(named_document("b"), std::vector{said("three")}));
  ASSERT_TRUE(store_->put_progress(how));
  // What is not committed is nobody else's.
  there = data_->look();
  ASSERT_TRUE(there);
  EXPECT_EQ(there->counts.documents, 1u);
  EXPECT_EQ(there->counts.passages, 2u);
  EXPECT_FALSE(there->last_progress);
  ASSERT_TRUE(store_->commit());
  there = data_->look();
  ASSERT_TRUE(there && there->last_progress);
  EXPECT_EQ(there->counts.documents, 2u);
  EXPECT_GT(there->counts.bytes, 0u);
  EXPECT_EQ(there->last_progress->waiting, 12u);
  EXPECT_FALSE(there->last_progress->is_complete);
  EXPECT_TRUE(there->last_progress->has_scanned);
  EXPECT_EQ(there->last_progress->updated_at, how.updated_at);
  EXPECT_EQ(there->last_progress->problem, how.problem);
  ASSERT_TRUE(store_->put_progress({0, true, how.updated_at, {}}));
  ASSERT_TRUE(store_->commit());
  there = data_->look();
  ASSERT_TRUE(there && there->last_progress);
  EXPECT_TRUE(there->last_progress->is_complete);
  EXPECT_FALSE(there->last_progress->has_scanned);
  EXPECT_EQ(there->last_progress->problem, "");
}

TEST(progress_spelled, reads_back_and_nothing_else_does) {
  for (const auto* one : {"", "1", "1 0", "1 0 5", "x 0 5 ", "1 0 5x ", "-1 0 5 ", "99999999999999999999 0 5 "})
    EXPECT_FALSE(decode_progress(one)) << one;
  const auto read = decode_progress("3 1 -5 a b");
  ASSERT_TRUE(read);
  EXPECT_EQ(read->waiting, 3u);
  EXPECT_TRUE(read->is_complete);
  EXPECT_EQ(read->problem, "a b");
}

TEST_P(store_contract, finds_all_of_a_document_or_nothing_while_others_write) {
  constexpr int documents = 4;
  constexpr int parts = 3;
  const auto of_round = [](int round) {
    std::vector<chunking::passage> out;
    for (int i = 0; i < parts; ++i) out.push_back(said("common round" + std::to_string(round)));
    return out;
  };
  for (int i = 0; i < documents; ++i) put(named_document("d" + std::to_string(i)), of_round(0));
  std::atomic<bool> has_ended = false;
  std::atomic<int> asked = 0;
  std::vector<std::thread> readers;
  for (int i = 0; i < 3; ++i) {
    readers.emplace_back([&] {
      do {
        const auto got = store_->find(words_of("common"), {}, 1000);
        if (!got) {
          ADD_FAILURE() << got.error().public_text << got.error().private_text;
          return;
        }
        std::map<std::int64_t, int> by_document;
        for (const auto& one : got->passages) ++by_document[one.id.document()];
        EXPECT_EQ(by_document.size(), std::size_t{documents});
        for (const auto& [document, count] : by_document) EXPECT_EQ(count, parts);
        EXPECT_TRUE(store_->counts());
        ++asked;
      } while (!has_ended);
    });
  }
  for (int round = 1; round <= 20 || asked < 20; ++round)
    put(named_document("d" + std::to_string(round % documents)), of_round(round));
  has_ended = true;
  for (auto& one : readers) one.join();
}

}  // namespace hondana::search

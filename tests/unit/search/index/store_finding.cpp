/// Finding in every kind of store, compared with a model that counts everything.
#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "search/index/bm25.hpp"
#include "unit/search/index/store_contract.hpp"

namespace hondana::search {
namespace {

/// A passage in the model: the words of each place, in order.
struct modelled {
  std::string uri{};
  std::array<std::vector<std::string>, field_count> places{};
  [[nodiscard]] const std::vector<std::string>& of(document_field where) const {
    return places[static_cast<std::size_t>(where)];
  }
};

bool is_wanted(const query_word& which, const std::string& word) {
  return which.is_prefix ? word.starts_with(which.text) : word == which.text;
}

class model {
 public:
  void put(const document& what, const std::vector<chunking::passage>& of) {
    std::erase_if(all_, [&](const modelled& one) { return one.uri == what.uri; });
    for (const auto& one : of) {
      modelled made{what.uri, {}};
      made.places = {words(what.title), words(one.heading), words("//h/" + what.name + " " + what.name), words(one.text)};
      all_.push_back(made);
    }
  }
  [[nodiscard]] std::uint64_t having(const query_word& which) const {
    // Of what begins so, each word counts by itself.
    std::map<std::string, std::uint64_t> by_word;
    for (const auto& one : all_) {
      std::set<std::string> there;
      for (const auto& words : one.places) {
        for (const auto& word : words) {
          if (is_wanted(which, word)) there.insert(word);
        }
      }
      for (const auto& word : there) ++by_word[word];
    }
    std::uint64_t out = 0;
    for (const auto& [word, count] : by_word) out += count;
    return out;
  }
  /// By URI and text: there is one passage of each.
  [[nodiscard]] std::map<std::pair<std::string, std::string>, match> find(std::span<const query_word> wanted) const {
    double length = 0;
    for (const auto& one : all_) length += static_cast<double>(one.of(document_field::text).size());
    const double mean = length / static_cast<double>(all_.size());
    std::map<std::pair<std::string, std::string>, match> out;
    for (const auto& one : all_) {
      match got;
      for (std::size_t i = 0; i < wanted.size(); ++i) {
        std::array<std::uint32_t, field_count> times{};
        bool is_behind = false;
        for (std::size_t where = 0; where < field_count; ++where) {
          const auto& words = one.places[where];
          for (std::size_t j = 0; j < words.size(); ++j) {
            if (!is_wanted(wanted[i], words[j])) continue;
            ++times[where];
            is_behind = is_behind || (i > 0 && wanted[i].follows && j > 0 && is_wanted(wanted[i - 1], words[j - 1]));
          }
        }
        if (times == std::array<std::uint32_t, field_count>{}) continue;
        const auto idf_of = [&](std::size_t word) { return idf(all_.size(), having(wanted[word])); };
        got.words |= 1u << i;
        if (times[0] + times[2] > 0) got.in_title |= 1u << i;
        if (times[1] > 0) got.in_heading |= 1u << i;
        got.score += term_score(idf_of(i), times, static_cast<double>(one.of(document_field::text).size()), mean);
        if (is_behind) got.score += adjacency_bonus * (idf_of(i - 1) + idf_of(i)) / 2;
      }
      if (got.words != 0) out[{one.uri, joined(one.of(document_field::text))}] = got;
    }
    return out;
  }

 private:
  static std::vector<std::string> words(const std::string& text) {
    std::vector<std::string> out;
    for (const auto& one : plain_words()->tokenize(text, tokenizer::tokenize_mode::index)) out.push_back(one.text);
    return out;
  }
  static std::string joined(const std::vector<std::string>& words) {
    std::string out;
    for (const auto& one : words) out += (out.empty() ? "" : " ") + one;
    return out;
  }
  std::vector<modelled> all_;
};

/// Words of which few are frequent.
std::string drawn_word(std::mt19937& draw) {
  static const std::vector<std::string> all{"a",  "an",  "and", "ant", "b",   "bee",  "been", "c",  "cat", "cats", "d",
                                            "do", "dog", "e",   "el",  "elk", "elks", "日",   "本", "棚",  "zoo"};
  const auto first = draw() % all.size();
  return all[draw() % (first + 1)];
}

std::string drawn_text(std::mt19937& draw, std::size_t most) {
  std::string out;
  for (auto left = draw() % (most + 1); left > 0; --left) out += (out.empty() ? "" : " ") + drawn_word(draw);
  return out;
}

}  // namespace

TEST_P(store_contract, scores_as_the_formula_says) {
  std::mt19937 draw(7);
  model counted;
  int number = 0;
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 40; ++i) {
      auto what = named_document("n" + std::to_string(draw() % 60), drawn_text(draw, 3));
      std::vector<chunking::passage> of;
      for (auto left = 1 + draw() % 4; left > 0; --left)
        of.push_back(said("t" + std::to_string(number++) + " " + drawn_text(draw, 30), drawn_text(draw, 4)));
      ASSERT_TRUE(store_->put(what, of));
      counted.put(what, of);
    }
    ASSERT_TRUE(store_->commit());
    for (int i = 0; i < 40; ++i) {
      std::vector<query_word> wanted;
      for (auto left = 1 + draw() % 4; left > 0; --left)
        wanted.push_back({drawn_word(draw), draw() % 4 == 0, !wanted.empty() && draw() % 2 == 0});
      if (draw() % 8 == 0) wanted.push_back({"nothing"});
      if (draw() % 8 == 0) wanted.push_back({"n1", true});
      const auto expected = counted.find(wanted);
      const auto got = store_->find(wanted, {}, 100'000);
      ASSERT_TRUE(got) << got.error().private_text;
      EXPECT_TRUE(got->is_complete);
      ASSERT_EQ(got->passages.size(), expected.size());
      std::vector<passage_id> which;
      for (const auto& one : got->passages) which.push_back(one.id);
      const auto shown = store_->load(which);
      ASSERT_TRUE(shown);
      ASSERT_EQ(shown->size(), which.size());
      for (std::size_t j = 0; j < which.size(); ++j) {
        auto text = shown->at(j).passage.text;
        if (text.ends_with(' ')) text.pop_back();
        // Characters of their own are words of their own.
        std::string joined;
        for (const auto& one : plain_words()->tokenize(text, tokenizer::tokenize_mode::index))
          joined += (joined.empty() ? "" : " ") + one.text;
        const auto found = expected.find({shown->at(j).metadata.uri, joined});
        ASSERT_NE(found, expected.end()) << text;
        EXPECT_NEAR(got->passages[j].score, found->second.score, 1e-9);
        EXPECT_EQ(got->passages[j].words, found->second.words);
        EXPECT_EQ(got->passages[j].in_title, found->second.in_title);
        EXPECT_EQ(got->passages[j].in_heading, found->second.in_heading);
      }
    }
  }
}

TEST_P(store_contract, scores_what_was_described_anew_as_if_it_had_been_put_so) {
  put(named_document("other"), {said("some text of several words")});
  auto what = named_document("a");
  what.description = "old";
  put(what, {});
  ASSERT_EQ(find("old").passages.size(), 1u);
  what.description = "new words that are many more than there were";
  ASSERT_TRUE(store_->describe(what));
  ASSERT_TRUE(store_->commit());
  const auto described = find("new");
  ASSERT_EQ(described.passages.size(), 1u);
  put(what, {});
  const auto anew = find("new");
  ASSERT_EQ(anew.passages.size(), 1u);
  EXPECT_DOUBLE_EQ(described.passages.front().score, anew.passages.front().score);
}

TEST_P(store_contract, finds_words_by_what_they_begin_with) {
  put(named_document("x1"), {said("apple"), said("apply appliance"), said("ape"), said("日本"), said("a")});
  EXPECT_EQ(found("appl*").size(), 2u);
  EXPECT_EQ(found("ap*").size(), 3u);
  EXPECT_EQ(found("apple*").size(), 1u);
  EXPECT_EQ(found("applez*").size(), 0u);
  EXPECT_EQ(found("日*").size(), 1u);
  EXPECT_EQ(found("appli* ape").size(), 2u);
}

TEST_P(store_contract, counts_neighbours_only_where_the_query_has_them_so) {
  put(named_document("x1"), {said("red green blue"), said("green red blue"), said("red x green"), said("red", "green")});
  const auto score = [&](const std::string& query, const std::string& text, const std::string& heading = {}) {
    for (const auto& one : find(query).passages) {
      const std::vector<passage_id> which{one.id};
      const auto shown = store_->load(which);
      if (shown && shown->at(0).passage.text == text && shown->at(0).passage.heading == heading) return one.score;
    }
    return -1.0;
  };
  EXPECT_GT(score("red +green", "red green blue"), score("red green", "red green blue"));
  EXPECT_EQ(score("red +green", "green red blue"), score("red green", "green red blue"));
  EXPECT_EQ(score("red +green", "red x green"), score("red green", "red x green"));
  EXPECT_EQ(score("red +green", "red", "green"), score("red green", "red", "green"));
  EXPECT_GT(score("re* +gre*", "red green blue"), score("re* gre*", "red green blue"));
}

TEST_P(store_contract, counts_new_words_at_once_and_forgets_those_that_have_gone) {
  EXPECT_TRUE(found("fresh").empty());
  put(named_document("x1"), {said("fresh")});
  EXPECT_EQ(found("fresh").size(), 1u);
  const auto alone = find("fresh").passages[0].score;
  put(named_document("x2"), {said("stale")});
  EXPECT_GT(find("fresh").passages[0].score, alone);
  put(named_document("x2"), {said("fresh")});
  EXPECT_EQ(found("fresh").size(), 2u);
  EXPECT_LT(find("fresh").passages[0].score, alone);
  ASSERT_TRUE(store_->remove("x://h/x2"));
  ASSERT_TRUE(store_->commit());
  EXPECT_NEAR(find("fresh").passages[0].score, alone, 1e-12);
}

TEST_P(store_contract, looks_at_what_the_rarest_words_have_when_all_are_too_many) {
  for (int i = 0; i < 30; ++i) {
    ASSERT_TRUE(
        store_->put(named_document("d" + std::to_string(i)),
                    std::vector{said(std::string("common") + (i < 12 ? " middle" : "") + (i % 10 == 0 ? " rare" : ""))}));
  }
  ASSERT_TRUE(store_->commit());
  const auto of = [](const word_matches& what, std::uint64_t words) {
    return std::count_if(what.passages.begin(), what.passages.end(),
                         [&](const match& one) { return (one.words & words) == words; });
  };
  // "rare" and "middle" have 15 together, but "common" would make them too many.
  const auto got = find("common middle rare", {}, 20);
  EXPECT_TRUE(got.is_complete);
  EXPECT_EQ(got.passages.size(), 13u);
  EXPECT_EQ(of(got, 1), 13);
  EXPECT_EQ(of(got, 6), 2);
  const auto rarest = find("common middle rare", {}, 5);
  EXPECT_EQ(rarest.passages.size(), 3u);
  EXPECT_EQ(of(rarest, 5), 3);
  // One word alone always decides, and the latest passages are looked at.
  const auto some = find("common", {}, 10);
  EXPECT_FALSE(some.is_complete);
  ASSERT_EQ(some.passages.size(), 10u);
  auto all = found("common");
  const std::set<passage_id> latest(all.end() - 10, all.end());
  for (const auto& one : some.passages) EXPECT_TRUE(latest.contains(one.id));
  EXPECT_TRUE(find("common", {}, 30).is_complete);
  document_filter which;
  which.uri_prefix = "x://h/d1";
  EXPECT_TRUE(find("common", which, 11).is_complete);
  EXPECT_EQ(find("common", which, 11).passages.size(), 11u);
  EXPECT_FALSE(find("common", which, 10).is_complete);
}

TEST_P(store_contract, filters_as_passes_says) {
  std::mt19937 draw(11);
  const auto one_of = [&](const std::vector<std::string>& some) { return some[draw() % some.size()]; };
  const std::vector<std::string> languages{"", "ja", "ja-JP", "JA", "jav", "en-US", "en"};
  const std::vector<std::string> types{"", "text/plain", "text/plain;charset=utf-8", "text/html", "application/json", "text"};
  const std::vector<std::string> kinds{"", "docs", "doc", "files%", "files_"};
  std::map<std::string, document> all;
  for (int i = 0; i < 150; ++i) {
    document what;
    what.uri = one_of({"docs://", "doc://", "file://", "file:"}) + one_of({"a", "a%20b", "A", "b/", "日"}) + std::to_string(i);
    what.language = one_of(languages);
    what.mime_type = one_of(types);
    what.kind = one_of(kinds);
    if (draw() % 2 == 0) what.priority = static_cast<double>(draw() % 5) / 4;
    if (draw() % 2 == 0) what.modified = milliseconds(std::chrono::milliseconds(static_cast<int>(draw() % 5) - 2));
    if (draw() % 2 == 0) what.audience.push_back(chat_role::user);
    if (draw() % 2 == 0) what.audience.push_back(chat_role::assistant);
    what.owners = one_of({"", "ann@x", "ann@x, 花子", "joann@x", "花子, ann@x.org, bob", "yamada, taro, bob"});
    ASSERT_TRUE(store_->put(what, std::vector{said("word")}));
    all[what.uri] = what;
  }
  ASSERT_TRUE(store_->commit());
  for (int i = 0; i < 150; ++i) {
    document_filter which;
    if (draw() % 4 == 0)
      which.uri_prefix = one_of({"docs://", "doc", "file://a", "file://a%20", "file://A", "docs://b/", "docs://日"});
    if (!which.uri_prefix.empty() && draw() % 2 == 0)
      which.alternative_prefixes = {"file://b/", one_of({"doc://A", "docs://a", "%"})};
    if (draw() % 4 == 0) which.scheme = one_of({"doc", "docs", "file", "fil", "%"});
    if (draw() % 4 == 0) which.language = one_of({"ja", "JA-jp", "en", "j", "*", "ja-", "%"});
    if (draw() % 4 == 0)
      which.mime_type = one_of({"text/plain", "text/", "application/", "text/plain;charset=utf-8", "text", "a%/"});
    if (draw() % 4 == 0) which.kind = one_of({"docs", "doc", "files%", "files_", "do%"});
    if (draw() % 4 == 0) which.audience = draw() % 2 == 0 ? chat_role::user : chat_role::assistant;
    if (draw() % 4 == 0) which.min_priority = static_cast<double>(draw() % 5) / 4;
    if (draw() % 4 == 0) which.modified_since = milliseconds(std::chrono::milliseconds(static_cast<int>(draw() % 5) - 2));
    if (draw() % 3 == 0)
      which.owner = one_of({"ann@x", "花子", "bob", "yamada, taro", "ann", "x", ", ", ",", "%", "taro, yamada"});
    std::set<std::string> expected;
    for (const auto& [uri, what] : all) {
      if (passes(which, what)) expected.insert(uri);
    }
    std::vector<passage_id> ids;
    for (const auto& one : find("word", which).passages) ids.push_back(one.id);
    const auto shown = store_->load(ids);
    ASSERT_TRUE(shown);
    std::set<std::string> got;
    for (const auto& one : *shown) got.insert(one.metadata.uri);
    EXPECT_EQ(got, expected) << which.uri_prefix << '|' << which.scheme << '|' << which.language << '|' << which.mime_type
                             << '|' << which.kind << '|' << which.owner;
  }
}

TEST_P(store_contract, finds_what_one_of_several_owners_has) {
  const std::pair<const char*, const char*> all[]{
      {"a", "ann@x.org"}, {"b", "joann@x.org"}, {"c", "bob@x.org, ann@x.org"}, {"d", "ann@x.org.uk"}, {"e", ""}};
  for (const auto& [name, owners] : all) {
    auto what = named_document(name);
    what.owners = owners;
    put(what, {said("word")});
  }
  const auto of = [&](const std::string& owner) {
    document_filter which;
    which.owner = normalize_owner(owner);
    std::vector<passage_id> ids;
    for (const auto& one : find("word", which).passages) ids.push_back(one.id);
    std::string out;
    const auto shown = store_->load(ids);
    EXPECT_TRUE(shown);
    for (const auto& one : *shown) out += one.metadata.name;
    std::sort(out.begin(), out.end());
    return out;
  };
  EXPECT_EQ(of("Ann@X.org"), "ac") << "in any case, and whole";
  EXPECT_EQ(of("ＢＯＢ@x.org"), "c") << "in any width";
  EXPECT_EQ(of("ann"), "");
  EXPECT_EQ(of(""), "abcde") << "no condition";
}

}  // namespace hondana::search

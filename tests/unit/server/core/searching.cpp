/// A server with an index: what is found follows what is served, and shows nothing else.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <future>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lsa/model.hpp"
#include "lsa/server.hpp"
#include "support/must.hpp"
#include "unit/search/index/postgres_server.hpp"
#include "unit/server/core/fast_time.hpp"
#include "unit/server/core/searched_server.hpp"
#include "unit/text/secrets/corpus.hpp"

namespace {

using namespace hondana;
using namespace hondana::searched;
using namespace std::chrono_literals;
using hondana_test::eventually;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST_F(searching_server, finds_passages_with_their_lines_and_headings) {
  put("memo:///a.md", "# Birds\n\nAbout birds.\n\n" + std::string(400, 'x') + "\n\n## Kingfisher\n\nIt dives for fish.\n" +
                          std::string(400, 'y') + "\n");
  put("memo:///b.md", "# Trees\n\nThe oak is old.\n");
  serve();
  const auto got = find("kingfisher");
  ASSERT_TRUE(got);
  ASSERT_FALSE(got->hits.empty());
  const auto& first = got->hits.front();
  EXPECT_EQ(first.entry.uri, "memo:///a.md");
  EXPECT_EQ(first.passage.first_line, 7u);
  EXPECT_THAT(first.passage.heading, HasSubstr("Kingfisher"));
  EXPECT_THAT(first.reason, HasSubstr("in the heading"));
  EXPECT_TRUE(got->is_complete);
  EXPECT_GT(first.score, 0);
  EXPECT_LE(first.score, 1);
}

TEST_F(searching_server, at_most_three_passages_of_a_resource_are_shown) {
  std::string text = "# Birds\n\n";
  for (int i = 0; i < 6; ++i)
    text += "## Kingfisher " + std::to_string(i) + "\n\nThe kingfisher dives. " + std::string(400, 'x') + "\n\n";
  put("memo:///many.md", text);
  put("memo:///one.md", "# Rivers\n\n" + std::string(400, 'y') + "\n\nThere was a kingfisher, once.\n");
  serve();
  const auto all = uris("kingfisher");
  EXPECT_EQ(std::count(all.begin(), all.end(), "memo:///many.md"), 3);
  EXPECT_EQ(std::count(all.begin(), all.end(), "memo:///one.md"), 1);
}

TEST_F(searching_server, prefixes_find_and_leave_out_what_a_read_of_their_spelling_would_reach) {
  options_.exclude = {"memo:///old%20(1)/"};
  put("memo:///plans%20%281%29/a.md", "# Kingfishers\n\nThey dive for fish.\n");
  put("memo:///plans%20%282%29/b.md", "# Kingfishers\n\nThey dive again.\n");
  put("memo:///old%20%281%29/c.md", "# Kingfishers\n\nThey dived.\n");
  serve();
  EXPECT_EQ(uris("kingfishers").size(), 2u);
  for (const auto* prefix : {"memo:///plans%20(1)/", "memo:///plans%20%281%29/", "memo:///plans%20(1%29/"}) {
    const auto all = read("search:///?q=kingfishers&uriPrefix=" + percent_encode(prefix));
    ASSERT_TRUE(all) << all.error().public_text;
    EXPECT_THAT(*all, HasSubstr("plans%20%281%29/a.md")) << prefix;
    EXPECT_THAT(*all, testing::Not(HasSubstr("b.md"))) << prefix;
  }
}

TEST_F(searching_server, finds_japanese_by_words_inside_of_sentences) {
  put("memo:///j.md", "# 復旧の手順\n\n本番のデータベースを元に戻すときは、当番に連絡します。\n");
  put("memo:///k.md", "# 会議室\n\n予約は前日までに。\n");
  serve();
  EXPECT_THAT(uris("データベース"), ElementsAre("memo:///j.md"));
  EXPECT_THAT(uris("ﾃﾞｰﾀﾍﾞｰｽ"), ElementsAre("memo:///j.md")) << "in half width, too";
  EXPECT_THAT(uris("予約"), ElementsAre("memo:///k.md")) << "two characters are enough";
}

TEST_F(searching_server, follows_what_comes_changes_and_goes) {
  put("memo:///a.md", "an owl");
  serve();
  EXPECT_THAT(uris("owl"), ElementsAre("memo:///a.md"));
  put("memo:///a.md", "a heron");
  put("memo:///b.md", "an owl again");
  wait();
  EXPECT_THAT(uris("owl"), ElementsAre("memo:///b.md"));
  EXPECT_THAT(uris("heron"), ElementsAre("memo:///a.md"));
  ASSERT_TRUE(shelf_->remove("memo:///b.md"));
  EXPECT_THAT(uris("owl"), IsEmpty()) << "what is not there is not found, though it is in the index still";
  wait();
  EXPECT_EQ(search_state_of(*index_).resources, 1u);
}

TEST_F(searching_server, more_important_documents_come_first_where_the_words_say_the_same) {
  put("memo:///1.md", "the lighthouse stands", 0.1);
  put("memo:///2.md", "the lighthouse stands", 0.9);
  put("memo:///3.md", "the lighthouse stands", 0.5);
  serve();
  EXPECT_THAT(uris("lighthouse"), ElementsAre("memo:///2.md", "memo:///3.md", "memo:///1.md"));
}

TEST_F(searching_server, shows_a_caller_nothing_that_it_may_not_see_or_read) {
  put("memo:///open/a.md", "a common word, treasure");
  put("memo:///hidden/b.md", "treasure treasure treasure, map");
  server_options how;
  how.access.rules = {{.identities = {"*"}, .uris = {"memo:///open", "search:///"}, .level = access_level::read},
                      {.identities = {"boss"}, .uris = {"memo:///"}, .level = access_level::read}};
  serve(how);
  EXPECT_THAT(uris("treasure", named("guest")), ElementsAre("memo:///open/a.md"));
  EXPECT_THAT(uris("map", named("guest")), IsEmpty());
  EXPECT_EQ(uris("treasure", named("boss")).size(), 2u);
}

TEST_F(searching_server, secrets_are_masked_before_anything_is_indexed) {
  const auto token = "ghp_" + test::lots(3).alnum(36);
  put("memo:///a.md", "deploy with " + token + " tomorrow");
  serve();
  const auto got = find("deploy");
  ASSERT_TRUE(got);
  ASSERT_EQ(got->hits.size(), 1u);
  EXPECT_EQ(got->hits.front().passage.text.find(token), std::string::npos);
  EXPECT_THAT(uris(token.substr(4)), IsEmpty()) << "what it begins with stays, so that people know what was there";
}

TEST_F(searching_server, queries_full_of_operators_are_words) {
  put("memo:///a.md", "a quoted word");
  serve();
  for (const auto* q :
       {"\"quoted\" OR *", "NEAR(quoted word)", "quoted AND (", "title:quoted", "quoted*\"\"\"'", "-quoted ^quoted"})
    EXPECT_THAT(uris(q), ElementsAre("memo:///a.md")) << q;
  const auto none = find("\" * ( ) : ^");
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, errc::invalid_argument);
}

TEST_F(searching_server, the_index_goes_on_after_a_restart_without_reading_again) {
  const auto folder = folder_of_an_index();
  options_.path = folder + "/index.db";
  auto reads = std::make_shared<std::atomic<int>>(0);
  auto counted = text_entry("memo:///a.md");
  counted.version = "v1";
  const auto make = [reads](const read_request& request) -> result<read_result> {
    read_result out = text_read_result("a pelican", "text/markdown");
    out.version = "v1";
    if (request.cached_version == "v1") {
      out.contents.clear();
      return out;
    }
    ++*reads;
    return out;
  };
  ASSERT_TRUE(shelf_->add(counted, make));
  serve();
  EXPECT_EQ(*reads, 1);
  server_.reset();
  index_.reset();
  serve();
  EXPECT_THAT(uris("pelican"), ElementsAre("memo:///a.md"));
  EXPECT_EQ(*reads, 1) << "its version is known";
  server_.reset();
  index_.reset();
  std::filesystem::remove_all(folder);
}

TEST_F(searching_server, one_resource_that_cannot_be_read_keeps_nothing_else_back) {
  put("memo:///a.md", "a stork");
  ASSERT_TRUE(shelf_->add(text_entry("memo:///broken.md"),
                          [](const read_request&) -> result<read_result> { return fail(errc::access_denied, "no"); }));
  ASSERT_TRUE(shelf_->add(text_entry("memo:///blob.png"), std::string("\x89PNG\0\x01\x02", 7)));
  serve();
  EXPECT_THAT(uris("stork"), ElementsAre("memo:///a.md"));
  EXPECT_EQ(search_state_of(*index_).resources, 3u);
  EXPECT_EQ(search_state_of(*index_).without_text, 2u);
  EXPECT_THAT(uris("broken"), ElementsAre("memo:///broken.md")) << "its name is found";
}

TEST_F(searching_server, finds_what_somebody_owns_as_the_list_says_it_now) {
  auto mine = text_entry("memo:///a.md");
  mine.version = "1";
  mine.metadata.emplace_back("dev.hondana/owner", std::string("Ann@Example.com, 花子"));
  put("memo:///b.md", "a stork of nobody's");
  ASSERT_TRUE(shelf_->add(mine, "a stork"));
  serve();
  const auto owned = [this](const std::string& who) {
    const auto got = read("search:///?q=stork&owner=" + percent_encode(who));
    EXPECT_TRUE(got) << got.error().public_text;
    return got && got->find("memo:///a.md") != std::string::npos && got->find("memo:///b.md") == std::string::npos;
  };
  EXPECT_TRUE(owned("ann@example.COM"));
  EXPECT_TRUE(owned("花子"));
  EXPECT_FALSE(owned("ann"));
  mine.metadata.front().second = std::string("bob@example.com");
  ASSERT_TRUE(shelf_->add(mine, "a stork"));
  wait();
  EXPECT_TRUE(owned("bob@example.com"));
  EXPECT_FALSE(owned("ann@example.com"));
}

TEST_F(searching_server, too_large_a_resource_is_found_by_its_name_alone) {
  options_.max_resource_bytes = 1024;
  put("memo:///huge.md", "walrus " + std::string(4096, 'z'));
  serve();
  EXPECT_THAT(uris("walrus"), IsEmpty());
  EXPECT_THAT(uris("huge"), ElementsAre("memo:///huge.md"));
}

class searching_by_meaning : public searching_server {
 protected:
  void SetUp() override {
    searching_server::SetUp();
    texts_ = {"the car stops at the garage and the mechanic repairs the engine",
              "an automobile engine needs oil from the mechanic", "soup is cooked from carrots and onions in the kitchen",
              "the kitchen has a stove for soup"};
    service_ = std::make_unique<lsa::server>(lsa::model::of(texts_, 4));
    service_->start();
    options_.embeddings.emplace();
    options_.embeddings->url = service_->url();
    options_.embeddings->model = "lsa";
    options_.embeddings->query_timeout = 60s;
    for (std::size_t i = 0; i < texts_.size(); ++i) put("memo:///" + std::to_string(i) + ".md", texts_[i]);
  }
  std::vector<std::string> texts_;
  std::unique_ptr<lsa::server> service_;
};

TEST_F(searching_by_meaning, finds_what_has_none_of_the_words_and_says_so) {
  serve();
  wait_for_vectors();
  EXPECT_EQ(search_state_of(*index_).vectors, 4u);
  const auto got = find("automobile");
  ASSERT_TRUE(got);
  ASSERT_GE(got->hits.size(), 2u);
  EXPECT_EQ(got->hits[0].entry.uri, "memo:///1.md");
  EXPECT_EQ(got->hits[1].entry.uri, "memo:///0.md");
  EXPECT_THAT(got->hits[1].reason, HasSubstr("none of the words; 2nd by meaning"));
}

TEST_F(searching_by_meaning, a_service_that_is_down_leaves_words_and_is_said) {
  lsa::behaviour dead;
  dead.is_dead = true;
  service_->behave(dead);
  serve();
  EXPECT_THAT(uris("soup").size(), 2u);
  const auto got = find("soup");
  ASSERT_TRUE(got);
  EXPECT_EQ(got->note, "searched by words only: the embedding service returns no vectors now") << "and not where it is";
  EXPECT_EQ(search_state_of(*index_).vectors, 0u);
}

TEST_F(searching_by_meaning, another_length_of_vectors_has_all_of_them_made_anew) {
  serve();
  wait_for_vectors();
  lsa::behaviour other;
  other.requests_until_other_dimension = 0;
  service_->behave(other);
  put("memo:///new.md", "a soup of leeks");
  wait();
  wait_for_vectors();
  EXPECT_EQ(search_state_of(*index_).vectors, 5u);
  const auto got = find("leeks");
  ASSERT_TRUE(got);
  EXPECT_THAT(got->note, IsEmpty());
  ASSERT_FALSE(got->hits.empty());
  EXPECT_EQ(got->hits.front().entry.uri, "memo:///new.md");
  EXPECT_THAT(got->hits.front().reason, HasSubstr("by meaning"));
}

TEST_F(searching_by_meaning, a_query_of_another_length_has_all_vectors_made_anew_though_nothing_is_new) {
  serve();
  wait_for_vectors();
  lsa::behaviour other;
  other.requests_until_other_dimension = 0;
  service_->behave(other);
  EXPECT_THAT(uris("soup").size(), 2u) << "by words";
  EXPECT_TRUE(eventually([this] {
    wait();
    wait_for_vectors();
    const auto got = find("soup");
    return got && got->note.empty();
  }));
}

TEST_F(searching_by_meaning, a_text_that_the_service_refuses_is_left_out_and_said_and_the_others_have_vectors) {
  lsa::behaviour fussy;
  for (const int status : {400, 500}) {
    fussy.refuses = "poison";
    fussy.refuses_with = status;
    service_->behave(fussy);
    put("memo:///bad.md", "a poison for the soup");
    serve();
    EXPECT_TRUE(eventually([this] {
      wait();
      return search_state_of(*index_).vectors >= 4;
    }));
    EXPECT_EQ(search_state_of(*index_).vectors, 4u);
    EXPECT_EQ(search_state_of(*index_).passages, 5u);
    wait();
    EXPECT_THAT(search_state_of(*index_).problem, IsEmpty());
    EXPECT_GE(times_in_log("rejects a passage"), 1u);
    EXPECT_THAT(uris("poison"), ElementsAre("memo:///bad.md"));
    server_.reset();
    index_.reset();
  }
}

TEST_F(searching_by_meaning, a_slow_service_costs_a_search_no_more_than_its_time_or_half_of_what_the_caller_has) {
  options_.scan_interval = 1h;
  serve();
  wait_for_vectors();
  lsa::behaviour slow;
  slow.delay = 1h;
  service_->behave(slow);
  manual_clock clock;
  const auto& engine = dynamic_cast<const search::engine&>(*index_->engine());
  for (const auto& [has, costs] : {std::pair<std::chrono::seconds, std::chrono::seconds>{6s, 3s}, {1h, 60s}}) {
    const auto requests = service_->requests();
    request_context by;
    by.deadline = monotonic_clock::now() + has;
    auto finding = std::async(std::launch::async, [&] { return engine.find(by, around(), {"soup", 10, {}}); });
    EXPECT_TRUE(eventually([&] { return service_->requests() > requests; }));
    clock.advance(costs);
    const auto got = finding.get();
    ASSERT_TRUE(got) << got.error().public_text << ": the words have found something";
    EXPECT_EQ(got->hits.size(), 2u);
    EXPECT_EQ(got->note, "searched by words only: the embedding service did not answer in time");
    clock.advance(1min);  // after which it is asked again
  }
  server_.reset();
  index_.reset();
}

TEST_F(searching_by_meaning, passages_of_another_title_have_vectors_again_though_their_version_is_the_same) {
  options_.scan_interval = std::chrono::hours(1);
  // What has no version is read with each look, and then looked through for vectors that are missing.
  const auto add = [this](const std::string& uri, const std::string& title, const std::string& text) {
    auto entry = text_entry(uri);
    entry.version = "v1";
    entry.title = title;
    return shelf_->add(entry, [text](const read_request& request) -> result<read_result> {
      auto out = text_read_result(text, "text/markdown");
      out.version = "v1";
      if (request.cached_version == out.version) out.contents.clear();
      return out;
    });
  };
  for (std::size_t i = 0; i < texts_.size(); ++i) ASSERT_TRUE(add("memo:///" + std::to_string(i) + ".md", "a text", texts_[i]));
  serve();
  wait_for_vectors();
  ASSERT_EQ(search_state_of(*index_).vectors, 4u);
  // Meanwhile the index finds that none is missing.
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(find("soup"));
  ASSERT_TRUE(add("memo:///3.md", "engine", texts_[3]));
  wait();
  const auto got = find("engine");
  ASSERT_TRUE(got);
  const auto is_it = testing::Field(&search::hit::entry, testing::Field(&resource::uri, "memo:///3.md"));
  ASSERT_THAT(got->hits, testing::Contains(is_it));
  wait_for_vectors();
  EXPECT_EQ(search_state_of(*index_).vectors, 4u);
}

TEST_F(searching_by_meaning, vectors_that_cannot_be_read_at_a_start_are_said_and_read_once_they_can_be) {
  const hondana_test::fast_time time;
  auto& there = search::postgres_server::instance();
  options_.postgres_url = there.url();
  options_.postgres_schema = "unread_vectors";
  serve();
  wait_for_vectors();
  ASSERT_EQ(search_state_of(*index_).vectors, 4u);
  server_.reset();
  index_.reset();
  // They can still be counted.
  there.run("ALTER TABLE unread_vectors.vectors RENAME COLUMN numbers TO away");
  auto made = open_search_index(options_);
  ASSERT_TRUE(made) << made.error().public_text;
  index_ = *made;
  server_options how;
  how.search = index_;
  server_ = std::make_unique<server>(must(server::create(std::move(how))));
  ASSERT_TRUE(server_->add(shelf_));
  ASSERT_TRUE(eventually([this] { return times_in_log("cannot be read or written") > 0; }));
  EXPECT_FALSE(wait_until_indexed(*index_, monotonic_clock::now() + 1s)) << "without them it is not complete";
  EXPECT_EQ(search_state_of(*index_).problem, "the index cannot be written or read; see the server's log");
  there.run("ALTER TABLE unread_vectors.vectors RENAME COLUMN away TO numbers");
  wait();
  EXPECT_THAT(search_state_of(*index_).problem, IsEmpty());
  const auto got = find("automobile");
  ASSERT_TRUE(got);
  ASSERT_GE(got->hits.size(), 2u);
  EXPECT_THAT(got->hits[1].reason, HasSubstr("none of the words; 2nd by meaning"));
  server_.reset();
  index_.reset();
}

}  // namespace

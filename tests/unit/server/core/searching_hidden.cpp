/// What callers with rules are told by searches: nothing of what they may not see.
#include <stdlib.h>

#include <atomic>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lsa/model.hpp"
#include "lsa/server.hpp"
#include "support/must.hpp"
#include "unit/server/core/searched_server.hpp"

namespace {

using namespace hondana;
using namespace hondana::searched;
using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class searching_behind_rules : public searching_server {
 protected:
  /// One that nobody but the boss may see, and that cannot be read.
  void put_hidden_and_broken() {
    ASSERT_TRUE(shelf_->add(text_entry("memo:///hidden/broken.md"), [](const read_request&) -> result<read_result> {
      return fail(errc::source_unavailable, "the disk of memo:///hidden/broken.md at 10.0.0.7 is gone");
    }));
  }
  void serve_without_waiting() {
    auto made = open_search_index(options_);
    ASSERT_TRUE(made) << made.error().public_text;
    index_ = *made;
    auto how = with_rules();
    how.search = index_;
    server_ = std::make_unique<server>(must(server::create(how)));
    ASSERT_TRUE(server_->add(shelf_));
  }
  /// Has everything looked at until `what`.
  template <class What>
  bool comes_true(const What& what) {
    return hondana_test::eventually([&] {
      if (what()) return true;
      static_cast<void>(wait_until_indexed(*index_, monotonic_clock::now() + 50ms));
      return false;
    });
  }
};

/// A shelf that says no more what it has.
class silent_shelf final : public memory_provider {
 public:
  silent_shelf() : memory_provider("shelf", "memo:///") {}
  result<resource> describe(const describe_request& request) override {
    if (is_silent) return fail(errc::source_unavailable, "not now");
    return memory_provider::describe(request);
  }
  std::atomic<bool> is_silent = false;
};

TEST_F(searching_behind_rules, lists_of_other_resources_are_found_by_their_names_and_not_by_what_they_list) {
  put("memo:///open/a.md", "an open text");
  put("memo:///hidden/merger.md", "# The merger with Borogove\n\nsecret");
  auto folder = text_entry("memo:///open/folder");
  folder.mime_type = "inode/directory";
  ASSERT_TRUE(shelf_->add(folder, "memo:///hidden/merger.md\nThe merger with Borogove\n"));
  auto outline = text_entry("memo:///open/outline");
  outline.kind = "outline";
  outline.title = "Outline of everything";
  ASSERT_TRUE(shelf_->add(outline, "# All\n\n- The merger with Borogove\n"));
  // One that neither its type nor its kind gives away: it leaves out what its reader may not see.
  ASSERT_TRUE(shelf_->add(text_entry("memo:///open/index.md"), [](const read_request& request) -> result<read_result> {
    std::string text = "# Index\n\nthe usual table\n";
    const bool sees = !request.caller.access_filter || request.caller.access_filter->may_see("memo:///hidden/merger.md");
    if (sees) text += "\n- The merger with Borogove\n";
    return text_read_result(text, "text/markdown");
  }));
  serve(with_rules());
  EXPECT_THAT(uris("Borogove", named("guest")), IsEmpty());
  EXPECT_THAT(uris("merger", named("guest")), IsEmpty());
  EXPECT_THAT(uris("Borogove", named("boss")), ElementsAre("memo:///hidden/merger.md"));
  EXPECT_THAT(uris("usual table", named("guest")), ElementsAre("memo:///open/index.md"));
  EXPECT_THAT(uris("Outline", named("guest")), ElementsAre("memo:///open/outline"));
  EXPECT_THAT(uris("folder", named("guest")), ElementsAre("memo:///open/folder"));
  wait();
  EXPECT_TRUE(search_state_of(*index_).is_complete);
}

TEST_F(searching_behind_rules, ranks_and_scores_are_counted_over_what_the_caller_may_have) {
  put("memo:///open/a.md", "a gazebo and other words in a rather long text of no importance to anybody at all");
  for (int i = 0; i < 20; ++i) put("memo:///hidden/" + std::to_string(i) + ".md", "gazebo gazebo gazebo");
  serve(with_rules());
  for (int round = 0; round < 3; ++round) {
    const auto got = find("gazebo", named("guest"));
    ASSERT_TRUE(got);
    ASSERT_EQ(got->hits.size(), 1u);
    EXPECT_THAT(got->hits.front().reason, HasSubstr("1st by words"));
    EXPECT_GT(got->hits.front().score, 0.8) << "it is the best there is for this caller";
    EXPECT_EQ(uris("gazebo", named("boss")).size(), 10u) << "and what is left out for one is there for another";
  }
}

TEST_F(searching_behind_rules, ranks_are_counted_anew_without_what_is_hidden_only_now) {
  put("memo:///open/a.md", "a gazebo and other words in a rather long text of no importance to anybody at all");
  auto secret = text_entry("memo:///open/b.md");
  secret.kind = "note";
  ASSERT_TRUE(shelf_->add(secret, "gazebo gazebo gazebo"));
  auto how = with_rules();
  how.access.rules.push_back({.identities = {"guest"}, .kinds = {"secret"}, .level = access_level::none});
  serve(how);
  ASSERT_EQ(uris("gazebo", named("guest")).size(), 2u);
  // The index has not heard of it, and must not be asked what it has.
  index_->shutdown();
  secret.kind = "secret";
  ASSERT_TRUE(shelf_->add(secret, "gazebo gazebo gazebo"));
  const auto got = find("gazebo", named("guest"));
  ASSERT_TRUE(got);
  ASSERT_EQ(got->hits.size(), 1u);
  EXPECT_THAT(got->hits.front().reason, HasSubstr("1st by words"));
}

TEST_F(searching_behind_rules, by_meaning_hidden_passages_take_nobodys_place) {
  std::vector<std::string> texts{"the car stops at the garage and the mechanic repairs the engine",
                                 "an automobile engine needs oil from the mechanic",
                                 "soup is cooked from carrots and onions in the kitchen", "the kitchen has a stove for soup"};
  lsa::server service(lsa::model::of(texts, 4));
  service.start();
  options_.embeddings.emplace();
  options_.embeddings->url = service.url();
  options_.embeddings->model = "lsa";
  options_.embeddings->query_timeout = 60s;
  put("memo:///open/0.md", texts[0]);
  put("memo:///open/2.md", texts[2]);
  for (int i = 0; i < 30; ++i) put("memo:///hidden/" + std::to_string(i) + ".md", texts[1] + " " + std::to_string(i));
  serve(with_rules());
  wait_for_vectors();
  const auto got = find("automobile", named("guest"));
  ASSERT_TRUE(got);
  ASSERT_FALSE(got->hits.empty());
  EXPECT_EQ(got->hits.front().entry.uri, "memo:///open/0.md");
  EXPECT_THAT(got->hits.front().reason, HasSubstr("1st by meaning"));
  for (const auto& one : got->hits) EXPECT_THAT(one.entry.uri, HasSubstr("/open/"));
}

TEST_F(searching_behind_rules, remarks_counts_and_problems_tell_nothing_of_what_is_hidden) {
  put("memo:///open/a.md", "a gazebo");
  put("memo:///hidden/b.md", "a gazebo");
  put_hidden_and_broken();
  options_.max_passages = 2;
  serve_without_waiting();
  ASSERT_TRUE(hondana_test::eventually([this] {
    EXPECT_FALSE(wait_until_indexed(*index_, monotonic_clock::now() + 50ms));
    return !search_state_of(*index_).problem.empty();
  }));
  EXPECT_FALSE(search_state_of(*index_).is_complete);
  EXPECT_EQ(search_state_of(*index_).problem, "some resources cannot be read now; see the server's log");
  EXPECT_THAT(log(), HasSubstr("memo:///hidden/broken.md"));
  // A problem is told while the first look is still under way.
  EXPECT_TRUE(comes_true([&] {
    const auto now = find("gazebo", named("guest"));
    return now && now->is_complete;
  }));
  const auto got = find("gazebo", named("guest"));
  ASSERT_TRUE(got);
  EXPECT_TRUE(got->is_complete);
  EXPECT_THAT(got->note, IsEmpty());
  const auto told = read("search:///", named("guest"));
  ASSERT_TRUE(told);
  EXPECT_EQ(told->find("\"resources\""), std::string::npos) << *told;
  EXPECT_EQ(told->find("\"waiting\""), std::string::npos) << *told;
  EXPECT_THAT(*told, Not(HasSubstr("hidden")));
  // Who may see it, too, is told that something is missing.
  const auto of_boss = find("gazebo", named("boss"));
  ASSERT_TRUE(of_boss);
  EXPECT_FALSE(of_boss->is_complete);
  EXPECT_THAT(of_boss->note, Not(HasSubstr("memo:")));
}

TEST_F(searching_behind_rules, waiting_tells_seconds_and_ends_whatever_is_hidden) {
  put("memo:///open/a.md", "a gazebo");
  for (int i = 0; i < 60; ++i) put("memo:///hidden/" + std::to_string(i) + ".md", "a gazebo");
  put_hidden_and_broken();
  serve_without_waiting();
  std::vector<double> told;
  read_request asked;
  asked.caller = named("guest");
  asked.uri = asked.requested_uri = "search:///?wait=complete";
  asked.report_progress = [&](const hondana::progress& how) {
    EXPECT_FALSE(how.total);
    told.push_back(how.done);
  };
  const auto begin = monotonic_clock::now();
  asked.deadline = soon();
  const auto got = index_->source()->read(asked);
  ASSERT_TRUE(got) << got.error().public_text;
  EXPECT_THAT(*std::get<shared_bytes>(got->contents.front().data), HasSubstr("\"isComplete\":true"));
  const auto passed = std::chrono::duration<double>(monotonic_clock::now() - begin).count();
  for (const auto one : told) EXPECT_LE(one, passed);
  EXPECT_LE(static_cast<double>(told.size()), passed);
  // Who may see it waits for it.
  asked.caller = named("boss");
  asked.report_progress = nullptr;
  asked.deadline = monotonic_clock::now() + 500ms;
  const auto of_boss = index_->source()->read(asked);
  EXPECT_TRUE(!of_boss ||
              std::get<shared_bytes>(of_boss->contents.front().data)->find("\"isComplete\":false") != std::string::npos);
}

TEST_F(searching_behind_rules, a_server_that_only_searches_does_not_tell_of_it_either) {
  std::string folder = "/tmp/search_XXXXXX";
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  options_.path = folder + "/index.db";
  put("memo:///open/a.md", "a gazebo");
  put_hidden_and_broken();
  serve_without_waiting();
  ASSERT_TRUE(comes_true([&] { return !search_state_of(*index_).problem.empty(); }));
  const auto first_index = std::move(index_);
  auto first_server = std::move(server_);
  serve_without_waiting();
  ASSERT_TRUE(comes_true([&] { return !search_state_of(*index_).problem.empty(); }));
  EXPECT_TRUE(comes_true([&] {
    const auto got = find("gazebo", named("guest"));
    return got && got->hits.size() == 1 && got->is_complete;
  }));
  const auto waited = read("search:///?wait=complete", named("guest"));
  ASSERT_TRUE(waited) << waited.error().public_text;
  EXPECT_THAT(*waited, HasSubstr("\"isComplete\":true"));
  EXPECT_FALSE(search_state_of(*index_).is_complete) << "for who sees everything";
  server_.reset();
  first_server.reset();
  std::filesystem::remove_all(folder);
}

TEST_F(searching_behind_rules, what_a_silent_source_says_of_an_entry_is_not_guessed_where_rules_look_at_it) {
  for (const bool looks_at_entries : {false, true}) {
    const auto shelf = std::make_shared<silent_shelf>();
    shelf_ = shelf;
    put("memo:///open/a.md", "a gazebo");
    auto how = with_rules();
    if (looks_at_entries)
      how.access.rules.push_back({.identities = {"guest"}, .kinds = {"secret"}, .level = access_level::none});
    serve(how);
    ASSERT_EQ(uris("gazebo", named("guest")).size(), 1u);
    shelf->is_silent = true;
    EXPECT_EQ(uris("gazebo", named("guest")).size(), looks_at_entries ? 0u : 1u);
    server_.reset();
    index_.reset();
  }
}

}  // namespace

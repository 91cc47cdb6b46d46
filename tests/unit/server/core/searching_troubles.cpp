/// What goes wrong while a server indexes: it is said, keeps nothing else back, and ends.
#include <array>
#include <atomic>
#include <condition_variable>
#include <filesystem>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "protocol/model/caller_checks.hpp"
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

class searching_in_trouble : public searching_server {
 protected:
  /// Until `what`. Has everything looked at meanwhile.
  template <class What>
  bool comes_true(const What& what) {
    return hondana_test::eventually([&] {
      if (what()) return true;
      static_cast<void>(wait_until_indexed(*index_, monotonic_clock::now() + 20ms));
      return false;
    });
  }
};

TEST_F(searching_in_trouble, one_document_that_no_store_takes_is_said_once_and_the_others_are_indexed) {
  put("memo:///a.md", "a stork");
  auto bad = text_entry("memo:///bad.md");
  bad.title = "title \xFF\xFE of nothing";
  bad.description = "\xC3\x28";
  ASSERT_TRUE(shelf_->add(bad, "a heron"));
  put("memo:///z.md", "a crane");
  serve();
  EXPECT_THAT(uris("stork"), ElementsAre("memo:///a.md"));
  EXPECT_THAT(uris("crane"), ElementsAre("memo:///z.md"));
  EXPECT_THAT(uris("bad"), ElementsAre("memo:///bad.md")) << "its name is found";
  EXPECT_TRUE(search_state_of(*index_).is_complete);
  EXPECT_THAT(search_state_of(*index_).problem, IsEmpty());
  wait();
  wait();
  EXPECT_EQ(times_in_log("memo:///bad.md"), 1u) << log();
}

TEST_F(searching_in_trouble, a_source_that_throws_for_one_resource_keeps_nothing_else_back) {
  put("memo:///a.md", "a stork");
  ASSERT_TRUE(shelf_->add(text_entry("memo:///throws.md"),
                          [](const read_request&) -> result<read_result> { throw std::runtime_error("/secret/path broke"); }));
  ASSERT_TRUE(
      shelf_->add(text_entry("memo:///empty.md"), [](const read_request&) -> result<read_result> { return read_result(); }));
  put("memo:///z.md", "a crane");
  serve();
  EXPECT_THAT(uris("stork"), ElementsAre("memo:///a.md"));
  EXPECT_THAT(uris("crane"), ElementsAre("memo:///z.md"));
  wait();
  EXPECT_EQ(times_in_log("memo:///throws.md"), 1u) << log();
  EXPECT_THAT(log(), HasSubstr("/secret/path broke"));
  EXPECT_THAT(search_state_of(*index_).problem, Not(HasSubstr("path")));
}

TEST_F(searching_in_trouble, sources_know_the_index_by_what_no_peer_has_and_what_they_refuse_it_ends_the_look) {
  struct {
    std::atomic<int> reads = 0;
    std::atomic<int> by_index = 0;
    std::atomic<bool> had_view = false;
  } seen;
  put("memo:///a.md", "a stork");
  ASSERT_TRUE(shelf_->add(text_entry("memo:///refused.md"), [&seen](const read_request& asked) -> result<read_result> {
    ++seen.reads;
    seen.by_index += model::is_index(asked.caller) ? 1 : 0;
    seen.had_view = asked.caller.access_filter != nullptr;
    return fail(errc::access_denied, "Have the owner allow it.");
  }));
  serve();
  EXPECT_TRUE(search_state_of(*index_).is_complete) << "else whoever waits for the index would wait for ever";
  EXPECT_GT(seen.reads, 0);
  EXPECT_EQ(seen.reads, seen.by_index);
  EXPECT_TRUE(seen.had_view) << "of this one alone";
  EXPECT_FALSE(model::is_index(named("search")));
  EXPECT_EQ(times_in_log("Have the owner allow it."), 1u) << log();
  server_.reset();
}

TEST_F(searching_in_trouble, a_problem_ends_when_it_ends) {
  auto is_broken = std::make_shared<std::atomic<bool>>(true);
  put("memo:///a.md", "a stork");
  ASSERT_TRUE(shelf_->add(text_entry("memo:///b.md"), [is_broken](const read_request&) -> result<read_result> {
    if (*is_broken) return fail(errc::source_unavailable, "down at db.internal:5432", "errno 111");
    return text_read_result("a heron", "text/markdown");
  }));
  options_.scan_interval = 100ms;
  auto made = open_search_index(options_);
  ASSERT_TRUE(made);
  index_ = *made;
  server_options how;
  how.search = index_;
  server_ = std::make_unique<server>(must(server::create(how)));
  ASSERT_TRUE(server_->add(shelf_));
  ASSERT_TRUE(comes_true([&] { return !search_state_of(*index_).problem.empty(); }));
  EXPECT_EQ(search_state_of(*index_).problem, "some resources cannot be read now; see the server's log");
  const auto health = [this] { return dynamic_cast<health_source&>(*index_->source()).health(); };
  EXPECT_FALSE(health().is_healthy);
  EXPECT_THAT(health().detail, Not(HasSubstr("memo:")));
  EXPECT_THAT(log(), HasSubstr("db.internal"));
  EXPECT_THAT(uris("stork"), ElementsAre("memo:///a.md"));
  *is_broken = false;
  wait();
  EXPECT_THAT(search_state_of(*index_).problem, IsEmpty());
  EXPECT_TRUE(health().is_healthy);
  EXPECT_THAT(uris("heron"), ElementsAre("memo:///b.md"));
}

TEST_F(searching_in_trouble, there_are_never_more_passages_than_may_be_and_what_did_not_fit_comes_when_there_is_room) {
  options_.max_passages = 3;
  for (const auto* name : {"a", "b", "c", "d", "e"})
    put("memo:///" + std::string(name) + ".md", "a stork " + std::string(name));
  serve();
  EXPECT_EQ(search_state_of(*index_).passages, 3u);
  EXPECT_FALSE(search_state_of(*index_).is_complete);
  EXPECT_EQ(search_state_of(*index_).problem, "the index is full: not everything fits into max_passages");
  EXPECT_EQ(uris("stork").size(), 3u);
  const auto before = uris("stork");
  ASSERT_TRUE(shelf_->remove(before[0]));
  ASSERT_TRUE(shelf_->remove(before[1]));
  // The trouble ends first, and then the look.
  ASSERT_TRUE(comes_true([&] { return search_state_of(*index_).is_complete && search_state_of(*index_).passages == 3; }));
  EXPECT_THAT(search_state_of(*index_).problem, IsEmpty());
  EXPECT_EQ(uris("stork").size(), 3u);
}

TEST_F(searching_in_trouble, what_would_fit_and_cannot_be_read_is_not_read_all_the_time) {
  options_.max_passages = 2;
  options_.scan_interval = std::chrono::hours(1);
  put("memo:///a.md", "a stork");
  put("memo:///b.md", "a stork");
  serve();
  struct {
    std::mutex mutex{};
    std::condition_variable changed{};
    int reads = 0;
    bool is_broken = false;
  } state;
  ASSERT_TRUE(shelf_->add(text_entry("memo:///c.md"), [&state](const read_request&) -> result<read_result> {
    const std::lock_guard lock(state.mutex);
    ++state.reads;
    state.changed.notify_all();
    if (state.is_broken) return fail(errc::source_unavailable, "down");
    return text_read_result("a stork", "text/markdown");
  }));
  wait();
  ASSERT_FALSE(search_state_of(*index_).is_complete) << "there is no room for it";
  {
    std::unique_lock lock(state.mutex);
    state.is_broken = true;
    const int before = state.reads;
    lock.unlock();
    ASSERT_TRUE(shelf_->remove("memo:///a.md"));
    lock.lock();
    ASSERT_TRUE(state.changed.wait_for(lock, hondana_test::event_deadline, [&] { return state.reads > before; }));
    EXPECT_FALSE(state.changed.wait_for(lock, 2s, [&] { return state.reads > before + 20; }));
    state.is_broken = false;
  }
  EXPECT_TRUE(comes_true([&] { return uris("stork").size() == 2; }));
  server_.reset();
  index_.reset();
}

TEST_F(searching_in_trouble, only_a_few_wait_at_once_and_waiting_ends_when_the_peer_goes_or_the_server) {
  put("memo:///a.md", "a stork");
  auto is_broken = std::make_shared<std::atomic<bool>>(true);
  ASSERT_TRUE(shelf_->add(text_entry("memo:///b.md"), [is_broken](const read_request&) -> result<read_result> {
    if (*is_broken) return fail(errc::source_unavailable, "down");
    return text_read_result("a heron", "text/markdown");
  }));
  auto made = open_search_index(options_);
  ASSERT_TRUE(made);
  index_ = *made;
  server_options how;
  how.search = index_;
  server_ = std::make_unique<server>(must(server::create(how)));
  ASSERT_TRUE(server_->add(shelf_));
  std::stop_source gone;
  std::vector<std::thread> waiting;
  std::atomic<int> cancelled = 0;
  std::atomic<int> refused = 0;
  waiting.reserve(6);
  for (int i = 0; i < 6; ++i) {
    waiting.emplace_back([&] {
      const auto got = read("search:///?wait=complete", {}, gone.get_token());
      if (!got && got.error().code == errc::cancelled) ++cancelled;
      if (!got && got.error().code == errc::overloaded) ++refused;
    });
  }
  ASSERT_TRUE(comes_true([&] { return refused == 2; }));
  gone.request_stop();
  for (auto& one : waiting) one.join();
  EXPECT_EQ(cancelled, 4);
  result<std::string> last;
  std::thread still([&] { last = read("search:///?wait=complete"); });
  index_->shutdown();
  still.join();
  EXPECT_FALSE(last);
}

TEST_F(searching_in_trouble, a_title_that_stands_in_the_contents_outlives_restarts_and_looks_that_find_nothing_new) {
  const auto folder = folder_of_an_index();
  options_.path = folder + "/index.db";
  auto versioned = text_entry("memo:///a.md");
  versioned.version = "v1";
  const auto reads = std::make_shared<std::atomic<int>>(0);
  ASSERT_TRUE(shelf_->add(versioned, [reads](const read_request& request) -> result<read_result> {
    ++*reads;
    auto out = text_read_result("# Pelicans\n\nThey fish.\n", "text/markdown");
    out.version = "v1";
    if (request.cached_version == out.version) out.contents.clear();
    return out;
  }));
  const auto expect_title = [this](const char* when) {
    const auto got = find("pelicans");
    ASSERT_TRUE(got);
    ASSERT_EQ(got->hits.size(), 1u);
    EXPECT_THAT(got->hits.front().reason, HasSubstr("in the title")) << when;
  };
  for (int start = 0; start < 3; ++start) {
    const int before = *reads;
    serve();
    if (start > 0) {
      EXPECT_EQ(*reads, before) << "it has not changed";
    }
    expect_title("after a start");
    const int read = *reads;
    must(server_->notify_resource_updated("memo:///a.md"));
    ASSERT_TRUE(comes_true([&] { return *reads > read; })) << start << log();
    wait();
    expect_title("after it was looked at again");
    server_.reset();
    index_.reset();
  }
  std::filesystem::remove_all(folder);
}

TEST_F(searching_in_trouble, a_title_that_only_the_contents_say_is_told_also_while_the_source_has_not_looked_into_them) {
  const auto folder = folder_of_an_index();
  options_.path = folder + "/index.db";
  double priority = 0.5;
  const auto put_entry = [this, &priority](const std::string& title, bool is_provisional) {
    auto entry = text_entry("memo:///handbook.pdf");
    entry.mime_type = "text/plain";
    entry.version = "v1";
    entry.title = title;
    entry.annotations.priority = priority;
    if (is_provisional) entry.metadata = {{"dev.hondana/provisional", true}};
    return shelf_->add(entry, [](const read_request& request) -> result<read_result> {
      auto out = text_read_result("Wear a helmet.\n", "text/plain");
      out.contents.front().title = "Safety Handbook";
      out.version = "v1";
      if (request.cached_version == out.version) out.contents.clear();
      return out;
    });
  };
  const auto title = [this] {
    const auto got = find("helmet");
    return got && got->hits.size() == 1 ? got->hits.front().entry.title : std::string("?");
  };
  const auto is_found_by_title = [this] { return uris("safety").size() == 1; };
  ASSERT_TRUE(put_entry("handbook", true));
  serve();
  EXPECT_EQ(title(), "Safety Handbook") << "before the source has said so";
  ASSERT_TRUE(put_entry("Safety Handbook", false));
  wait();
  EXPECT_EQ(title(), "Safety Handbook");
  // The next server has not looked into it yet.
  server_.reset();
  index_.reset();
  ASSERT_TRUE(put_entry("handbook", true));
  serve();
  EXPECT_EQ(title(), "Safety Handbook") << "after a restart";
  EXPECT_TRUE(is_found_by_title());
  // A rule has changed meanwhile.
  priority = 0.9;
  ASSERT_TRUE(put_entry("handbook", true));
  wait();
  EXPECT_EQ(title(), "Safety Handbook");
  search::document_filter important;
  important.min_priority = 0.8;
  const auto weighed = find("helmet", {}, important);
  ASSERT_TRUE(weighed);
  EXPECT_EQ(weighed->hits.size(), 1u) << "though the source has not looked into it";
  ASSERT_TRUE(put_entry("Rules", false));
  wait();
  EXPECT_EQ(title(), "Rules") << "what a source says that knows counts";
  EXPECT_FALSE(is_found_by_title());
  server_.reset();
  index_.reset();
  std::filesystem::remove_all(folder);
}

TEST_F(searching_in_trouble, what_is_watched_is_watched_after_a_restart_and_after_a_reload_that_keeps_its_source) {
  const auto folder = folder_of_an_index();
  options_.path = folder + "/index.db";
  options_.scan_interval = std::chrono::hours(1);
  auto texts = std::make_shared<std::array<std::atomic<const char*>, 2>>();
  for (std::size_t i = 0; i < texts->size(); ++i) {
    (*texts)[i] = "v1";
    auto versioned = text_entry("memo:///" + std::to_string(i) + ".md");
    versioned.version = "v1";
    // Its list says nothing of a change; only who is told of it can know.
    ASSERT_TRUE(shelf_->add(versioned, [texts, i](const read_request& request) -> result<read_result> {
      auto out = text_read_result((*texts)[i].load(), "text/markdown");
      out.version = (*texts)[i].load();
      if (request.cached_version == out.version) out.contents.clear();
      return out;
    }));
  }
  serve();
  server_.reset();
  index_.reset();
  serve();
  (*texts)[0] = "heron";
  must(server_->notify_resource_updated("memo:///0.md"));
  EXPECT_TRUE(comes_true([&] { return !uris("heron").empty(); })) << "after a restart";
  server_options again;
  again.search = index_;
  ASSERT_TRUE(server_->replace(again, {shelf_}));
  wait();
  (*texts)[1] = "crane";
  must(server_->notify_resource_updated("memo:///1.md"));
  EXPECT_TRUE(comes_true([&] { return !uris("crane").empty(); })) << "after a reload, and while everything is looked at";
  server_.reset();
  index_.reset();
  std::filesystem::remove_all(folder);
}

TEST_F(searching_in_trouble, what_gave_no_text_is_read_again_once_after_each_start_and_not_with_each_look) {
  const auto folder = folder_of_an_index();
  options_.path = folder + "/index.db";
  struct shown {
    std::atomic<int> reads = 0;
    std::atomic<bool> is_refused = false;
  };
  const auto make = [this](const std::string& uri, const std::shared_ptr<shown>& how, const std::string& text) {
    auto versioned = text_entry(uri);
    versioned.version = "v1";
    return shelf_->add(versioned, [how, text](const read_request& request) -> result<read_result> {
      ++how->reads;
      if (how->is_refused) return fail(errc::access_denied, "Have the owner allow it.");
      auto out = text_read_result(text, "text/markdown");
      out.version = "v1";
      if (request.cached_version == out.version) out.contents.clear();
      return out;
    });
  };
  const auto large = std::make_shared<shown>();
  const auto refused = std::make_shared<shown>();
  const auto never = std::make_shared<shown>();
  const auto plain = std::make_shared<shown>();
  refused->is_refused = never->is_refused = true;
  ASSERT_TRUE(make("memo:///large.md", large, "a walrus " + std::string(2000, 'z')));
  ASSERT_TRUE(make("memo:///refused.md", refused, "a heron"));
  ASSERT_TRUE(make("memo:///never.md", never, "a crane"));
  ASSERT_TRUE(make("memo:///plain.md", plain, "a stork"));
  options_.max_resource_bytes = 1024;
  serve();
  EXPECT_EQ(search_state_of(*index_).without_text, 3u);
  // The reasons go away, and no version changes with them.
  server_.reset();
  index_.reset();
  refused->is_refused = false;
  options_.max_resource_bytes = 16u << 20;
  const auto reads = [](const std::shared_ptr<shown>& of) { return of->reads.exchange(0); };
  for (const auto& one : {large, refused, never, plain}) EXPECT_GT(reads(one), 0);
  serve();
  EXPECT_THAT(uris("walrus"), ElementsAre("memo:///large.md"));
  EXPECT_THAT(uris("heron"), ElementsAre("memo:///refused.md"));
  EXPECT_EQ(reads(large), 1);
  EXPECT_EQ(reads(refused), 1);
  EXPECT_EQ(reads(never), 1) << "it might have given one";
  EXPECT_EQ(reads(plain), 0) << "its version is known";
  for (int look = 0; look < 3; ++look) {
    refresh_search_index(*index_);
    wait();
  }
  EXPECT_EQ(reads(never) + reads(large) + reads(refused), 0) << "at looks that find nothing new";
  EXPECT_EQ(search_state_of(*index_).without_text, 1u);
  server_.reset();
  index_.reset();
  serve();
  EXPECT_EQ(reads(never), 1) << "after the next start";
  EXPECT_EQ(reads(large) + reads(refused) + reads(plain), 0);
  server_.reset();
  index_.reset();
  std::filesystem::remove_all(folder);
}

}  // namespace

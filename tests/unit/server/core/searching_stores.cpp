/// A server with an index when what keeps it changes under it: secrets that are masked from now on, a second server, damage, a
/// full disk, and a PostgreSQL that two share.
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <hondana/clock.hpp>
#include <hondana/memory_provider.hpp>
#include <hondana/search.hpp>
#include <hondana/server.hpp>

#include "deadline.hpp"
#include "search/index/search_engine.hpp"
#include "server/core/core.hpp"
#include "server/session/session.hpp"
#include "server/tools/search_engine.hpp"
#include "support/must.hpp"
#include "unit/search/index/postgres_server.hpp"
#include "unit/server/core/fast_time.hpp"
#include "unit/text/secrets/corpus.hpp"

namespace {

using namespace hondana;
using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// A shelf whose secrets are masked or not, and whose contents come when they are let.
class shelf_of_secrets final : public memory_provider {
 public:
  shelf_of_secrets(const std::string& token, hondana::secret_masking how, bool is_open)
      : memory_provider("shelf", "memo:///"), how_(how), is_open_(is_open) {
    resource entry;
    entry.uri = "memo:///a.md";
    entry.name = "a.md";
    entry.mime_type = "text/markdown";
    entry.version = "v1";
    const auto make = [this, token](const read_request& request) -> result<read_result> {
      std::unique_lock lock(mutex_);
      if (!opened_.wait_for(lock, request.stop, hondana_test::event_deadline, [this] { return is_open_; }))
        return fail(errc::timed_out, "closed");
      read_result out;
      if (request.cached_version != "v1") out = text_read_result("deploy with " + token + " tomorrow", "text/markdown");
      out.version = "v1";
      return out;
    };
    EXPECT_TRUE(add(entry, make));
  }
  provider_traits traits() const noexcept override { return {.masking = how_}; }
  void open() {
    {
      const std::lock_guard lock(mutex_);
      is_open_ = true;
    }
    opened_.notify_all();
  }

 private:
  const hondana::secret_masking how_;
  std::mutex mutex_;
  std::condition_variable_any opened_;
  bool is_open_;
};

/// One server with one index.
class serving {
 public:
  serving(search_options how, std::shared_ptr<provider> shelf) {
    how.tokenizer = tokenizer_kind::trigrams;
    how.log = [this](std::string_view line) {
      const std::lock_guard lock(mutex_);
      log_ += std::string(line) + '\n';
    };
    auto made = open_search_index(std::move(how));
    EXPECT_TRUE(made) << made.error().public_text << " | " << made.error().private_text;
    if (!made) return;
    index_ = *made;
    server_options options;
    options.search = index_;
    server_ = std::make_unique<server>(must(server::create(std::move(options))));
    EXPECT_TRUE(server_->add(std::move(shelf)));
  }
  ~serving() {
    server_.reset();
    index_.reset();
  }
  serving(const serving&) = delete;
  serving& operator=(const serving&) = delete;

  void wait() const { EXPECT_TRUE(wait_until_indexed(*index_, monotonic_clock::now() + hondana_test::event_deadline)); }
  /// Until it holds; false: it has not come to that.
  template <class Condition>
  [[nodiscard]] bool comes_to(const Condition& holds) const {
    return hondana_test::eventually([&] {
      if (holds()) return true;
      refresh_search_index(*index_);
      static_cast<void>(wait_until_indexed(*index_, monotonic_clock::now() + 100ms));
      return false;
    });
  }
  result<search::search_results> find(const std::string& q) const {
    request_context by;
    by.deadline = monotonic_clock::now() + hondana_test::event_deadline;
    const auto context = server_->core()->current();
    const auto& engine = dynamic_cast<const search::engine&>(*index_->engine());
    return engine.find(by, {context->catalog, context->gate, context->timers, nullptr}, {q, 10, {}});
  }
  std::vector<std::string> uris(const std::string& q) const {
    std::vector<std::string> out;
    const auto got = find(q);
    EXPECT_TRUE(got) << got.error().public_text;
    if (!got) return out;
    for (const auto& one : got->hits) out.push_back(one.entry.uri);
    return out;
  }
  void replace(std::shared_ptr<provider> shelf) const {
    server_options options;
    options.search = index_;
    const auto done = server_->replace(std::move(options), {std::move(shelf)});
    EXPECT_TRUE(done) << done.error().public_text;
  }
  void tell_of(std::string_view uri) const { EXPECT_TRUE(server_->notify_resource_updated(uri)); }
  search_state state() const { return search_state_of(*index_); }
  std::string log() const {
    const std::lock_guard lock(mutex_);
    return log_;
  }

 private:
  mutable std::mutex mutex_;
  std::string log_;
  std::shared_ptr<search_index> index_;
  std::unique_ptr<server> server_;
};

class searching_stores : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_NE(::mkdtemp(folder_.data()), nullptr);
    options_.path = folder_ + "/index.db";
    options_.scan_interval = 500ms;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  static std::shared_ptr<memory_provider> shelf_of(int count, const std::string& words) {
    auto out = std::make_shared<memory_provider>("shelf", "memo:///");
    for (int i = 0; i < count; ++i) {
      resource entry;
      entry.uri = "memo:///" + std::to_string(i) + ".md";
      entry.name = std::to_string(i) + ".md";
      entry.mime_type = "text/markdown";
      EXPECT_TRUE(out->add(entry, words + " number" + std::to_string(i)));
    }
    return out;
  }

  hondana_test::fast_time time_;
  std::string folder_ = "/tmp/search_XXXXXX";
  search_options options_{};
  const std::string token_ = "ghp_" + test::lots(3).alnum(36);
};

TEST_F(searching_stores, secrets_that_were_indexed_openly_are_found_no_more_from_the_moment_they_are_masked) {
  const serving ours(options_, std::make_shared<shelf_of_secrets>(token_, secret_masking::none, true));
  ours.wait();
  ASSERT_THAT(ours.uris(token_), ElementsAre("memo:///a.md"));
  ASSERT_TRUE(ours.find(token_)->hits.front().passage.text.find(token_) != std::string::npos);
  const auto masked = std::make_shared<shelf_of_secrets>(token_, secret_masking::by_server, false);
  ours.replace(masked);
  EXPECT_THAT(ours.uris(token_), IsEmpty()) << "before it is read again";
  EXPECT_THAT(ours.uris("deploy"), IsEmpty());
  masked->open();
  ours.wait();
  EXPECT_THAT(ours.uris(token_.substr(4)), IsEmpty());
  const auto got = ours.find("deploy");
  ASSERT_TRUE(got);
  ASSERT_EQ(got->hits.size(), 1u);
  EXPECT_EQ(got->hits.front().passage.text.find(token_), std::string::npos);
}

TEST_F(searching_stores, secrets_that_were_indexed_openly_are_not_found_after_a_restart_that_masks_them) {
  {
    const serving ours(options_, std::make_shared<shelf_of_secrets>(token_, secret_masking::none, true));
    ours.wait();
    ASSERT_THAT(ours.uris(token_), ElementsAre("memo:///a.md"));
  }
  const auto masked = std::make_shared<shelf_of_secrets>(token_, secret_masking::by_source, false);
  const serving ours(options_, masked);
  EXPECT_THAT(ours.uris(token_), IsEmpty());
  EXPECT_THAT(ours.uris("deploy"), IsEmpty());
  masked->open();
  // The index of the server before ends a moment after that, and this one follows it until then.
  EXPECT_TRUE(ours.comes_to([&] { return ours.uris("deploy") == std::vector<std::string>{"memo:///a.md"}; }))
      << "its version is the same, and yet it was read anew";
}

TEST_F(searching_stores, a_second_server_searches_the_index_of_the_first_and_takes_it_over) {
  const auto shelf = shelf_of(20, "pelican");
  auto first = std::make_unique<serving>(options_, shelf);
  first->wait();
  const serving second(options_, shelf);
  EXPECT_EQ(second.uris("pelican").size(), 10u);
  second.wait();
  EXPECT_EQ(second.state().resources, 20u);
  EXPECT_TRUE(second.state().is_complete);
  EXPECT_EQ(second.state().problem, "");
  EXPECT_THAT(second.log(), HasSubstr("another process writes the index"));
  resource entry;
  entry.uri = "memo:///new.md";
  entry.name = "new.md";
  ASSERT_TRUE(shelf->add(entry, "a flamingo"));
  EXPECT_TRUE(first->comes_to([&] { return !first->uris("flamingo").empty(); }));
  EXPECT_THAT(second.uris("flamingo"), ElementsAre("memo:///new.md")) << "as soon as it is committed";
  first.reset();
  entry.uri = "memo:///newer.md";
  ASSERT_TRUE(shelf->add(entry, "a heron"));
  EXPECT_TRUE(second.comes_to([&] { return !second.uris("heron").empty(); }));
  // Counted when its first pass over all is done.
  EXPECT_TRUE(second.comes_to([&] { return second.state().resources == 22; })) << second.state().resources;
  EXPECT_THAT(second.log(), HasSubstr("this process writes the index"));
}

TEST_F(searching_stores, a_damaged_index_is_made_anew_while_searches_go_on) {
  const serving ours(options_, shelf_of(200, "pelican stork heron"));
  ours.wait();
  const auto size = std::filesystem::file_size(*options_.path);
  const auto log_size = std::filesystem::file_size(*options_.path + "-wal");
  {
    // Both the file and what is not in it yet; without closing it here, which would give up SQLite's locks.
    static std::fstream file;
    static std::fstream log;
    file.open(*options_.path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(100);
    file << std::string(size - 100, '\x55') << std::flush;
    log.open(*options_.path + "-wal", std::ios::in | std::ios::out | std::ios::binary);
    log << std::string(log_size, '\x55') << std::flush;
  }
  // Whoever read last has pages in memory; sooner or later somebody meets the damage.
  EXPECT_TRUE(ours.comes_to([&] {
    for (int i = 0; i < 200; i += 7) {
      const auto got = ours.find("number" + std::to_string(i));
      EXPECT_TRUE(got) << got.error().public_text;
    }
    return ours.log().find("and a new one was created") != std::string::npos;
  }));
  ours.wait();
  EXPECT_TRUE(ours.comes_to([&] { return ours.state().resources == 200 && ours.state().is_complete; }));
  EXPECT_THAT(ours.uris("number123"), ElementsAre("memo:///123.md"));
  EXPECT_EQ(ours.state().problem, "");
}

/// No file of this process grows beyond a size while it lives.
class no_room {
 public:
  explicit no_room(std::uint64_t most) {
    before_ = ::signal(SIGXFSZ, SIG_IGN);
    ::getrlimit(RLIMIT_FSIZE, &usual_);
    const rlimit now{most, usual_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &now);
  }
  ~no_room() {
    ::setrlimit(RLIMIT_FSIZE, &usual_);
    ::signal(SIGXFSZ, before_);
  }
  no_room(const no_room&) = delete;
  no_room& operator=(const no_room&) = delete;

 private:
  rlimit usual_{};
  void (*before_)(int) = SIG_DFL;
};

TEST_F(searching_stores, a_full_disk_is_said_and_what_waits_is_indexed_once_there_is_room) {
  const auto shelf = shelf_of(5, "pelican");
  const serving ours(options_, shelf);
  ours.wait();
  {
    const no_room now(std::filesystem::file_size(*options_.path + "-wal") + 20'000);
    std::string bulky = "heron";
    for (int i = 0; i < 20'000; ++i) bulky += " w" + std::to_string(i * 7919);
    resource entry;
    for (int i = 0; i < 3; ++i) {
      entry.uri = "memo:///bulky" + std::to_string(i) + ".md";
      entry.name = "bulky";
      ASSERT_TRUE(shelf->add(entry, bulky));
    }
    EXPECT_TRUE(ours.comes_to([&] { return !ours.state().problem.empty(); }));
    EXPECT_THAT(ours.state().problem, HasSubstr("the index cannot be written"));
    EXPECT_THAT(ours.log(), HasSubstr("the disk is full, so the search index cannot be written; free disk space"));
    const auto got = ours.find("pelican");
    ASSERT_TRUE(got);
    EXPECT_EQ(got->hits.size(), 5u);
    EXPECT_THAT(got->note, HasSubstr("the index cannot be written"));
    EXPECT_FALSE(got->is_complete);
  }
  EXPECT_TRUE(ours.comes_to([&] { return ours.uris("heron").size() == 3; }));
  ours.wait();
  EXPECT_EQ(ours.state().problem, "") << ours.log();
  EXPECT_EQ(ours.state().resources, 8u);
}

TEST_F(searching_stores, an_index_that_a_change_could_not_be_written_to_is_not_complete) {
  auto& there = search::postgres_server::instance();
  options_.path.reset();
  options_.postgres_url = there.url();
  options_.postgres_schema = "unwritten";
  options_.scan_interval = std::chrono::hours(1);
  const auto text = std::make_shared<std::atomic<const char*>>("a pelican");
  const auto shelf = std::make_shared<memory_provider>("shelf", "memo:///");
  resource entry;
  entry.uri = "memo:///a.md";
  entry.name = "a.md";
  // Its list says nothing of a change; only who is told of it can know.
  ASSERT_TRUE(shelf->add(entry, [text](const read_request&) { return text_read_result(text->load(), "text/markdown"); }));
  const serving ours(options_, shelf);
  ours.wait();
  ASSERT_TRUE(ours.state().is_complete);
  // Neither can it be read, so that nothing else than the failure is told of.
  there.run("ALTER TABLE unwritten.documents RENAME TO away");
  *text = "a heron";
  ours.tell_of(entry.uri);
  ASSERT_TRUE(hondana_test::eventually([&] { return !ours.state().problem.empty(); }));
  ASSERT_THAT(ours.state().problem, HasSubstr("the index cannot be written"));
  EXPECT_TRUE(ours.comes_to([&] { return !ours.state().is_complete; }));
  there.run("ALTER TABLE unwritten.away RENAME TO documents");
  EXPECT_TRUE(ours.comes_to([&] { return ours.uris("heron") == std::vector<std::string>{"memo:///a.md"}; }));
  ours.wait();
  EXPECT_TRUE(ours.state().is_complete);
  EXPECT_EQ(ours.state().problem, "");
}

TEST_F(searching_stores, two_servers_share_one_postgresql_of_which_one_indexes) {
  options_.path.reset();
  options_.postgres_url = search::postgres_server::instance().url();
  options_.postgres_schema = "two_servers";
  const auto shelf = shelf_of(20, "pelican");
  auto first = std::make_unique<serving>(options_, shelf);
  auto second = std::make_unique<serving>(options_, shelf);
  first->wait();
  second->wait();
  EXPECT_EQ(first->uris("pelican").size(), 10u);
  EXPECT_EQ(second->uris("pelican").size(), 10u);
  EXPECT_EQ(first->state().resources, 20u);
  EXPECT_TRUE(second->comes_to([&] { return second->state().resources == 20 && second->state().is_complete; }));
  const auto follows = [](const serving& one) { return one.log().find("another server writes") != std::string::npos; };
  EXPECT_NE(follows(*first), follows(*second)) << "one of them";
  auto& indexing = follows(*first) ? second : first;
  auto& following = follows(*first) ? first : second;
  EXPECT_EQ(search::postgres_server::instance().run("SELECT count(*) FROM two_servers.documents"), "20");
  resource entry;
  entry.uri = "memo:///new.md";
  entry.name = "new.md";
  ASSERT_TRUE(shelf->add(entry, "a flamingo"));
  EXPECT_TRUE(indexing->comes_to([&] { return !indexing->uris("flamingo").empty(); }));
  EXPECT_THAT(following->uris("flamingo"), ElementsAre("memo:///new.md"));
  // Both lose their connections, and go on.
  search::postgres_server::instance().run(
      "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE application_name='hondana'");
  entry.uri = "memo:///newer.md";
  ASSERT_TRUE(shelf->add(entry, "a heron"));
  EXPECT_TRUE(following->comes_to([&] { return !following->uris("heron").empty(); }));
  EXPECT_EQ(search::postgres_server::instance().run("SELECT count(*) FROM two_servers.documents"), "22");
  indexing.reset();
  entry.uri = "memo:///last.md";
  ASSERT_TRUE(shelf->add(entry, "an ibis"));
  EXPECT_TRUE(following->comes_to([&] { return !following->uris("ibis").empty(); }));
  EXPECT_EQ(search::postgres_server::instance().run("SELECT count(*) FROM two_servers.documents"), "23");
}

TEST_F(searching_stores, an_index_in_postgresql_goes_on_once_its_model_can_be_changed) {
  auto& there = search::postgres_server::instance();
  options_.path.reset();
  options_.postgres_url = there.url();
  options_.postgres_schema = "other_model";
  const auto shelf = shelf_of(3, "pelican");
  {
    const serving ours(options_, shelf);
    ours.wait();
  }
  there.run("INSERT INTO other_model.facts VALUES('model','old')");
  there.run("CREATE FUNCTION other_model.refuse() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN RAISE EXCEPTION 'no'; END$$");
  there.run(
      "CREATE TRIGGER refuses BEFORE DELETE ON other_model.vectors FOR EACH STATEMENT EXECUTE FUNCTION other_model.refuse()");
  const serving ours(options_, shelf);
  ASSERT_TRUE(ours.comes_to([&] { return !ours.state().problem.empty(); }));
  there.run("DROP TRIGGER refuses ON other_model.vectors");
  resource entry;
  entry.uri = "memo:///new.md";
  entry.name = "new.md";
  ASSERT_TRUE(shelf->add(entry, "a flamingo"));
  EXPECT_TRUE(ours.comes_to([&] { return !ours.uris("flamingo").empty(); }));
}

}  // namespace

/// Following what analyses rest on while analyses come and go.
#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <hondana/capabilities.hpp>
#include <hondana/provider.hpp>
#include <hondana/provider_host.hpp>
#include <hondana/value.hpp>

#include "deadline.hpp"
#include "sources/analyses/analysis_resources.hpp"
#include "unit/sources/analyses/made.hpp"

namespace hondana::analyses_source {
namespace {

using namespace std::chrono_literals;

/// A server in which everything has version 1, until it is given another.
class long_street final : public provider_host {
 public:
  void change(const std::string& uri, std::string version) {
    const std::lock_guard lock(mutex_);
    versions_[uri] = std::move(version);
  }
  /// Whoever asks for one of these waits.
  void hold(std::set<std::string> uris) {
    const std::lock_guard lock(mutex_);
    held_ = std::move(uris);
    changed_.notify_all();
  }
  /// Called as one is let go, before it is.
  void on_letting_go(std::function<void(const std::string& uri)> what) {
    const std::lock_guard lock(mutex_);
    letting_go_ = std::move(what);
  }
  bool is_asked_for(const std::string& uri, int times = 1) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, hondana_test::event_deadline, [&] { return asked_[uri] >= times; });
  }
  bool watches(const std::string& uri) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, hondana_test::event_deadline, [&] { return watched_.contains(uri); });
  }
  /// Waits a moment for it.
  void may_be_told_to_watch(int times) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, 300ms, [&] { return watches_begun_ >= times; });
  }

  result<std::string> version_of(const request_context& by, const std::string& uri) const override {
    return version_as_server(by, uri);
  }
  result<std::string> version_as_server(const request_context&, const std::string& uri) const override {
    std::unique_lock lock(mutex_);
    ++asked_[uri];
    changed_.notify_all();
    changed_.wait(lock, [&] { return !held_.contains(uri); });
    const auto known = versions_.find(uri);
    return known == versions_.end() ? "1" : known->second;
  }
  result<void> authorize_read(const caller_info&, const resource&) const override { return {}; }
  bool watch(const std::string& uri) override {
    const std::lock_guard lock(mutex_);
    watched_.insert(uri);
    ++watches_begun_;
    changed_.notify_all();
    return true;
  }
  void unwatch(const std::string& uri) override {
    std::unique_lock lock(mutex_);
    const auto before = letting_go_;
    lock.unlock();
    if (before) before(uri);
    lock.lock();
    watched_.erase(uri);
    changed_.notify_all();
  }

 private:
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  mutable std::map<std::string, int> asked_;
  std::map<std::string, std::string> versions_;
  std::set<std::string> held_;
  std::set<std::string> watched_;
  int watches_begun_ = 0;
  std::function<void(const std::string&)> letting_go_;
};

/// Hears of contents that have changed.
class content_ears final : public change_listener {
 public:
  void list_changed() override {}
  void content_changed(std::string_view uri, std::string_view) override {
    const std::lock_guard lock(mutex_);
    heard_.insert(std::string(uri));
    changed_.notify_all();
  }
  bool hears(const std::string& uri) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, hondana_test::event_deadline, [&] { return heard_.contains(uri); });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::set<std::string> heard_;
};

/// What happens in a store from now on.
class store_news {
 public:
  explicit store_news(analyses::cache& of)
      : listening_(of.listen([to = all_](const analyses::store_change* what) {
          if (what == nullptr) return;
          const std::lock_guard lock(to->mutex);
          to->what.emplace_back(what->event, what->id);
          to->changed.notify_all();
        })) {}
  bool has(analyses::store_change::event_kind what, const std::string& id) {
    std::unique_lock lock(all_->mutex);
    return all_->changed.wait_for(lock, hondana_test::event_deadline, [&] {
      return std::find(all_->what.begin(), all_->what.end(), std::pair(what, id)) != all_->what.end();
    });
  }

 private:
  struct heard {
    std::mutex mutex;
    std::condition_variable changed;
    std::vector<std::pair<analyses::store_change::event_kind, std::string>> what;
  };
  const std::shared_ptr<heard> all_ = std::make_shared<heard>();
  const std::shared_ptr<void> listening_;
};

class following_analyses : public testing::Test {
 protected:
  ~following_analyses() override {
    street_->hold({});
    if (source_) source_->set_host(nullptr);
  }
  void begin(std::chrono::milliseconds check_every) {
    provider_options how;
    how.open_cache = [kept = kept_] { return result<std::shared_ptr<analyses::cache>>(kept); };
    how.check_interval = check_every;
    source_ = std::make_shared<analyses_provider>(std::move(how));
    source_->set_host(street_);
  }
  static analyses::analysis based_on(const std::string& prompt, std::vector<analyses::resource_version> context) {
    auto whole = test::made_analysis(prompt);
    whole.question.context = std::move(context);
    return whole;
  }
  std::string put_beside(const std::string& prompt, std::vector<analyses::resource_version> context) {
    return test::put_into(*kept_, based_on(prompt, std::move(context)));
  }
  void forget(const std::string& id) {
    analyses::erase_filter one;
    one.id = id;
    ASSERT_TRUE(kept_->erase(one));
  }
  bool put_by_tool(const analyses::analysis& what) {
    tool_call by;
    by.arguments = value::object{{"analysis", value::parse(analyses::encode(what)).value()}};
    by.deadline = std::chrono::steady_clock::now() + hondana_test::event_deadline;
    for (const auto& one : source_->tools())
      if (one.entry.name == "analysis_put") return one.handler(by).has_value();
    return false;
  }
  std::shared_ptr<analyses::cache> kept_ = test::cache_in_memory();
  std::shared_ptr<long_street> street_ = std::make_shared<long_street>();
  std::shared_ptr<analyses_provider> source_;
};

TEST_F(following_analyses, goes_on_where_one_comes_while_what_it_rests_on_is_let_go) {
  const std::string uri = "memo:///a";
  std::promise<void> is_let_go;
  std::jthread other;
  bool was_put = false;
  street_->on_letting_go([&](const std::string&) {
    street_->on_letting_go({});
    other = std::jthread([&] { was_put = put_by_tool(based_on("もう一度", {{uri, {}}})); });
    street_->may_be_told_to_watch(2);
    is_let_go.set_value();
  });
  begin(200ms);
  const auto first = put_beside("最初", {{uri, "1"}});
  ASSERT_TRUE(street_->watches(uri));
  forget(first);
  ASSERT_EQ(is_let_go.get_future().wait_for(hondana_test::event_deadline), std::future_status::ready);
  other.join();
  ASSERT_TRUE(was_put);
  EXPECT_TRUE(street_->watches(uri));
}

TEST_F(following_analyses, tells_of_analyses_while_it_waits_for_what_others_rest_on) {
  (void)put_beside("遅い", {{"memo:///slow/1", "1"}, {"memo:///slow/2", "1"}});
  street_->hold({"memo:///slow/1", "memo:///slow/2"});
  begin(1h);
  const auto ears = std::make_shared<content_ears>();
  source_->set_listener(ears);
  ASSERT_TRUE(street_->is_asked_for("memo:///slow/1"));
  store_news news(*kept_);
  const auto id = put_beside("速い", {});
  ASSERT_TRUE(news.has(analyses::store_change::event_kind::put, id));
  street_->hold({"memo:///slow/2"});
  EXPECT_TRUE(ears->hears(analysis_uri(id)));
  street_->hold({});
  source_->set_listener(nullptr);
}

TEST_F(following_analyses, tells_of_analyses_while_many_changes_are_looked_at) {
  const std::string first = "memo:///slow/1", second = "memo:///slow/2", third = "memo:///slow/3";
  (void)put_beside("遅い", {{first, "1"}, {second, "1"}, {third, "1"}});
  begin(1h);
  const auto ears = std::make_shared<content_ears>();
  source_->set_listener(ears);
  ASSERT_TRUE(street_->is_asked_for(third));
  street_->hold({first, second, third});
  source_->resource_changed(first);
  ASSERT_TRUE(street_->is_asked_for(first, 2));
  source_->resource_changed(second);
  source_->resource_changed(third);
  street_->hold({second, third});
  ASSERT_TRUE(street_->is_asked_for(second, 2));
  store_news news(*kept_);
  const auto id = put_beside("速い", {});
  ASSERT_TRUE(news.has(analyses::store_change::event_kind::put, id));
  street_->hold({third});
  EXPECT_TRUE(ears->hears(analysis_uri(id)));
  street_->hold({});
  EXPECT_TRUE(street_->is_asked_for(third, 2));
  source_->set_listener(nullptr);
}

TEST_F(following_analyses, tells_of_analyses_while_it_asks_for_versions_that_others_do_not_give) {
  begin(1h);
  const auto ears = std::make_shared<content_ears>();
  source_->set_listener(ears);
  const std::string first = "memo:///slow/1", second = "memo:///slow/2";
  street_->hold({first, second});
  (void)put_beside("版なし", {{first, ""}, {second, ""}});
  ASSERT_TRUE(street_->is_asked_for(first));
  store_news news(*kept_);
  const auto id = put_beside("速い", {});
  ASSERT_TRUE(news.has(analyses::store_change::event_kind::put, id));
  street_->hold({second});
  EXPECT_TRUE(ears->hears(analysis_uri(id)));
  street_->hold({});
  EXPECT_TRUE(street_->is_asked_for(second));
  source_->set_listener(nullptr);
}

TEST_F(following_analyses, knows_the_first_version_found_of_what_comes_behind_where_a_look_is) {
  const std::string uri = "memo:///a";
  begin(1h);
  const auto first = put_beside("版なし、最初", {{uri, ""}});
  ASSERT_TRUE(street_->is_asked_for(uri));
  forget(first);
  // More than a look sees at once.
  const auto numbered = [](int i) { return "memo:///m" + std::to_string(1'000 + i); };
  constexpr int all = 600;
  std::vector<analyses::resource_version> context;
  for (int i = 0; i < all; ++i) context.push_back({numbered(i), "1"});
  const auto large = put_beside("大きい", context);
  ASSERT_TRUE(street_->watches(numbered(all - 1)));
  source_->set_host(nullptr);
  street_->hold({numbered(0)});
  source_->set_host(street_);
  ASSERT_TRUE(street_->is_asked_for(numbered(0)));
  store_news news(*kept_);
  const auto second = put_beside("版なし、次", {{uri, ""}});
  ASSERT_TRUE(news.has(analyses::store_change::event_kind::put, second));
  street_->hold({});
  ASSERT_TRUE(street_->is_asked_for(numbered(all - 1)));
  // What is heard of now is done after that look.
  street_->change(numbered(all - 1), "2");
  source_->resource_changed(numbered(all - 1));
  ASSERT_TRUE(news.has(analyses::store_change::event_kind::removed, large));
  EXPECT_TRUE(kept_->get(second).value()) << "nothing is known against it";
  street_->change(uri, "2");
  source_->resource_changed(uri);
  EXPECT_TRUE(news.has(analyses::store_change::event_kind::removed, second));
}

}  // namespace
}  // namespace hondana::analyses_source

/// What analyses rest on: resources that cannot be asked for, or are another thing for each caller.
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <hondana/clock.hpp>
#include <hondana/provider_host.hpp>
#include <hondana/value.hpp>

#include "base/bytes/sha256.hpp"
#include "deadline.hpp"
#include "sources/analyses/analysis_resources.hpp"
#include "sources/analyses/cache/analysis_key.hpp"
#include "unit/sources/analyses/made.hpp"

namespace hondana::analyses_source {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;

constexpr const char* folder_uri = "memo:///folder";

/// A server with one resource, whose version is another one for those with a view.
class made_street final : public provider_host {
 public:
  void change(std::string whole) {
    const std::lock_guard lock(mutex_);
    whole_ = std::move(whole);
  }
  void give_view(std::string version) {
    const std::lock_guard lock(mutex_);
    in_view_ = std::move(version);
  }
  /// Nothing: it can be asked for.
  void fail_with(std::optional<errc> what) {
    const std::lock_guard lock(mutex_);
    failing_ = what;
  }
  /// How often it has been asked for, by anybody.
  int asked() {
    const std::lock_guard lock(mutex_);
    return asked_;
  }
  bool is_asked_since(int before) {
    std::unique_lock lock(mutex_);
    return has_asked_.wait_for(lock, hondana_test::event_deadline, [&] { return asked_ > before; });
  }

  result<std::string> version_of(const request_context& by, const std::string& uri) const override {
    return answer(uri, by.caller.access_filter != nullptr);
  }
  result<std::string> version_as_server(const request_context&, const std::string& uri) const override {
    return answer(uri, false);
  }
  result<void> authorize_read(const caller_info&, const resource&) const override { return {}; }
  bool watch(const std::string&) override { return true; }
  void unwatch(const std::string&) override {}

 private:
  result<std::string> answer(const std::string& uri, bool has_view) const {
    const std::lock_guard lock(mutex_);
    ++asked_;
    has_asked_.notify_all();
    if (failing_) return fail(*failing_, "The shelf is out of reach.");
    if (uri != folder_uri) return fail(errc::resource_not_found, "Resource not found");
    return has_view ? in_view_ : whole_;
  }

  mutable std::mutex mutex_;
  mutable std::condition_variable has_asked_;
  mutable int asked_ = 0;
  std::string whole_ = "whole-1";
  std::string in_view_ = "part-1";
  std::optional<errc> failing_;
};

class sees_all final : public access_filter {
 public:
  std::uint64_t id() const noexcept override { return 9; }
  bool may_see(std::string_view) const override { return true; }
};

/// What the source has said to the log.
class log_lines {
 public:
  void add(std::string_view line) {
    const std::lock_guard lock(mutex_);
    all_.append(line) += '\n';
    changed_.notify_all();
  }
  bool has(std::string_view words) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, hondana_test::event_deadline, [&] { return all_.find(words) != std::string::npos; });
  }
  std::string all() {
    const std::lock_guard lock(mutex_);
    return all_;
  }
  void clear() {
    const std::lock_guard lock(mutex_);
    all_.clear();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string all_;
};

class contexts_of_analyses : public testing::Test {
 protected:
  void SetUp() override { source_->set_host(street_); }
  void TearDown() override { source_->set_host(nullptr); }

  value call_tool(std::string_view name, value arguments, bool has_view = false) {
    tool_call by;
    by.arguments = std::move(arguments);
    by.deadline = monotonic_clock::now() + hondana_test::event_deadline;
    if (has_view) by.caller.access_filter = std::make_shared<const sees_all>();
    for (const auto& one : source_->tools()) {
      if (one.entry.name != name) continue;
      auto done = one.handler(by);
      if (!done) return done.error().public_text;
      return std::get<tool_result>(*done).structured_content.value_or(value());
    }
    return "no such tool";
  }
  static std::string member_of(const value& what, const std::string& name) {
    const auto* text = what.as_string();
    return text != nullptr ? *text : what.string_at(name).value_or("nothing");
  }
  static value asked(const std::string& prompt) {
    return value::object{{"prompt", prompt},
                         {"models", value::array{"a-large", "b-large", "c-large", "d-large"}},
                         {"context", value::array{value::object{{"uri", folder_uri}}}}};
  }
  /// Claims and puts; what the put said.
  value put(const std::string& prompt, bool has_view = false) {
    const auto claimed = call_tool("analysis_claim", asked(prompt), has_view);
    EXPECT_EQ(member_of(claimed, "outcome"), "claimed");
    auto whole = *value::parse(analyses::encode(test::made_analysis(prompt))).value().as_object();
    whole.emplace_back("context", claimed.at("context").value_or(value()));
    return call_tool("analysis_put",
                     value::object{{"ticket", member_of(claimed, "ticket")}, {"analysis", value(std::move(whole))}}, has_view);
  }
  std::string outcome_by_uri(const value& put) {
    return member_of(call_tool("analysis_get", value::object{{"uri", member_of(put, "uri")}}), "outcome");
  }

  /// As a command beside the server does: nobody is asked for versions. Its id.
  std::string put_beside(const std::string& prompt, const std::string& version, const std::string& uri = folder_uri) {
    auto whole = test::made_analysis(prompt);
    whole.question.context = {{uri, version}};
    return test::put_into(*kept_, whole);
  }
  std::string outcome_of(const std::string& id) {
    return member_of(call_tool("analysis_get", value::object{{"uri", analysis_uri(id)}}), "outcome");
  }

  manual_clock clock_{};
  std::shared_ptr<analyses::cache> kept_ = test::cache_in_memory();
  std::shared_ptr<log_lines> said_ = std::make_shared<log_lines>();
  std::shared_ptr<analyses_provider> source_ = test::provider_of(kept_, [to = said_](std::string_view line) { to->add(line); });
  std::shared_ptr<made_street> street_ = std::make_shared<made_street>();
};

TEST_F(contexts_of_analyses, that_cannot_be_asked_for_are_not_served_as_fresh) {
  const auto done = put("届かない");
  ASSERT_EQ(member_of(done, "status"), "complete") << member_of(done, "status");
  ASSERT_EQ(outcome_by_uri(done), "fresh");
  street_->change("whole-2");
  for (const auto why : {errc::source_unavailable, errc::overloaded, errc::timed_out}) {
    street_->fail_with(why);
    EXPECT_THAT(outcome_by_uri(done), AllOf(HasSubstr("Cannot check whether"), HasSubstr("The shelf is out of reach.")));
    const auto by_prompt = call_tool("analysis_get", value::object{{"uri", member_of(done, "byPrompt")}});
    EXPECT_THAT(member_of(by_prompt, "outcome"), HasSubstr("Cannot check whether"));
  }
  street_->fail_with({});
  EXPECT_THAT(outcome_by_uri(done), HasSubstr("Analysis not found"));
}

TEST_F(contexts_of_analyses, are_asked_for_again_where_a_change_was_heard_of_and_they_were_out_of_reach) {
  const auto done = put("後で");
  const auto id = member_of(done, "id");
  street_->change("whole-2");
  street_->fail_with(errc::source_unavailable);
  const auto before = street_->asked();
  source_->resource_changed(folder_uri);
  ASSERT_TRUE(street_->is_asked_since(before));
  EXPECT_TRUE(kept_->get(id).value()) << "nothing is known of it yet";
  struct hearing {
    std::mutex mutex;
    bool is_gone = false;
  };
  const auto heard = std::make_shared<hearing>();
  const auto listening = kept_->listen([heard, id](const analyses::store_change* what) {
    if (what == nullptr || what->event != analyses::store_change::event_kind::removed || what->id != id) return;
    const std::lock_guard lock(heard->mutex);
    heard->is_gone = true;
  });
  street_->fail_with({});
  const auto is_gone = [&] {
    clock_.advance(1s);
    const std::lock_guard lock(heard->mutex);
    return heard->is_gone;
  };
  EXPECT_TRUE(hondana_test::eventually(is_gone));
}

TEST_F(contexts_of_analyses, that_are_another_thing_for_each_caller_hold_as_long_as_the_whole_does) {
  const auto done = put("見え方", true);
  ASSERT_EQ(member_of(done, "status"), "complete") << member_of(done, "status");
  EXPECT_EQ(outcome_by_uri(done), "fresh");
  EXPECT_EQ(member_of(call_tool("analysis_get", asked("見え方"), true), "outcome"), "fresh");
  EXPECT_EQ(member_of(call_tool("analysis_get", asked("見え方")), "outcome"), "missing") << "who sees more asks something else";
  EXPECT_THAT(kept_->get(member_of(done, "id")).value()->body, Not(HasSubstr("whole-1")));
  // News that nothing comes of.
  const auto before = street_->asked();
  source_->resource_changed(folder_uri);
  ASSERT_TRUE(street_->is_asked_since(before));
  source_->set_host(nullptr);
  source_->set_host(street_);
  EXPECT_EQ(outcome_by_uri(done), "fresh");
  street_->give_view("part-2");
  EXPECT_EQ(member_of(call_tool("analysis_get", asked("見え方"), true), "outcome"), "missing");
  street_->change("whole-2");
  EXPECT_THAT(outcome_by_uri(done), HasSubstr("Analysis not found"));
}

TEST_F(contexts_of_analyses, are_what_a_restricted_caller_forgets_by_and_nothing_else_goes) {
  for (int i = 0; i < 3; ++i) ASSERT_EQ(member_of(put("根拠 " + std::to_string(i), true), "status"), "complete");
  const auto other = test::put_into(*kept_, test::made_analysis("根拠なし"));
  const auto done = call_tool("analysis_invalidate", value::object{{"context", folder_uri}}, true);
  EXPECT_EQ(done.integer_at("forgotten").value_or(-1), 3) << member_of(done, "forgotten");
  EXPECT_TRUE(kept_->get(other).value());
  EXPECT_EQ(kept_->store().read_info().value().entries, 1u);
}

TEST_F(contexts_of_analyses, are_unknown_to_a_source_that_has_left_its_server) {
  const auto done = put("去る");
  source_->set_host(nullptr);
  EXPECT_THAT(outcome_by_uri(done), HasSubstr("has replaced this source"));
  EXPECT_THAT(member_of(call_tool("analysis_claim", asked("去る")), "outcome"), HasSubstr("has replaced this source"));
}

TEST_F(contexts_of_analyses, without_a_version_are_taken_as_they_are_first_found_and_count_once_they_change) {
  for (const auto* version : {"whole-2", "whole-3"}) {
    const auto before = street_->asked();
    const auto id = put_beside("版なし", "");
    ASSERT_TRUE(street_->is_asked_since(before));
    // News that nothing comes of; with the second the version of the first is known.
    for (int i = 0; i < 2; ++i) {
      const auto until_now = street_->asked();
      source_->resource_changed(folder_uri);
      ASSERT_TRUE(street_->is_asked_since(until_now));
    }
    EXPECT_EQ(outcome_of(id), "fresh") << said_->all();
    const auto by_prompt = by_prompt_uri(analyses::make_key(test::made_analysis("版なし").question).prompt_digest);
    EXPECT_EQ(member_of(call_tool("analysis_get", value::object{{"uri", by_prompt}}), "outcome"), "fresh");
    EXPECT_EQ(member_of(call_tool("analysis_get", asked("版なし")), "outcome"), "missing") << "its key has no version";
    EXPECT_THAT(said_->all(), Not(HasSubstr("deleted")));
    street_->change(version);
    EXPECT_THAT(outcome_of(id), HasSubstr("Analysis not found")) << "also before the change is heard of";
    source_->resource_changed(folder_uri);
    EXPECT_TRUE(said_->has("1 deleted, because memo:///folder has changed")) << said_->all();
    EXPECT_FALSE(kept_->get(id).value());
    said_->clear();
  }
}

TEST_F(contexts_of_analyses, with_a_version_that_never_was_are_outdated_at_once_and_have_not_changed) {
  const auto before = street_->asked();
  const auto unknown = put_beside("版なし", "");
  ASSERT_TRUE(street_->is_asked_since(before));
  const auto wrong = put_beside("違う版", "never");
  EXPECT_THAT(outcome_of(wrong), HasSubstr("Analysis not found"));
  EXPECT_TRUE(said_->has("1 deleted, because it was stored with another version of memo:///folder than the current one"))
      << said_->all();
  EXPECT_FALSE(kept_->get(wrong).value());
  EXPECT_THAT(said_->all(), Not(HasSubstr("has changed")));
  EXPECT_EQ(outcome_of(unknown), "fresh") << "nothing is known against that";
}

TEST_F(contexts_of_analyses, of_more_callers_than_a_list_of_versions_has_are_all_kept) {
  const auto of_whole = bytes::to_hex(bytes::sha256_of("whole-1"));
  for (int i = 100; i < 170; ++i)
    put_beside("見え方 " + std::to_string(i), "view-" + std::string(61, '0') + std::to_string(i) + '-' + of_whole);
  const auto wrong = put_beside("違う版", "never");
  EXPECT_THAT(outcome_of(wrong), HasSubstr("Analysis not found"));
  EXPECT_TRUE(said_->has("1 deleted, because it was stored with another version of memo:///folder than the current one"))
      << said_->all();
  EXPECT_EQ(kept_->store().read_info().value().entries, 70u);
  // Once none of them holds, all go.
  street_->change("whole-2");
  source_->resource_changed(folder_uri);
  EXPECT_TRUE(said_->has("70 deleted, because each was stored with another version of memo:///folder")) << said_->all();
  EXPECT_EQ(kept_->store().read_info().value().entries, 0u);
}

TEST_F(contexts_of_analyses, that_nobody_serves_are_not_served_and_no_reason_to_forget) {
  const auto id = put_beside("どこにもない", "", "memo:///nowhere");
  EXPECT_THAT(outcome_of(id), HasSubstr("is not served here"));
  // Whatever is done about it is done before this.
  const auto wrong = put_beside("違う版", "never");
  EXPECT_THAT(outcome_of(wrong), HasSubstr("Analysis not found"));
  ASSERT_TRUE(said_->has("deleted")) << said_->all();
  EXPECT_TRUE(kept_->get(id).value()) << said_->all();
  EXPECT_THAT(said_->all(), Not(HasSubstr("nowhere")));
}

}  // namespace
}  // namespace hondana::analyses_source

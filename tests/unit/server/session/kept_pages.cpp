/// Pages that are answered without asking their source: only what has not changed, only to who may have it, and recorded as
/// ever.
#include "server/session/answer_cache.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/rate_limit/rate_limiter.hpp"
#include "protocol/wire/choose_codec.hpp"
#include "server/session/session.hpp"
#include "unit/server/catalog/switched.hpp"
#include "unit/server/session/recorded.hpp"

namespace hondana::session {
namespace {

page_key key_of(std::string cursor, std::shared_ptr<const access_filter> through = nullptr) {
  page_key out;
  out.filter = std::move(through);
  out.cursor = std::move(cursor);
  return out;
}

class narrow_view final : public access_filter {
 public:
  narrow_view(std::uint64_t id, std::string only) : id_(id), only_(std::move(only)) {}
  std::uint64_t id() const noexcept override { return id_; }
  bool may_see(std::string_view uri) const override { return uri == only_; }

 private:
  std::uint64_t id_;
  std::string only_;
};

TEST(kept_pages, keep_what_is_made_for_the_second_time_for_as_long_as_it_holds) {
  page_cache pages(1u << 20);
  const auto valid = std::make_shared<test::switched>();
  pages.store(key_of("a"), "one", valid);
  EXPECT_EQ(pages.find(key_of("a")), nullptr);
  pages.store(key_of("a"), "one", valid);
  ASSERT_NE(pages.find(key_of("a")), nullptr);
  EXPECT_EQ(*pages.find(key_of("a")), "one");
  valid->is_on = false;
  EXPECT_EQ(pages.find(key_of("a")), nullptr);
  // Another is taken at once.
  pages.store(key_of("a"), "other", std::make_shared<test::switched>());
  EXPECT_EQ(*pages.find(key_of("a")), "other");
  EXPECT_EQ(pages.statistics().entries, 1u);
  EXPECT_EQ(pages.statistics().misses, 3u);
  EXPECT_EQ(pages.statistics().hits, 3u);
}

TEST(kept_pages, tell_everything_apart_that_decides_what_a_page_says) {
  page_cache pages(1u << 20);
  const auto valid = std::make_shared<test::switched>();
  const auto& one = wire::choose_for_unreadable({}, {});
  const auto keep = [&](const page_key& of, std::string_view text) {
    pages.store(of, text, valid);
    pages.store(of, text, valid);
  };
  const auto base = key_of("a");
  keep(base, "base");
  std::vector<page_key> others(7, base);
  others[0].codec = &one;
  others[1].filter = std::make_shared<narrow_view>(1, "memo:///a");
  others[2].filter = std::make_shared<narrow_view>(1, "memo:///a");  // by its address, not by its id
  others[3].scopes = "";
  others[4].scopes = "read ";
  others[5].kind = page_key::list::templates;
  others[6].cursor.reset();
  for (std::size_t i = 0; i < others.size(); ++i) {
    EXPECT_EQ(pages.find(others[i]), nullptr) << i;
    keep(others[i], std::to_string(i));
  }
  for (std::size_t i = 0; i < others.size(); ++i) EXPECT_EQ(*pages.find(others[i]), std::to_string(i));
  EXPECT_EQ(*pages.find(base), "base");
}

TEST(kept_pages, that_are_retired_hold_nothing_any_more) {
  page_cache pages(1u << 20);
  const auto valid = std::make_shared<test::switched>();
  const auto keep = [&] {
    for (int i = 0; i < 2; ++i) pages.store(key_of("a"), "one", valid);
  };
  keep();
  ASSERT_TRUE(pages.find(key_of("a")));
  pages.retire();
  EXPECT_EQ(pages.find(key_of("a")), nullptr);
  EXPECT_EQ(valid.use_count(), 1);
  // Whoever still works for the configuration before may want to keep what it has made.
  keep();
  EXPECT_EQ(pages.find(key_of("a")), nullptr);
  EXPECT_EQ(pages.statistics().bytes, 0u);
  EXPECT_EQ(valid.use_count(), 1);
}

TEST(kept_pages, let_go_of_what_others_gave_outside_their_lock) {
  struct asking final : cache_validator {
    explicit asking(page_cache& whom) : of(whom) {}
    ~asking() override { (void)of.statistics(); }  // would wait for ever
    bool is_valid() const noexcept override { return true; }
    page_cache& of;
  };
  page_cache pages(1u << 14);
  for (int i = 0; i < 2; ++i) pages.store(key_of("a"), "one", std::make_shared<asking>(pages));
  pages.store(key_of("a"), "another", std::make_shared<asking>(pages));
  for (int key = 0; key < 20; ++key) {
    for (int i = 0; i < 2; ++i)
      pages.store(key_of(std::to_string(key)), std::string(1500, 'x'), std::make_shared<asking>(pages));
  }
  EXPECT_GT(pages.statistics().evictions, 0u);
  pages.retire();
  EXPECT_EQ(pages.statistics().entries, 0u);
}

TEST(kept_pages, hold_no_more_than_they_may_and_drop_what_was_used_longest_ago) {
  page_cache pages(64u << 10);
  const auto valid = std::make_shared<test::switched>();
  const std::string text(7'000, 'x');
  for (int i = 0; i < 12; ++i) {
    for (int turn = 0; turn < 2; ++turn) pages.store(key_of(std::to_string(i)), text, valid);
    (void)pages.find(key_of("0"));
  }
  EXPECT_LE(pages.statistics().bytes, 64u << 10);
  EXPECT_EQ(pages.statistics().entries + pages.statistics().evictions, 12u);
  EXPECT_NE(pages.find(key_of("0")), nullptr);
  EXPECT_EQ(pages.find(key_of("1")), nullptr);
  EXPECT_NE(pages.find(key_of("11")), nullptr);
  const std::string long_text(9'000, 'x');
  for (int turn = 0; turn < 2; ++turn) pages.store(key_of("long"), long_text, valid);
  EXPECT_EQ(pages.find(key_of("long")), nullptr);
}

/// Lists at once, and counts how often it was asked.
class counted_list : public provider {
 public:
  std::string name() const override { return "memo"; }
  std::vector<std::string> claims() const override { return {"memo:///"}; }
  scheme_documentation documentation() const override { return {"memo", "Test entries.", {}, {}}; }
  provider_traits traits() const noexcept override { return {.never_blocks = true}; }
  result<list_result> list(const list_request& request) override {
    ++lists;
    list_result page;
    page.validator = valid;
    for (const std::string uri : {"memo:///a", "memo:///b", "memo:///c"}) {
      resource entry;
      entry.uri = uri;
      entry.name = name_of_all;
      entry.title = "the words in " + uri;
      const bool is_shown = !request.caller.access_filter || request.caller.access_filter->may_see(uri);
      if (is_shown && uri > request.after_key && page.entries.size() < request.limit) page.entries.push_back(std::move(entry));
    }
    if (!page.entries.empty() && page.entries.back().uri != "memo:///c") page.next_key = page.entries.back().uri;
    return page;
  }
  result<read_result> read(const read_request& request) override { return text_read_result("content of " + request.uri); }
  int lists = 0;
  std::string name_of_all = "x";
  std::shared_ptr<test::switched> valid = std::make_shared<test::switched>();
};

/// Has a template that changes with the name of all.
class changing_list final : public counted_list, public dynamic_template_source {
 public:
  result<std::vector<resource_template>> current_templates(const request_context&) override {
    resource_template one;
    one.uri_template = "memo:///{" + name_of_all + "}";
    one.name = name_of_all;
    return std::vector{one};
  }
};

class changing_context final : public snapshot_source {
 public:
  std::shared_ptr<const server_snapshot> current() const override { return now; }
  std::shared_ptr<const server_snapshot> now;
};

class a_session_with_pages : public testing::Test {
 protected:
  a_session_with_pages() { use({}); }

  /// From now on the server has these rules.
  void use(const access_rules& rules, const scope_rules& scopes = {}, const server_limits& limits = {}) {
    auto with = std::make_shared<server_snapshot>();
    with->gate = gate::gate::make(scopes, rules).value();
    with->catalog = catalog::catalog::make({source_}, {.page_size = 2}, std::make_shared<executor::timers>(), nullptr,
                                           with->gate, seal::sealer::with_random_key().value())
                        .value();
    with->feed = std::make_shared<catalog::change_feed>(1 << 20);
    with->server_info = {"shelf", "1", "", "", false};
    with->audit = record_;
    with->pages = std::make_shared<page_cache>(1u << 20);
    with->cached_requests = known_;
    with->meter = rate_limit::rate_limiter::make(limits, std::make_shared<rate_limit::bucket_tables>(100));
    contexts_->now = with;
  }

  /// The answer to one request of a session of its own, without its id.
  std::string list(const std::string& params = {}, const std::string& method = "resources/list") {
    const auto number = std::to_string(++last_id_);
    session::open(contexts_)->receive(
        R"({"jsonrpc":"2.0","id":)" + number + R"(,"method":")" + method + R"(","params":{)" + params +
            (params.empty() ? "" : ",") +
            R"("_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}})",
        facts_, out_);
    return without_id(out_->answers.back(), number);
  }
  static std::string without_id(std::string answer, const std::string& id) {
    const auto spelled = "\"id\":" + id + ',';
    const auto at = answer.find(spelled);
    EXPECT_NE(at, std::string::npos) << answer;
    return at == std::string::npos ? answer : answer.erase(at, spelled.size());
  }
  std::size_t hits() const { return contexts_->now->pages->statistics().hits; }
  std::shared_ptr<const auth_info> proof_of(std::vector<std::string> scopes) {
    return std::make_shared<const auth_info>(auth_info{"agent", std::move(scopes), {}});
  }

  std::shared_ptr<counted_list> provider_ = std::make_shared<counted_list>();
  std::shared_ptr<catalog::source> source_ = std::make_shared<catalog::source>(provider_, 100);
  std::shared_ptr<kept_record> record_ = std::make_shared<kept_record>();
  std::shared_ptr<outlet_of_texts> out_ = std::make_shared<outlet_of_texts>(*record_);
  std::shared_ptr<changing_context> contexts_ = std::make_shared<changing_context>();
  // From the second hit on a request is not decoded any more, whatever the rules are by then.
  std::shared_ptr<request_cache> known_ = std::make_shared<request_cache>();
  rpc::request_info facts_{{"alice", "192.0.2.7", nullptr}, {}};
  int last_id_ = 0;
};

TEST_F(a_session_with_pages, answers_what_has_not_changed_without_its_source_and_with_the_same_bytes) {
  const auto first = list();
  EXPECT_EQ(list(), first);
  EXPECT_EQ(provider_->lists, 2);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(list(), first);
  EXPECT_EQ(provider_->lists, 2);
  EXPECT_EQ(hits(), 3u);
}

TEST_F(a_session_with_pages, asks_again_as_soon_as_something_has_changed) {
  for (int i = 0; i < 3; ++i) (void)list();
  provider_->name_of_all = "y";
  provider_->valid->is_on = false;
  provider_->valid = std::make_shared<test::switched>();
  const auto changed = list();
  EXPECT_NE(changed.find(R"("name":"y")"), std::string::npos);
  EXPECT_EQ(list(), changed);
}

TEST_F(a_session_with_pages, keeps_nothing_of_a_source_that_does_not_say_whether_it_has_changed) {
  provider_->valid = nullptr;
  for (int i = 0; i < 4; ++i) (void)list();
  EXPECT_EQ(provider_->lists, 4);
}

TEST_F(a_session_with_pages, follows_cursors_to_pages_of_their_own) {
  const auto first = list();
  const auto at = first.find(R"("nextCursor":")") + 14;
  const auto cursor = R"("cursor":")" + first.substr(at, first.find('"', at) - at) + '"';
  const auto second = list(cursor);
  EXPECT_NE(second.find("memo:///c"), std::string::npos);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(list(cursor), second);
    EXPECT_EQ(list(), first);
  }
  EXPECT_EQ(hits(), 4u);
  EXPECT_NE(list(R"("cursor":"nonsense")").find("-32602"), std::string::npos);
}

TEST_F(a_session_with_pages, keeps_templates_that_do_not_change) {
  const auto first = list({}, "resources/templates/list");
  for (int i = 0; i < 3; ++i) EXPECT_EQ(list({}, "resources/templates/list"), first);
  EXPECT_EQ(hits(), 2u);
}

TEST_F(a_session_with_pages, keeps_no_templates_that_may_change) {
  provider_ = std::make_shared<changing_list>();
  source_ = std::make_shared<catalog::source>(provider_, 100);
  use({});
  for (int i = 0; i < 3; ++i) EXPECT_NE(list({}, "resources/templates/list").find("memo:///{x}"), std::string::npos);
  provider_->name_of_all = "y";
  EXPECT_NE(list({}, "resources/templates/list").find("memo:///{y}"), std::string::npos);
  EXPECT_EQ(hits(), 0u);
}

// attacks: another caller's answer from a cache
TEST_F(a_session_with_pages, never_answers_with_what_somebody_else_may_see) {
  access_rules rules;
  rules.rules.push_back({.identities = {"alice"}, .uris = {"memo:///a"}, .level = access_level::read});
  rules.rules.push_back({.identities = {"bob"}, .uris = {"memo:///b"}, .level = access_level::list});
  use(rules);
  for (int i = 0; i < 4; ++i) {
    facts_.caller.identity = "alice";
    const auto hers = list();
    EXPECT_NE(hers.find("memo:///a"), std::string::npos);
    EXPECT_EQ(hers.find("memo:///b"), std::string::npos);
    EXPECT_NE(hers.find("the words in"), std::string::npos);
    facts_.caller.identity = "bob";
    const auto his = list();
    EXPECT_EQ(his.find("memo:///a"), std::string::npos);
    EXPECT_NE(his.find("memo:///b"), std::string::npos);
    EXPECT_EQ(his.find("the words in"), std::string::npos) << "he may list it, not read it";
    EXPECT_NE(his.find(R"("cacheScope":"private")"), std::string::npos);
    facts_.caller.identity = "carol";
    EXPECT_EQ(list().find("memo:///"), std::string::npos);
  }
  EXPECT_EQ(hits(), 6u);
  // What a rule took away is gone with the next request.
  facts_.caller.identity = "alice";
  rules.rules[0].uris = {"memo:///c"};
  use(rules);
  EXPECT_EQ(list().find("memo:///a"), std::string::npos);
}

// attacks: another caller's answer from a cache
TEST_F(a_session_with_pages, tells_callers_apart_by_what_they_have_proved) {
  use({}, {{}, {{{"resources/read"}, {}, {}, {"words"}}}, {}});
  for (int i = 0; i < 4; ++i) {
    facts_.caller.auth_info = proof_of({"words"});
    EXPECT_NE(list().find("the words in"), std::string::npos);
    facts_.caller.auth_info = proof_of({"other"});
    EXPECT_EQ(list().find("the words in"), std::string::npos);
    facts_.caller.auth_info = nullptr;
    const auto open = list();
    EXPECT_NE(open.find("the words in"), std::string::npos);
    EXPECT_NE(open.find(R"("cacheScope":"public")"), std::string::npos);
  }
  EXPECT_EQ(hits(), 6u);
  use({}, {{"always"}, {}, {}});
  facts_.caller.auth_info = proof_of({"always"});
  for (int i = 0; i < 3; ++i) (void)list();
  facts_.caller.auth_info = proof_of({});
  EXPECT_EQ(list().find("memo:///"), std::string::npos) << "admitted each time";
}

TEST_F(a_session_with_pages, decides_and_records_what_is_kept_as_what_is_not) {
  for (int i = 0; i < 3; ++i) (void)list();
  ASSERT_EQ(hits(), 1u);
  EXPECT_EQ(record_->order, "dacdacdac");
  EXPECT_EQ(record_->completions.back().second.bytes, out_->answers.back().size());
  record_->is_full = true;
  EXPECT_EQ(list().find("memo:///"), std::string::npos) << "what cannot be recorded is not answered";
}

TEST_F(a_session_with_pages, counts_what_is_kept_against_quotas) {
  server_limits limits;
  limits.per_identity.requests = {0.001, 4};
  use({}, {}, limits);
  for (int i = 0; i < 4; ++i) EXPECT_NE(list().find("memo:///"), std::string::npos);
  EXPECT_EQ(hits(), 2u);
  EXPECT_NE(list().find("429"), std::string::npos);
}

TEST_F(a_session_with_pages, answers_members_of_a_batch_and_other_revisions_with_pages_of_their_own) {
  const auto modern = list();
  const auto with = session::open(contexts_);
  const auto send = [&](std::string_view message) { with->receive(message, facts_, out_); };
  send(R"({"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-03-26","capabilities":{},)"
       R"("clientInfo":{"name":"t","version":"1"}}})");
  for (int i = 0; i < 3; ++i) {
    send(R"([{"jsonrpc":"2.0","id":"x","method":"resources/list"},{"jsonrpc":"2.0","id":-7,"method":"resources/list"}])");
    const auto& both = out_->answers.back();
    EXPECT_TRUE(both.starts_with(R"([{"jsonrpc":"2.0","id":"x","result":{"resources":[)")) << both;
    EXPECT_NE(both.find(R"(},{"jsonrpc":"2.0","id":-7,"result":{"resources":[)"), std::string::npos) << both;
    EXPECT_EQ(both.find("resultType"), std::string::npos);
    EXPECT_EQ(both.back(), ']');
  }
  EXPECT_EQ(hits(), 4u);
  EXPECT_EQ(with->in_progress(), 0u);
  EXPECT_EQ(list(), modern);
}

TEST_F(a_session_with_pages, does_not_keep_filtered_lists) {
  for (int i = 0; i < 4; ++i) (void)list(R"("filter":{"uriPrefix":"memo:///a"})");
  EXPECT_EQ(hits(), 0u);
}

}  // namespace
}  // namespace hondana::session

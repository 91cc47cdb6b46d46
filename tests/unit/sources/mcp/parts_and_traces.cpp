/// Parts that are told of by themselves, and traces that go on, through a mount.
#include <gmock/gmock.h>

#include <mutex>
#include <set>

#include "base/tracing/tracing.hpp"
#include "support/must.hpp"
#include "unit/sources/mcp/mounting.hpp"

namespace hondana::test {
namespace {

/// Tells of parts by themselves, and remembers what it was asked with.
class telling_source final : public provider, public change_source, public part_watch_source {
 public:
  std::string name() const override { return "tell"; }
  std::vector<std::string> claims() const override { return {"tell:///"}; }
  scheme_documentation documentation() const override { return {"tell", "Values of the test.", {}, {}}; }
  result<list_result> list(const list_request&) override {
    return list_result{{resource{.uri = "tell:///x", .name = "x"}}, {}};
  }
  result<read_result> read(const read_request& request) override {
    const std::lock_guard lock(mutex_);
    trace_ = request.trace;
    return text_read_result("1");
  }
  void set_listener(std::shared_ptr<change_listener> to) override {
    const std::lock_guard lock(mutex_);
    to_ = std::move(to);
  }
  void watch(const std::string& uri) override { attached.add('+' + uri); }
  void unwatch(const std::string& uri) override { attached.add('-' + uri); }

  void tell(std::string_view uri) {
    std::unique_lock lock(mutex_);
    const auto to = to_;
    lock.unlock();
    to->content_changed(uri, {});
  }
  trace_context trace() {
    const std::lock_guard lock(mutex_);
    return trace_;
  }
  hearing attached;

 private:
  std::mutex mutex_;
  std::shared_ptr<change_listener> to_;
  trace_context trace_;
};

const std::string parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

client connected_in(server& to, const std::string& revision) {
  client_options options;
  options.revision = revision;
  options.call_timeout = patience;
  auto made = client::connect(memory_target{&to}, options);
  EXPECT_TRUE(made) << (made ? "" : made.error().public_text);
  return std::move(*made);
}

struct eras : testing::TestWithParam<std::string> {
  eras() { EXPECT_TRUE(other.add(source)); }
  std::shared_ptr<telling_source> source = std::make_shared<telling_source>();
  server other = must(server::create());
  hearing log;
};

/// Whoever watches a part, or the whole, hears of exactly that.
void expect_exact(client& asks, telling_source& source, const std::string& prefix) {
  hearing of_part;
  hearing of_whole;
  const auto part =
      asks.watch({.uris = {prefix + "tell:///x?above=1"}}, [&](const watch_event& what) { of_part.add(what.uri); });
  const auto whole = asks.watch({.uris = {prefix + "tell:///x"}}, [&](const watch_event& what) { of_whole.add(what.uri); });
  ASSERT_TRUE(part && whole);
  ASSERT_TRUE(source.attached.hears("+tell:///x?above=1"));
  std::size_t before_part = 0;
  std::size_t before_whole = 0;
  if (!prefix.empty()) {
    // A mount tells once of what may have changed before it heard.
    ASSERT_TRUE(of_part.hears("above=1"));
    ASSERT_TRUE(of_whole.hears("tell:///x"));
    before_part = of_part.count();
    before_whole = of_whole.count();
  }
  source.tell("tell:///x?above=1");
  ASSERT_TRUE(of_part.hears(prefix + "tell:///x?above=1", before_part));
  source.tell("tell:///x");
  ASSERT_TRUE(of_whole.hears(prefix + "tell:///x", before_whole));
  source.tell("tell:///x?above=2");
  source.tell("tell:///other");
  // What is told last comes last: nothing else has come before it.
  const auto last = asks.watch({.uris = {prefix + "tell:///last"}}, [&](const watch_event&) {
    of_part.add("last");
    of_whole.add("last");
  });
  ASSERT_TRUE(last);
  if (prefix.empty()) source.tell("tell:///last");
  ASSERT_TRUE(of_part.hears("last") && of_whole.hears("last"));
  EXPECT_EQ(of_part.count() - before_part, 2u) << of_part.text();
  EXPECT_EQ(of_whole.count() - before_whole, 2u) << of_whole.text();
}

TEST_P(eras, parts_are_told_of_by_themselves) {
  auto asks = connected_in(other, GetParam());
  expect_exact(asks, *source, "");
}

TEST_P(eras, parts_are_told_of_by_themselves_through_a_mount) {
  server ours = must(server::create());
  ASSERT_TRUE(ours.add(mount(mounted_from(other, log))));
  auto asks = connected_in(ours, GetParam());
  ASSERT_TRUE(asks.resources().collect());
  expect_exact(asks, *source, "mcp://team/");
}

TEST_P(eras, a_trace_reaches_the_source_as_it_came) {
  auto asks = connected_in(other, GetParam());
  call_options how;
  how.trace = {parent, "a=1", "user=x"};
  ASSERT_TRUE(asks.read("tell:///x", how));
  EXPECT_EQ(source->trace().traceparent, parent);
  EXPECT_EQ(source->trace().tracestate, "a=1");
  EXPECT_EQ(source->trace().baggage, "user=x");
  ASSERT_TRUE(asks.read("tell:///x"));
  EXPECT_EQ(source->trace().traceparent, "");
}

TEST_P(eras, a_trace_goes_on_through_a_mount_with_spans_of_its_own) {
  const auto traces = std::make_shared<tracer>(0, 100);
  server ours = must(server::create({.traces = traces}));
  ASSERT_TRUE(ours.add(mount(mounted_from(other, log))));
  auto asks = connected_in(ours, GetParam());
  call_options how;
  how.trace = {parent, "a=1", "user=x"};
  ASSERT_TRUE(asks.read("mcp://team/tell:///x", how));
  const auto there = tracing::parse_traceparent(source->trace().traceparent);
  ASSERT_TRUE(there);
  EXPECT_EQ(tracing::to_hex(there->trace), "4bf92f3577b34da6a3ce929d0e0e4736");
  EXPECT_TRUE(there->is_sampled);
  EXPECT_EQ(source->trace().tracestate, "a=1");
  EXPECT_EQ(source->trace().baggage, "user=x");
  std::vector<tracing::span> all;
  // The server's span ends when its answer begins to leave, which may be after it has come.
  while (all.size() < 2) {
    const std::stop_source never;
    for (auto& one : traces->next_batch(10, std::chrono::milliseconds(10), never.get_token())) all.push_back(std::move(one));
  }
  const auto find = [&all](tracing::span_kind kind) {
    return *std::find_if(all.begin(), all.end(), [kind](const auto& one) { return one.kind == kind; });
  };
  const auto request = find(tracing::span_kind::server);
  const auto call = find(tracing::span_kind::client);
  EXPECT_EQ(request.name, "resources/read");
  EXPECT_EQ(tracing::to_hex(*request.parent), "00f067aa0ba902b7");
  EXPECT_EQ(call.parent, request.context.span);
  EXPECT_EQ(call.name, "read team");
  EXPECT_EQ(call.context.span, there->span) << "the other server goes on from the span of the call";
  EXPECT_FALSE(request.has_failed);
  for (const auto& one : all) {
    for (const auto& [name, value] : one.attributes) {
      const auto* text = std::get_if<std::string>(&value);
      EXPECT_TRUE(text == nullptr || text->find("tell:") == std::string::npos) << name << " holds a URI, which may be secret";
    }
  }
}

TEST_P(eras, a_request_that_fails_is_a_span_that_failed) {
  const auto traces = std::make_shared<tracer>(1, 100);
  server ours = must(server::create({.traces = traces}));
  auto asks = connected_in(ours, GetParam());
  EXPECT_FALSE(asks.read("nowhere:///x"));
  const std::stop_source never;
  std::vector<tracing::span> failed;
  while (failed.empty()) {
    for (auto& one : traces->next_batch(10, std::chrono::milliseconds(10), never.get_token())) {
      if (one.name == "resources/read") failed.push_back(std::move(one));
    }
  }
  EXPECT_TRUE(failed[0].has_failed);
  EXPECT_FALSE(failed[0].parent);
  const auto has = [&](std::string_view name) {
    return std::any_of(failed[0].attributes.begin(), failed[0].attributes.end(),
                       [name](const auto& one) { return one.name == name; });
  };
  EXPECT_TRUE(has("error.type"));
  EXPECT_TRUE(has("mcp.method.name"));
  EXPECT_TRUE(has("mcp.protocol.version"));
}

INSTANTIATE_TEST_SUITE_P(mounted, eras, testing::Values("2025-06-18", "2026-07-28"),
                         [](const auto& of) { return of.index == 0 ? "legacy" : "modern"; });

TEST(a_mount, means_all_parts_where_the_other_server_tells_of_the_whole_alone) {
  memo_server other;
  hearing log;
  hearing news;
  const auto mounted = mount(mounted_from(other.here, log));
  mounted->set_listener(std::make_shared<note_taker>(news));
  mounted->watch("mcp://team/memo:///b?lines=1-3");
  ASSERT_TRUE(news.hears("content mcp://team/memo:///b?lines=1-3 ")) << log.text();
  const auto before = news.count();
  ASSERT_TRUE(other.here.notify_resource_updated("memo:///b"));
  EXPECT_TRUE(news.hears("content mcp://team/memo:///b?lines=1-3 ", before)) << log.text();
  mounted->set_listener(nullptr);
}

}  // namespace
}  // namespace hondana::test

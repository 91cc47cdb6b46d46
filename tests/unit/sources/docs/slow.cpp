/// Documents that take long to render, and what goes on meanwhile.
#include <chrono>
#include <condition_variable>
#include <future>
#include <mutex>
#include <new>
#include <stop_token>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <hondana/clock.hpp>

#include "deadline.hpp"
#include "sources/docs/render_queue.hpp"
#include "unit/sources/docs/served_documents.hpp"

namespace hondana::docs {
namespace {

using testing::HasSubstr;
using namespace std::chrono_literals;
using hondana_test::event_deadline;
using hondana_test::eventually;
using clock = monotonic_clock;

/// Holds whatever has SLOW in it until it is let go, and says how many it holds.
class slow_renderer final : public rendering::renderer {
 public:
  [[nodiscard]] result<rendering::document> render(rendering::format, int input, const rendering::limits&,
                                                   const std::stop_token& stop, clock::time_point until) const override {
    std::string bytes(100, '\0');
    const auto count = ::pread(input, bytes.data(), bytes.size(), 0);
    bytes.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
    std::unique_lock lock(mutex_);
    ++renders_;
    most_ = std::max(most_, ++now_);
    changed_.notify_all();
    if (bytes.find("SLOW") != std::string::npos)
      monotonic_clock::wait_until(changed_, lock, stop, until, [this] { return is_free_; });
    --now_;
    changed_.notify_all();
    if (stop.stop_requested()) return fail(errc::cancelled, "nobody waits");
    if (bytes.find("NEVER") != std::string::npos) return fail(errc::timed_out, "it took too long");
    rendering::document made;
    made.text = bytes;
    return made;
  }
  [[nodiscard]] std::vector<std::vector<std::string>> commands() const override { return {}; }
  [[nodiscard]] std::string missing_for(rendering::format) const override { return {}; }

  [[nodiscard]] bool holds(std::size_t count) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, event_deadline, [&] { return now_ == count; });
  }
  void let_go() {
    const std::lock_guard lock(mutex_);
    is_free_ = true;
    changed_.notify_all();
  }
  [[nodiscard]] std::size_t renders() const {
    const std::lock_guard lock(mutex_);
    return renders_;
  }
  [[nodiscard]] std::size_t most_at_once() const {
    const std::lock_guard lock(mutex_);
    return most_;
  }

 private:
  mutable std::mutex mutex_;
  mutable std::condition_variable_any changed_;
  mutable std::size_t now_ = 0;
  mutable std::size_t most_ = 0;
  mutable std::size_t renders_ = 0;
  bool is_free_ = false;
};

struct slow_documents : served_documents {
  std::shared_ptr<slow_renderer> held = std::make_shared<slow_renderer>();

  std::shared_ptr<docs_provider> serve_slowly(std::size_t calls = 16) {
    auto how = plain_options();
    how.renderer = held;
    how.max_calls = calls;
    how.render_limits.max_time = event_deadline;
    return serve(how);
  }
  static std::future<std::string> begin(docs_provider& from, const std::string& uri) {
    return std::async(std::launch::async, [&from, uri] { return text_at(from, uri); });
  }
  static errc error_before(docs_provider& from, const std::string& uri, clock::duration wait) {
    read_request request;
    request.uri = request.requested_uri = uri;
    request.max_bytes = 1u << 20;
    request.deadline = clock::now() + wait;
    const auto got = from.read(request);
    return got ? errc{} : got.error().code;
  }
};

TEST_F(slow_documents, hold_up_neither_lists_nor_other_documents_nor_completions) {
  write("a.pdf", "%PDF SLOW a");
  write("b.pdf", "%PDF SLOW b");
  write("c.md", "# C\n\n## Part\n");
  const auto from = serve_slowly();
  auto a = begin(*from, "docs://book/a.pdf");
  auto b = begin(*from, "docs://book/b.pdf");
  ASSERT_TRUE(held->holds(2));
  EXPECT_EQ(text_at(*from, "docs://book/c.md"), "# C\n\n## Part\n");
  EXPECT_EQ(listed(*from).size(), 4u);
  EXPECT_THAT(completed(*from, "{+path}{?section}", "path", "a"), testing::Contains("a.pdf"));
  EXPECT_THAT(completed(*from, "{+path}{?section}", "section", "", {{"path", "c.md"}}), testing::Contains("Part"));
  held->let_go();
  EXPECT_EQ(a.get(), "%PDF SLOW a");
  EXPECT_EQ(b.get(), "%PDF SLOW b");
}

TEST_F(slow_documents, are_rendered_once_for_all_who_wait) {
  write("a.pdf", "%PDF SLOW a");
  settle("a.pdf");
  const auto from = serve_slowly();
  std::vector<std::future<std::string>> all;
  for (int i = 0; i < 4; ++i) all.push_back(begin(*from, "docs://book/a.pdf"));
  ASSERT_TRUE(held->holds(1));
  // Whoever waits beside them sees that there is one rendering only.
  EXPECT_EQ(error_before(*from, "docs://book/a.pdf", 100ms), errc::timed_out);
  held->let_go();
  for (auto& one : all) EXPECT_EQ(one.get(), "%PDF SLOW a");
  EXPECT_EQ(text_at(*from, "docs://book/a.pdf"), "%PDF SLOW a");
  EXPECT_EQ(held->renders(), 1u);
}

TEST_F(slow_documents, are_rendered_to_the_end_for_who_asks_again) {
  write("a.pdf", "%PDF SLOW a");
  settle("a.pdf");
  manual_clock now;
  const auto from = serve_slowly();
  auto first = std::async(std::launch::async, [&] { return error_before(*from, "docs://book/a.pdf", 200ms); });
  ASSERT_TRUE(held->holds(1));
  now.advance(200ms);
  EXPECT_EQ(first.get(), errc::timed_out);
  held->let_go();
  EXPECT_EQ(text_at(*from, "docs://book/a.pdf"), "%PDF SLOW a");
  EXPECT_EQ(held->renders(), 1u);
}

TEST_F(slow_documents, that_take_all_their_time_are_not_tried_again_at_once) {
  write("a.pdf", "%PDF NEVER a");
  settle("a.pdf");
  const auto from = serve_slowly();
  for (int i = 0; i < 3; ++i) EXPECT_EQ(error_at(*from, "docs://book/a.pdf"), errc::timed_out);
  EXPECT_EQ(held->renders(), 1u);
  write("a.pdf", "%PDF other");
  EXPECT_EQ(text_at(*from, "docs://book/a.pdf"), "%PDF other");
}

TEST_F(slow_documents, leave_threads_to_what_needs_no_rendering) {
  for (int i = 0; i < 8; ++i) write(std::to_string(i) + ".pdf", "%PDF SLOW");
  write("c.md", "# C\n");
  const auto from = serve_slowly(6);
  auto a = begin(*from, "docs://book/0.pdf");
  auto b = begin(*from, "docs://book/1.pdf");
  ASSERT_TRUE(held->holds(2));
  const auto refused = read(*from, "docs://book/2.pdf");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, errc::overloaded);
  EXPECT_THAT(refused.error().public_text, HasSubstr("Retry"));
  EXPECT_TRUE(refused.error().retry_after);
  EXPECT_EQ(text_at(*from, "docs://book/c.md"), "# C\n");
  held->let_go();
  (void)a.get();
  (void)b.get();
  EXPECT_EQ(text_at(*from, "docs://book/2.pdf"), "%PDF SLOW");
  EXPECT_LE(held->most_at_once(), 2u);
}

TEST_F(slow_documents, are_not_waited_for_when_the_source_goes) {
  write("a.pdf", "%PDF SLOW a");
  // It would be waited for until it is told to stop: no time passes by itself.
  manual_clock now;
  auto from = serve_slowly();
  auto first = std::async(std::launch::async, [&] { return error_before(*from, "docs://book/a.pdf", 500ms); });
  ASSERT_TRUE(held->holds(1));
  now.advance(500ms);
  EXPECT_EQ(first.get(), errc::timed_out);
  from.reset();
  EXPECT_TRUE(held->holds(0));
}

/// What a press prints in these tests has a name for its text.
render_queue::render_request named(const std::string& name,
                                   std::function<render_queue::text_result(const request_context&)> make) {
  render_queue::render_request made;
  made.key = name;
  made.render = std::move(make);
  return made;
}

render_queue::text_result made_of(std::string text) {
  auto made = std::make_shared<document_text>();
  made->content = std::make_shared<const std::string>(std::move(text));
  return std::shared_ptr<const document_text>(std::move(made));
}

/// Tries until there is room for it.
bool printed(render_queue& by, const render_queue::render_request& what) {
  bool is_printed = false;
  (void)eventually([&] {
    const auto got = by.render(what, {});
    is_printed = got.has_value();
    return got || got.error().code != errc::overloaded;
  });
  return is_printed;
}

/// Whether a press says some time that others are before; what asks is taken out of the queue again.
bool becomes_full(render_queue& of) {
  return eventually([&] {
    request_context brief;
    // It is in the way of the others for no longer than it takes to see that its time is over.
    brief.deadline = clock::now();
    const auto got = of.render(named("brief", [](const request_context&) { return made_of(""); }), brief);
    return !got && got.error().code == errc::overloaded;
  });
}

TEST(presses, turn_an_exception_into_an_error_and_go_on) {
  render_queue one({});
  const auto bad =
      one.render(named("bad", [](const request_context&) -> render_queue::text_result { throw std::runtime_error("oh"); }), {});
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error().code, errc::internal);
  const auto good = one.render(named("good", [](const request_context&) { return made_of("x"); }), {});
  ASSERT_TRUE(good);
  EXPECT_EQ(*(*good)->content, "x");
}

TEST(presses, say_of_what_is_for_later_and_had_no_turn_that_there_is_too_much) {
  render_queue_limits within;
  within.max_concurrency = 1;
  render_queue one(within);
  std::promise<void> begun;
  std::promise<void> free;
  auto held = std::async(std::launch::async, [&] {
    return one.render(named("first",
                            [&](const request_context&) {
                              begun.set_value();
                              free.get_future().wait();
                              return made_of("first");
                            }),
                      {});
  });
  begun.get_future().wait();
  auto later = named("second", [](const request_context&) { return made_of("second"); });
  later.is_background = true;
  request_context brief;
  brief.deadline = clock::now();
  const auto got = one.render(later, brief);
  free.set_value();
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code, errc::overloaded);
  EXPECT_TRUE(held.get());
}

TEST(presses, without_memory_say_so_and_go_on) {
  render_queue one({});
  const auto bad =
      one.render(named("bad", [](const request_context&) -> render_queue::text_result { throw std::bad_alloc(); }), {});
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error().code, errc::internal);
  EXPECT_TRUE(one.render(named("good", [](const request_context&) { return made_of("x"); }), {}));
}

TEST(presses, try_again_what_failed_for_a_while) {
  manual_clock now;
  render_queue_limits within;
  within.failure_ttl = 5s;
  render_queue one(within);
  int tries = 0;
  const auto unlucky = [&tries](const request_context&) -> render_queue::text_result {
    if (++tries == 1) return fail(errc::source_unavailable, "no process");
    return made_of("y");
  };
  EXPECT_FALSE(one.render(named("a", unlucky), {}));
  now.advance(4999ms);
  EXPECT_FALSE(one.render(named("a", unlucky), {}));
  EXPECT_EQ(tries, 1);
  now.advance(1ms);
  EXPECT_TRUE(one.render(named("a", unlucky), {}));
  EXPECT_EQ(tries, 2);
}

TEST(presses, have_requests_before_what_is_for_later) {
  render_queue_limits within;
  within.max_concurrency = 1;
  within.max_queued = 2;
  render_queue one(within);
  std::promise<void> go;
  std::promise<void> begun;
  std::mutex mutex;
  std::vector<std::string> order;
  auto first = std::async(std::launch::async, [&] {
    return one
        .render(named("first",
                      [&](const request_context&) {
                        begun.set_value();
                        go.get_future().wait();
                        return made_of("");
                      }),
                {})
        .has_value();
  });
  begun.get_future().wait();
  const auto noting = [&](const std::string& name, bool is_for_later) {
    auto made = named(name, [&, name](const request_context&) {
      const std::lock_guard lock(mutex);
      order.push_back(name);
      return made_of("");
    });
    made.is_background = is_for_later;
    return made;
  };
  auto later = std::async(std::launch::async, [&] { return printed(one, noting("later", true)); });
  auto soon = std::async(std::launch::async, [&] { return printed(one, noting("soon", false)); });
  EXPECT_TRUE(becomes_full(one));
  go.set_value();
  EXPECT_TRUE(first.get() && later.get() && soon.get());
  EXPECT_EQ(order, (std::vector<std::string>{"soon", "later"}));
}

TEST(presses, have_an_end_of_their_queue) {
  render_queue_limits within;
  within.max_concurrency = 1;
  within.max_queued = 1;
  render_queue one(within);
  std::promise<void> go;
  std::promise<void> begun;
  auto first = std::async(std::launch::async, [&] {
    return one
        .render(named("first",
                      [&](const request_context&) {
                        begun.set_value();
                        go.get_future().wait();
                        return made_of("");
                      }),
                {})
        .has_value();
  });
  begun.get_future().wait();
  auto second = std::async(std::launch::async,
                           [&] { return printed(one, named("second", [](const request_context&) { return made_of(""); })); });
  EXPECT_TRUE(becomes_full(one));
  go.set_value();
  EXPECT_TRUE(first.get() && second.get());
}

}  // namespace
}  // namespace hondana::docs

/// Servers that ask: handlers that take their time, call the client, or answer when nobody waits any more.
#include <gtest/gtest.h>

#include <future>
#include <latch>

#include <hondana/clock.hpp>

#include "client/composed_calls.hpp"
#include "deadline.hpp"
#include "unit/client/scripted_channel.hpp"

namespace hondana::test {
namespace {

using heard = scripted_server::heard;
using std::chrono::milliseconds;

constexpr const char* asks_who = R"({"resultType":"input_required","requestState":"s","inputRequests":{"who":{"method":)"
                                 R"("elicitation/create","params":{"message":"?","requestedSchema":{"type":"object"}}}}})";

/// A person who answers when the test says so. Copies are the same person: a handler's thread may outlive the test.
class slow_person {
 public:
  [[nodiscard]] result<elicitation_response> ask() const {
    ++state_->asked;
    state_->asked.notify_all();
    state_->may_answer.wait();
    return elicitation_response{"accept", value::object{}};
  }
  void waits_until_asked(int times = 1) const {
    for (int now = state_->asked; now < times; now = state_->asked) state_->asked.wait(now);
  }
  void answer() const { state_->may_answer.count_down(); }

 private:
  struct state {
    std::atomic<int> asked{0};
    std::latch may_answer{1};
  };
  std::shared_ptr<state> state_ = std::make_shared<state>();
};

client_options asked_by(const slow_person& who) {
  client_options out;
  out.handlers.form_elicitation = [who](const form_request&, const value&) { return who.ask(); };
  return out;
}

scripted_server::answerer modern_tool(std::string answer) {
  return [answer = std::move(answer)](scripted_server& of, const heard& one) {
    if (one.method == "server/discover") return of.result(one, modern_self);
    if (one.method == "resources/list") return of.result(one, R"({"resources":[{"uri":"x:a","name":"a"}]})");
    if (one.method != "tools/call") return;
    of.result(one, one.param("inputResponses") == nullptr ? answer : R"({"content":[{"type":"text","text":"done"}]})");
  };
}

scripted_server::answerer older_tool(std::function<void(scripted_server&, const heard&)> then) {
  return [then = std::move(then)](scripted_server& of, const heard& one) {
    if (one.method == "server/discover") return of.error(one, -32601, "no");
    if (one.method == "initialize") return of.result(one, older_self("2025-11-25"));
    then(of, one);
  };
}

std::string form_question(int id) {
  return R"({"jsonrpc":"2.0","id":)" + std::to_string(id) +
         R"(,"method":"elicitation/create","params":{"message":"?","requestedSchema":{"type":"object"}}})";
}

TEST(asked_back, calls_of_older_servers_end_when_nobody_answers_their_question) {
  manual_clock clock;
  scripted_server server(older_tool([](scripted_server& of, const heard& one) {
    if (one.method == "tools/call") of.say(0, form_question(1));
  }));
  const slow_person person;
  auto options = asked_by(person);
  options.call_timeout = std::chrono::seconds(1);
  options.input_timeout = milliseconds(100);
  opened_engine engine(server, std::move(options));
  ASSERT_TRUE(engine->open());
  auto call = std::async(std::launch::async, [&] { return outbound::call_tool(*engine, "ask", {}, {}); });
  person.waits_until_asked();
  clock.advance(milliseconds(1'100));
  const auto got = call.get();
  person.answer();
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code, errc::timed_out);
}

TEST(asked_back, questions_without_end_hold_no_call_for_ever) {
  manual_clock clock;
  scripted_server server(older_tool([](scripted_server& of, const heard& one) {
    // Another question after each answer.
    if (one.method == "tools/call" || one.method.empty()) of.say(0, form_question(1));
  }));
  client_options options;
  options.call_timeout = milliseconds(50);
  options.input_timeout = milliseconds(200);
  options.handlers.form_elicitation = [&clock](const form_request&, const value&) -> result<elicitation_response> {
    clock.advance(milliseconds(20));
    return elicitation_response{"decline", {}};
  };
  opened_engine engine(server, std::move(options));
  const auto got = outbound::call_tool(*engine, "ask", {}, {});
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code, errc::timed_out);
}

TEST(asked_back, questions_for_which_there_is_no_handler_win_no_time) {
  manual_clock clock;
  scripted_server server(older_tool([](scripted_server& of, const heard& one) {
    if (one.method == "tools/call") of.say(0, form_question(1));
  }));
  client_options options;
  options.call_timeout = milliseconds(500);
  // Time passes while the client answers.
  options.on_message = [&clock](message_direction, std::string_view message) {
    if (message.find("-32601") != std::string_view::npos && message.find("elicitation/create") != std::string_view::npos)
      clock.advance(milliseconds(500));
  };
  opened_engine engine(server, std::move(options));  // an input_time of ten minutes
  ASSERT_TRUE(engine->open());
  EXPECT_EQ(outbound::call_tool(*engine, "ask", {}, {}).error().code, errc::timed_out);
  ASSERT_TRUE(server.waits_for("", 1));
  EXPECT_NE(server.all("").front().message.to_text().find("-32601"), std::string::npos);
}

TEST(asked_back, a_retried_call_ends_when_it_is_cancelled_while_a_person_thinks) {
  scripted_server server(modern_tool(asks_who));
  const slow_person person;
  opened_engine engine(server, asked_by(person));
  std::stop_source stop;
  auto call =
      std::async(std::launch::async, [&] { return outbound::call_tool(*engine, "ask", {}, {.stop = stop.get_token()}); });
  person.waits_until_asked();
  stop.request_stop();
  EXPECT_EQ(call.get().error().code, errc::cancelled);
  person.answer();
  EXPECT_EQ(server.all("tools/call").size(), 1u);
}

TEST(asked_back, a_retried_call_ends_when_nobody_answers_in_time) {
  manual_clock clock;
  scripted_server server(modern_tool(asks_who));
  const slow_person person;
  auto options = asked_by(person);
  options.input_timeout = milliseconds(50);
  opened_engine engine(server, std::move(options));
  auto call = std::async(std::launch::async, [&] { return outbound::call_tool(*engine, "ask", {}, {}); });
  person.waits_until_asked();
  // More than once: the wait begins at some time after the question.
  EXPECT_TRUE(hondana_test::eventually([&] {
    clock.advance(milliseconds(50));
    return call.wait_for(milliseconds(0)) == std::future_status::ready;
  }));
  person.answer();
  const auto got = call.get();
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code, errc::timed_out);
}

TEST(asked_back, all_rounds_of_questions_have_one_whole_time_without_that_of_the_person) {
  manual_clock clock;
  // Asks a first time, or without end.
  for (const bool is_endless : {false, true}) {
    scripted_server server([&clock, is_endless](scripted_server& of, const heard& one) {
      if (one.method == "server/discover") return of.result(one, modern_self);
      if (one.method != "tools/call") return;
      clock.advance(milliseconds(40));
      of.result(one, !is_endless && one.param("inputResponses") != nullptr ? R"({"content":[]})" : asks_who);
    });
    client_options options;
    options.handlers.form_elicitation = [&clock](const form_request&, const value&) -> result<elicitation_response> {
      clock.advance(std::chrono::minutes(1));
      return elicitation_response{"accept", value::object{}};
    };
    opened_engine engine(server, std::move(options));
    ASSERT_TRUE(engine->open());
    const auto got = outbound::call_tool(*engine, "ask", {}, {.total_timeout = milliseconds(100)});
    EXPECT_EQ(got.has_value(), !is_endless) << (got ? "" : got.error().public_text);
    if (!got) {
      EXPECT_EQ(got.error().code, errc::timed_out) << got.error().public_text;
    }
    EXPECT_LE(server.all("tools/call").size(), 3u);
  }
}

TEST(asked_back, a_handler_may_call_the_client) {
  scripted_server server(modern_tool(asks_who));
  client_options options;
  outbound::engine* here = nullptr;
  options.handlers.form_elicitation = [&here](const form_request&, const value&) -> result<elicitation_response> {
    const auto page = outbound::resource_page(*here, {}, {}, {});
    if (!page) return tl::unexpected(page.error());
    return elicitation_response{"accept", value::object{{"who", page->items.at(0).name}}};
  };
  opened_engine engine(server, std::move(options));
  here = &*engine;
  const auto got = outbound::call_tool(*engine, "ask", {}, {});
  ASSERT_TRUE(got) << got.error().public_text;
  EXPECT_EQ(server.all("tools/call").at(1).param("inputResponses")->to_text(),
            R"({"who":{"action":"accept","content":{"who":"a"}}})");
}

TEST(asked_back, a_handler_that_is_asked_back_itself_gets_an_error_and_not_a_deadlock) {
  scripted_server server(modern_tool(asks_who));
  client_options options;
  outbound::engine* here = nullptr;
  std::optional<failure> inner;
  options.handlers.sampling = [](const sampling_request&, const value&) -> result<sampling_response> {
    return sampling_response{};
  };
  options.handlers.form_elicitation = [&](const form_request&, const value&) -> result<elicitation_response> {
    const auto again = outbound::call_tool(*here, "ask", {}, {});
    if (!again) inner = again.error();
    return elicitation_response{"accept", value::object{}};
  };
  opened_engine engine(server, std::move(options));
  here = &*engine;
  const auto got = outbound::call_tool(*engine, "ask", {}, {});
  ASSERT_TRUE(got) << got.error().public_text;
  // The inner question was answered with "cancel", as by a person who does not want to.
  EXPECT_FALSE(inner);
  const auto calls = server.all("tools/call");
  ASSERT_EQ(calls.size(), 4u);
  EXPECT_EQ(calls.at(2).param("inputResponses")->to_text(), R"({"who":{"action":"cancel"}})");
}

TEST(asked_back, an_older_server_that_asks_while_a_handler_waits_for_it_is_refused) {
  scripted_server server(older_tool([](scripted_server& of, const heard& one) {
    if (one.method == "tools/call") of.say(0, form_question(1));
    if (one.method == "resources/list") of.say(0, form_question(2));
    const auto* id = one.method.empty() ? one.message.find("id") : nullptr;
    if (id == nullptr) return;
    if (*id == value(2)) of.result(of.all("resources/list").front(), R"({"resources":[]})");
    if (*id == value(1)) of.result(of.all("tools/call").front(), R"({"content":[]})");
  }));
  client_options options;
  outbound::engine* here = nullptr;
  options.handlers.form_elicitation = [&here](const form_request&, const value&) -> result<elicitation_response> {
    if (const auto page = outbound::resource_page(*here, {}, {}, {}); !page) return tl::unexpected(page.error());
    return elicitation_response{"accept", value::object{}};
  };
  opened_engine engine(server, std::move(options));
  here = &*engine;
  const auto got = outbound::call_tool(*engine, "ask", {}, {});
  ASSERT_TRUE(got) << got.error().public_text;
  EXPECT_NE(server.all("").at(0).message.to_text().find("too many requests to answer"), std::string::npos);
}

/// Servers count from 0: what was meant for a question of one run must not answer that of the next.
TEST(asked_back, answers_never_go_to_another_connection) {
  std::atomic<int> runs = 0;
  scripted_server server(older_tool([&runs](scripted_server& of, const heard& one) {
    if (one.method == "tools/call") of.say(0, form_question(0));
    if (one.method.empty() && runs == 1) of.result(of.all("tools/call").back(), R"({"content":[]})");
  }));
  const slow_person person;
  std::atomic<int> times = 0;
  client_options options;
  options.handlers.form_elicitation = [&](const form_request&, const value&) -> result<elicitation_response> {
    if (++times == 1) return person.ask();
    return elicitation_response{"decline", {}};
  };
  opened_engine engine(server, std::move(options));
  auto first = std::async(std::launch::async, [&] { return outbound::call_tool(*engine, "ask", {}, {}); });
  person.waits_until_asked();
  server.break_off({errc::source_unavailable, "it died", {}});
  EXPECT_EQ(first.get().error().code, errc::source_unavailable);
  runs = 1;
  auto second = std::async(std::launch::async, [&] { return outbound::call_tool(*engine, "ask", {}, {}); });
  ASSERT_TRUE(server.waits_for("tools/call", 2));
  person.answer();
  ASSERT_TRUE(second.get());
  const auto answers = server.all("");
  ASSERT_EQ(answers.size(), 1u);
  EXPECT_NE(answers.front().message.to_text().find("decline"), std::string::npos);
}

TEST(asked_back, more_questions_than_anybody_has_are_none) {
  std::string all;
  for (int i = 0; i < 65; ++i) all += (i == 0 ? "\"" : ",\"") + std::to_string(i) + R"(":{"method":"roots/list"})";
  scripted_server server(modern_tool(R"({"resultType":"input_required","inputRequests":{)" + all + "}}"));
  std::atomic<int> asked = 0;
  client_options options;
  options.handlers.roots = [&asked]() -> result<std::vector<root>> {
    ++asked;
    return std::vector<root>();
  };
  opened_engine engine(server, std::move(options));
  EXPECT_EQ(outbound::call_tool(*engine, "ask", {}, {}).error().code, errc::protocol_error);
  EXPECT_EQ(asked, 0);
}

}  // namespace
}  // namespace hondana::test

/// Servers as child processes, well-behaved and not.
#include "transport/child/child_channel.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <future>
#include <new>
#include <string>
#include <vector>

#include <hondana/clock.hpp>
#include <hondana/value.hpp>

#include "deadline.hpp"
#include "transport/child/child_messages.hpp"
#include "unit/protocol/channel/open_descriptors.hpp"
#include "unit/transport/child/talk.hpp"

namespace hondana::test {
namespace {

using hondana_test::entries_of;
using hondana_test::event_deadline;
using hondana_test::eventually;
using hondana_test::kept_words;
using hondana_test::talk;
using std::chrono::hours;
using std::chrono::seconds;
using transport::child::output_parser;
using transport::child::pending_calls;

TEST(child_channel, carries_requests_and_answers) {
  child_target target;
  target.working_directory = "/";
  target.environment = {{"HONDANA_TEST", "set"}};
  talk with("where", {}, {}, target);
  with.ask(1);
  with.ask(2);
  const auto got = with.heard.answer_to(2);
  ASSERT_TRUE(got);
  EXPECT_EQ(got->at("/result/folder").value_or(value()), value("/"));
  EXPECT_EQ(got->at("/result/variable").value_or(value()), value("set"));
}

TEST(child_channel, takes_windows_line_ends_empty_lines_and_a_banner) {
  talk crlf("crlf");
  crlf.ask(1);
  EXPECT_TRUE(crlf.heard.answer_to(1));
  talk banner("banner");
  banner.ask(1);
  EXPECT_TRUE(banner.heard.answer_to(1));
  const auto lines = banner.lines();
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_NE(lines[0].find("Welcome!"), std::string::npos);
}

TEST(child_channel, tells_an_answer_once) {
  talk with("twice");
  with.ask(1);
  with.ask(2);
  EXPECT_TRUE(with.heard.answer_to(2));
  with.channel->close(event_deadline);
  EXPECT_EQ(with.heard.messages(0).size(), 2u);
}

TEST(child_channel, gives_up_on_a_program_that_speaks_something_else) {
  talk with("chatty");
  with.ask(1);
  const auto why = with.heard.break_number(1);
  EXPECT_EQ(why.code, errc::protocol_error);
  EXPECT_NE(why.public_text.find("please wait"), std::string::npos) << why.public_text;
  with.channel->close({});
  const auto lines = with.lines();
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_NE(lines[0].find("please wait"), std::string::npos) << lines[0];
  EXPECT_NE(lines[1].find("more lines of the server that are not JSON-RPC messages: 10"), std::string::npos) << lines[1];
}

TEST(child_channel, counts_the_lines_of_a_run_that_are_no_messages_and_shows_the_first) {
  talk with("talkative");
  for (channel::call_id id = 1; id <= 3; ++id) with.ask(id);
  EXPECT_TRUE(with.heard.answer_to(3));
  EXPECT_EQ(with.lines().size(), 1u);
  with.channel->close(event_deadline);
  const auto lines = with.lines();
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_NE(lines[0].find("working on 1"), std::string::npos) << lines[0];
  EXPECT_NE(lines[1].find("more lines of the server that are not JSON-RPC messages: 2"), std::string::npos) << lines[1];
}

TEST(child_channel, ends_the_call_that_is_answered_with_garbage) {
  talk with("garbage-with-id");
  with.ask(4);
  EXPECT_EQ(with.heard.failure_of(4).code, errc::protocol_error);
}

TEST(child_channel, says_how_a_program_ended_and_what_it_said) {
  const manual_clock clock;
  child_target listening;
  listening.on_stderr = [](std::string_view) {};
  talk complaining("complain", {}, {}, listening);
  const auto why = complaining.heard.break_number(1);
  EXPECT_EQ(why.code, errc::source_unavailable);
  EXPECT_NE(why.public_text.find("ended with code 7"), std::string::npos) << why.public_text;
  EXPECT_NE(why.public_text.find("no such database"), std::string::npos) << why.public_text;

  talk crashing("crash");
  crashing.ask(1);
  EXPECT_NE(crashing.heard.break_number(1).public_text.find("was killed by SIGKILL"), std::string::npos);
  talk half("half");
  half.ask(1);
  EXPECT_NE(half.heard.break_number(1).public_text.find("ended with code 3"), std::string::npos);
  EXPECT_EQ(half.heard.messages(0).size(), 0u);  // half a line is no message
}

TEST(child_channel, notices_the_end_of_a_program_whose_output_another_holds_open) {
  const manual_clock clock;
  for (const auto* mode : {"heir", "noisy-heir"}) {
    talk with(mode, "5");
    with.ask(1);
    EXPECT_TRUE(with.heard.answer_to(1)) << mode;  // written just before the end
    EXPECT_NE(with.heard.break_number(1).public_text.find("ended with code 5"), std::string::npos) << mode;
    with.ask(2);
    EXPECT_TRUE(with.heard.answer_to(2)) << mode;
  }
}

TEST(child_channel, does_not_wait_at_the_end_for_what_a_program_has_left_behind) {
  talk with("heir", {}, {}, {}, hours(1));
  with.ask(1);
  EXPECT_TRUE(with.heard.answer_to(1));
  with.channel->close(hours(1));  // A wait would outlast the test.
  with.channel.reset();
  EXPECT_TRUE(hondana_test::has_reaped_all());
}

TEST(child_channel, ends_a_program_that_has_closed_its_input_once_something_is_to_be_sent) {
  talk with("closes-input");
  with.ask(1);
  EXPECT_TRUE(with.heard.answer_to(1));
  with.ask(2);
  const auto why = with.heard.break_number(1);
  EXPECT_EQ(why.code, errc::source_unavailable);
  EXPECT_NE(why.public_text.find("closed its standard input"), std::string::npos) << why.public_text;
  with.ask(3);
  EXPECT_TRUE(with.heard.answer_to(3));
}

TEST(child_channel, starts_the_program_anew_for_the_next_message_but_not_again_and_again) {
  manual_clock clock;
  // Told before the break is, on the same thread.
  std::vector<std::pair<std::string, unsigned>> ends;
  child_target listening;
  listening.on_exit = [&ends](std::string_view how, unsigned quick_ends) { ends.emplace_back(how, quick_ends); };
  talk with("crash", {}, {}, listening);
  for (std::size_t round = 1; round <= 2; ++round) {
    with.ask(round);
    EXPECT_NE(with.heard.break_number(round).public_text.find("SIGKILL"), std::string::npos);
  }
  with.ask(9);
  const auto why = with.heard.break_number(3);
  EXPECT_NE(why.public_text.find("2 times in a row right after its start; the last time, it was killed by SIGKILL"),
            std::string::npos)
      << why.public_text;
  EXPECT_EQ(ends, (std::vector<std::pair<std::string, unsigned>>{{"was killed by SIGKILL", 1}, {"was killed by SIGKILL", 2}}));
  clock.advance(seconds(1));
  with.ask(10);
  EXPECT_NE(with.heard.break_number(4).public_text.find(") was killed by SIGKILL"), std::string::npos);
}

TEST(child_channel, says_why_a_program_cannot_be_started) {
  kept_words heard;
  const auto why_of = [&heard](child_target target) {
    hondana_test::prepare_for(target);
    const auto made = transport::start_child(target, heard, {}, {});
    return made ? failure{} : made.error();
  };
  EXPECT_EQ(why_of({}).code, errc::invalid_argument);
  const auto missing = why_of({.command = {"no-such-program-of-hondana"}});
  EXPECT_EQ(missing.code, errc::source_unavailable);
  EXPECT_NE(missing.public_text.find("was not found in PATH"), std::string::npos) << missing.public_text;
  EXPECT_NE(why_of({.command = {"/etc/passwd"}}).public_text.find("Permission denied"), std::string::npos);
  EXPECT_NE(why_of({.command = {"true"}, .working_directory = "/no/such/folder"}).public_text.find("/no/such/folder"),
            std::string::npos);
  EXPECT_EQ(why_of({.command = {std::string("a\0b", 3)}}).code, errc::invalid_argument);
  EXPECT_EQ(why_of({.command = {"true"}, .environment = {{"A=B", "c"}}}).code, errc::invalid_argument);
}

TEST(child_channel, ends_a_program_that_heeds_neither_the_end_of_its_input_nor_a_signal) {
  talk with("stubborn");
  with.channel->close(hours(1));  // A wait for all of this time would outlast the test.
  with.channel.reset();
  EXPECT_TRUE(hondana_test::has_reaped_all());
}

TEST(child_channel, closes_in_the_time_that_it_has_even_if_the_program_may_take_longer) {
  manual_clock clock;
  child_target target;
  target.on_stderr = [&clock](std::string_view) { clock.advance(seconds(10)); };
  talk with("lingers", {}, {}, target, hours(1));
  auto closing = std::async(std::launch::async, [&with] { with.channel->close(seconds(10)); });
  EXPECT_EQ(closing.wait_for(event_deadline), std::future_status::ready);
  clock.advance(hours(2));  // A second wait ends, too, so that the test does.
  closing.get();
  EXPECT_TRUE(hondana_test::has_reaped_all());
}

TEST(child_channel, does_not_wait_for_a_program_that_reads_nothing) {
  channel::limits most;
  most.max_queued_bytes = 1u << 20;
  talk with("deaf", {}, most);
  const std::string large(200'000, ' ');
  for (channel::call_id id = 1; id <= 10; ++id) with.channel->send({.text = "{}" + large, .call = id});
  EXPECT_EQ(with.heard.failure_of(10).code, errc::overloaded);
}

/// Answers each question of the server's, at some length.
void answer_all(talk& with, std::size_t& questions) {
  with.heard.on_received = [&with, &questions](channel::call_id, const std::string& text) {
    if (text.find("\"method\"") == std::string::npos) return;
    ++questions;
    with.channel->send({.text = R"({"jsonrpc":"2.0","id":1,"result":{"a":")" + std::string(200, 'x') + "\"}}"});
  };
}

TEST(child_channel, ends_a_program_that_asks_and_asks_and_reads_no_answer) {
  std::size_t questions = 0;
  talk with("floods");
  answer_all(with, questions);
  with.ask(1);
  const auto why = with.heard.break_number(1);
  EXPECT_EQ(why.code, errc::source_unavailable);
  EXPECT_NE(why.public_text.find("without reading the answers"), std::string::npos) << why.public_text;
  // 4 MiB of answers and what a pipe holds; then it was not heard any more.
  EXPECT_LT(questions, 25'000u);
  EXPECT_GT(questions, 15'000u);
}

TEST(child_channel, bears_with_a_program_that_asks_much_and_reads_the_answers) {
  const manual_clock clock;
  std::size_t questions = 0;
  talk with("asks-much", "40000");
  answer_all(with, questions);
  with.ask(1);
  EXPECT_TRUE(with.heard.answer_to(1));
  EXPECT_EQ(questions, 40'000u);
  for (const auto& why : with.heard.breaks(0)) ADD_FAILURE() << why.public_text;
}

TEST(child_channel, ends_a_program_whose_answer_does_not_come_to_its_end_once_nobody_waits_for_it) {
  talk with("endless");
  with.ask(1, [](std::size_t, std::string_view) { return result<void>(); });
  EXPECT_TRUE(eventually([&] { return with.heard.progress_of(1) > 0; }));
  with.channel->abandon(1);
  const auto why = with.heard.break_number(1);
  EXPECT_EQ(why.code, errc::source_unavailable);
  EXPECT_NE(why.public_text.find("did not finish the answer"), std::string::npos) << why.public_text;
  with.ask(2);
  EXPECT_TRUE(with.heard.answer_to(2)) << "a new run";
}

TEST(child_channel, bears_with_half_an_answer_for_three_seconds_after_its_call) {
  manual_clock clock;
  talk with("half-silent");
  with.ask(1);
  with.ask(2);
  with.channel->abandon(1);
  EXPECT_TRUE(eventually([&] {
    clock.advance(seconds(1));
    return !with.heard.breaks(0).empty();
  }));
  with.ask(3);
  EXPECT_TRUE(with.heard.answer_to(3));
}

TEST(child_channel, ends_a_run_without_memory_for_its_answer_and_starts_another) {
  talk with("large", "1000");
  with.ask(1, [](std::size_t, std::string_view) -> result<void> { throw std::bad_alloc(); });
  const auto why = with.heard.break_number(1);
  EXPECT_EQ(why.code, errc::source_unavailable);
  EXPECT_NE(why.public_text.find("than fits in memory"), std::string::npos) << why.public_text;
  with.ask(2);
  EXPECT_TRUE(with.heard.answer_to(2)) << "a new run";
}

TEST(child_messages, without_a_line_end_are_read_slowly_also_when_blank) {
  const manual_clock clock;
  for (const std::string begin : {"", "{"}) {
    kept_words heard;
    pending_calls calls;
    const std::function<void(std::string_view)> no_log;
    output_parser lines(heard, calls, {}, no_log);
    ASSERT_TRUE(lines.feed(begin));
    const std::string blanks(1u << 20, ' ');
    for (int i = 0; i < 250; ++i) ASSERT_TRUE(lines.feed(blanks));
    EXPECT_GT(lines.read_delay().count(), 1'000) << begin;
  }
}

TEST(child_messages, of_an_abandoned_call_may_go_on_while_they_come_and_no_caller_waits) {
  manual_clock clock;
  kept_words heard;
  pending_calls calls;
  const std::function<void(std::string_view)> no_log;
  output_parser lines(heard, calls, {}, no_log);
  calls.add(1, [](std::size_t, std::string_view) { return result<void>(); });
  ASSERT_TRUE(lines.feed(R"({"jsonrpc":"2.0","id":1,"result":{"contents":[{"text":")"));
  EXPECT_FALSE(lines.stop_deadline());
  calls.abandon(1);
  const auto begin = monotonic_clock::now();
  EXPECT_EQ(lines.stop_deadline(), begin + seconds(3));
  clock.advance(seconds(2));
  ASSERT_TRUE(lines.feed(std::string(1u << 20, 'x')));
  EXPECT_EQ(lines.stop_deadline(), begin + seconds(5));
  // A trickle is not enough.
  clock.advance(seconds(1));
  ASSERT_TRUE(lines.feed("x"));
  EXPECT_EQ(lines.stop_deadline(), begin + seconds(5));
  calls.add(2, {});
  EXPECT_EQ(lines.stop_deadline(), begin + seconds(5));
  ASSERT_TRUE(lines.feed(std::string(2u << 20, 'x')));
  EXPECT_EQ(lines.stop_deadline(), begin + seconds(5)) << "another caller waits";
  ASSERT_TRUE(lines.feed("\"}]}}\n"));
  EXPECT_FALSE(lines.stop_deadline());
}

TEST(child_messages, of_an_abandoned_call_may_go_on_beside_a_subscription) {
  manual_clock clock;
  kept_words heard;
  pending_calls calls;
  const std::function<void(std::string_view)> no_log;
  output_parser lines(heard, calls, {}, no_log);
  calls.add(1, {}, true);
  calls.add(2, [](std::size_t, std::string_view) { return result<void>(); });
  ASSERT_TRUE(lines.feed(R"({"jsonrpc":"2.0","id":2,"result":{"contents":[{"text":")"));
  calls.abandon(2);
  const auto begin = monotonic_clock::now();
  EXPECT_EQ(lines.stop_deadline(), begin + seconds(3));
  clock.advance(seconds(2));
  ASSERT_TRUE(lines.feed(std::string(1u << 20, 'x')));
  EXPECT_EQ(lines.stop_deadline(), begin + seconds(5));
}

TEST(child_channel, ends_a_call_as_soon_as_its_content_is_refused) {
  talk with("endless");
  with.ask(1, [](std::size_t, std::string_view) -> result<void> { return fail(errc::response_too_large, "too much"); });
  EXPECT_EQ(with.heard.failure_of(1).code, errc::response_too_large);
  EXPECT_EQ(with.heard.break_number(1).code, errc::source_unavailable);
}

TEST(child_channel, reads_a_program_slowly_that_sends_without_end_what_nobody_asked_for) {
  manual_clock clock;
  std::atomic<std::size_t> heard{0};
  talk with("tells-on");
  with.heard.on_received = [&heard](channel::call_id, const std::string&) { ++heard; };
  with.ask(1);
  // Fifty thousand, or a little less for what each is long.
  EXPECT_TRUE(eventually([&] { return heard >= 45'000; }));
  EXPECT_LT(heard, 51'000u);
  const auto before = heard.load();
  clock.advance(seconds(5));
  EXPECT_TRUE(eventually([&] { return heard >= before + 3'000; }));
  EXPECT_LT(heard, 57'000u);
}

TEST(child_channel, ends_the_run_of_a_program_that_is_said_to_be_stuck) {
  talk with("silent");
  with.ask(1);
  with.channel->end_connection("did not answer a ping");
  const auto why = with.heard.break_number(1);
  EXPECT_EQ(why.code, errc::source_unavailable);
  EXPECT_NE(why.public_text.find("did not answer a ping, and was stopped"), std::string::npos) << why.public_text;
  EXPECT_TRUE(hondana_test::has_reaped_all());
  // Without a run there is nothing to end, and the next is not to suffer for the last.
  with.channel->end_connection("did not answer a ping");
  with.ask(2);
  with.channel->close(event_deadline);
  EXPECT_EQ(with.heard.breaks(0).size(), 1u);
}

TEST(child_channel, is_not_held_up_by_a_flood_on_standard_error) {
  const manual_clock clock;
  child_target target;
  std::size_t lines = 0;
  std::size_t longest = 0;
  target.on_stderr = [&](std::string_view line) {
    ++lines;
    longest = std::max(longest, line.size());
  };
  talk with("flood", {}, {}, target);
  with.ask(1);
  EXPECT_TRUE(with.heard.answer_to(1));
  with.channel->close(event_deadline);
  EXPECT_EQ(lines, 15'001u);
  EXPECT_EQ(longest, 4'096u);
}

TEST(child_channel, leaves_no_descriptors_threads_or_processes) {
  const auto threads = entries_of("/proc/self/task");
  {
    talk first("echo");
    first.ask(1);
    EXPECT_TRUE(first.heard.answer_to(1));
  }
  const auto descriptors = entries_of("/proc/self/fd");
  for (const auto* mode : {"echo", "silent", "crash", "half", "chatty", "stubborn", "complain", "deaf", "heir"}) {
    for (int round = 0; round < 5; ++round) {
      talk one(mode);
      one.ask(1);
    }
  }
  EXPECT_EQ(entries_of("/proc/self/fd"), descriptors);
  // A thread is listed for a moment after it was joined.
  EXPECT_TRUE(eventually([threads] { return entries_of("/proc/self/task") <= threads; }));
  EXPECT_TRUE(hondana_test::has_reaped_all());
}

}  // namespace
}  // namespace hondana::test

/// Servers as child processes, well-behaved and not.
#include "transport/child/child_channel.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>

#include <algorithm>
#include <fstream>
#include <mutex>
#include <string>
#include <vector>

#include <hondana/value.hpp>

#include "unit/channel/kept_words.hpp"
#include "unit/channel/open_descriptors.hpp"

namespace hondana::test {
namespace {

using hondana_test::entries_of;
using hondana_test::into;
using hondana_test::kept_words;
using std::chrono::milliseconds;
using std::chrono::seconds;

/// A misbehaving server, and what is heard of it.
class talk {
 public:
  explicit talk(std::string mode, std::string more = {}, channel::limits most = {}, child_target target = {},
                milliseconds leaving = milliseconds(100)) {
    target.command = {HONDANA_MISBEHAVING, std::move(mode)};
    if (!more.empty()) target.command.push_back(std::move(more));
    target.leaving_time = leaving;
    auto made = transport::start_child(target, heard, most, [this](std::string_view line) {
      const std::lock_guard lock(mutex_);
      lines_.emplace_back(line);
    });
    EXPECT_TRUE(made) << made.error().public_text;
    channel = std::move(*made);
  }
  void ask(channel::call_id id, channel::content_sink content = {}) const {
    channel->send({.text = R"({"jsonrpc":"2.0","id":)" + std::to_string(id) + R"(,"method":"m"})",
                   .call = id,
                   .content = std::move(content)});
  }
  std::vector<std::string> lines() {
    const std::lock_guard lock(mutex_);
    return lines_;
  }

  kept_words heard;
  std::unique_ptr<channel::channel> channel;

 private:
  std::mutex mutex_;
  std::vector<std::string> lines_;
};

std::size_t peak_kilobytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmHWM:")) return std::stoul(line.substr(6));
  }
  return 0;
}

TEST(child_channel, carries_requests_and_answers) {
  child_target target;
  target.folder = "/";
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
  with.channel->close(seconds(5));
  EXPECT_EQ(with.heard.messages(0).size(), 2u);
}

TEST(child_channel, gives_up_on_a_program_that_speaks_something_else) {
  talk with("chatty");
  with.ask(1);
  const auto why = with.heard.break_number(1);
  EXPECT_EQ(why.code, errc::broken_protocol);
  EXPECT_NE(why.public_text.find("please wait"), std::string::npos) << why.public_text;
  with.channel->close({});
  const auto lines = with.lines();
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_NE(lines[0].find("please wait"), std::string::npos) << lines[0];
  EXPECT_NE(lines[1].find("besides the one shown: 10"), std::string::npos) << lines[1];
}

TEST(child_channel, counts_the_lines_of_a_run_that_are_no_messages_and_shows_the_first) {
  talk with("talkative");
  for (channel::call_id id = 1; id <= 3; ++id) with.ask(id);
  EXPECT_TRUE(with.heard.answer_to(3));
  EXPECT_EQ(with.lines().size(), 1u);
  with.channel->close(seconds(10));
  const auto lines = with.lines();
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_NE(lines[0].find("working on 1"), std::string::npos) << lines[0];
  EXPECT_NE(lines[1].find("besides the one shown: 2"), std::string::npos) << lines[1];
}

TEST(child_channel, ends_the_call_that_is_answered_with_garbage) {
  talk with("garbage-with-id");
  with.ask(4);
  EXPECT_EQ(with.heard.failure_of(4).code, errc::broken_protocol);
}

TEST(child_channel, says_how_a_program_ended_and_what_it_said) {
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
  talk with("heir", {}, {}, {}, seconds(20));
  with.ask(1);
  EXPECT_TRUE(with.heard.answer_to(1));
  const auto began = std::chrono::steady_clock::now();
  with.channel->close(seconds(60));
  EXPECT_LT(std::chrono::steady_clock::now() - began, seconds(10));
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
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
  // Told before the break is, on the same thread.
  std::vector<std::pair<std::string, unsigned>> ends;
  child_target listening;
  listening.on_end = [&ends](std::string_view how, unsigned quick_ends) { ends.emplace_back(how, quick_ends); };
  talk with("crash", {}, {}, listening);
  for (std::size_t round = 1; round <= 2; ++round) {
    with.ask(round);
    EXPECT_NE(with.heard.break_number(round).public_text.find("SIGKILL"), std::string::npos);
  }
  with.ask(9);
  const auto why = with.heard.break_number(3);
  EXPECT_NE(why.public_text.find("2 times in a row just after it was started, at last it was killed by SIGKILL"),
            std::string::npos)
      << why.public_text;
  EXPECT_EQ(ends, (std::vector<std::pair<std::string, unsigned>>{{"was killed by SIGKILL", 1}, {"was killed by SIGKILL", 2}}));
}

TEST(child_channel, says_why_a_program_cannot_be_started) {
  kept_words heard;
  const auto why_of = [&heard](child_target target) {
    const auto made = transport::start_child(target, heard, {}, {});
    return made ? failure{} : made.error();
  };
  EXPECT_EQ(why_of({}).code, errc::invalid_argument);
  const auto missing = why_of({.command = {"no-such-program-of-hondana"}});
  EXPECT_EQ(missing.code, errc::source_unavailable);
  EXPECT_NE(missing.public_text.find("was not found in PATH"), std::string::npos) << missing.public_text;
  EXPECT_NE(why_of({.command = {"/etc/passwd"}}).public_text.find("Permission denied"), std::string::npos);
  EXPECT_NE(why_of({.command = {"true"}, .folder = "/no/such/folder"}).public_text.find("/no/such/folder"), std::string::npos);
  EXPECT_EQ(why_of({.command = {std::string("a\0b", 3)}}).code, errc::invalid_argument);
  EXPECT_EQ(why_of({.command = {"true"}, .environment = {{"A=B", "c"}}}).code, errc::invalid_argument);
}

TEST(child_channel, ends_a_program_that_heeds_neither_the_end_of_its_input_nor_a_signal) {
  talk with("stubborn");
  const auto began = std::chrono::steady_clock::now();
  with.channel->close(seconds(10));
  EXPECT_LT(std::chrono::steady_clock::now() - began, seconds(5));
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);  // nothing is left to reap
}

TEST(child_channel, does_not_wait_for_a_program_that_reads_nothing) {
  channel::limits most;
  most.queued_bytes = 1u << 20;
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
  EXPECT_NE(why.public_text.find("does not read what it is answered"), std::string::npos) << why.public_text;
  // 4 MiB of answers and what a pipe holds; then it was not heard any more.
  EXPECT_LT(questions, 25'000u);
  EXPECT_GT(questions, 15'000u);
}

TEST(child_channel, bears_with_a_program_that_asks_much_and_reads_the_answers) {
  std::size_t questions = 0;
  talk with("asks-much", "50000");
  answer_all(with, questions);
  with.ask(1);
  EXPECT_TRUE(with.heard.answer_to(1));
  EXPECT_EQ(questions, 50'000u);
  for (const auto& why : with.heard.breaks(0)) ADD_FAILURE() << why.public_text;
}

TEST(child_channel, is_not_held_up_by_a_flood_on_standard_error) {
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
  with.channel->close(seconds(10));
  EXPECT_EQ(lines, 100'001u);
  EXPECT_EQ(longest, 4'096u);
}

TEST(child_channel, gives_content_of_any_size_to_its_sink_in_constant_memory) {
#ifdef HONDANA_IS_SANITIZED
  constexpr std::uint64_t size = 64u << 20;
#else
  constexpr std::uint64_t size = 1u << 30;
#endif
  for (const auto* mode : {"large", "large-late"}) {
    talk with(mode, std::to_string(size));
    std::uint64_t got = 0;
    const auto before = peak_kilobytes();
    with.ask(1, [&got](std::size_t, std::string_view bytes) -> result<void> {
      got += bytes.size();
      return {};
    });
    EXPECT_TRUE(with.heard.answer_to(1)) << mode;
    EXPECT_EQ(got, size) << mode;
    EXPECT_LT(peak_kilobytes() - before, 16u << 10) << mode;
  }
}

TEST(child_channel, tells_that_content_comes_whether_its_id_came_first_or_not) {
  for (const auto* mode : {"large", "large-late"}) {
    talk with(mode, std::to_string(5u << 20));
    with.ask(1, [](std::size_t, std::string_view) { return result<void>(); });
    EXPECT_TRUE(with.heard.answer_to(1)) << mode;
    EXPECT_GE(with.heard.progress_of(1), 10u) << mode;
  }
}

TEST(child_channel, takes_no_question_of_the_server_for_an_answer) {
  talk with("asks");
  with.ask(1);
  EXPECT_TRUE(with.heard.message_with("ping"));
  EXPECT_TRUE(with.heard.answer_to(1));
  with.ask(7);
  EXPECT_TRUE(with.heard.answer_to(7));
  EXPECT_EQ(with.heard.messages(0).size(), 4u);
}

TEST(child_channel, does_not_end_a_call_for_a_question_that_is_too_long) {
  channel::limits most;
  most.message_bytes = 1u << 20;
  talk with("asks-at-length", {}, most);
  with.ask(1);
  EXPECT_TRUE(with.heard.answer_to(1));
  EXPECT_TRUE(with.heard.endings(0).empty());
  ASSERT_EQ(with.lines().size(), 1u);
  EXPECT_NE(with.lines().front().find("longer than the 1048576 bytes"), std::string::npos) << with.lines().front();
}

TEST(child_channel, does_not_end_a_call_for_a_long_notification) {
  talk with("notes");
  with.ask(1, [](std::size_t, std::string_view) { return result<void>(); });
  EXPECT_TRUE(with.heard.message_with("notifications/message"));
  EXPECT_TRUE(with.heard.answer_to(1));
  EXPECT_TRUE(with.heard.endings(0).empty());
}

TEST(child_channel, skips_a_line_that_is_too_long_and_goes_on) {
  channel::limits most;
  most.message_bytes = 1u << 20;
  for (const auto* mode : {"large", "large-late"}) {
    talk with(mode, std::to_string(300u << 20), most);
    const auto before = peak_kilobytes();
    with.ask(1);
    EXPECT_EQ(with.heard.failure_of(1).code, errc::response_too_large) << mode;
    EXPECT_LT(peak_kilobytes() - before, 16u << 10) << mode;
    with.ask(2);
    EXPECT_EQ(with.heard.failure_of(2).code, errc::response_too_large) << mode;
  }
}

TEST(child_channel, does_not_put_content_where_it_does_not_belong) {
  // Two calls under way, and the id comes last: whose content it is cannot be known before.
  talk with("large-late", std::to_string(300'000));
  std::uint64_t first = 0;
  std::uint64_t second = 0;
  const auto counting = [](std::uint64_t& into) -> channel::content_sink {
    return [&into](std::size_t, std::string_view bytes) -> result<void> {
      into += bytes.size();
      return {};
    };
  };
  with.ask(1, counting(first));
  with.ask(2, counting(second));
  EXPECT_TRUE(with.heard.answer_to(1));
  EXPECT_TRUE(with.heard.answer_to(2));
  EXPECT_EQ(first, 300'000u);
  EXPECT_EQ(second, 300'000u);
}

TEST(child_channel, streams_content_whose_id_comes_last_in_constant_memory_among_other_calls) {
#ifdef HONDANA_IS_SANITIZED
  constexpr std::uint64_t size = 80u << 20;
#else
  constexpr std::uint64_t size = 1u << 30;
#endif
  talk with("large-late", std::to_string(size));
  std::uint64_t first = 0;
  std::uint64_t second = 0;
  std::size_t most_files = 0;
  const auto counting = [&most_files](std::uint64_t& into) -> channel::content_sink {
    return [&into, &most_files](std::size_t, std::string_view bytes) -> result<void> {
      if (into == 0) most_files = std::max(most_files, entries_of("/proc/self/fd"));
      into += bytes.size();
      return {};
    };
  };
  const auto before = peak_kilobytes();
  const auto files = entries_of("/proc/self/fd");
  with.ask(1, counting(first));
  with.ask(2, counting(second));
  EXPECT_TRUE(with.heard.answer_to(1));
  EXPECT_TRUE(with.heard.answer_to(2));
  EXPECT_EQ(first, size);
  EXPECT_EQ(second, size);
  EXPECT_LT(peak_kilobytes() - before, 16u << 10);
  EXPECT_LE(most_files, files + 1);
  EXPECT_EQ(entries_of("/proc/self/fd"), files);
  // The second may be alone by then, and is told of as it comes; the first was held back.
  EXPECT_GE(with.heard.progress_of(1), 100u);
  EXPECT_GE(with.heard.progress_of(2), 100u);
}

TEST(child_channel, takes_answers_that_come_together_as_an_array) {
  talk with("grouping");
  std::string first;
  std::string second;
  with.ask(1, into(first));
  with.ask(2, into(second));
  EXPECT_TRUE(with.heard.answer_to(2));
  EXPECT_TRUE(with.heard.answer_to(1));
  EXPECT_TRUE(with.heard.message_with("notifications/message"));
  EXPECT_EQ(first, "one");
  EXPECT_EQ(second, "two");
  ASSERT_EQ(with.lines().size(), 1u);
  EXPECT_NE(with.lines().front().find("[]"), std::string::npos);
}

TEST(child_channel, tells_nothing_of_what_was_abandoned) {
  talk with("large", std::to_string(5u << 20));
  std::uint64_t got = 0;
  with.channel->send({.text = R"({"jsonrpc":"2.0","id":1,"method":"m"})",
                      .call = 1,
                      .content = [&got](std::size_t, std::string_view bytes) -> result<void> {
                        got += bytes.size();
                        return {};
                      }});
  with.channel->abandon(1);
  const auto before = got;
  with.ask(2);
  EXPECT_TRUE(with.heard.answer_to(2));
  EXPECT_EQ(with.heard.messages(0).size(), 1u);
  EXPECT_LE(got, before + (5u << 20));
}

TEST(child_channel, leaves_no_descriptors_threads_or_processes) {
  {
    talk first("echo");
    first.ask(1);
    EXPECT_TRUE(first.heard.answer_to(1));
  }
  const auto descriptors = entries_of("/proc/self/fd");
  const auto threads = entries_of("/proc/self/task");
  for (const auto* mode : {"echo", "silent", "crash", "half", "chatty", "stubborn", "complain", "deaf", "heir"}) {
    for (int round = 0; round < 5; ++round) {
      talk one(mode);
      one.ask(1);
    }
  }
  EXPECT_EQ(entries_of("/proc/self/fd"), descriptors);
  EXPECT_EQ(entries_of("/proc/self/task"), threads);
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
}

}  // namespace
}  // namespace hondana::test

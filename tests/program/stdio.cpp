/// `hondana stdio`: what it answers, how it ends, and that nothing but messages leaves by standard output.
#include <signal.h>

#include <algorithm>
#include <boost/json/serialize.hpp>
#include <chrono>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "deadline.hpp"
#include "program/folder.hpp"
#include "program/messages.hpp"
#include "program/process.hpp"

namespace {

using program_test::departure;
using program_test::folder;
using program_test::message;
using program_test::patience;
using program_test::process;
using program_test::read_request;
using program_test::request;
using program_test::well;
using program_test::within;
using std::chrono::milliseconds;

constexpr departure stopped{5, 0};

/// A folder with a file of 1 MiB whose content has six bytes a byte in JSON.
struct shelf : folder {
  shelf() {
    put("small.txt", "hello\n");
    put("large.txt", std::string(1 << 20, '\x01'));
  }
};

std::string ping(int id) { return request(id, "server/discover") + '\n'; }

/// Starts it and waits for its first answer.
struct running_stdio : process {
  explicit running_stdio(const folder& what) : process({"stdio", what.path()}) {
    is_ready = write(ping(0), within(patience)) && read_line(within(patience)).has_value();
  }
  bool is_ready = false;
};

TEST(program_stdio_timing, leaves_at_once_at_the_end_of_input) {
  const shelf what;
  auto quickest = milliseconds::max();
  for (int i = 0; i < 3; ++i) {
    running_stdio program(what);
    ASSERT_TRUE(program.is_ready) << program.errors();
    const auto begin = std::chrono::steady_clock::now();
    program.end_input();
    EXPECT_EQ(program.leaves(within(patience)), well) << program.errors();
    quickest = std::min(quickest, std::chrono::duration_cast<milliseconds>(std::chrono::steady_clock::now() - begin));
    EXPECT_EQ(program.read_to_end(within(patience)), "");
  }
#ifndef HONDANA_IS_SANITIZED
  EXPECT_LT(quickest, milliseconds(500));
#endif
}

TEST(program_stdio, leaves_when_its_input_is_empty) {
  const shelf what;
  process program({"stdio", what.path()});
  program.end_input();
  EXPECT_EQ(program.leaves(within(patience)), well) << program.errors();
  EXPECT_EQ(program.read_to_end(within(patience)), "");
}

TEST(program_stdio, answers_what_came_before_the_end_of_input) {
  const shelf what;
  std::string all;
  for (int id = 1; id <= 20; ++id) all += read_request(id, what.uri("small.txt")) + '\n';
  all += request(21, "server/discover");  // a last line needs no newline
  // Within a second, the default, a slow machine may not be done.
  const folder configured;
  configured.put("hondana.toml", "[stdio]\ndrain_timeout_ms = 600000\n");
  process program({"stdio", "--config", configured.path("hondana.toml"), what.path()});
  EXPECT_TRUE(program.write(all, within(patience)));
  program.end_input();
  std::vector<int> ids;
  while (const auto line = program.read_line(within(patience))) {
    const auto answer = message(*line);
    EXPECT_TRUE(answer.contains("result")) << *line;
    ids.push_back(static_cast<int>(answer.at("id").as_int64()));
  }
  std::sort(ids.begin(), ids.end());
  EXPECT_EQ(ids, (std::vector<int>{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21}));
  EXPECT_EQ(program.leaves(within(patience)), well) << program.errors();
}

TEST(program_stdio, leaves_soon_when_the_peer_ends_its_input_and_reads_nothing) {
  const shelf what;
  for (const int reads : {3, 300, 2000}) {
    running_stdio program(what);
    ASSERT_TRUE(program.is_ready) << program.errors();
    std::string all;
    for (int id = 1; id <= reads; ++id) all += read_request(id, what.uri("large.txt")) + '\n';
    ASSERT_TRUE(program.write(all, within(patience))) << reads;
    ASSERT_TRUE(program.has_output(within(patience))) << reads;
    program.end_input();
    EXPECT_EQ(program.leaves(within(patience)), stopped) << reads << " reads\n" << program.errors();
  }
}

TEST(program_stdio, leaves_when_nobody_reads_its_output_any_more) {
  const shelf what;
  running_stdio program(what);
  ASSERT_TRUE(program.is_ready) << program.errors();
  program.end_output();
  ASSERT_TRUE(program.write(ping(1), within(patience)));
  EXPECT_EQ(program.leaves(within(patience)), stopped) << program.errors();
}

TEST(program_stdio, leaves_well_when_told_to_stop) {
  const shelf what;
  for (const int number : {SIGTERM, SIGINT}) {
    running_stdio program(what);
    ASSERT_TRUE(program.is_ready) << program.errors();
    program.signal(number);
    EXPECT_EQ(program.leaves(within(patience)), well) << program.errors();
    EXPECT_EQ(program.read_to_end(within(patience)), "");
  }
}

TEST(program_stdio, leaves_when_told_to_stop_while_the_peer_reads_nothing) {
  const shelf what;
  for (const int reads : {3, 2000}) {
    running_stdio program(what);
    ASSERT_TRUE(program.is_ready) << program.errors();
    std::string all;
    for (int id = 1; id <= reads; ++id) all += read_request(id, what.uri("large.txt")) + '\n';
    ASSERT_TRUE(program.write(all, within(patience))) << reads;
    ASSERT_TRUE(program.has_output(within(patience))) << reads;
    program.signal(SIGTERM);
    const auto left = program.leaves(within(patience));
    ASSERT_TRUE(left) << reads << " reads\n" << program.errors();
    EXPECT_EQ(left->signal, 0) << reads;
  }
}

TEST(program_stdio, leaves_at_once_when_told_to_stop_twice) {
  const shelf what;
  running_stdio program(what);
  ASSERT_TRUE(program.is_ready) << program.errors();
  ASSERT_TRUE(program.write(read_request(1, what.uri("large.txt")) + '\n', within(patience)));
  ASSERT_TRUE(program.has_output(within(patience)));
  // Both arrive together, so that nothing has ended after the first.
  program.signal(SIGSTOP);
  program.signal(SIGTERM);
  program.signal(SIGINT);
  program.signal(SIGCONT);
  const auto left = program.leaves(within(patience));
  ASSERT_TRUE(left) << program.errors();
  EXPECT_TRUE(left->exit_code == 128 + SIGTERM || left->exit_code == 128 + SIGINT) << left->exit_code;
}

TEST(program_stdio, writes_nothing_but_messages) {
  const shelf what;
  running_stdio program(what);
  ASSERT_TRUE(program.is_ready) << program.errors();
  ASSERT_TRUE(program.write_and_read(
      "nonsense\n{\n\n[]\n7\n\xff\xfe\n\r\n{\"jsonrpc\":\"2.0\",\"id\":1,\"METHOD\":\"ping\"}\n" +
          request(2, "resources/list") + "\n" + request(3, "no/such/method") + "\n" + read_request(4, what.uri("nothing.txt")) +
          "\r\n" + R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":4}})" + "\n" +
          read_request(5, what.uri("small.txt")) + "\n",
      within(patience)));
  program.signal(SIGHUP);
  std::vector<std::string> answered;
  const auto take = [&answered](const std::string& line) {
    boost::json::object answer;
    ASSERT_NO_THROW(answer = message(line)) << line;
    if (const auto* id = answer.if_contains("id")) answered.push_back(boost::json::serialize(*id));
  };
  // What is still asked when the input ends has a second to be answered.
  for (const std::string id : {"2", "5"}) {
    while (std::find(answered.begin(), answered.end(), id) == answered.end()) {
      const auto line = program.read_line(within(patience));
      ASSERT_TRUE(line) << program.errors();
      take(*line);
    }
  }
  program.end_input();
  auto rest = program.read_to_end(within(patience));
  ASSERT_TRUE(rest);
  ASSERT_TRUE(rest->empty() || rest->ends_with('\n')) << *rest;
  for (; !rest->empty(); rest->erase(0, rest->find('\n') + 1)) take(rest->substr(0, rest->find('\n')));
  std::erase(answered, "null");
  std::erase(answered, "4");  // may have been cancelled in time
  std::sort(answered.begin(), answered.end());
  EXPECT_EQ(answered, (std::vector<std::string>{"1", "2", "3", "5"}));
  EXPECT_EQ(program.leaves(within(patience)), well) << program.errors();
}

TEST(program_stdio, refuses_a_line_of_seventeen_mebibytes_and_goes_on) {
  const shelf what;
  running_stdio program(what);
  ASSERT_TRUE(program.is_ready) << program.errors();
  ASSERT_TRUE(program.write_and_read(std::string(17u << 20, 'x') + '\n', within(patience)));
  const auto refusal = program.read_line(within(patience));
  ASSERT_TRUE(refusal);
  EXPECT_EQ(message(*refusal).at("error").at("code"), -32600) << *refusal;
  EXPECT_NE(refusal->find("16777216"), std::string::npos) << *refusal;
  ASSERT_TRUE(program.write(ping(1), within(patience)));
  const auto next = program.read_line(within(patience));
  ASSERT_TRUE(next);
  EXPECT_EQ(message(*next).at("id"), 1);
  program.end_input();
  EXPECT_EQ(program.leaves(within(patience)), well);
}

TEST(program_stdio, takes_a_line_of_almost_sixteen_mebibytes) {
  const shelf what;
  running_stdio program(what);
  ASSERT_TRUE(program.is_ready) << program.errors();
  const auto line = request(1, "server/discover", R"("filler":")" + std::string((16u << 20) - 1000, 'x') + "\",");
  ASSERT_TRUE(program.write_and_read(line + '\n', within(patience)));
  const auto answer = program.read_line(within(patience));
  ASSERT_TRUE(answer);
  EXPECT_TRUE(message(*answer).contains("result"));
}

/// The ids that were refused for there being too many; `content` must be in every other answer. Throws when something is wrong.
std::vector<int> read_answers(process& from, std::vector<int> asked, std::string_view content) {
  std::vector<int> refused;
  while (!asked.empty()) {
    auto line = from.read_line(within(patience));
    if (!line) throw std::runtime_error(std::to_string(asked.size()) + " answers are missing; " + from.errors());
    const auto at = line->find(content);
    if (at != std::string::npos) line->replace(at, content.size(), "\"\"");
    const auto answer = message(*line);
    const auto id = static_cast<int>(answer.at("id").as_int64());
    if (std::erase(asked, id) != 1) throw std::runtime_error("not awaited: " + line->substr(0, 400));
    if (at != std::string::npos) continue;
    const bool is_told_to_wait = line->find("Overloaded") != std::string::npos ||
                                 line->find("Retry later") != std::string::npos ||
                                 line->find("Ask again later") != std::string::npos;
    if (!is_told_to_wait) throw std::runtime_error(line->substr(0, 400));
    refused.push_back(id);
  }
  return refused;
}

TEST(program_stdio, gives_a_slow_reader_every_answer_in_bounded_memory) {
#ifdef HONDANA_IS_SANITIZED
  constexpr std::size_t size = 64u << 10;  // sanitizers take their time for each byte
#else
  constexpr std::size_t size = 512u << 10;
#endif
  const shelf what;
  what.put("slow.txt", std::string(size, '\x01'));
  running_stdio program(what);
  ASSERT_TRUE(program.is_ready) << program.errors();
  std::string content = "\"";
  for (std::size_t i = 0; i < size; ++i) content += R"(\u0001)";
  content += '"';
  // 1024 requests may be under way, and answers of 128 MiB may wait; who asks for more is told so and asks again.
  std::vector<int> ids(1400);
  std::iota(ids.begin(), ids.end(), 1);
  for (std::size_t most = 1400; !ids.empty(); most -= 200) {
    ASSERT_LE(ids.size(), most) << "a round answers two hundred at least";
    std::string all;
    for (const int id : ids) all += read_request(id, what.uri("slow.txt")) + '\n';
    ASSERT_TRUE(program.write(all, within(patience)));
    ASSERT_TRUE(program.rests(within(patience)));
#ifndef HONDANA_IS_SANITIZED
    EXPECT_LT(program.peak_memory(), 200u << 10);
#endif
    ASSERT_NO_THROW(ids = read_answers(program, ids, content));
  }
#ifndef HONDANA_IS_SANITIZED
  EXPECT_LT(program.peak_memory(), 200u << 10);
#endif
  program.end_input();
  EXPECT_EQ(program.read_to_end(within(patience)), "");
  EXPECT_EQ(program.leaves(within(patience)), well) << program.errors();
}

TEST(program_stdio, says_what_is_wrong_before_it_serves) {
  const folder what;
  what.put("bad.toml", "name = \"x\"\nport = 1\n");
  process program({"stdio", "--config", what.path("bad.toml")});
  EXPECT_EQ(program.leaves(within(patience)), (departure{1, 0}));
  EXPECT_NE(program.errors().find("bad.toml:2: port"), std::string::npos) << program.errors();
  EXPECT_EQ(program.read_to_end(within(patience)), "");
}

}  // namespace

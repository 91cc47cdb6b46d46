/// What is written, judged by ourselves and by promtool.
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <fstream>
#include <limits>

#include <gtest/gtest.h>

#include "sources/metrics/exposition/writer.hpp"
#include "unit/sources/metrics/exposition/heard.hpp"

namespace hondana::exposition {
namespace {

using format = parser::format;

std::string written(format which) {
  writer to(which);
  to.family("hondana_requests", {series::kind::counter, "", "Requests \"of\" all\\kinds,\nby method.\r"});
  to.sample({"hondana_requests_total", {{"method", "resources/read"}}}, 3);
  to.sample({"hondana_requests_total", {{"method", "a\"b\\c\nd 温度"}}}, 1e21);
  to.family("hondana_memory_bytes", {series::kind::gauge, "bytes", "Memory in use."});
  to.sample({"hondana_memory_bytes", {}}, 0.1, 1'700'000'000'120);
  to.family("hondana_latency_seconds", {series::kind::histogram, "seconds", "How long."});
  for (const char* const bound : {"0.5", "+Inf"}) to.sample({"hondana_latency_seconds_bucket", {{"le", bound}}}, 2);
  to.sample({"hondana_latency_seconds_sum", {}}, 0.25);
  to.sample({"hondana_latency_seconds_count", {}}, 2);
  to.family("hondana_build", {series::kind::info, "", "This program."});
  to.sample({"hondana_build_info", {{"version", "1"}}}, 1);
  to.family("hondana_last", {series::kind::unknown, "", "Odd values."});
  to.sample({"hondana_last", {{"kind", "b"}}}, -std::numeric_limits<double>::infinity(), -1'500);
  return to.finish();
}

TEST(exposition_writer, writes_the_text_format) {
  EXPECT_EQ(written(format::prometheus),
            "# HELP hondana_requests_total Requests \"of\" all\\\\kinds,\\nby method. \n"
            "# TYPE hondana_requests_total counter\n"
            "hondana_requests_total{method=\"resources/read\"} 3\n"
            "hondana_requests_total{method=\"a\\\"b\\\\c\\nd 温度\"} 1e+21\n"
            "# HELP hondana_memory_bytes Memory in use.\n"
            "# TYPE hondana_memory_bytes gauge\n"
            "hondana_memory_bytes 0.1 1700000000120\n"
            "# HELP hondana_latency_seconds How long.\n"
            "# TYPE hondana_latency_seconds histogram\n"
            "hondana_latency_seconds_bucket{le=\"0.5\"} 2\n"
            "hondana_latency_seconds_bucket{le=\"+Inf\"} 2\n"
            "hondana_latency_seconds_sum 0.25\n"
            "hondana_latency_seconds_count 2\n"
            "# HELP hondana_build_info This program.\n"
            "# TYPE hondana_build_info gauge\n"
            "hondana_build_info{version=\"1\"} 1\n"
            "# HELP hondana_last Odd values.\n"
            "# TYPE hondana_last untyped\n"
            "hondana_last{kind=\"b\"} -Inf -1500\n");
}

TEST(exposition_writer, writes_openmetrics) {
  const auto text = written(format::open_metrics);
  for (const char* const line :
       {"# TYPE hondana_requests counter\n", "# HELP hondana_requests Requests \\\"of\\\" all\\\\kinds,\\nby method. \n",
        "# UNIT hondana_memory_bytes bytes\n", "hondana_memory_bytes 0.1 1700000000.12\n", "# TYPE hondana_build info\n",
        "# TYPE hondana_last unknown\n", "hondana_last{kind=\"b\"} -Inf -1.5\n"})
    EXPECT_NE(text.find(line), std::string::npos) << line << text;
  EXPECT_TRUE(text.ends_with("\n# EOF\n"));
}

TEST(exposition_writer, is_read_back_by_the_parser) {
  heard plain, open;
  ASSERT_TRUE(parse(written(format::prometheus), format::prometheus, plain));
  const auto done = parse(written(format::open_metrics), format::open_metrics, open);
  ASSERT_TRUE(done) << done.error().public_text;
  EXPECT_EQ(plain.samples, open.samples);
  EXPECT_EQ(plain.samples.size(), 9u);
  EXPECT_EQ(open.families.at(0).second.help, "Requests \"of\" all\\kinds,\nby method. ");
  EXPECT_EQ(open.families.at(0).first, "hondana_requests");
  EXPECT_EQ(plain.families.at(0).first, "hondana_requests_total");
}

TEST(exposition_writer, pleases_promtool) {
  std::string file = "/tmp/exposition_XXXXXX";
  const int in = ::mkstemp(file.data());
  ASSERT_GE(in, 0);
  ::unlink(file.c_str());
  // Without times and values that a linter takes for careless.
  writer to(format::prometheus);
  to.family("hondana_requests", {series::kind::counter, "", "Requests \"of\" all\\kinds,\nby method."});
  to.sample({"hondana_requests_total", {{"method", "a\"b\\c\nd 温度"}}}, 3);
  to.family("hondana_latency_seconds", {series::kind::histogram, "seconds", "How long."});
  for (const char* const bound : {"0.5", "+Inf"}) to.sample({"hondana_latency_seconds_bucket", {{"le", bound}}}, 2);
  to.sample({"hondana_latency_seconds_sum", {}}, 0.25);
  to.sample({"hondana_latency_seconds_count", {}}, 2);
  const auto text = to.finish();
  ASSERT_EQ(::write(in, text.data(), text.size()), static_cast<ssize_t>(text.size()));
  ASSERT_EQ(::lseek(in, 0, SEEK_SET), 0);
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
  std::string words[] = {"promtool", "check", "metrics"};
  std::array<char*, 4> argv{words[0].data(), words[1].data(), words[2].data(), nullptr};
  pid_t child = 0;
  ASSERT_EQ(::posix_spawnp(&child, "promtool", &actions, nullptr, argv.data(), environ), 0)
      << "promtool is of Debian's prometheus";
  posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  std::string said;
  std::array<char, 4096> buffer{};
  for (ssize_t count; (count = ::read(ends[0], buffer.data(), buffer.size())) > 0;)
    said.append(buffer.data(), static_cast<std::size_t>(count));
  ::close(ends[0]);
  ::close(in);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0) << said;
  EXPECT_EQ(said, "");
}

TEST(exposition_writer, names_its_media_types_so_that_they_are_understood) {
  for (const auto one : {format::prometheus, format::open_metrics}) EXPECT_EQ(format_of(content_type_of(one)), one);
  EXPECT_EQ(content_type_of(format::prometheus), "text/plain; version=0.0.4; charset=utf-8");
}

}  // namespace
}  // namespace hondana::exposition

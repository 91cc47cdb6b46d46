/// What the commands that ask a server do when nobody reads what they print.
#include <string>

#include <gtest/gtest.h>

#include "program/folder.hpp"
#include "program/process.hpp"

namespace {

using program_test::departure;
using program_test::folder;
using program_test::output_to;
using program_test::patience;
using program_test::process;
using program_test::within;

constexpr departure broken_pipe{141, 0};

TEST(program_output, is_silent_when_its_reader_stops) {
  const folder what;
  for (int i = 0; i < 3000; ++i) what.put("some-name-that-is-long-enough-to-fill-a-pipe-" + std::to_string(i), "");
  process command({"ls", "--on", what.path()});
  EXPECT_TRUE(command.read_line(within(patience)));
  command.end_output();
  EXPECT_EQ(command.leaves(within(patience)), broken_pipe);
  EXPECT_EQ(command.errors(), "");
}

#ifndef HONDANA_IS_SANITIZED
// Sanitizers refuse what is loaded before them.
TEST(program_output, stops_when_its_reader_does_also_where_each_line_is_sent) {
  const folder what;
  for (int i = 0; i < 3000; ++i) what.put("some-name-that-is-long-enough-to-fill-a-pipe-" + std::to_string(i), "");
  process command({"-oL", HONDANA_PROGRAM, "ls", "--on", what.path()}, output_to::pipe, "/usr/bin/stdbuf");
  EXPECT_TRUE(command.read_line(within(patience)));
  command.end_output();
  EXPECT_EQ(command.leaves(within(patience)), broken_pipe);
  EXPECT_EQ(command.errors(), "");
}
#endif

}  // namespace

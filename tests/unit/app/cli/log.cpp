/// The program's log on standard error.
#include "app/cli/log.hpp"

#include <string>

#include <gtest/gtest.h>

namespace {

using namespace hondana;

TEST(the_program_s_log, shows_no_passwords_and_no_control_characters) {
  testing::internal::CaptureStderr();
  cli::standard_log()("asked https://me:hunter2@host/\x1b[31m");
  const auto line = testing::internal::GetCapturedStderr();
  EXPECT_NE(line.find(" asked https://me:*******@host/"), std::string::npos) << line;
  EXPECT_EQ(line.find('\x1b'), std::string::npos);
}

}  // namespace

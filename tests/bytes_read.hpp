/// Counts the bytes that a test program has read, for tests that large files are not read whole.
#pragma once

#include <cstdint>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

namespace hondana_test {

/// Bytes that this process has read so far, by read(2) and the like (`rchar` of proc(5)).
inline std::uint64_t bytes_read() {
  std::ifstream in("/proc/self/io");
  std::string word;
  std::uint64_t count = 0;
  in >> word >> count;
  EXPECT_EQ(word, "rchar:");
  return count;
}

}  // namespace hondana_test

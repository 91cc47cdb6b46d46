/// The two kinds of descriptors that standard streams commonly are.
#pragma once

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>

#include <gtest/gtest.h>

namespace hondana::transport::stdio {

enum class channel { pipe, socket };

/// A new one: the end that is read from, and the one that is written to.
inline std::array<int, 2> connected(channel kind) {
  std::array<int, 2> ends{-1, -1};
  EXPECT_EQ(kind == channel::pipe ? ::pipe2(ends.data(), O_CLOEXEC)
                                  : ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()),
            0);
  return ends;
}

}  // namespace hondana::transport::stdio

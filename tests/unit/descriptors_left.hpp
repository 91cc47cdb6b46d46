/// A process that may open few more descriptors.
#pragma once

#include <fcntl.h>
#include <sys/resource.h>

#include <cstddef>

#include <gtest/gtest.h>

namespace hondana_test {

/// Lets this process open no more than `count` further descriptors, until it goes.
class descriptors_left {
 public:
  explicit descriptors_left(std::size_t count) {
    EXPECT_EQ(::getrlimit(RLIMIT_NOFILE, &before_), 0);
    auto now = before_;
    now.rlim_cur = 0;
    for (; count > 0 && now.rlim_cur < before_.rlim_cur; ++now.rlim_cur) {
      if (::fcntl(static_cast<int>(now.rlim_cur), F_GETFD) < 0) --count;
    }
    EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &now), 0);
  }
  ~descriptors_left() { EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &before_), 0); }
  descriptors_left(const descriptors_left&) = delete;
  descriptors_left& operator=(const descriptors_left&) = delete;

 private:
  rlimit before_{};
};

}  // namespace hondana_test

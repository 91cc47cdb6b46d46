/// A log whose reader reads, reads late, or never.
#include "app/cli/log.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <string>

#include <gtest/gtest.h>

namespace {

using hondana::cli::log_output;

struct pipe_pair {
  pipe_pair() { EXPECT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0); }
  ~pipe_pair() {
    ::close(ends[0]);
    ::close(ends[1]);
  }
  pipe_pair(const pipe_pair&) = delete;
  pipe_pair& operator=(const pipe_pair&) = delete;

  std::string read() const {
    std::string all(1 << 20, '\0');
    const auto count = ::read(ends[0], all.data(), all.size());
    all.resize(count < 0 ? 0 : static_cast<std::size_t>(count));
    return all;
  }
  std::array<int, 2> ends{};
};

/// While it exists, files do not grow beyond so many bytes.
class file_size_limit {
 public:
  explicit file_size_limit(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit now{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &now);
  }
  ~file_size_limit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }
  file_size_limit(const file_size_limit&) = delete;
  file_size_limit& operator=(const file_size_limit&) = delete;

 private:
  void (*handler_)(int);
  rlimit before_{};
};

TEST(log_output, writes_lines_as_they_are) {
  const pipe_pair to;
  log_output log(to.ends[1]);
  log.write("one\n");
  log.write("two\n");
  EXPECT_EQ(to.read(), "one\ntwo\n");
}

// attacks: resource exhaustion (a log that nobody reads)
TEST(log_output, does_not_wait_for_a_reader_that_does_not_read_and_says_what_it_dropped) {
  const pipe_pair to;
  log_output log(to.ends[1]);
  const std::string line(999, 'x');
  for (int i = 0; i < 1'000; ++i) log.write(line + "\n");
  const auto before = to.read();
  const auto whole = before.size() / 1'000;
  EXPECT_GT(whole, 1u);
  log.write("after\n");
  const auto after = to.read();
  const auto said = "... " + std::to_string(1'000 - whole) + " lines were dropped, because the log was not read\nafter\n";
  EXPECT_EQ(after, before.ends_with('\n') ? said : "\n" + said);
  log.write("and on\n");
  EXPECT_EQ(to.read(), "and on\n");
}

TEST(log_output, writes_long_lines_whole_to_who_reads_them) {
  const pipe_pair to;
  log_output log(to.ends[1]);
  const auto line = std::string(20'000, 'y') + "\n";
  log.write(line);
  EXPECT_EQ(to.read(), line);
}

TEST(log_output, counts_what_a_full_disk_does_not_take) {
  const auto full = ::open("/dev/full", O_WRONLY | O_CLOEXEC);
  ASSERT_GE(full, 0);
  log_output log(full);
  log.write("nowhere\n");
  const pipe_pair to;
  ASSERT_GE(::dup3(to.ends[1], full, O_CLOEXEC), 0);
  log.write("somewhere\n");
  EXPECT_EQ(to.read(), "... 1 lines were dropped, because the log was not read\nsomewhere\n");
  ::close(full);
}

TEST(log_output, says_again_how_many_lines_it_dropped_if_that_was_cut_off) {
  const int file = ::memfd_create("log", MFD_CLOEXEC);
  ASSERT_GE(file, 0);
  log_output log(file);
  {
    const file_size_limit none(0);
    for (int i = 0; i < 5; ++i) log.write("nowhere\n");
  }
  {
    const file_size_limit little(10);
    log.write("nowhere\n");
  }
  {
    const file_size_limit enough_for_the_number(70);
    log.write("half a line\n");
  }
  log.write("somewhere\n");
  std::string all(1'000, '\0');
  const auto count = ::pread(file, all.data(), all.size(), 0);
  ASSERT_GE(count, 0);
  all.resize(static_cast<std::size_t>(count));
  EXPECT_EQ(all,
            "... 5 line\n... 6 lines were dropped, because the log was not read\nhalf\n"
            "... 1 lines were dropped, because the log was not read\nsomewhere\n");
  ::close(file);
}

}  // namespace

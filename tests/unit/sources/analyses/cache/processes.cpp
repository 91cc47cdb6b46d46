/// Several processes on one store: a hundred claimants, and writers and servers that are killed.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <random>
#include <thread>

#include "deadline.hpp"
#include "sources/analyses/cache/cache.hpp"
#include "sources/analyses/cache/embedded/embedded_store.hpp"
#include "unit/sources/analyses/cache/redis_server.hpp"
#include "unit/sources/analyses/cache/store_contract.hpp"

namespace hondana::analyses {
namespace {

/// A process that says numbers through a pipe.
class telling_process {
 public:
  using tell = std::function<void(std::uint64_t)>;
  explicit telling_process(const std::function<bool(const tell&)>& work) {
    std::array<int, 2> ends{};
    EXPECT_EQ(::pipe(ends.data()), 0);
    pid_ = ::fork();
    if (pid_ == 0) {
      ::close(ends[0]);
      const bool is_good = work([&](std::uint64_t number) {
        if (::write(ends[1], &number, sizeof number) != sizeof number) ::_exit(2);
      });
      ::_exit(is_good ? 0 : 1);
    }
    ::close(ends[1]);
    from_ = ends[0];
  }
  telling_process(const telling_process&) = delete;
  telling_process& operator=(const telling_process&) = delete;
  ~telling_process() {
    if (pid_ > 0) kill();
    ::close(from_);
  }
  /// False: it has ended.
  bool hear(std::uint64_t& into) const { return ::read(from_, &into, sizeof into) == sizeof into; }
  void kill() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }
  int end() {
    int how = -1;
    ::waitpid(pid_, &how, 0);
    pid_ = -1;
    return WIFEXITED(how) ? WEXITSTATUS(how) : -1;
  }

 private:
  pid_t pid_ = -1;
  int from_ = -1;
};

struct place_of_stores {
  std::function<result<std::shared_ptr<analysis_store>>()> open;
};

/// 25 threads in each of 4 processes want the same; all but one are served what that one has put.
void claim_in_four_processes(const place_of_stores& at) {
  auto what = small_analysis("壁打ち");
  std::vector<std::unique_ptr<telling_process>> all;
  for (int process = 0; process < 4; ++process) {
    all.push_back(std::make_unique<telling_process>([&](const telling_process::tell& tell) {
      const auto opened = at.open();
      if (!opened) return false;
      const auto by = cache::create(*opened, {});
      if (!by) return false;
      std::atomic<std::uint64_t> computed = 0, served = 0, failed = 0;
      {
        std::vector<std::jthread> threads;
        for (int i = 0; i < 25; ++i)
          threads.emplace_back([&] {
            claim_request wanted;
            wanted.question = what.question;
            wanted.wait_timeout = hondana_test::event_deadline;
            const auto got = (*by)->claim(wanted);
            if (!got) {
              ++failed;
            } else if (got->ticket) {
              if ((*by)->put_partial(*got->ticket, what) && (*by)->put(*got->ticket, what)) ++computed;
            } else {
              served += got->answer.status == cached_answer::cache_status::fresh ? 1 : 0;
            }
          });
      }
      tell(computed);
      tell(served);
      tell(failed);
      return true;
    }));
  }
  std::uint64_t computed = 0, served = 0, failed = 0;
  for (const auto& one : all) {
    std::uint64_t number = 0;
    for (auto* into : {&computed, &served, &failed}) {
      ASSERT_TRUE(one->hear(number));
      *into += number;
    }
    EXPECT_EQ(one->end(), 0);
  }
  EXPECT_EQ(computed, 1u);
  EXPECT_EQ(served, 99u);
  EXPECT_EQ(failed, 0u);
}

/// In each of 4 processes 5 threads wait for the end of a lease whose claimant is gone. One of all is given the ticket.
void hand_over_once(const place_of_stores& at) {
  const auto what = small_analysis("x");
  {
    const auto opened = good(at.open());
    ASSERT_TRUE(good(opened->claim(wish_for(what, milliseconds(700)))).ticket);
  }
  std::vector<std::unique_ptr<telling_process>> all;
  for (int process = 0; process < 4; ++process) {
    all.push_back(std::make_unique<telling_process>([&](const telling_process::tell& tell) {
      const auto opened = at.open();
      if (!opened) return false;
      const auto by = cache::create(*opened, {});
      if (!by) return false;
      std::atomic<std::uint64_t> tickets = 0;
      {
        std::vector<std::jthread> threads;
        for (int i = 0; i < 5; ++i)
          threads.emplace_back([&] {
            claim_request wanted;
            wanted.question = what.question;
            wanted.wait_timeout = std::chrono::seconds(3);
            const auto got = (*by)->claim(wanted);
            tickets += got && got->ticket ? 1 : 0;
          });
      }
      tell(tickets);
      return true;
    }));
  }
  std::uint64_t tickets = 0;
  for (const auto& one : all) {
    std::uint64_t number = 0;
    ASSERT_TRUE(one->hear(number));
    tickets += number;
    EXPECT_EQ(one->end(), 0);
  }
  EXPECT_EQ(tickets, 1u);
}

/// Number `number`: its prompt, and a content by which it is seen to be whole.
analysis numbered(std::uint64_t number) {
  return small_analysis("p" + std::to_string(number), std::string(2000 + number % 5000, static_cast<char>('a' + number % 26)));
}

/// Puts one after the other, and says which are kept, until it is killed or something fails.
bool put_for_ever(const place_of_stores& at, std::uint64_t from, const telling_process::tell& tell) {
  const auto opened = at.open();
  if (!opened) return false;
  for (auto number = from;; ++number) {
    const auto what = numbered(number);
    const auto got = (*opened)->claim(wish_for(what));
    if (!got || (got->answer.status != cached_answer::cache_status::fresh && !got->ticket)) return false;
    if (got->ticket && !(*opened)->put(*got->ticket, putting_of(what))) return false;
    tell(number);
  }
}

/// Whether all up to `end` are there and whole, and the one behind is whole or not there.
void see_that_all_are_whole(analysis_store& in, std::uint64_t from, std::uint64_t end) {
  for (auto number = from; number <= end; ++number) {
    const auto what = numbered(number);
    const auto found = good(in.look_up(make_key(what.question)));
    if (number < end) {
      ASSERT_EQ(found.status, cached_answer::cache_status::fresh) << number;
    }
    if (found.entry) {
      ASSERT_EQ(found.entry->body, encode_body(what)) << number;
    }
  }
}

class in_a_folder {
 public:
  in_a_folder() { EXPECT_NE(::mkdtemp(path_.data()), nullptr); }
  in_a_folder(const in_a_folder&) = delete;
  in_a_folder& operator=(const in_a_folder&) = delete;
  ~in_a_folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  [[nodiscard]] place_of_stores place() const {
    return {[path = path_ + "/analyses.db"] {
      embedded_options how;
      how.path = path;
      return open_embedded(how);
    }};
  }

 private:
  std::string path_ = "/tmp/analyses_XXXXXX";
};

TEST(a_hundred_claimants, in_four_processes_compute_once_in_a_file) {
  const in_a_folder folder;
  claim_in_four_processes(folder.place());
}

TEST(a_hundred_claimants, in_four_processes_compute_once_in_redis) {
  const redis_server server;
  claim_in_four_processes({[&] { return open_redis(server.options()); }});
}

TEST(a_lease_that_ends, is_handed_over_once_in_a_file) {
  const in_a_folder folder;
  hand_over_once(folder.place());
}

TEST(a_lease_that_ends, is_handed_over_once_in_redis) {
  const redis_server server;
  hand_over_once({[&] { return open_redis(server.options()); }});
}

TEST(writers_that_are_killed, leave_all_that_was_acknowledged_and_no_half_in_a_file) {
  const in_a_folder folder;
  const auto at = folder.place();
  std::mt19937 draw(7);
  std::uint64_t next = 0;
  for (int round = 0; round < 10; ++round) {
    const auto first = next;
    telling_process writer([&](const telling_process::tell& tell) { return put_for_ever(at, first, tell); });
    std::uint64_t told = 0;
    for (auto count = draw() % 40 + 1; count > 0; --count) {
      ASSERT_TRUE(writer.hear(told));
      next = told + 1;
    }
    writer.kill();
    while (writer.hear(told)) next = told + 1;
    const auto kept = good(at.open());
    see_that_all_are_whole(*kept, first, next);
    good(kept->erase({.key = make_key(numbered(next).question).digest}));  // what it had only claimed
  }
  EXPECT_GE(next, 10u);
}

TEST(servers_that_are_killed, have_all_that_was_acknowledged_and_no_half_in_redis) {
  redis_server server;
  const place_of_stores at{[&] { return open_redis(server.options()); }};
  std::mt19937 draw(9);
  std::uint64_t next = 0;
  for (int round = 0; round < 10; ++round) {
    const auto first = next;
    telling_process writer([&](const telling_process::tell& tell) { return put_for_ever(at, first, tell); });
    std::uint64_t told = 0;
    for (auto count = draw() % 40 + 1; count > 0; --count) {
      ASSERT_TRUE(writer.hear(told));
      next = told + 1;
    }
    server.kill();
    while (writer.hear(told)) next = told + 1;
    EXPECT_EQ(writer.end(), 1) << "it has been told that the server is gone";
    server.start();
    const auto kept = good(at.open());
    see_that_all_are_whole(*kept, first, next);
    good(kept->erase({.key = make_key(numbered(next).question).digest}));
  }
  EXPECT_GE(next, 10u);
}

}  // namespace
}  // namespace hondana::analyses

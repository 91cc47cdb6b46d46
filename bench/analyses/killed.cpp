/// Writing children, and looking at what they leave.
#include "killed.hpp"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <random>
#include <stdexcept>
#include <thread>
#include <vector>

#include "../process/child.hpp"
#include "sources/analyses/cache/analysis_json.hpp"
#include "sources/analyses/cache/cache.hpp"

namespace analyses_bench {

using namespace hondana::analyses;
using steady = std::chrono::steady_clock;

namespace {

claim_parameters wanted(const analysis& what) {
  claim_parameters out;
  out.question = what.question;
  out.key = make_key(what.question);
  out.session = what.session;
  out.lease_ttl = std::chrono::hours(1);
  return out;
}

put_parameters put_of(const analysis& what, analysis_status how) {
  auto out = prepare_put(what, how);
  if (!out) throw std::runtime_error(out.error().public_text);
  out->lease_ttl = std::chrono::hours(1);
  out->fresh_ttl = std::chrono::hours(24 * 30);
  return *out;
}

/// False: it cannot any more.
bool put_one(analysis_store& in, std::uint64_t number) {
  const auto what = numbered(number);
  const auto got = in.claim(wanted(what));
  if (!got) return false;
  if (!got->ticket) return got->answer.status == cached_answer::cache_status::fresh;
  auto part = what;
  part.consensus.reset();
  return in.put(*got->ticket, put_of(part, analysis_status::computing)) &&
         in.put(*got->ticket, put_of(what, analysis_status::complete));
}

struct child_of_ours {
  pid_t pid = -1;
  int from = -1;
};

child_of_ours started(const std::function<void(int out)>& work) {
  std::array<int, 2> ends{};
  if (::pipe(ends.data()) != 0) bench::fail("pipe");
  child_of_ours out;
  out.pid = ::fork();
  if (out.pid < 0) bench::fail("fork");
  if (out.pid == 0) {
    ::close(ends[0]);
    try {
      work(ends[1]);
    } catch (const std::exception& why) {
      std::fprintf(stderr, "analyses_bench: %s\n", why.what());
    }
    ::_exit(0);
  }
  ::close(ends[1]);
  out.from = ends[0];
  return out;
}

}  // namespace

analysis numbered(std::uint64_t number) {
  analysis out;
  out.question.prompt = "質問 " + std::to_string(number);
  out.session = "session-" + std::to_string(number / 10);
  out.consensus = consensus_answer{"答えは " + std::to_string(number * 7), 0.9, {}};
  for (const auto* provider : {"claude", "gemini", "gpt"}) {
    vote one;
    one.provider = provider;
    one.content = std::string(60 + number % 200, static_cast<char>('a' + number % 26));
    one.confidence = 0.9;
    one.agreement = 0.9;
    one.cost = 0.01;
    one.tokens = number;
    out.votes.push_back(std::move(one));
  }
  out.total = {0.03, number, milliseconds(3000)};
  return out;
}

kills kill_again_and_again(const opening& open, std::size_t times, const std::function<void(int pid)>& kill,
                           const std::function<void()>& again) {
  kills out;
  std::mt19937_64 draw(1);
  std::uint64_t next = 0;
  for (; out.times < times; ++out.times) {
    const auto first = next;
    auto writer = started([&](int to) {
      std::shared_ptr<analysis_store> in;
      try {
        in = open();
      } catch (const std::runtime_error&) {
        return;  // the server was killed before
      }
      for (auto number = first; put_one(*in, number); ++number)
        if (::write(to, &number, sizeof number) != sizeof number) return;
    });
    // The moment is drawn; before the first word there is nothing to lose, and that happens, too.
    std::this_thread::sleep_for(std::chrono::microseconds(draw() % 60'000));
    kill(writer.pid);
    std::uint64_t number = 0;
    while (::read(writer.from, &number, sizeof number) == sizeof number) {
      if (number != next) throw std::runtime_error("a child has told something else");
      ++next;
    }
    ::close(writer.from);
    ::kill(writer.pid, SIGKILL);
    ::waitpid(writer.pid, nullptr, 0);
    const auto begin = steady::now();
    again();
    const auto in = open();
    for (number = first; number <= next; ++number) {
      const auto what = numbered(number);
      const auto found = in->look_up(make_key(what.question));
      if (!found) throw std::runtime_error(found.error().public_text);
      const bool is_there = found->status == cached_answer::cache_status::fresh;
      if (number == first)
        out.slowest = std::max(out.slowest, std::chrono::duration<double, std::milli>(steady::now() - begin).count());
      if (number < next) {
        ++out.acknowledged;
        out.lost += is_there ? 0 : 1;
      } else {
        out.more += is_there ? 1 : 0;
      }
      if (found->entry && found->entry->body != encode_body(what)) ++out.partial;
    }
    // What it had claimed last, and perhaps put.
    erase_filter last;
    last.key = make_key(numbered(next).question).digest;
    if (const auto done = in->erase(last); !done) throw std::runtime_error(done.error().public_text);
  }
  const auto in = open();
  for (std::uint64_t number = 0; number < next; ++number) {
    const auto what = numbered(number);
    const auto found = in->look_up(make_key(what.question));
    if (!found) throw std::runtime_error(found.error().public_text);
    if (!found->entry)
      ++out.lost;
    else if (found->entry->body != encode_body(what))
      ++out.partial;
  }
  return out;
}

crowd claim_at_once(const opening& open, int processes, int threads) {
  const auto what = numbered(1'000'000'007);
  const auto begin = steady::now();
  std::vector<child_of_ours> all;
  for (int i = 0; i < processes; ++i) {
    all.push_back(started([&](int to) {
      const auto by = cache::create(open(), {});
      if (!by) throw std::runtime_error(by.error().public_text);
      std::atomic<std::uint64_t> computed = 0, served = 0;
      {
        std::vector<std::jthread> crowd;
        for (int j = 0; j < threads; ++j)
          crowd.emplace_back([&] {
            claim_request asked;
            asked.question = what.question;
            asked.wait_timeout = std::chrono::minutes(5);
            const auto got = (*by)->claim(asked);
            if (got && got->ticket && (*by)->put(*got->ticket, what)) ++computed;
            if (got && got->answer.status == cached_answer::cache_status::fresh) ++served;
          });
      }
      const std::array<std::uint64_t, 2> said{computed, served};
      if (::write(to, said.data(), sizeof said) != sizeof said) throw std::runtime_error("nobody listens");
    }));
  }
  crowd out;
  for (const auto& one : all) {
    std::array<std::uint64_t, 2> said{};
    if (::read(one.from, said.data(), sizeof said) == sizeof said) {
      out.computed += said[0];
      out.served += said[1];
    }
    ::close(one.from);
    ::waitpid(one.pid, nullptr, 0);
  }
  out.milliseconds = std::chrono::duration<double, std::milli>(steady::now() - begin).count();
  return out;
}

}  // namespace analyses_bench

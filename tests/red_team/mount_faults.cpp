/// Mounted servers that misbehave: what they cost meanwhile, and how soon they serve again once they behave.
#include <algorithm>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "deadline.hpp"
#include "red_team/lines.hpp"

namespace {

using program_test::patience;
using program_test::process;
using program_test::within;
using red_team::another_peer;
using red_team::shelf;
using red_team::target;
using std::chrono::duration_cast;
using std::chrono::milliseconds;
using steady = std::chrono::steady_clock;

bool is_in_full() { return red_team::scaled(50) == 50; }

/// A program with a mount of a server that misbehaves as it is told.
class faulty_mount {
 public:
  explicit faulty_mount(std::string_view transport) {
    what_.put("mode", "good");
    std::string reached;
    if (transport == "http") {
      other_ = std::make_unique<process>(std::vector<std::string>{"http", what_.path("mode")}, program_test::output_to::pipe,
                                         HONDANA_HOSTILE_SERVER);
      reached = "url = \"http://127.0.0.1:" + other_->read_line(within(patience)).value_or("none") + "/mcp\"\n";
    } else {
      reached = "command = [\"" HONDANA_HOSTILE_SERVER "\", \"stdio\", \"" + what_.path("mode") + "\"]\n";
    }
    // Short, so that faults come one after another soon.
    under_ = std::make_unique<target>(what_, "http", true,
                                      "[[source]]\ntype = \"mcp\"\nname = \"e\"\ntimeout_ms = 1000\nlist_timeout_ms = 1000\n"
                                      "list_ttl_ms = 1000\nmax_read_bytes = 16777216\n" +
                                          reached);
    bad_peer_ = another_peer(under_->where(), true);
  }

  void become(std::string_view mode) const {
    what_.put("mode", mode);
    if (mode == "good" && other_) other_->signal(SIGCONT);
  }
  bool reads(std::string_view uri) { return ask(under_->peer(), uri); }
  void lists() { static_cast<void>(bad_peer_->ask("resources/list")); }
  /// How often the server has misbehaved in this mode.
  [[nodiscard]] std::ptrdiff_t times_met(std::string_view mode) const {
    std::ifstream met(what_.path("mode.met"));
    return std::count(std::istream_iterator<std::string>(met), {}, mode);
  }
  /// Asks for what the server misbehaves about, and for a list. Whether both went well.
  bool reads_bad() {
    lists();
    return ask(*bad_peer_, "x://bad");
  }
  process& program() { return under_->program(); }

 private:
  static bool ask(red_team::line& by, std::string_view uri) {
    return by.ask("resources/read", "\"uri\":\"mcp://e/" + std::string(uri) + "\",").find("small body") != std::string::npos;
  }

  shelf what_;
  std::unique_ptr<process> other_;
  std::unique_ptr<target> under_;
  std::unique_ptr<red_team::line> bad_peer_;
};

class red_team_mounts : public testing::TestWithParam<std::string_view> {};
INSTANTIATE_TEST_SUITE_P(over, red_team_mounts, testing::Values("stdio", "http"),
                         [](const auto& one) { return std::string(one.param); });

TEST_P(red_team_mounts, that_misbehave_cost_little_and_serve_again_soon_after_they_behave) {
  constexpr milliseconds length{8'000};
  constexpr milliseconds soon{10'000};
  std::vector<std::string_view> modes{"endless-text", "stopped", "half-a-message", "crash-loop"};
  if (is_in_full())
    modes.insert(modes.end(),
                 {"endless-spaces", "endless-messages", "endless-blanks", "silence", "slow-bytes", "wrong-ids", "garbage",
                  "early-exit", "cut-off", "closed-pipes", "huge-lists", "endless-pages", "no-initialize", "complaints"});
  faulty_mount under(GetParam());
  ASSERT_TRUE(under.reads("x://small"));
  for (const auto mode : modes) {
    SCOPED_TRACE(mode);
    const auto busy_before = under.program().processor_time();
    const auto begin = steady::now();
    under.become(mode);
    static_cast<void>(under.reads_bad());
    int tried = 0;
    int went_well = 0;
    while (is_in_full() && steady::now() - begin < length) {
      ++tried;
      went_well += under.reads("x://small") ? 1 : 0;
      under.lists();
      ASSERT_FALSE(under.program().leaves(within(milliseconds(250)))) << "the server has ended";
    }
    EXPECT_GT(under.times_met(mode), 0);
    const auto took = duration_cast<milliseconds>(steady::now() - begin);
    const auto busy = under.program().processor_time() - busy_before;
    under.become("good");
    const auto good_again = steady::now();
    ASSERT_TRUE(hondana_test::eventually([&] { return under.reads("x://small") && under.reads_bad(); }));
    const auto back = duration_cast<milliseconds>(steady::now() - good_again);
    if (!is_in_full()) continue;
    const auto share = 100.0 * static_cast<double>(busy.count()) / static_cast<double>(took.count());
    std::printf("%-5s %-16s %2d of %2d small reads meanwhile, processor %4.1f %%, back after %5lld ms\n",
                std::string(GetParam()).c_str(), std::string(mode).c_str(), went_well, tried, share,
                static_cast<long long>(back.count()));
    EXPECT_LT(share, 5.0);
    EXPECT_LT(back, soon);
  }
}

}  // namespace

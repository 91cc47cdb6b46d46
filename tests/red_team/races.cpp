/// Files and folders that change places with links that leave the root, as fast as the system can, while they are read.
#include <fcntl.h>
#include <linux/fs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "red_team/lines.hpp"

namespace {

using red_team::canary;
using red_team::inside;
using red_team::line;
using red_team::shelf;
using red_team::target;

bool exchange(const std::string& one, const std::string& other) {
  return ::syscall(SYS_renameat2, AT_FDCWD, one.c_str(), AT_FDCWD, other.c_str(), RENAME_EXCHANGE) == 0;
}

/// What a peer was sent meanwhile.
struct sight {
  std::atomic<std::size_t> inside = 0;
  std::atomic<std::size_t> refused = 0;  ///< Of files that may be read.
  std::string outside;                   ///< The first answer with something from outside. Not to be read before the peer ends.
  std::atomic<bool> has_ended = false;
};

void read_until(const std::atomic<bool>& done, line& by, const std::vector<std::string>& uris, sight& seen) {
  while (!done.load() && seen.outside.empty()) {
    for (const auto& uri : uris) {
      const auto answer = by.ask("resources/read", "\"uri\":\"" + uri + "\",");
      if (answer.find(canary) != std::string::npos || answer.find("root:x:") != std::string::npos) seen.outside = answer;
      const bool is_inside = answer.find(inside) != std::string::npos;
      if (is_inside) ++seen.inside;
      if (!is_inside && uri.ends_with("/file.txt")) ++seen.refused;
    }
  }
  seen.has_ended = true;
}

TEST(red_team_races, of_a_file_and_a_folder_with_links_that_leave_show_nothing_outside) {
  const shelf what;
  what.put("project/swapped/file.txt", inside);
  what.put("project/moving/file.txt", inside);
  what.put("around/file.txt", "SECRET=" + std::string(canary));
  std::filesystem::create_symlink(what.path("outside.txt"), what.path("project/swapped/link"));
  std::filesystem::create_symlink(what.path("around"), what.path("project/away"));
  target under(what, "http", true);
  const auto swaps = red_team::scaled(1'000'000);
  std::atomic<bool> done{false};
  const std::vector<std::string> uris{what.root_uri("/swapped/file.txt"), what.root_uri("/moving/file.txt"),
                                      what.root_uri("/swapped"), what.root_uri("/moving/")};
  sight first;
  sight second;
  const auto other = red_team::another_peer(under.where(), false);
  std::thread one([&] { read_until(done, under.peer(), uris, first); });
  std::thread two([&] { read_until(done, *other, uris, second); });
  // However slow the readers are: each meets the file and a link in its place.
  const auto has_met_both = [](const sight& seen) { return seen.has_ended || (seen.inside > 0 && seen.refused > 0); };
  const auto deadline = program_test::within(program_test::patience);
  std::size_t made = 0;
  for (; made < swaps || !has_met_both(first) || !has_met_both(second); ++made) {
    if (made >= swaps && std::chrono::steady_clock::now() > deadline) break;
    if (!exchange(what.path("project/swapped/file.txt"), what.path("project/swapped/link"))) break;
    if (!exchange(what.path("project/moving"), what.path("project/away"))) break;
  }
  done = true;
  one.join();
  two.join();
  EXPECT_GE(made, swaps) << "the file system does not exchange names";
  for (const auto* seen : {&first, &second}) {
    EXPECT_EQ(seen->outside, "");
    EXPECT_GT(seen->inside, 0u);
    EXPECT_GT(seen->refused, 0u) << "no read met a link";
  }
  EXPECT_TRUE(under.serves(what));
}

}  // namespace

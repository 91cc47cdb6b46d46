/// Many large reads at once, by peers that read and by peers that do not.
#include <poll.h>
#include <sys/socket.h>

#include <chrono>
#include <cstddef>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "load/loaded_program.hpp"

namespace {

using load_test::crowd;
using load_test::loaded_program;
using program_test::folder;

constexpr std::size_t readers = 32;
// Window, encoder and piece of each reader, and what starting takes; of the content itself nothing stays.
#ifdef HONDANA_IS_SANITIZED
constexpr std::size_t allowed_kibibytes = 600 << 10;
#else
constexpr std::size_t allowed_kibibytes = 100 << 10;
#endif

/// Bytes that are no text.
std::string blob(std::size_t size) {
  std::string out(size, '\0');
  for (std::size_t i = 0; i < size; ++i) out[i] = static_cast<char>(i * 31 + (i >> 8));
  return out;
}

std::string read_of(const folder& what, std::string_view name) {
  const auto uri = what.uri("served/" + std::string(name));
  return load_test::post(program_test::read_request(1, uri), "resources/read", uri);
}

/// Takes all answers side by side and counts their bytes; throws when nothing comes before the deadline.
std::vector<std::size_t> take_all(const crowd& all) {
  std::vector<pollfd> watched;
  for (const int one : all.sockets()) watched.push_back({one, POLLIN, 0});
  std::vector<std::size_t> sizes(watched.size());
  std::vector<std::string> tails(watched.size());
  std::vector<char> buffer(256 << 10);
  for (std::size_t left = watched.size(); left > 0;) {
    if (::poll(watched.data(), watched.size(), std::chrono::milliseconds(load_test::patience).count()) <= 0)
      throw std::runtime_error("nothing came");
    for (std::size_t i = 0; i < watched.size(); ++i) {
      if (watched[i].revents == 0) continue;
      const auto count = ::recv(watched[i].fd, buffer.data(), buffer.size(), 0);
      if (count <= 0) throw std::runtime_error("an answer was cut off after " + std::to_string(sizes[i]) + " bytes");
      sizes[i] += static_cast<std::size_t>(count);
      tails[i] = (tails[i] + std::string(buffer.data(), static_cast<std::size_t>(count)));
      if (tails[i].size() > 8) tails[i].erase(0, tails[i].size() - 8);
      if (!tails[i].ends_with("\r\n0\r\n\r\n")) continue;
      watched[i].fd = -1;
      --left;
    }
  }
  return sizes;
}

TEST(load, concurrent_blobs_of_64_mb_all_arrive_in_little_memory) {
  const std::size_t size = load_test::scaled(64'000'000);
  const folder what;
  what.put("served/large.bin", blob(size));
  loaded_program program(what);
  crowd all(program.port);
  for (std::size_t i = 0; i < readers; ++i) all.join(read_of(what, "large.bin"));
  for (const auto got : take_all(all)) EXPECT_GT(got, size / 3 * 4);
  const auto peak = program.process.peak_memory();
  EXPECT_LT(peak, allowed_kibibytes);
  std::printf("%zu blobs of %zu bytes: at most %zu KiB of memory\n", readers, size, peak);
}

TEST(load, readers_that_never_read_hold_up_nobody) {
  const folder what;
  what.put("served/large.bin", blob(16'000'000));
  // None of them is dropped meanwhile.
  loaded_program program(what, "", "stall_timeout_ms = 3600000\n");
  crowd all(program.port);
  for (std::size_t i = 0; i < load_test::scaled(1'000); ++i) all.join(read_of(what, "large.bin"), 4096);
  EXPECT_TRUE(hondana_test::eventually([&] { return program.process.descriptors() >= all.sockets().size(); }));
  EXPECT_TRUE(load_test::answers(program));
  EXPECT_GE(program.process.descriptors(), all.sockets().size()) << "some readers were dropped";
}

TEST(load, readers_that_never_read_are_dropped) {
  const folder what;
  what.put("served/large.bin", blob(16'000'000));
  loaded_program program(what, "", "stall_timeout_ms = 1000\n");
  const auto before = program.process.descriptors();
  crowd all(program.port);
  for (std::size_t i = 0; i < load_test::scaled(1'000); ++i) all.join(read_of(what, "large.bin"), 4096);
  // The kernel of a peer without room drops even the reset, so that only the program knows who has gone.
  EXPECT_TRUE(load_test::has_only(program, before)) << "some readers that never read are still there";
  EXPECT_TRUE(load_test::answers(program));
  // One piece each, and what the encoder and the kernel's refusal of it need; never the file.
  EXPECT_LT(program.process.peak_memory(), allowed_kibibytes + all.sockets().size() * 512);
  std::printf("%zu readers that never read: at most %zu KiB of memory\n", all.sockets().size(), program.process.peak_memory());
}

}  // namespace

/// Taking a big answer at the speed of a peer.
#include "big_read.hpp"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <stdexcept>
#include <thread>

#include "generator.hpp"

namespace stdio_bench {

big_cost read_big(const bench::child& server, const std::string& uri, std::uint64_t content_bytes, bool is_slow) {
  server.forget_peak();
  const auto before = server.status_kib("VmRSS");
  const auto used = server.processor_seconds();
  const auto begin = bench::clock::now();
  server.send(message_of({"resources/read", R"({"uri":")" + uri + "\"}"}, 0));
  std::uint64_t total = 0;
  bench::child::part had;
  while (is_slow && !had.has_ended && total < (64u << 20)) {
    had = server.pass_over(64 * 1024);
    total += had.bytes;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  if (!had.has_ended) total += server.pass_over().bytes;
  if (total < content_bytes / 3 * 4) throw std::runtime_error("the answer was too short");
  return {std::chrono::duration<double>(bench::clock::now() - begin).count(), server.processor_seconds() - used,
          static_cast<double>(server.status_kib("VmHWM") - before) / 1024};
}

void write_big(const std::string& path, std::uint64_t bytes) {
  std::string block(1u << 20, '\0');
  std::uint64_t state = 88172645463325252u;
  for (auto& byte : block) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    byte = static_cast<char>(state);
  }
  std::ofstream file(path, std::ios::binary);
  for (std::uint64_t left = bytes; left > 0 && file;) {
    const auto count = std::min<std::uint64_t>(left, block.size());
    file.write(block.data(), static_cast<std::streamsize>(count));
    left -= count;
  }
  if (!file.flush()) throw std::runtime_error("no room for " + path);
}

}  // namespace stdio_bench

/// Blocking reads and writes, as a client does that waits for its answers.
#include "generator.hpp"

#include <unistd.h>

#include <array>
#include <charconv>
#include <stdexcept>
#include <vector>

namespace stdio_bench {
namespace {

using bench::clock;

constexpr unsigned first_id = 1'000'000;
constexpr std::size_t edge = 96;  // within so many bytes of either end of an answer stand its members

/// Lines of answers, of which only both ends are kept.
class answer_lines {
 public:
  /// Takes bytes and calls `take(head, tail, bytes)` for every line that ends in them.
  template <class Take>
  void add(std::string_view bytes, Take take) {
    while (!bytes.empty()) {
      const auto end = bytes.find('\n');
      const auto piece = bytes.substr(0, end);
      if (head_.size() < edge) head_ += piece.substr(0, edge - head_.size());
      tail_ = piece.size() >= edge ? std::string(piece.substr(piece.size() - edge)) : tail_ + std::string(piece);
      if (tail_.size() > edge) tail_.erase(0, tail_.size() - edge);
      size_ += piece.size();
      if (end == std::string_view::npos) return;
      take(head_, tail_, size_ + 1);
      head_.clear();
      tail_.clear();
      size_ = 0;
      bytes.remove_prefix(end + 1);
    }
  }

 private:
  std::string head_;
  std::string tail_;
  std::size_t size_ = 0;
};

unsigned id_in(std::string_view head, std::string_view tail) {
  constexpr std::string_view name = "\"id\":";
  // Servers write it first or last.
  auto where = head;
  auto at = head.find(name);
  if (at == std::string_view::npos) {
    where = tail;
    at = tail.rfind(name);
  }
  unsigned id = 0;
  if (at == std::string_view::npos ||
      std::from_chars(where.data() + at + name.size(), where.data() + where.size(), id).ec != std::errc{} || id < first_id) {
    throw std::runtime_error("an answer without an id: " + std::string(head));
  }
  return id - first_id;
}

}  // namespace

std::string message_of(const question& what, unsigned number) {
  return R"({"jsonrpc":"2.0","id":)" + std::to_string(first_id + number) + R"(,"method":")" + what.method + R"(","params":)" +
         what.params + "}\n";
}

void greet(bench::child& server) {
  server.send(message_of(
      {"initialize", R"({"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"bench","version":"1"}})"}, 0));
  if (const auto line = server.line(); line.find("\"result\"") == std::string::npos) throw std::runtime_error(line);
  server.send("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n");
}

std::size_t answer_bytes(const bench::child& server, const question& what) {
  server.send(message_of(what, 0));
  answer_lines lines;
  std::vector<char> buffer(256 << 10);
  std::size_t size = 0;
  while (size == 0) {
    const auto count = server.receive(buffer.data(), buffer.size());
    lines.add({buffer.data(), count}, [&](std::string_view head, std::string_view, std::size_t bytes) {
      if (head.find(what.mark) == std::string_view::npos) throw std::runtime_error("no answer: " + std::string(head));
      size = bytes;
    });
  }
  return size;
}

bench::outcome generate(const bench::child& server, const question& what, std::size_t bytes, unsigned in_flight,
                        std::chrono::milliseconds time) {
  bench::outcome out;
  out.round_trips.reserve(static_cast<std::size_t>(time.count()) * 1000);
  std::vector<std::string> messages;
  std::string questions;
  for (unsigned i = 0; i < in_flight; ++i) questions += messages.emplace_back(message_of(what, i));
  const auto begin = clock::now();
  const auto until = begin + time;
  std::vector<clock::time_point> since(in_flight, begin);
  std::vector<bool> is_asked(in_flight, true);
  server.send(questions);
  answer_lines lines;
  std::vector<char> buffer(256 << 10);
  for (unsigned under_way = in_flight; under_way > 0;) {
    const auto count = server.receive(buffer.data(), buffer.size());
    const auto now = clock::now();
    questions.clear();
    lines.add({buffer.data(), count}, [&](std::string_view head, std::string_view tail, std::size_t size) {
      const auto id = id_in(head, tail);
      if (size != bytes || head.find(what.mark) == std::string_view::npos || id >= in_flight || !is_asked[id]) {
        throw std::runtime_error("not the answer: " + std::to_string(size) + " bytes, " + std::string(head));
      }
      ++out.answers;
      out.round_trips.push_back(std::chrono::duration<float, std::micro>(now - since[id]).count());
      is_asked[id] = now < until;
      since[id] = now;
      if (is_asked[id]) {
        questions += messages[id];
      } else {
        --under_way;
      }
    });
    if (!questions.empty()) server.send(questions);
  }
  out.seconds = std::chrono::duration<double>(clock::now() - begin).count();
  return out;
}

void measure(const bench::child& server, const question& what, std::size_t bytes, unsigned in_flight,
             std::chrono::milliseconds time, bench::figures& into) {
  (void)generate(server, what, bytes, in_flight, time / 10);  // warm
  server.forget_peak();
  const auto before = server.processor_seconds();
  auto got = generate(server, what, bytes, in_flight, time);
  const auto used = server.processor_seconds() - before;
  into.add(std::move(got), used, server.status_kib("VmHWM"));
}

void echo(int in, int out) {
  std::array<char, 65536> buffer{};
  for (;;) {
    const auto count = ::read(in, buffer.data(), buffer.size());
    if (count <= 0) return;
    if (::write(out, buffer.data(), static_cast<std::size_t>(count)) != count) bench::fail("write");
  }
}

}  // namespace stdio_bench

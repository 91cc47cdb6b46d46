/// What streams of changes cost: memory a stream, the time one change takes to reach all of them beside a bare epoll loop that
/// sends the same bytes, and the time from a change on disk to its notification.
///
/// Usage: feed_bench PROGRAM [STREAMS [REPETITIONS [CHANGES]]]. STREAMS may be several numbers, with commas between; no CHANGES
/// (0) leave the second table out. Prints Markdown tables. The server has one core, its peers another.
#include <unistd.h>

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "../figures/figures.hpp"
#include "../process/child.hpp"
#include "../process/scratch.hpp"
#include "crowd.hpp"
#include "openings.hpp"
#include "raw_sender.hpp"

namespace {

using bench::child;
using bench::clock;
using bench::cores;
using bench::median;
using bench::scratch;
using feed_bench::arrival;
using feed_bench::crowd;

struct amounts {
  std::vector<std::size_t> streams{10'000};
  std::size_t repetitions = 15;
  std::size_t changes = 300;
};

// Wider than the window within which changes of one resource become one.
constexpr std::chrono::milliseconds between_changes{160};

std::uint16_t port_in(const std::string& text) {
  const auto at = text.find("http://127.0.0.1:");
  const auto digits = at == std::string::npos ? text : text.substr(at + 17);
  const auto port = std::strtol(digits.c_str(), nullptr, 10);
  if (port <= 0) throw std::runtime_error("no port: " + text);
  return static_cast<std::uint16_t>(port);
}

/// The program serving `served` of a scratch folder over HTTP.
struct http_server {
  http_server(const std::string& program, const scratch& in, int core)
      : process({program, "serve", "--config", config(in)}, core), port(greeted(process)) {}
  static std::string config(const scratch& in) {
    in.put("served/watched.txt", "the first text\n");
    in.put("h.toml", "[http]\nport = 0\n[[source]]\ntype = \"files\"\npath = \"" + in.path("served") + "\"\n");
    return in.path("h.toml");
  }
  static std::uint16_t greeted(child& from) {
    std::string line;
    while (line.find("/mcp") == std::string::npos) line = from.error_line();
    return port_in(line);
  }
  child process;
  std::uint16_t port;
};

/// Peers in a process of their own, which do as they are told by one letter: e, await an event; t, and keep the texts in
/// `file`.
child start_peers(std::uint16_t port, std::size_t count, const feed_bench::opening& how, const std::string& file, int core) {
  return {[=](int in, int out) {
            bench::make_room_for(count);
            crowd all(port);
            const auto say = [out](const std::string& line) {
              if (::write(out, line.data(), line.size()) != static_cast<ssize_t>(line.size()))
                throw std::runtime_error("write");
            };
            all.join(count, how);
            say("open\n");
            for (char command = 0; ::read(in, &command, 1) == 1;) {
              std::vector<std::string> texts;
              const auto had = all.await_event(feed_bench::updated, command == 't' ? &texts : nullptr);
              if (command == 't') {
                std::ofstream to(file, std::ios::binary);
                for (const auto& one : texts) to << one << '\0';
              }
              say(std::to_string(had.first) + ' ' + std::to_string(had.last) + ' ' + std::to_string(had.bytes) + '\n');
            }
          },
          core};
}

arrival arrival_in(const std::string& line) {
  arrival out;
  std::istringstream fields(line);
  if (!(fields >> out.first >> out.last >> out.bytes)) throw std::runtime_error("no arrival: " + line);
  return out;
}

struct round_figures {
  std::vector<double> all_told;   // milliseconds from the cause to the last peer
  std::vector<double> spread;     // from the first peer to the last
  std::vector<double> processor;  // of the sender
};

/// One event: tells the peers to wait for it, causes it, and notes when it came.
template <class Cause>
arrival one_round(child& sender, child& peers, char command, Cause cause, round_figures* into) {
  const auto before = sender.processor_seconds();
  peers.send(std::string_view(&command, 1));
  const auto begin = clock::now().time_since_epoch().count();
  cause();
  const auto had = arrival_in(peers.line());
  if (into != nullptr) {
    into->all_told.push_back(static_cast<double>(had.last - begin) / 1e6);
    into->spread.push_back(static_cast<double>(had.last - had.first) / 1e6);
    into->processor.push_back(1e3 * (sender.processor_seconds() - before));
  }
  return had;
}

std::vector<std::string> texts_in(const std::string& file) {
  std::ifstream from(file, std::ios::binary);
  std::vector<std::string> out;
  for (std::string one; std::getline(from, one, '\0');) out.push_back(one);
  return out;
}

void measure_streams(const char* name, const std::string& program, std::size_t streams, std::size_t repetitions,
                     const cores& on, feed_bench::opening (*how)(const std::string&)) {
  const scratch folder;
  http_server server(program, folder, on.of_server);
  const auto uri = "file://" + folder.path("served/watched.txt");
  int edits = 0;
  const auto change = [&] { folder.replace("served/watched.txt", "text " + std::to_string(++edits) + '\n'); };
  const auto sockets = server.process.open_sockets();
  {
    // What the first streams and the first change need is not what one more costs.
    auto few = start_peers(server.port, 16, how(uri), {}, on.of_peers);
    if (few.line() != "open") throw std::runtime_error("no peers");
    (void)one_round(server.process, few, 'e', change, nullptr);
  }
  server.process.await_sockets(sockets);
  const auto before = server.process.private_kib();
  auto peers = start_peers(server.port, streams, how(uri), folder.path("texts"), on.of_peers);
  if (peers.line(std::chrono::seconds(300)) != "open") throw std::runtime_error("no peers");
  const auto open = server.process.private_kib();
  (void)one_round(server.process, peers, 't', change, nullptr);

  const auto texts = texts_in(folder.path("texts"));
  if (texts.size() != streams) throw std::runtime_error("not every stream had an event");
  child raw(
      [&texts](int in, int out) {
        bench::make_room_for(texts.size());
        feed_bench::send_raw(in, out, texts);
      },
      on.of_server);
  auto raw_peers = start_peers(port_in(raw.line()), streams, {}, {}, on.of_peers);
  if (raw.line() != "open" || raw_peers.line() != "open") throw std::runtime_error("no peers");

  round_figures ours;
  round_figures bare;
  const auto send_raw = [&raw] { raw.send("x"); };
  (void)one_round(raw, raw_peers, 'e', send_raw, nullptr);
  for (std::size_t i = 0; i < repetitions; ++i) {
    std::this_thread::sleep_for(between_changes);
    const auto told = one_round(server.process, peers, 'e', change, &ours);
    const auto sent = one_round(raw, raw_peers, 'e', send_raw, &bare);
    // Ids of events grow, so that a few bytes more are ours.
    if (sent.bytes > told.bytes || told.bytes > sent.bytes + 2 * streams)
      throw std::runtime_error("the bytes are not the same");
  }
  const auto after = server.process.private_kib();
  const auto each = [&](long now) { return static_cast<double>(now - before) * 1024 / static_cast<double>(streams); };
  std::printf("| %s | %zu | %.0f | %.0f | %.1f (%.1f) | %.1f (%.1f) | %.2f | %.1f, %.1f |\n", name, streams, each(open),
              each(after), median(ours.all_told), median(ours.spread), median(bare.all_told), median(bare.spread),
              median(ours.all_told) / median(bare.all_told), median(ours.processor), median(bare.processor));
}

void print_histogram(const char* name, const std::vector<double>& times) {
  const auto at = [&times](double part) { return bench::quantile(times, part); };
  std::printf("| %s | %zu | %.2f | %.2f | %.2f | %.2f |\n", name, times.size(), at(0.5), at(0.9), at(0.99), at(1));
}

/// Changes of every kind that tools make, one after the other; `heard` returns when the notification is there.
template <class Heard>
std::vector<double> time_changes(const scratch& folder, std::size_t count, Heard heard) {
  std::vector<double> times;
  for (std::size_t i = 0; i < count; ++i) {
    std::this_thread::sleep_for(between_changes);
    const auto text = "text " + std::to_string(i) + '\n';
    const auto begin = clock::now();
    if (i % 2 == 0) {
      folder.replace("served/watched.txt", text);
    } else {
      folder.put("served/watched.txt", text);
    }
    heard();
    times.push_back(std::chrono::duration<double, std::milli>(clock::now() - begin).count());
  }
  return times;
}

void measure_changes(const std::string& program, std::size_t count) {
  const scratch folder;
  const auto uri = "file://" + folder.path("served/watched.txt");
  {
    http_server server(program, folder, -1);
    crowd one(server.port);
    one.join(1, feed_bench::modern_stream(uri));
    print_histogram("HTTP", time_changes(folder, count, [&one] { (void)one.await_event(feed_bench::updated); }));
  }
  child server({program, "stdio", folder.path("served")}, -1);
  server.send(feed_bench::listen_message(uri) + '\n');
  const auto heard = [&server](std::string_view what) {
    while (server.line().find(what) == std::string::npos) continue;
  };
  heard("notifications/subscriptions/acknowledged");
  print_histogram("stdio", time_changes(folder, count, [&heard] { heard(feed_bench::updated); }));
}

std::size_t number_in(const std::string& text) {
  std::size_t out = 0;
  const auto end = text.data() + text.size();
  if (const auto read = std::from_chars(text.data(), end, out); read.ec != std::errc{} || read.ptr != end || text.empty())
    throw std::runtime_error("not a number: " + text);
  return out;
}

std::vector<std::size_t> numbers_in(const std::string& text) {
  std::vector<std::size_t> out;
  std::istringstream parts(text);
  for (std::string one; std::getline(parts, one, ',');) out.push_back(number_in(one));
  return out;
}

amounts read_amounts(int count, char** arguments) {
  amounts out;
  if (count > 2) out.streams = numbers_in(arguments[2]);
  if (count > 3) out.repetitions = number_in(arguments[3]);
  if (count > 4) out.changes = number_in(arguments[4]);
  if (out.streams.empty() || out.repetitions == 0) throw std::runtime_error("give at least one stream and one repetition");
  return out;
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 2 || count > 5) {
    std::fprintf(stderr, "usage: feed_bench PROGRAM [STREAMS [REPETITIONS [CHANGES]]]\n");
    return 1;
  }
  try {
    const auto of = read_amounts(count, arguments);
    const cores on = bench::cores_here();
    std::printf(
        "| streams | count | bytes each, opened | bytes each, after %zu changes | ms to tell all (first to last) | bare loop, "
        "ms | "
        "ratio | ms CPU, ours and bare |\n| --- | --- | --- | --- | --- | --- | --- | --- |\n",
        of.repetitions + 1);
    for (const auto streams : of.streams) {
      measure_streams("2026-07-28, subscriptions/listen", arguments[1], streams, of.repetitions, on, feed_bench::modern_stream);
    }
    for (const auto streams : of.streams) {
      measure_streams("2025-11-25, GET and resources/subscribe", arguments[1], streams, of.repetitions, on,
                      feed_bench::legacy_stream);
    }
    if (of.changes == 0) return 0;
    std::printf(
        "\n| change on disk to notification | changes | p50, ms | p90 | p99 | max |\n| --- | --- | --- | --- | --- | --- |\n");
    measure_changes(arguments[1], of.changes);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "feed_bench: %s\n", error.what());
    return 1;
  }
  return 0;
}

/// What starting costs and what a big read costs, measured on the real program: time to the first answer beside the cost of
/// starting any program, memory at rest, memory and speed of a 1 GiB read by a fast and by a slow peer, and of one by the
/// program as a client; and how long a cold `hondana ls` of a local server takes.
///
/// Usage: footprint PROGRAM FOLDER. Prints a Markdown table. Needs 2 GiB in the temporary folder.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

using clock_type = std::chrono::steady_clock;

constexpr std::uint64_t big_file_bytes = 1ull << 30;
constexpr int start_runs = 41;

const std::string meta =
    R"("_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}})";

double milliseconds_since(clock_type::time_point begin) {
  return std::chrono::duration<double, std::milli>(clock_type::now() - begin).count();
}

/// A child process with its standard input and output on pipes.
class child {
 public:
  explicit child(std::vector<std::string> arguments) {
    int in[2];
    int out[2];
    if (pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0) throw std::runtime_error("pipe2 failed");
    std::vector<char*> pointers;
    for (auto& one : arguments) pointers.push_back(one.data());
    pointers.push_back(nullptr);
    pid_ = fork();
    if (pid_ < 0) throw std::runtime_error("fork failed");
    if (pid_ == 0) {
      dup2(in[0], STDIN_FILENO);
      dup2(out[1], STDOUT_FILENO);
      dup2(open("/dev/null", O_WRONLY | O_CLOEXEC), STDERR_FILENO);
      execv(pointers[0], pointers.data());
      _exit(127);
    }
    close(in[0]);
    close(out[1]);
    to_ = in[1];
    from_ = out[0];
  }
  child(const child&) = delete;
  child& operator=(const child&) = delete;
  ~child() {
    close(to_);
    close(from_);
    waitpid(pid_, nullptr, 0);
  }

  void send(const std::string& line) const {
    const auto text = line + '\n';
    if (write(to_, text.data(), text.size()) != static_cast<ssize_t>(text.size()))
      throw std::runtime_error("the server is gone");
  }

  /// Reads up to `limit` bytes or the end of a line, whichever comes first; true when the line has ended.
  bool take(std::uint64_t limit, std::uint64_t& taken) {
    taken = 0;
    while (taken < limit) {
      const auto count = read(from_, buffer_.data(), std::min<std::uint64_t>(buffer_.size(), limit - taken));
      if (count <= 0) throw std::runtime_error("the server ended early");
      taken += static_cast<std::uint64_t>(count);
      if (buffer_[static_cast<std::size_t>(count) - 1] == '\n') return true;
    }
    return false;
  }

  void ask(const std::string& method, const std::string& params) {
    send(R"({"jsonrpc":"2.0","id":)" + std::to_string(++id_) + R"(,"method":")" + method + R"(","params":{)" + params + meta +
         "}}");
  }
  void answer() {
    std::uint64_t taken = 0;
    take(UINT64_MAX, taken);
  }

  /// A line of /proc/PID/status in KiB, e.g. VmRSS and VmHWM.
  [[nodiscard]] long status(const std::string& name) const {
    std::ifstream file("/proc/" + std::to_string(pid_) + "/status");
    for (std::string line; std::getline(file, line);) {
      if (line.starts_with(name + ':')) return std::strtol(line.c_str() + name.size() + 1, nullptr, 10);
    }
    return -1;
  }

 private:
  pid_t pid_ = -1;
  int to_ = -1;
  int from_ = -1;
  int id_ = 0;
  std::vector<char> buffer_ = std::vector<char>(1 << 20);
};

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

struct run_cost {
  double milliseconds = 0;
  long peak_kilobytes = 0;
};

/// Starts a program, its output thrown away, and waits for its end. Throws unless it ends with 0.
run_cost cost_of(std::vector<std::string> arguments) {
  std::vector<char*> pointers;
  for (auto& one : arguments) pointers.push_back(one.data());
  pointers.push_back(nullptr);
  const auto begin = clock_type::now();
  const pid_t pid = fork();
  if (pid == 0) {
    const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    dup2(nowhere, STDOUT_FILENO);
    dup2(nowhere, STDERR_FILENO);
    execv(pointers[0], pointers.data());
    _exit(127);
  }
  int status = 0;
  rusage used{};
  wait4(pid, &status, 0, &used);
  if (status != 0) throw std::runtime_error(arguments[0] + " " + arguments[1] + " failed");
  return {milliseconds_since(begin), used.ru_maxrss};
}

double start_of_true() { return cost_of({"/bin/true", "true"}).milliseconds; }

/// A server over HTTP on a free port of this machine, until the end.
class listening_server {
 public:
  explicit listening_server(std::vector<std::string> arguments) {
    const int probe = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in where{};
    where.sin_family = AF_INET;
    where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof where;
    if (bind(probe, reinterpret_cast<sockaddr*>(&where), size) != 0 ||
        getsockname(probe, reinterpret_cast<sockaddr*>(&where), &size) != 0)
      throw std::runtime_error("no port is free");
    close(probe);
    const auto port = std::to_string(ntohs(where.sin_port));
    url = "http://127.0.0.1:" + port + "/mcp";
    arguments.insert(arguments.end(), {"--port", port});
    std::vector<char*> pointers;
    for (auto& one : arguments) pointers.push_back(one.data());
    pointers.push_back(nullptr);
    pid_ = fork();
    if (pid_ == 0) {
      const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
      dup2(nowhere, STDOUT_FILENO);
      dup2(nowhere, STDERR_FILENO);
      execv(pointers[0], pointers.data());
      _exit(127);
    }
    for (const auto until = clock_type::now() + std::chrono::seconds(10); clock_type::now() < until;) {
      const int knock = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
      const bool is_there = connect(knock, reinterpret_cast<sockaddr*>(&where), size) == 0;
      close(knock);
      if (is_there) return;
      std::this_thread::yield();
    }
    throw std::runtime_error("the server does not listen");
  }
  listening_server(const listening_server&) = delete;
  listening_server& operator=(const listening_server&) = delete;
  ~listening_server() {
    kill(pid_, SIGTERM);
    waitpid(pid_, nullptr, 0);
  }
  std::string url;

 private:
  pid_t pid_ = -1;
};

void measure_cold_list(const std::string& program, const std::string& folder) {
  const listening_server server({program, "serve", folder});
  std::vector<double> lists;
  std::vector<double> any_program;
  for (int run = 0; run < start_runs; ++run) {
    any_program.push_back(start_of_true());
    lists.push_back(cost_of({program, "ls", "--on", server.url}).milliseconds);
  }
  std::sort(lists.begin(), lists.end());
  std::printf("| cold `hondana ls --on URL`, median | %.2f ms | limit 30 ms; %.1f x `true` |\n", median(lists),
              median(lists) / median(any_program));
  std::printf("| cold `hondana ls --on URL`, slowest of %d | %.2f ms | limit 30 ms |\n", start_runs, lists.back());
}

void measure_start(const std::string& program, const std::string& folder) {
  std::vector<double> first_answer;
  std::vector<double> any_program;
  long rss = 0;
  long rss_after_list = 0;
  for (int run = 0; run < start_runs; ++run) {
    any_program.push_back(start_of_true());
    const auto begin = clock_type::now();
    child server({program, "stdio", folder});
    server.ask("server/discover", "");
    server.answer();
    first_answer.push_back(milliseconds_since(begin));
    rss = std::max(rss, server.status("VmRSS"));
    server.ask("resources/list", "");
    server.answer();
    rss_after_list = std::max(rss_after_list, server.status("VmRSS"));
  }
  std::sort(first_answer.begin(), first_answer.end());
  std::printf("| exec to first answer, median | %.2f ms | %.1f x `true` (%.2f ms) |\n", median(first_answer),
              median(first_answer) / median(any_program), median(any_program));
  std::printf("| exec to first answer, slowest of %d | %.2f ms | limit 15 ms |\n", start_runs, first_answer.back());
  std::printf("| resident after the first answer, largest | %.1f MiB | limit 10 MB |\n", static_cast<double>(rss) / 1024);
  std::printf("| resident after the first page, largest | %.1f MiB | |\n", static_cast<double>(rss_after_list) / 1024);
}

/// A folder with one big binary file, removed at the end.
class big_folder {
 public:
  big_folder() {
    std::string pattern =
        (std::getenv("TMPDIR") != nullptr ? std::getenv("TMPDIR") : "/tmp") + std::string("/hondana-bench-XXXXXX");
    if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("mkdtemp failed");
    path = pattern;
    std::ofstream(path + "/limits.toml") << "read_limit = \"2GiB\"\n[[source]]\ntype = \"files\"\npath = \"" << path << "\"\n";
    std::ofstream file(path + "/big.bin", std::ios::binary);
    std::string block(1 << 20, '\0');
    std::uint64_t state = 88172645463325252ull;
    for (std::uint64_t written = 0; written < big_file_bytes; written += block.size()) {
      for (std::size_t i = 0; i + 8 <= block.size(); i += 8) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        std::copy_n(reinterpret_cast<const char*>(&state), 8, block.data() + i);
      }
      file.write(block.data(), static_cast<std::streamsize>(block.size()));
    }
  }
  big_folder(const big_folder&) = delete;
  big_folder& operator=(const big_folder&) = delete;
  ~big_folder() {
    for (const char* name : {"/big.bin", "/limits.toml"}) unlink((path + name).c_str());
    rmdir(path.c_str());
  }
  std::string path;
};

void measure_big_read(const std::string& program, const big_folder& folder, bool is_slow) {
  child server({program, "stdio", "--config", folder.path + "/limits.toml"});
  server.ask("server/discover", "");
  server.answer();
  const long before = server.status("VmRSS");
  const auto begin = clock_type::now();
  server.ask("resources/read", R"("uri":"file://)" + folder.path + R"(/big.bin",)");
  // The slow peer takes 64 KiB every 2 ms for the first 64 MiB, then the rest as fast as it comes.
  std::uint64_t total = 0;
  std::uint64_t taken = 0;
  bool has_ended = false;
  while (is_slow && total < (64u << 20)) {
    has_ended = server.take(64 * 1024, taken);
    total += taken;
    std::this_thread::sleep_until(clock_type::now() + std::chrono::milliseconds(2));
  }
  const long while_slow = server.status("VmHWM");
  while (!has_ended) {
    has_ended = server.take(UINT64_MAX, taken);
    total += taken;
  }
  const double seconds = milliseconds_since(begin) / 1000;
  const long peak = server.status("VmHWM");
  const char* who = is_slow ? "slow" : "fast";
  std::printf("| 1 GiB blob, %s peer: growth of resident memory | %.1f MiB | limit 16 MiB |\n", who,
              static_cast<double>((is_slow ? std::max(while_slow, peak) : peak) - before) / 1024);
  if (!is_slow)
    std::printf("| 1 GiB blob, %s peer: content a second | %.2f GiB/s | two passes, %.2f s |\n", who, 1 / seconds, seconds);
  if (total < big_file_bytes / 3 * 4) throw std::runtime_error("the answer was too short");
}

void measure_client_read(const std::string& program, const big_folder& folder) {
  const listening_server server({program, "serve", "--config", folder.path + "/limits.toml"});
  const auto copy = folder.path + "/copy.bin";
  const auto cost = cost_of({program, "read", "file://" + folder.path + "/big.bin", "-o", copy, "--on", server.url});
  unlink(copy.c_str());
  std::printf("| 1 GiB blob, read to a file by the program: its largest memory | %.1f MiB | %.2f GiB/s |\n",
              static_cast<double>(cost.peak_kilobytes) / 1024, 1000 / cost.milliseconds);
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 3) {
    std::fprintf(stderr, "usage: footprint PROGRAM FOLDER\n");
    return 1;
  }
  try {
    std::printf("| figure | measured | beside |\n| --- | --- | --- |\n");
    measure_start(arguments[1], arguments[2]);
    const big_folder folder;
    measure_big_read(arguments[1], folder, false);
    measure_big_read(arguments[1], folder, true);
    measure_cold_list(arguments[1], arguments[2]);
    measure_client_read(arguments[1], folder);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "footprint: %s\n", error.what());
    return 1;
  }
  return 0;
}

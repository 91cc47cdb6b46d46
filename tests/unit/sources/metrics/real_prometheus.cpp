/// How the real programs are started, asked and ended.
#include "unit/sources/metrics/real_prometheus.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/inotify.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>

// Boost.JSON whole, so that the program needs no library for it.
#include <boost/json/src.hpp>

#include "unit/started/program.hpp"

namespace hondana_test {
namespace {

constexpr const char* curl_program = "/usr/bin/curl";

std::string loopback(std::uint16_t port) { return "127.0.0.1:" + std::to_string(port); }

/// Starts a program without the variables of the test.
pid_t spawned(std::vector<std::string>& words, int in, int out, int err) {
  std::vector<std::string> variables{"PATH=/usr/bin:/bin", "HOME=/nonexistent", "LC_ALL=C.UTF-8", "GOMAXPROCS=1"};
  std::vector<char*> argv, envp;
  for (auto& one : words) argv.push_back(one.data());
  for (auto& one : variables) envp.push_back(one.data());
  argv.push_back(nullptr);
  envp.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, err, STDERR_FILENO);
  pid_t child = -1;
  const int failed = ::posix_spawn(&child, words.front().c_str(), &actions, nullptr, argv.data(), envp.data());
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) throw std::runtime_error(words.front() + " cannot be started");
  return child;
}

void put(const std::string& path, const std::string& text) { std::ofstream(path, std::ios::binary) << text; }

std::vector<std::string> question(const wanted_prometheus& of, const std::string& url, const real_prometheus::form& query) {
  std::vector<std::string> words{curl_program, "--silent", "--show-error", "--noproxy", "*", "--max-time", "180", "--get", url};
  if (!of.certificate.empty()) words.insert(words.end(), {"--cacert", of.certificate});
  if (!of.user_password.empty()) words.insert(words.end(), {"--user", of.user_password});
  for (const auto& [name, value] : query) words.insert(words.end(), {"--data-urlencode", name + '=' + value});
  return words;
}

}  // namespace

started_program::started_program(std::vector<std::string> words) {
  std::array<int, 2> pipe{};
  if (::pipe2(pipe.data(), O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
  const int nothing = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  // A test that crashes leaves nobody behind.
  words.insert(words.begin(), {"/usr/bin/setpriv", "--pdeathsig", "TERM"});
  child_ = spawned(words, nothing, nothing, pipe[1]);
  ::close(nothing);
  ::close(pipe[1]);
  output_ = pipe[0];
  listening_ = std::thread([this] { listen(); });
}

started_program::~started_program() {
  ::kill(child_, SIGTERM);
  {
    // The pipe ends with the program.
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, program_patience / 4, [&] { return is_over_; })) ::kill(child_, SIGKILL);
  }
  int status = 0;
  ::waitpid(child_, &status, 0);
  listening_.join();
  ::close(output_);
}

void started_program::listen() {
  std::array<char, 4096> buffer{};
  for (ssize_t count = 0; (count = ::read(output_, buffer.data(), buffer.size())) > 0;) {
    const std::lock_guard lock(mutex_);
    said_.append(buffer.data(), static_cast<std::size_t>(count));
    changed_.notify_all();
  }
  const std::lock_guard lock(mutex_);
  is_over_ = true;
  changed_.notify_all();
}

bool started_program::says(std::string_view text) {
  std::unique_lock lock(mutex_);
  const auto has = [&] { return said_.find(text) != std::string::npos; };
  changed_.wait_for(lock, program_patience, [&] { return has() || is_over_; });
  return has();
}

std::string started_program::said() const {
  const std::lock_guard lock(mutex_);
  return said_;
}

std::string printed_by(std::vector<std::string> words, std::string_view input) {
  std::array<int, 2> in{}, out{};
  if (::pipe2(in.data(), O_CLOEXEC) != 0 || ::pipe2(out.data(), O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
  const pid_t child = spawned(words, in[0], out[1], STDERR_FILENO);
  ::close(in[0]);
  ::close(out[1]);
  // Little enough for a pipe.
  if (::write(in[1], input.data(), input.size()) != static_cast<ssize_t>(input.size())) throw std::runtime_error("no input");
  ::close(in[1]);
  std::string text;
  std::array<char, 65536> buffer{};
  for (ssize_t count = 0; (count = ::read(out[0], buffer.data(), buffer.size())) > 0;)
    text.append(buffer.data(), static_cast<std::size_t>(count));
  ::close(out[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  if (status != 0) throw std::runtime_error(words.front() + " has failed with " + std::to_string(status));
  return text;
}

real_prometheus::real_prometheus(wanted_prometheus wanted) : wanted_(std::move(wanted)) {
  char folder[] = "/tmp/hondana-prometheus-XXXXXX";
  if (::mkdtemp(folder) == nullptr) throw std::runtime_error("no folder for a Prometheus");
  folder_ = folder;
  exporter_port_ = hondana::started::free_port();
  start_exporter();
  port_ = hondana::started::free_port();
  std::string config =
      "global:\n  scrape_interval: 1s\n  scrape_timeout: 1s\n  evaluation_interval: 1s\n"
      "scrape_configs:\n- job_name: node\n  static_configs:\n  - targets: ['" +
      loopback(exporter_port_) + "']\n";
  if (wanted_.scrapes_itself) config += "- job_name: prometheus\n  static_configs:\n  - targets: ['" + loopback(port_) + "']\n";
  if (!wanted_.rules.empty()) {
    config += "rule_files:\n- rules.yml\n";
    put(folder_ + "/rules.yml", wanted_.rules);
  }
  put(folder_ + "/prometheus.yml", config);
  std::vector<std::string> words{"/usr/bin/prometheus", "--config.file=" + folder_ + "/prometheus.yml",
                                 "--storage.tsdb.path=" + folder_ + "/data", "--web.listen-address=" + loopback(port_)};
  if (!wanted_.web_config.empty()) {
    put(folder_ + "/web.yml", wanted_.web_config);
    words.push_back("--web.config.file=" + folder_ + "/web.yml");
  }
  prometheus_ = std::make_unique<started_program>(std::move(words));
  if (!prometheus_->says("Server is ready to receive web requests."))
    throw std::runtime_error("Prometheus is not ready: " + prometheus_->said());
  written_ = ::inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
  if (written_ < 0 || ::inotify_add_watch(written_, (folder_ + "/data/wal").c_str(), IN_MODIFY | IN_CREATE) < 0)
    throw std::runtime_error("its log cannot be watched");
}

void real_prometheus::start_exporter() {
  exporter_ = std::make_unique<started_program>(
      std::vector<std::string>{"/usr/bin/prometheus-node-exporter", "--web.listen-address=" + loopback(exporter_port_)});
  if (!exporter_->says("Listening on")) throw std::runtime_error("the node exporter does not listen: " + exporter_->said());
}

std::int64_t real_prometheus::restart_exporter() {
  exporter_.reset();
  start_exporter();
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
}

real_prometheus::~real_prometheus() {
  prometheus_.reset();
  exporter_.reset();
  if (written_ >= 0) ::close(written_);
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

std::string real_prometheus::url() const { return (wanted_.web_config.empty() ? "http://" : "https://") + loopback(port_); }
std::string real_prometheus::exporter_url() const { return "http://" + loopback(exporter_port_) + "/metrics"; }

boost::json::value real_prometheus::ask(const std::string& path, const form& query) const {
  const auto text = printed_by(question(wanted_, url() + "/api/v1" + path, query));
  const auto answer = boost::json::parse(text);
  if (answer.at("status").as_string() != "success") throw std::runtime_error(path + ": " + text);
  return answer.at("data");
}

bool real_prometheus::something_is_written(std::chrono::steady_clock::time_point until) const {
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
  pollfd one{written_, POLLIN, 0};
  if (left.count() <= 0 || ::poll(&one, 1, static_cast<int>(left.count())) != 1) return false;
  std::array<char, 4096> buffer{};
  while (::read(written_, buffer.data(), buffer.size()) > 0) continue;
  return true;
}

std::int64_t real_prometheus::scraped(std::size_t times, std::int64_t since) const {
  const auto instant_of = [](const boost::json::value& sample) {
    return std::llround(sample.at(0).to_number<double>() * 1000);
  };
  constexpr std::int64_t longest_between = 1500;
  const std::size_t targets = wanted_.scrapes_itself ? 2 : 1;
  std::int64_t youngest = 0;
  const bool is_done = becomes([&] {
    const auto ups = ask("/query", {{"query", "up[5m]"}}).at("result").as_array();
    if (ups.size() != targets) return false;
    youngest = INT64_MAX;
    for (const auto& one : ups) {
      const auto& samples = one.at("values").as_array();
      if (samples.size() < times || instant_of(samples[samples.size() - times]) <= since) return false;
      for (auto at = samples.size() - times; at < samples.size(); ++at) {
        const bool is_first = at == samples.size() - times;
        if (samples[at].at(1).as_string() != "1") return false;
        if (!is_first && instant_of(samples[at]) - instant_of(samples[at - 1]) > longest_between) return false;
      }
      youngest = std::min<std::int64_t>(youngest, instant_of(samples.back()));
    }
    return true;
  });
  if (!is_done) throw std::runtime_error("Prometheus does not scrape: " + prometheus_->said());
  return youngest;
}

}  // namespace hondana_test

/// A Prometheus and a node exporter, started for a test on free ports of this machine.
#pragma once

#include <boost/json/value.hpp>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <sys/types.h>

#include "deadline.hpp"

namespace hondana_test {

/// How long anything of this may take before the test fails.
inline constexpr std::chrono::seconds program_patience = event_deadline;

/// A program and what it says on stderr. Destruction ends it, by its process id.
class started_program {
 public:
  /// Throws where it cannot be started.
  explicit started_program(std::vector<std::string> words);
  ~started_program();
  started_program(const started_program&) = delete;
  started_program& operator=(const started_program&) = delete;

  /// Waits until it has said `text`. False: it has ended, or said nothing of the kind in time.
  [[nodiscard]] bool says(std::string_view text);
  /// What it has said so far.
  [[nodiscard]] std::string said() const;

 private:
  void listen();

  pid_t child_ = -1;
  int output_ = -1;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::string said_{};
  bool is_over_ = false;
  std::thread listening_{};
};

/// What a program prints on stdout, given `input` on stdin; throws when it fails.
[[nodiscard]] std::string printed_by(std::vector<std::string> words, std::string_view input = {});

struct wanted_prometheus {
  bool scrapes_itself = true;   ///< Besides the node exporter.
  std::string rules{};          ///< A rule file; empty: none.
  std::string web_config{};     ///< As `--web.config.file`; it speaks TLS then.
  std::string certificate{};    ///< The PEM file that `ask` trusts.
  std::string user_password{};  ///< "user:password" of `ask`.
};

/// Both programs, with a scrape each second and a folder of their own below /tmp, which goes with them.
class real_prometheus {
 public:
  /// Waits until it answers. Throws with its words where it does not.
  explicit real_prometheus(wanted_prometheus wanted = {});
  ~real_prometheus();
  real_prometheus(const real_prometheus&) = delete;
  real_prometheus& operator=(const real_prometheus&) = delete;

  [[nodiscard]] std::string url() const;
  [[nodiscard]] std::string exporter_url() const;
  using form = std::vector<std::pair<std::string, std::string>>;
  /// The `data` of an answer of `/api/v1` + path, as the curl program and Boost.JSON have it: by nothing that is ours.
  [[nodiscard]] boost::json::value ask(const std::string& path, const form& query = {}) const;
  /// Waits until the last `times` scrapes of every target were good ones, came after `since`, followed each other without a
  /// gap, and are written down. Returns the instant of the youngest sample that every target has: what is not younger than it
  /// changes no more. In milliseconds.
  [[nodiscard]] std::int64_t scraped(std::size_t times, std::int64_t since = 0) const;
  /// Ends the node exporter and starts it again at its place: the counters of its process begin anew. Returns when it was
  /// ready again, in milliseconds since 1970.
  std::int64_t restart_exporter();
  /// Waits for something that comes with a scrape or an evaluation of rules.
  template <class Is>
  [[nodiscard]] bool becomes(const Is& is) const {
    const auto until = std::chrono::steady_clock::now() + program_patience;
    while (!is()) {
      if (!something_is_written(until)) return false;
    }
    return true;
  }

 private:
  void start_exporter();
  /// Each scrape and each evaluation goes to the log of the database. False: nothing has, in time.
  [[nodiscard]] bool something_is_written(std::chrono::steady_clock::time_point until) const;

  wanted_prometheus wanted_;
  std::string folder_;
  std::uint16_t port_ = 0, exporter_port_ = 0;
  std::unique_ptr<started_program> exporter_, prometheus_;
  int written_ = -1;
};

}  // namespace hondana_test

/// Connects a command to its server, serves in this process if need be, and explains failures.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include <hondana/client.hpp>
#include <hondana/error.hpp>

#include "app/cli/flags/command_line.hpp"
#include "app/cli/signals.hpp"
#include "app/cli/target.hpp"
#include "app/cli/terminal/screen.hpp"
#include "os/disk/file_descriptor.hpp"

namespace hondana::cli {

/// From now on SIGINT, SIGTERM and SIGHUP request a stop instead of ending the process; a second one ends it at once. Made in
/// the main thread before any other; one at a time.
class interruption {
 public:
  interruption();
  interruption(const interruption&) = delete;
  interruption& operator=(const interruption&) = delete;

  [[nodiscard]] std::stop_token stop() const noexcept { return source_.get_token(); }
  [[nodiscard]] bool has_come() const noexcept { return source_.stop_requested(); }
  /// Readable once it has come.
  [[nodiscard]] int descriptor() const noexcept { return event_.get(); }

 private:
  void come();

  std::stop_source source_;
  disk::handle event_;
  signals watch_;  // last: its thread uses the others, so it ends first
};

class trace_file;

/// The exit code that stands for an error.
[[nodiscard]] int exit_code_of(errc code) noexcept;

/// One connection of one command. What it is made of outlives it. Threads: one, but for the calls of its client.
class connection {
 public:
  connection(const command_line& line, const interruption& interrupted, const screen& shown);
  ~connection();
  connection(const connection&) = delete;
  connection& operator=(const connection&) = delete;

  /// Errors: those of `choose_server`, of the trace file and of `client::connect`.
  [[nodiscard]] result<void> open();
  [[nodiscard]] client& server() { return *client_; }
  /// How calls are made: until the interruption comes.
  [[nodiscard]] call_options how() const;

  /// The URI that somebody means by a word: a URI as it is, a path where a folder of this machine is asked, or else what
  /// `resource_named` finds. Errors: those of that.
  [[nodiscard]] result<std::string> uri_of(const std::string& typed);
  /// The URI of the file that is the target; empty for any other.
  [[nodiscard]] std::string file_uri() const;

  /// `client::read_to`, with what it hands on in the trace, too.
  [[nodiscard]] result<read_answer> read_to(const std::string& uri, const content_writer& into);
  /// Hears how a program behind `--` has ended by itself; see `child_target::on_end`. What it uses must outlive the connection.
  void on_program_end(std::function<void(std::string_view how, unsigned quick_ends)> hears);

  /// Prints why something failed, what can be done, and what a program that was started said last; returns the exit code.
  [[nodiscard]] int explain(const failure& why);

 private:
  class local_server;
  class program_news;
  [[nodiscard]] client_options options();
  [[nodiscard]] std::string advice(const failure& why) const;
  [[nodiscard]] failure at_no_endpoint(const failure& why) const;
  [[nodiscard]] result<std::string> uri_of_path(const std::string& typed) const;
  [[nodiscard]] bool is_file() const;
  [[nodiscard]] std::string folder() const;  // what is served here

  const command_line& line_;
  const interruption& interrupted_;
  const screen& shown_;
  chosen_server chosen_;
  std::shared_ptr<program_news> program_;
  std::shared_ptr<trace_file> trace_;
  std::unique_ptr<local_server> local_;
  std::optional<client> client_;  // last: it uses the others to its end
};

}  // namespace hondana::cli

/// Connects a command to its server, runs the server in this process if needed, and explains failures.
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

/// Makes SIGINT, SIGTERM and SIGHUP request a stop instead of ending the process. A second SIGINT or SIGTERM ends it at once.
/// Create in the main thread before any other thread. Only one instance at a time.
class interruption {
 public:
  interruption();
  interruption(const interruption&) = delete;
  interruption& operator=(const interruption&) = delete;

  [[nodiscard]] std::stop_token stop() const noexcept { return source_.get_token(); }
  [[nodiscard]] bool has_come() const noexcept { return source_.stop_requested(); }
  /// Readable after the interruption.
  [[nodiscard]] int descriptor() const noexcept { return event_.get(); }

 private:
  void come();

  std::stop_source source_;
  disk::handle event_;
  signals watch_;  // last: its thread uses the other members, so it must stop first
};

class trace_file;

/// The exit code for an error.
[[nodiscard]] int exit_code_of(errc code) noexcept;

/// The connection of one command to its server. The constructor's arguments must outlive it. Threads: one, except for callbacks
/// of its client.
class connection {
 public:
  connection(const command_line& line, const interruption& interrupted, const screen& shown);
  ~connection();
  connection(const connection&) = delete;
  connection& operator=(const connection&) = delete;

  /// Errors: those of `choose_server`, of the trace file and of `client::connect`.
  [[nodiscard]] result<void> open();
  [[nodiscard]] client& server() { return *client_; }
  /// Options for calls: the interruption cancels them.
  [[nodiscard]] call_options how() const;

  /// The URI for a typed word. A URI stays as it is; for a local folder, a path becomes a file URI; any other word goes to
  /// `resource_named`. Errors: those of `resource_named`.
  [[nodiscard]] result<std::string> uri_of(const std::string& typed);
  /// The URI of the target if it is a file; empty otherwise.
  [[nodiscard]] std::string file_uri() const;

  /// Like `client::read_to`, and also writes the content to the trace.
  [[nodiscard]] result<read_answer> read_to(const std::string& uri, const content_writer& into);
  /// Sets the callback for unexpected exits of the program after `--`; see `child_target::on_end`. Objects that the callback
  /// uses must outlive the connection.
  void on_program_end(std::function<void(std::string_view how, unsigned quick_ends)> hears);

  /// Prints why an operation failed, what to do, and the last output of a started program. Returns the exit code.
  [[nodiscard]] int explain(const failure& why);

 private:
  class local_server;
  class program_news;
  [[nodiscard]] client_options options();
  [[nodiscard]] std::string advice(const failure& why) const;
  [[nodiscard]] failure at_no_endpoint(const failure& why) const;
  [[nodiscard]] result<std::string> uri_of_path(const std::string& typed) const;
  [[nodiscard]] bool is_file() const;
  [[nodiscard]] std::string folder() const;  // the folder that this process serves

  const command_line& line_;
  const interruption& interrupted_;
  const screen& shown_;
  chosen_server chosen_;
  std::shared_ptr<program_news> program_;
  std::shared_ptr<trace_file> trace_;
  std::unique_ptr<local_server> local_;
  std::optional<client> client_;  // last: it uses the other members until its destruction
};

}  // namespace hondana::cli

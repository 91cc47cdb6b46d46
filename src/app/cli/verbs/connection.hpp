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
#include "app/cli/terminal/terminal_info.hpp"
#include "os/disk/file_descriptor.hpp"

namespace hondana::cli {

/// Makes SIGINT, SIGTERM and SIGHUP request a stop instead of ending the process. A second SIGINT or SIGTERM ends it at once.
/// Create in the main thread before any other thread. Only one instance at a time.
class interruption {
 public:
  interruption();
  interruption(const interruption&) = delete;
  interruption& operator=(const interruption&) = delete;

  [[nodiscard]] std::stop_token stop_token() const noexcept { return source_.get_token(); }
  [[nodiscard]] bool is_triggered() const noexcept { return source_.stop_requested(); }
  /// Readable after the interruption.
  [[nodiscard]] int descriptor() const noexcept { return event_.get(); }

 private:
  void trigger();

  std::stop_source source_;
  disk::handle event_;
  signals signals_;  // last: its thread uses the other members, so it must stop first
};

class trace_file;

/// The exit code for an error.
[[nodiscard]] int exit_code_of(errc code) noexcept;

/// The connection of one command to its server. The constructor's arguments must outlive it. Threads: one, except for callbacks
/// of its client.
class command_connection {
 public:
  command_connection(const command_line& line, const interruption& interrupt, const terminal_info& terminal);
  ~command_connection();
  command_connection(const command_connection&) = delete;
  command_connection& operator=(const command_connection&) = delete;

  /// Errors: those of `choose_server`, of the trace file and of `client::connect`.
  [[nodiscard]] result<void> open();
  [[nodiscard]] client& mcp_client() { return *client_; }
  /// Options for calls: the interruption cancels them.
  [[nodiscard]] call_options make_call_options() const;

  /// The URI for a typed word. A URI stays as it is; for a local folder, a path becomes a file URI; any other word goes to
  /// `find_resource`. Errors: those of `find_resource`.
  [[nodiscard]] result<std::string> resolve_uri(const std::string& typed);
  /// The URI of the target if it is a file; empty otherwise.
  [[nodiscard]] std::string file_uri() const;

  /// Like `client::read_to`, and also writes the content to the trace.
  [[nodiscard]] result<read_response> read_to(const std::string& uri, const content_writer& writer);
  /// Sets the callback for unexpected exits of the program after `--`; see `child_target::on_exit`. Objects that the callback
  /// uses must outlive the connection.
  void on_program_exit(std::function<void(std::string_view outcome, unsigned quick_exits)> listener);

  /// Prints why an operation failed, what to do, and the last output of a started program. Returns the exit code.
  [[nodiscard]] int report_failure(const failure& error);

 private:
  class local_server;
  class program_monitor;
  [[nodiscard]] client_options make_client_options();
  [[nodiscard]] std::string advice(const failure& error) const;
  [[nodiscard]] failure explain_missing_endpoint(const failure& error) const;
  [[nodiscard]] result<std::string> path_to_uri(const std::string& typed) const;
  [[nodiscard]] bool is_file() const;
  [[nodiscard]] std::string folder() const;  // the folder that this process serves

  const command_line& line_;
  const interruption& interrupt_;
  const terminal_info& terminal_;
  chosen_server chosen_;
  std::shared_ptr<program_monitor> program_;
  std::shared_ptr<trace_file> trace_;
  std::unique_ptr<local_server> local_;
  std::optional<client> client_;  // last: it uses the other members until its destruction
};

}  // namespace hondana::cli

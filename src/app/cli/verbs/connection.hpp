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
  /// A descriptor that becomes readable when the interruption is triggered, for `poll`.
  [[nodiscard]] int descriptor() const noexcept { return event_.get(); }

 private:
  void trigger();

  std::stop_source source_;
  disk::handle event_;
  signals signals_;  // last: its thread uses the other members, so it must stop first
};

class trace_file;

/// The exit code for a failure.
[[nodiscard]] int exit_code_of(errc code) noexcept;

/// The connection of one command to its server. The constructor's arguments must outlive it. Threads: one, except for callbacks
/// of its client.
class command_connection {
 public:
  command_connection(const command_line& line, const interruption& interrupt, const terminal_info& terminal);
  ~command_connection();
  command_connection(const command_connection&) = delete;
  command_connection& operator=(const command_connection&) = delete;

  /// Connects to the server. If the target is a local path, first starts a server for it in this process. Call it before the
  /// other functions. Errors: those of `choose_server`, of the trace file, of the server and of `client::connect`.
  [[nodiscard]] result<void> open();
  /// The connected client. Precondition: `open` has succeeded.
  [[nodiscard]] client& mcp_client() { return *client_; }
  /// Options for calls, which the interruption cancels.
  [[nodiscard]] call_options make_call_options() const;

  /// Returns the URI for a typed word. A word with a scheme is a URI. If the target is local, an existing path is a file. Any
  /// other word goes to `find_resource`. Errors: those of `find_resource`.
  [[nodiscard]] result<std::string> resolve_uri(const std::string& typed);
  /// The URI of the target if it is a local file; empty otherwise.
  [[nodiscard]] std::string file_uri() const;

  /// Like `client::read_to`, and also writes the content to the trace.
  [[nodiscard]] result<read_response> read_to(const std::string& uri, const content_writer& writer);
  /// Sets the callback for unexpected exits of the program after `--`; see `child_target::on_exit`. Objects that the callback
  /// uses must outlive the connection.
  void on_program_exit(std::function<void(std::string_view outcome, unsigned quick_exits)> listener);

  /// Prints why an operation failed, what to do, and the last output of a started program. Prints nothing after an
  /// interruption. Returns the exit code.
  [[nodiscard]] int report_failure(const failure& error);

 private:
  class local_server;
  class program_monitor;
  [[nodiscard]] client_options make_client_options();
  /// What the user can do about a failure; empty: no advice.
  [[nodiscard]] std::string advice(const failure& error) const;
  /// Explains the answer of a web server without an MCP endpoint at the URL. Other failures do not change.
  [[nodiscard]] failure explain_missing_endpoint(const failure& error) const;
  /// The URI of a path, which may be relative to `folder`.
  [[nodiscard]] result<std::string> path_to_uri(const std::string& typed) const;
  /// Whether the target is a local file.
  [[nodiscard]] bool is_file() const;
  /// The folder that this process serves; empty: none.
  [[nodiscard]] std::string folder() const;

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

/// The server of a command: chosen, served in this process if need be, and connected.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <hondana/client.hpp>
#include <hondana/error.hpp>

#include "app/cli/flags/line.hpp"
#include "app/cli/target/choice.hpp"
#include "app/cli/terminal/screen.hpp"
#include "app/cli/verbs/interruption.hpp"

namespace hondana::cli {

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

/// `hondana serve` for commands that ask it, and one command from its start to its end.
#pragma once

#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "deadline.hpp"
#include "program/process.hpp"

namespace program_test {

/// How one command ended, and what it said.
struct outcome {
  departure how;
  std::string output;
  std::string errors;
};

/// Runs one command to its end.
inline outcome run(std::vector<std::string> arguments, std::string program = {}, output_to out = output_to::pipe) {
  process command(std::move(arguments), out, std::move(program));
  command.end_input();
  outcome all;
  all.output = command.read_to_end(within(patience)).value_or("output without end");
  all.how = command.leaves(within(patience)).value_or(departure{-1, -1});
  all.errors = command.errors();
  return all;
}

inline outcome run(std::vector<std::string> arguments, output_to out) { return run(std::move(arguments), {}, out); }

/// The same in a folder.
inline outcome run_in(const std::string& folder, const std::vector<std::string>& arguments) {
  std::vector<std::string> all{"-c", "cd \"$0\" && exec \"$@\"", folder, HONDANA_PROGRAM};
  all.insert(all.end(), arguments.begin(), arguments.end());
  return run(std::move(all), "/bin/sh");
}

/// Waits until files that were written just now have the versions that they keep; false when that does not come.
inline bool settles(const std::string& folder) {
  const auto count = [](std::string_view text, std::string_view part) {
    std::size_t found = 0;
    for (auto at = text.find(part); at != std::string_view::npos; at = text.find(part, at + 1)) ++found;
    return found;
  };
  return hondana_test::eventually([&] {
    const auto listed = run({"ls", "--json", "--on", folder}).output;
    return count(listed, "\"kind\":\"file\"") == count(listed, "\"version\":\"");
  });
}

/// A server over HTTP on 127.0.0.1. Threads: one.
class served {
 public:
  /// `what`: paths, or options and their values. Throws when it does not come up.
  explicit served(std::vector<std::string> what) {
    std::vector<std::string> arguments{"serve", "--port", "0"};
    arguments.insert(arguments.end(), what.begin(), what.end());
    server_ = std::make_unique<process>(std::move(arguments));
    if (!server_->error_line_with("Stop with Ctrl-C", within(patience))) throw std::runtime_error(server_->errors());
    const auto begin = server_->errors().find("http", server_->errors().find(" serves at "));
    url_ = server_->errors().substr(begin, server_->errors().find("/mcp", begin) + 4 - begin);
  }

  [[nodiscard]] const std::string& url() const noexcept { return url_; }
  [[nodiscard]] std::uint16_t port() const {
    std::uint16_t port = 0;
    const std::string digits = url_.substr(url_.rfind(':') + 1);
    std::from_chars(digits.data(), digits.data() + digits.size(), port);
    return port;
  }
  [[nodiscard]] process& program() noexcept { return *server_; }
  /// Ends it; how it left.
  std::optional<departure> stop(int signal) {
    server_->signal(signal);
    return server_->leaves(within(patience));
  }

 private:
  std::unique_ptr<process> server_;
  std::string url_;
};

}  // namespace program_test

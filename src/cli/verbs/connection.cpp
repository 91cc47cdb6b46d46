/// Connecting, and explaining why not.
#include "cli/verbs/connection.hpp"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <limits>
#include <mutex>
#include <utility>

#include <hondana/server.hpp>
#include <hondana/uri.hpp>

#include "cli/assembly.hpp"
#include "cli/exit_codes.hpp"
#include "cli/flags/client_flags.hpp"
#include "cli/output.hpp"
#include "cli/verbs/answers.hpp"
#include "cli/verbs/trace_file.hpp"
#include "server/core.hpp"

namespace hondana::cli {
namespace {

constexpr std::size_t lines_remembered = 10;

/// Whether it begins with a scheme; paths do not.
bool has_scheme(std::string_view text) {
  const auto colon = text.find(':');
  if (colon == std::string_view::npos || colon == 0) return false;
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  const auto may_follow = [&](char c) { return is_letter(c) || (c >= '0' && c <= '9') || c == '+' || c == '-' || c == '.'; };
  const auto scheme = text.substr(0, colon);
  return is_letter(scheme[0]) && std::all_of(scheme.begin(), scheme.end(), may_follow);
}

}  // namespace

int exit_code_of(errc code) noexcept {
  switch (code) {
    case errc::invalid_argument:
      return exit_usage;
    case errc::resource_not_found:
      return exit_not_found;
    case errc::unauthorized:
    case errc::access_denied:
      return exit_auth;
    case errc::source_unavailable:
    case errc::timed_out:
      return exit_unreachable;
    case errc::cancelled:
      return exit_interrupted;
    default:
      return exit_server;
  }
}

/// A folder served without leaving the process.
class connection::local_server {
 public:
  local_server(const std::string& folder, log_function log)
      : assembly_({.paths = {folder}, .config = {}, .allow = {}}, std::move(log)) {}
  ~local_server() {
    // A source that is stuck is left behind: the process ends.
    static_cast<void>(server_.engine()->close(std::chrono::steady_clock::now() + std::chrono::seconds(1)));
  }
  local_server(const local_server&) = delete;
  local_server& operator=(const local_server&) = delete;

  result<void> start() {
    auto whole = assembly_.assemble();
    if (!whole) return tl::unexpected(std::move(whole.error()));
    // The limit keeps a server from being filled by strangers; here there are none, and contents pass in pieces.
    whole->options.read_limit = std::numeric_limits<std::int64_t>::max();
    return server_.replace(whole->options, whole->providers);
  }
  hondana::server* server() noexcept { return &server_; }

 private:
  assembly assembly_;
  hondana::server server_;
};

/// The last lines of a program's standard error, shown when it fails. Threads: any.
class connection::last_words {
 public:
  void add(std::string_view line) {
    const std::lock_guard lock(mutex_);
    if (lines_.size() == lines_remembered) lines_.pop_front();
    lines_.emplace_back(line);
  }
  std::deque<std::string> take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(lines_, {});
  }

 private:
  std::mutex mutex_;
  std::deque<std::string> lines_;
};

connection::connection(const command_line& line, const interruption& interrupted, const screen& shown)
    : line_(line), interrupted_(interrupted), shown_(shown), said_(std::make_shared<last_words>()) {}

connection::~connection() = default;

client_options connection::options() {
  client_options options;
  options.version = HONDANA_VERSION;
  options.revision = line_.text(revision_flag);
  options.handlers = terminal_handlers(interrupted_, shown_);
  if (const auto seconds = line_.number(timeout_flag)) {
    options.call_time = std::chrono::milliseconds(static_cast<std::int64_t>(*seconds * 1000));
  }
  if (!line_.has(quiet_flag)) options.log = [](std::string_view text) { say(text); };
  if (trace_) {
    options.trace = [trace = trace_](message_direction way, std::string_view message) { trace->write(way, message); };
  }
  return options;
}

result<void> connection::open() {
  auto chosen = choose_server(line_);
  if (!chosen) return tl::unexpected(std::move(chosen.error()));
  chosen_ = std::move(*chosen);
  if (line_.has(trace_flag)) {
    auto trace = trace_file::open(line_.text(trace_flag));
    if (!trace) return tl::unexpected(std::move(trace.error()));
    trace_ = std::move(*trace);
  }
  if (!chosen_.path.empty()) {
    const auto folder = is_file() ? std::filesystem::path(chosen_.path).parent_path().string() : chosen_.path;
    // What a server would log of its own doings is no news to whoever asks it one question.
    local_ = std::make_unique<local_server>(folder, [](std::string_view) {});
    if (auto started = local_->start(); !started) return started;
    chosen_.target = memory_target{local_->server()};
  }
  if (auto* child = std::get_if<child_target>(&chosen_.target)) {
    child->on_stderr = [said = said_](std::string_view text) { said->add(text); };
  }
  auto connected = client::connect(chosen_.target, options());
  if (!connected) return tl::unexpected(std::move(connected.error()));
  client_.emplace(std::move(*connected));
  return {};
}

call_options connection::how() const { return {.time = {}, .stop = interrupted_.stop(), .report = {}, .afresh = false}; }

bool connection::is_file() const {
  std::error_code problem;
  return !chosen_.path.empty() && !std::filesystem::is_directory(chosen_.path, problem);
}

result<std::string> connection::uri_of(const std::string& typed) const {
  if (has_scheme(typed)) return typed;
  if (chosen_.path.empty()) {
    return fail(errc::invalid_argument, "\"" + typed +
                                            "\" is no URI, which begins with a scheme, as in file:///srv/a.txt. 'hondana ls' "
                                            "shows those there are.");
  }
  const std::filesystem::path root(chosen_.path);
  auto path = ((is_file() ? root.parent_path() : root) / typed).lexically_normal().string();
  if (path.size() > 1 && path.ends_with('/')) path.pop_back();
  return canonical_uri("file://" + percent_encode(path, true));
}

std::string connection::file_uri() const {
  if (!is_file()) return {};
  return uri_of(chosen_.path).value_or("");
}

std::string connection::advice(const failure& why) const {
  const auto* http = std::get_if<http_target>(&chosen_.target);
  switch (why.code) {
    case errc::unauthorized:
      return http == nullptr ? "" : "If you have a token, give it with --header 'Authorization: Bearer TOKEN'.";
    case errc::resource_not_found:
      // Of tools and skills the message says where they are listed.
      if (&line_.entry() == &call_entry || &line_.entry() == &skills_entry) return {};
      return "'hondana ls' and 'hondana templates' show what there is.";
    case errc::timed_out:
      return "--timeout SECONDS waits longer.";
    default:
      break;
  }
  if (http == nullptr || client_ || why.code == errc::invalid_argument) return {};
  const auto path = split_uri(http->url).path;
  if (!path.empty() && path != "/") return {};
  return "Most servers are at a path; perhaps " + http->url + (path.empty() ? "/mcp" : "mcp") + " is meant.";
}

int connection::explain(const failure& why) {
  if (why.code == errc::cancelled && interrupted_.has_come()) return exit_interrupted;
  auto told = why;
  if (const auto text = advice(why); !text.empty()) {
    if (!told.public_text.ends_with('.') && !told.public_text.ends_with('?')) told.public_text += '.';
    told.public_text += ' ' + text;
  }
  complain(told);
  if (why.code == errc::source_unavailable || why.code == errc::timed_out || why.code == errc::broken_protocol) {
    for (const auto& line : said_->take()) {
      // The last lines are in the text already.
      if (told.public_text.find(line.substr(0, 300)) == std::string::npos) say("it said: " + line);
    }
  }
  return exit_code_of(why.code);
}

}  // namespace hondana::cli

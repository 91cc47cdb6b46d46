/// Connects a command to its server, runs the server in this process if needed, and explains failures.
#include "app/cli/verbs/connection.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <filesystem>
#include <limits>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <hondana/client.hpp>
#include <hondana/clock.hpp>
#include <hondana/server.hpp>
#include <hondana/uri.hpp>

#include "app/cli/assembly.hpp"
#include "app/cli/exit_codes.hpp"
#include "app/cli/flags/client_flags.hpp"
#include "app/cli/output.hpp"
#include "app/cli/target.hpp"
#include "app/cli/terminal/screen.hpp"
#include "app/cli/verbs/trace_file.hpp"
#include "app/cli/verbs/typed_words.hpp"
#include "auth/credentials/credential_store.hpp"
#include "auth/credentials/stored_login.hpp"
#include "server/core/core.hpp"

namespace hondana::cli {

interruption::interruption()
    : event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)), watch_([this] { come(); }, [this] { come(); }) {
  if (!event_.is_open()) throw std::system_error(errno, std::system_category(), "eventfd");
}

void interruption::come() {
  source_.request_stop();
  ::eventfd_write(event_.get(), 1);
}

/// Handlers that ask the user on standard error and read standard input if both are terminals, and decline otherwise. An
/// interrupted handler cancels. `interrupted` must outlive the handlers.
[[nodiscard]] client_handlers terminal_handlers(const interruption& interrupted, const screen& shown);

namespace {

constexpr std::size_t longest_answer = 64u << 10;

void show(const std::string& line) { std::fputs((line + '\n').c_str(), stderr); }

/// Reads one line from standard input. No value at end of file, or after an interruption.
std::optional<std::string> read_line_of_person(const interruption& interrupted) {
  std::string line;
  for (;;) {
    std::array<pollfd, 2> watched{{{STDIN_FILENO, POLLIN, 0}, {interrupted.descriptor(), POLLIN, 0}}};
    if (::poll(watched.data(), watched.size(), -1) < 0) continue;
    if (watched[1].revents != 0) return {};
    char one = 0;
    const auto count = ::read(STDIN_FILENO, &one, 1);
    if (count <= 0 || line.size() > longest_answer) return {};
    if (one == '\n') return line;
    line += one;
  }
}

std::string question_of(const std::string& name, const value& field, bool must) {
  const auto title = field.string_at("title").value_or("");
  std::string out = "  " + visible(title.empty() ? name : title);
  if (const auto more = field.string_at("description").value_or(""); !more.empty()) out += " (" + visible(more) + ')';
  if (const auto* choices = field.find("enum"); choices != nullptr) out += ' ' + visible(choices->to_text());
  if (const auto* preset = field.find("default"); preset != nullptr) out += " [" + visible(preset->to_text()) + ']';
  return out + (must ? "*: " : ": ");
}

result<form_answer> fill_in(const form_request& form, const interruption& interrupted) {
  show("The server asks: " + visible(form.message));
  show("An empty line skips a field; Ctrl-D cancels.");
  value::object filled;
  const auto* properties = form.requestedSchema.find("properties");
  const auto* fields = properties == nullptr ? nullptr : properties->as_object();
  if (fields == nullptr) return form_answer{"decline", {}};
  for (const auto& [name, field] : *fields) {
    for (;;) {
      const bool must = is_required(form.requestedSchema, name) && field.find("default") == nullptr;
      std::fputs(question_of(name, field, must).c_str(), stderr);
      const auto line = read_line_of_person(interrupted);
      if (!line) return form_answer{"cancel", {}};
      if (line->empty() && !must) break;
      auto typed = typed_value(*line, field);
      if (typed && !line->empty()) {
        filled.emplace_back(name, std::move(*typed));
        break;
      }
      show("  " + (typed ? "required" : typed.error().public_text));
    }
  }
  return form_answer{"accept", std::move(filled)};
}

result<form_answer> follow(const link_request& link, const interruption& interrupted) {
  show("The server asks you to open a page: " + visible(link.message));
  show("  " + visible(link.url));
  std::fputs("Open it in a browser if you trust it. Done? [y/N] ", stderr);
  const auto line = read_line_of_person(interrupted);
  if (!line) return form_answer{"cancel", {}};
  return form_answer{*line == "y" || *line == "Y" || *line == "yes" ? "accept" : "decline", {}};
}

}  // namespace

client_handlers terminal_handlers(const interruption& interrupted, const screen& shown) {
  client_handlers out;
  const bool is_anybody_there = shown.reads_answers;
  out.form = [&interrupted, is_anybody_there](const form_request& form, const value&) -> result<form_answer> {
    return is_anybody_there ? fill_in(form, interrupted) : form_answer{"decline", {}};
  };
  out.link = [&interrupted, is_anybody_there](const link_request& link, const value&) -> result<form_answer> {
    return is_anybody_there ? follow(link, interrupted) : form_answer{"decline", {}};
  };
  return out;
}

namespace {

constexpr std::size_t lines_remembered = 10;

/// Whether web servers answer like this at a URL that is not an MCP endpoint.
bool says_nothing_is_there(const failure& why) {
  if (!why.answer || why.answer->code != 0) return false;
  const auto status = why.answer->http_status;
  return status == 404 || status == 405 || status == 501;
}

/// The command that obtains the missing tokens.
std::string login_again(const failure& why) {
  std::string out = "login";
  if (!why.scopes) return out;
  for (const auto& one : *why.scopes) out += " --scope " + shell_word(one);
  return out;
}

}  // namespace

int exit_code_of(errc code) noexcept {
  switch (code) {
    case errc::invalid_argument:
      return exit_usage;
    case errc::resource_not_found:
    case errc::part_not_found:
      return exit_not_found;
    case errc::unauthorized:
    case errc::access_denied:
    case errc::scope_missing:
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

/// A server for a folder, in this process.
class connection::local_server {
 public:
  local_server(const std::string& folder, log_function log)
      : assembly_({.paths = {folder}, .config = {}, .allow = {}}, std::move(log)) {}
  ~local_server() {
    // Do not wait for a source that is stuck: the process ends.
    static_cast<void>(server_.engine()->close(monotonic_clock::now() + std::chrono::seconds(1)));
  }
  local_server(const local_server&) = delete;
  local_server& operator=(const local_server&) = delete;

  result<void> start() {
    HONDANA_TRY(auto whole, assembly_.assemble());
    // The limit protects a server from its callers. Here the only caller is this process, and contents arrive in pieces.
    whole.options.read_limit = std::numeric_limits<std::int64_t>::max();
    return server_.replace(whole.options, whole.providers);
  }
  hondana::server* server() noexcept { return &server_; }

 private:
  assembly assembly_;
  hondana::server server_;
};

/// Reports of the server's program: the last lines of its standard error, printed when it fails, and its exits. Threads: any.
class connection::program_news {
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
  void tell_ends_to(std::function<void(std::string_view, unsigned)> hears) {
    const std::lock_guard lock(mutex_);
    hears_end_ = std::move(hears);
  }
  void ended(std::string_view how, unsigned quick_ends) {
    std::function<void(std::string_view, unsigned)> hears;
    {
      const std::lock_guard lock(mutex_);
      hears = hears_end_;
    }
    if (hears) hears(how, quick_ends);
  }

 private:
  std::mutex mutex_;
  std::deque<std::string> lines_;
  std::function<void(std::string_view, unsigned)> hears_end_;
};

connection::connection(const command_line& line, const interruption& interrupted, const screen& shown)
    : line_(line), interrupted_(interrupted), shown_(shown), program_(std::make_shared<program_news>()) {}

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
  HONDANA_TRY(auto chosen, choose_server(line_));
  chosen_ = std::move(chosen);
  // Users expect the sources of that file here. Completions of a shell must not print hints.
  if (line_.has(names_flag) && !line_.has(on_flag) && line_.server().empty() && !line_.has(quiet_flag) &&
      !line_.entry().section.empty()) {
    const auto file = shell_word(line_.text(names_flag));
    say("--config names targets for --on; without --on this command reads the current folder. To read the sources of " + file +
        ": hondana " + std::string(line_.entry().name) + " … -- hondana stdio --config " + file);
  }
  if (line_.has(trace_flag)) {
    HONDANA_TRY(auto trace, trace_file::open(line_.text(trace_flag)));
    trace_ = std::move(trace);
  }
  if (!chosen_.path.empty()) {
    // The log of the local server is of no interest to the user of a client command.
    local_ = std::make_unique<local_server>(folder(), [](std::string_view) {});
    HONDANA_TRY(local_->start());
    chosen_.target = memory_target{local_->server()};
  }
  if (auto* child = std::get_if<child_target>(&chosen_.target)) {
    child->on_stderr = [program = program_](std::string_view text) { program->add(text); };
    child->on_end = [program = program_](std::string_view how, unsigned quick_ends) { program->ended(how, quick_ends); };
  }
  if (auto* http = std::get_if<http_target>(&chosen_.target); http != nullptr && !http->tokens) {
    std::function<void(std::string_view)> log;
    if (!line_.has(quiet_flag)) log = [](std::string_view text) { say(text); };
    http->tokens = credentials::stored_log_in(*http, credentials::make_store(), "log in first", std::move(log));
  }
  auto connected = client::connect(chosen_.target, options(), how());
  if (!connected) return tl::unexpected(at_no_endpoint(connected.error()));
  client_.emplace(std::move(*connected));
  return {};
}

call_options connection::how() const { return {.time = {}, .stop = interrupted_.stop(), .report = {}, .afresh = false}; }

result<read_answer> connection::read_to(const std::string& uri, const content_writer& into) {
  auto done = client_->read_to(
      uri,
      [this, &into](std::size_t item, std::string_view bytes) {
        if (trace_) trace_->keep(item, bytes);
        return into(item, bytes);
      },
      how());
  if (trace_) trace_->forget();
  return done;
}

bool connection::is_file() const {
  std::error_code problem;
  return !chosen_.path.empty() && !std::filesystem::is_directory(chosen_.path, problem);
}

void connection::on_program_end(std::function<void(std::string_view, unsigned)> hears) {
  program_->tell_ends_to(std::move(hears));
}

std::string connection::folder() const {
  return is_file() ? std::filesystem::path(chosen_.path).parent_path().string() : chosen_.path;
}

result<std::string> connection::uri_of_path(const std::string& typed) const {
  auto path = (std::filesystem::path(folder()) / typed).lexically_normal().string();
  if (path.size() > 1 && path.ends_with('/')) path.pop_back();
  return canonical_uri("file://" + percent_encode(path, true));
}

result<std::string> connection::uri_of(const std::string& typed) {
  if (has_scheme(typed)) return typed;
  std::error_code problem;
  const bool is_local = !chosen_.path.empty();
  if (is_local && std::filesystem::exists(std::filesystem::path(folder()) / typed, problem)) return uri_of_path(typed);
  auto named = resource_named(*client_, typed, how());
  // The path may be of a file that does not exist yet.
  if (!named && named.error().code == errc::resource_not_found && is_local) return uri_of_path(typed);
  return named;
}

std::string connection::file_uri() const {
  if (!is_file()) return {};
  return uri_of_path(chosen_.path).value_or("");
}

std::string connection::advice(const failure& why) const {
  const auto* http = std::get_if<http_target>(&chosen_.target);
  switch (why.code) {
    case errc::unauthorized:
      if (http == nullptr || line_.has(bearer_file_flag)) return {};
      // No advice if the caller sent its own token, or if status 403 says that the caller is known but not authorized.
      if (!http->tokens || (why.answer && why.answer->http_status == 403)) return {};
      // Scopes are present only if there is an authorization server to log in at.
      return (why.scopes ? asking_again(line_, login_again(why)) + " logs in. " : std::string()) +
             "If you have a token, put it into a file and use --token-file FILE.";
    case errc::resource_not_found:
      // For these commands, the message itself says where to look.
      if (&line_.entry() == &call_entry || &line_.entry() == &skills_entry || &line_.entry() == &search_entry) return {};
      return asking_again(line_, "ls") + " and " + asking_again(line_, "templates") + " list all.";
    case errc::timed_out:
      return "--timeout SECONDS waits longer.";
    default:
      break;
  }
  return {};
}

failure connection::at_no_endpoint(const failure& why) const {
  const auto* http = std::get_if<http_target>(&chosen_.target);
  if (http == nullptr || !says_nothing_is_there(why)) return why;
  const auto parts = split_uri(http->url);
  auto text = chosen_.shown + " answers, but has no MCP endpoint at " + (parts.path.empty() ? "/" : std::string(parts.path)) +
              ": HTTP " + std::to_string(why.answer->http_status) + '.';
  if (parts.path == "/mcp" || !parts.authority)
    return {errc::source_unavailable, text + " Look up the path in its documentation.", {}, why.answer};
  const auto usual = std::string(parts.scheme) + "://" + std::string(*parts.authority) + "/mcp";
  return {
      errc::source_unavailable, text + " The usual path is /mcp. Did you mean --on " + shell_word(usual) + "?", {}, why.answer};
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
    for (const auto& line : program_->take()) {
      // `public_text` may contain the last lines already.
      if (told.public_text.find(line.substr(0, 300)) == std::string::npos) say("it said: " + line);
    }
  }
  return exit_code_of(why.code);
}

}  // namespace hondana::cli

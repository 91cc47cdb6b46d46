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
#include "app/cli/terminal/terminal_info.hpp"
#include "app/cli/verbs/trace_file.hpp"
#include "app/cli/verbs/typed_words.hpp"
#include "auth/credentials/credential_store.hpp"
#include "auth/credentials/stored_login.hpp"
#include "server/core/core.hpp"

namespace hondana::cli {

interruption::interruption()
    : event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)), signals_([this] { trigger(); }, [this] { trigger(); }) {
  if (!event_.is_open()) throw std::system_error(errno, std::system_category(), "eventfd");
}

void interruption::trigger() {
  source_.request_stop();
  ::eventfd_write(event_.get(), 1);
}

/// Handlers that ask the user on standard error and read standard input if both are terminals, and decline otherwise. An
/// interrupted handler cancels. `interrupt` must outlive the handlers.
[[nodiscard]] client_handlers terminal_handlers(const interruption& interrupt, const terminal_info& terminal);

namespace {

constexpr std::size_t max_answer_bytes = 64u << 10;

void print_prompt(const std::string& line) { std::fputs((line + '\n').c_str(), stderr); }

/// Reads one line from standard input. No value at end of file, or after an interruption.
std::optional<std::string> read_user_line(const interruption& interrupt) {
  std::string line;
  for (;;) {
    std::array<pollfd, 2> watched{{{STDIN_FILENO, POLLIN, 0}, {interrupt.descriptor(), POLLIN, 0}}};
    if (::poll(watched.data(), watched.size(), -1) < 0) continue;
    if (watched[1].revents != 0) return {};
    char character = 0;
    const auto count = ::read(STDIN_FILENO, &character, 1);
    if (count <= 0 || line.size() > max_answer_bytes) return {};
    if (character == '\n') return line;
    line += character;
  }
}

std::string field_prompt(const std::string& name, const value& field, bool is_mandatory) {
  const auto title = field.string_at("title").value_or("");
  std::string out = "  " + sanitize(title.empty() ? name : title);
  if (const auto description = field.string_at("description").value_or(""); !description.empty())
    out += " (" + sanitize(description) + ')';
  if (const auto* choices = field.find("enum"); choices != nullptr) out += ' ' + sanitize(choices->to_text());
  if (const auto* default_value = field.find("default"); default_value != nullptr)
    out += " [" + sanitize(default_value->to_text()) + ']';
  return out + (is_mandatory ? "*: " : ": ");
}

result<elicitation_response> fill_form(const form_request& form, const interruption& interrupt) {
  print_prompt("The server asks: " + sanitize(form.message));
  print_prompt("An empty line skips a field; Ctrl-D cancels.");
  value::object filled;
  const auto* properties = form.requested_schema.find("properties");
  const auto* fields = properties == nullptr ? nullptr : properties->as_object();
  if (fields == nullptr) return elicitation_response{"decline", {}};
  for (const auto& [name, field] : *fields) {
    for (;;) {
      const bool is_mandatory = is_required(form.requested_schema, name) && field.find("default") == nullptr;
      std::fputs(field_prompt(name, field, is_mandatory).c_str(), stderr);
      const auto line = read_user_line(interrupt);
      if (!line) return elicitation_response{"cancel", {}};
      if (line->empty() && !is_mandatory) break;
      auto typed = parse_typed_value(*line, field);
      if (typed && !line->empty()) {
        filled.emplace_back(name, std::move(*typed));
        break;
      }
      print_prompt("  " + (typed ? "required" : typed.error().public_text));
    }
  }
  return elicitation_response{"accept", std::move(filled)};
}

result<elicitation_response> confirm_url(const url_request& request, const interruption& interrupt) {
  print_prompt("The server asks you to open a page: " + sanitize(request.message));
  print_prompt("  " + sanitize(request.url));
  std::fputs("Open it in a browser if you trust it. Done? [y/N] ", stderr);
  const auto line = read_user_line(interrupt);
  if (!line) return elicitation_response{"cancel", {}};
  return elicitation_response{*line == "y" || *line == "Y" || *line == "yes" ? "accept" : "decline", {}};
}

}  // namespace

client_handlers terminal_handlers(const interruption& interrupt, const terminal_info& terminal) {
  client_handlers out;
  const bool can_prompt = terminal.can_prompt;
  out.form_elicitation = [&interrupt, can_prompt](const form_request& form, const value&) -> result<elicitation_response> {
    return can_prompt ? fill_form(form, interrupt) : elicitation_response{"decline", {}};
  };
  out.url_elicitation = [&interrupt, can_prompt](const url_request& request, const value&) -> result<elicitation_response> {
    return can_prompt ? confirm_url(request, interrupt) : elicitation_response{"decline", {}};
  };
  return out;
}

namespace {

constexpr std::size_t max_remembered_lines = 10;

/// Whether web servers answer like this at a URL that is not an MCP endpoint.
bool is_missing_endpoint(const failure& error) {
  if (!error.server_error || error.server_error->code) return false;
  const auto status = error.server_error->http_status;
  return status == 404 || status == 405 || status == 501;
}

/// The command that obtains the missing tokens.
std::string login_command(const failure& error) {
  std::string out = "login";
  if (!error.scopes) return out;
  for (const auto& scope : *error.scopes) out += " --scope " + shell_quote(scope);
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
    case errc::insufficient_scope:
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
class command_connection::local_server {
 public:
  local_server(const std::string& folder, log_function log)
      : assembly_({.paths = {folder}, .config_file = {}, .allow = {}}, std::move(log)) {}
  ~local_server() {
    // Do not wait for a source that is stuck: the process ends.
    if (server_) static_cast<void>(server_->core()->close(monotonic_clock::now() + std::chrono::seconds(1)));
  }
  local_server(const local_server&) = delete;
  local_server& operator=(const local_server&) = delete;

  result<void> start() {
    HONDANA_TRY(auto parts, assembly_.assemble());
    // The limit protects a server from its callers. Here the only caller is this process, and contents arrive in pieces.
    parts.options.max_read_bytes = std::numeric_limits<std::int64_t>::max();
    HONDANA_TRY(auto created, hondana::server::create());
    server_.emplace(std::move(created));
    return server_->replace(parts.options, parts.providers);
  }
  /// Requires a successful `start`.
  hondana::server* server() noexcept { return &*server_; }

 private:
  assembly assembly_;
  std::optional<hondana::server> server_;
};

/// Reports of the server's program: the last lines of its standard error, printed when it fails, and its exits. Threads: any.
class command_connection::program_monitor {
 public:
  void add_line(std::string_view line) {
    const std::lock_guard lock(mutex_);
    if (lines_.size() == max_remembered_lines) lines_.pop_front();
    lines_.emplace_back(line);
  }
  std::deque<std::string> extract_lines() {
    const std::lock_guard lock(mutex_);
    return std::exchange(lines_, {});
  }
  void set_exit_listener(std::function<void(std::string_view, unsigned)> listener) {
    const std::lock_guard lock(mutex_);
    exit_listener_ = std::move(listener);
  }
  void notify_exit(std::string_view outcome, unsigned quick_exits) {
    std::function<void(std::string_view, unsigned)> listener;
    {
      const std::lock_guard lock(mutex_);
      listener = exit_listener_;
    }
    if (listener) listener(outcome, quick_exits);
  }

 private:
  std::mutex mutex_;
  std::deque<std::string> lines_;
  std::function<void(std::string_view, unsigned)> exit_listener_;
};

command_connection::command_connection(const command_line& line, const interruption& interrupt, const terminal_info& terminal)
    : line_(line), interrupt_(interrupt), terminal_(terminal), program_(std::make_shared<program_monitor>()) {}

command_connection::~command_connection() = default;

client_options command_connection::make_client_options() {
  client_options options;
  options.version = HONDANA_VERSION;
  if (line_.has(revision_flag)) options.revision = line_.text(revision_flag);
  options.handlers = terminal_handlers(interrupt_, terminal_);
  if (const auto seconds = line_.number(timeout_flag)) {
    options.call_timeout = std::chrono::milliseconds(static_cast<std::int64_t>(*seconds * 1000));
  }
  if (!line_.has(quiet_flag)) options.log = [](std::string_view text) { print_message(text); };
  if (trace_) {
    options.on_message = [trace = trace_](message_direction direction, std::string_view message) {
      trace->write(direction, message);
    };
  }
  return options;
}

result<void> command_connection::open() {
  HONDANA_TRY(auto chosen, choose_server(line_));
  chosen_ = std::move(chosen);
  // Users expect the sources of that file here. Completions of a shell must not print hints.
  if (line_.has(client_config_flag) && !line_.has(on_flag) && line_.server_command().empty() && !line_.has(quiet_flag) &&
      !line_.entry().section.empty()) {
    const auto file = shell_quote(line_.text(client_config_flag));
    print_message(
        "--config names targets for --on; without --on this command reads the current folder. To read the sources of " + file +
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
    child->on_stderr = [program = program_](std::string_view text) { program->add_line(text); };
    child->on_exit = [program = program_](std::string_view outcome, unsigned quick_exits) {
      program->notify_exit(outcome, quick_exits);
    };
  }
  if (auto* http = std::get_if<http_target>(&chosen_.target); http != nullptr && !http->tokens) {
    std::function<void(std::string_view)> log;
    if (!line_.has(quiet_flag)) log = [](std::string_view text) { print_message(text); };
    http->tokens = credentials::make_stored_token_source(*http, credentials::make_store(), "log in first", std::move(log));
  }
  auto connected = client::connect(chosen_.target, make_client_options(), make_call_options());
  if (!connected) return tl::unexpected(explain_missing_endpoint(connected.error()));
  client_.emplace(std::move(*connected));
  return {};
}

call_options command_connection::make_call_options() const {
  return {.timeout = {}, .stop = interrupt_.stop_token(), .on_progress = {}, .bypass_cache = false};
}

result<read_response> command_connection::read_to(const std::string& uri, const content_writer& writer) {
  auto response = client_->read_to(
      uri,
      [this, &writer](std::size_t index, std::string_view bytes) {
        if (trace_) trace_->store_content(index, bytes);
        return writer(index, bytes);
      },
      make_call_options());
  if (trace_) trace_->discard_content();
  return response;
}

bool command_connection::is_file() const {
  std::error_code problem;
  return !chosen_.path.empty() && !std::filesystem::is_directory(chosen_.path, problem);
}

void command_connection::on_program_exit(std::function<void(std::string_view, unsigned)> listener) {
  program_->set_exit_listener(std::move(listener));
}

std::string command_connection::folder() const {
  return is_file() ? std::filesystem::path(chosen_.path).parent_path().string() : chosen_.path;
}

result<std::string> command_connection::path_to_uri(const std::string& typed) const {
  auto path = (std::filesystem::path(folder()) / typed).lexically_normal().string();
  if (path.size() > 1 && path.ends_with('/')) path.pop_back();
  return canonical_uri("file://" + percent_encode(path, true));
}

result<std::string> command_connection::resolve_uri(const std::string& typed) {
  if (has_scheme(typed)) return typed;
  std::error_code problem;
  const bool is_local = !chosen_.path.empty();
  if (is_local && std::filesystem::exists(std::filesystem::path(folder()) / typed, problem)) return path_to_uri(typed);
  auto named = find_resource(*client_, typed, make_call_options());
  // The path may be of a file that does not exist yet.
  if (!named && named.error().code == errc::resource_not_found && is_local) return path_to_uri(typed);
  return named;
}

std::string command_connection::file_uri() const {
  if (!is_file()) return {};
  return path_to_uri(chosen_.path).value_or("");
}

std::string command_connection::advice(const failure& error) const {
  const auto* http = std::get_if<http_target>(&chosen_.target);
  switch (error.code) {
    case errc::unauthorized:
      if (http == nullptr || line_.has(bearer_file_flag)) return {};
      // No advice if the caller sent its own token, or if status 403 says that the caller is known but not authorized.
      if (!http->tokens || (error.server_error && error.server_error->http_status == 403)) return {};
      // Scopes are present only if there is an authorization server to log in at.
      return (error.scopes ? suggest_command(line_, login_command(error)) + " logs in. " : std::string()) +
             "If you have a token, put it into a file and use --token-file FILE.";
    case errc::resource_not_found:
      // For these commands, the message itself says where to look.
      if (&line_.entry() == &call_entry || &line_.entry() == &skills_entry || &line_.entry() == &search_entry) return {};
      return suggest_command(line_, "ls") + " and " + suggest_command(line_, "templates") + " list all.";
    case errc::timed_out:
      return "--timeout SECONDS waits longer.";
    default:
      break;
  }
  return {};
}

failure command_connection::explain_missing_endpoint(const failure& error) const {
  const auto* http = std::get_if<http_target>(&chosen_.target);
  if (http == nullptr || !is_missing_endpoint(error)) return error;
  const auto parts = split_uri(http->url);
  auto text = chosen_.display_name + " answers, but has no MCP endpoint at " +
              (parts.path.empty() ? "/" : std::string(parts.path)) + ": HTTP " +
              std::to_string(error.server_error->http_status.value_or(0)) + '.';
  if (parts.path == "/mcp" || !parts.authority)
    return {errc::source_unavailable, text + " Look up the path in its documentation.", {}, error.server_error};
  const auto default_url = std::string(parts.scheme) + "://" + std::string(*parts.authority) + "/mcp";
  return {errc::source_unavailable,
          text + " The usual path is /mcp. Did you mean --on " + shell_quote(default_url) + "?",
          {},
          error.server_error};
}

int command_connection::report_failure(const failure& error) {
  if (error.code == errc::cancelled && interrupt_.is_triggered()) return exit_interrupted;
  auto reported = error;
  if (const auto text = advice(error); !text.empty()) {
    if (!reported.public_text.ends_with('.') && !reported.public_text.ends_with('?')) reported.public_text += '.';
    reported.public_text += ' ' + text;
  }
  print_error(reported);
  if (error.code == errc::source_unavailable || error.code == errc::timed_out || error.code == errc::protocol_error) {
    for (const auto& line : program_->extract_lines()) {
      // `public_text` may contain the last lines already.
      if (reported.public_text.find(line.substr(0, 300)) == std::string::npos) print_message("it said: " + line);
    }
  }
  return exit_code_of(error.code);
}

}  // namespace hondana::cli

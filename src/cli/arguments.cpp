/// The only place that sees CLI11: every flag is defined here, once.
#include "cli/arguments.hpp"

#include <sstream>

#include <CLI/CLI.hpp>

#include "cli/exit_codes.hpp"

namespace hondana::cli {
namespace {

constexpr const char* overview =
    "hondana serves folders as Model Context Protocol resources.\n"
    "\n"
    "  hondana serve [PATH...]   over HTTP on http://127.0.0.1:7325/mcp\n"
    "  hondana stdio [PATH...]   to the program that starts it (Claude, VS Code, Cursor, Zed)\n"
    "  hondana check [PATH...]   print what would be served, and what is left out and why\n"
    "  hondana schemes           print the documentation of all URIs\n";

constexpr const char* footer =
    "Without PATH and --config the current folder is served. Secrets, hidden files and what .gitignore names stay out.\n"
    "Exit codes: 0 ok, 1 usage or configuration, 5 the server could not start or had to stop.\n"
    "'hondana COMMAND --help' shows a command's flags.";

/// A first word that is neither a flag nor a command is the commonest mistake; CLI11 itself would only miss a command.
std::optional<std::string> unknown_command(const CLI::App& app, int count, const char* const* arguments) {
  const std::string_view first = count < 2 ? std::string_view() : arguments[1];
  for (const auto* request : {"-h", "--help", "-V", "--version"}) {
    if (first == request) return {};
  }
  std::string known;
  for (const auto* one : app.get_subcommands({})) {
    if (one->get_name() == first) return {};
    known += (known.empty() ? "" : ", ") + one->get_name();
  }
  if (first.empty()) return "give a command: " + known;
  if (first.starts_with('-'))
    return "there is no option \"" + std::string(first) + "\" before a command; the commands are " + known;
  return "there is no command \"" + std::string(first) + "\"; there are " + known;
}

/// `command` is the command whose help shows what was meant; empty before one is known.
finished usage_error(const std::string& what, const std::string& command) {
  return {exit_usage, "hondana: " + what + "\nTry 'hondana " + (command.empty() ? "" : command + ' ') + "--help'.\n"};
}

/// What is wrong with flags that each are right.
std::optional<std::string> contradiction(const serve_command& asked) {
  if (asked.socket.empty() || (!asked.port && !asked.address)) return {};
  const std::string other = asked.port ? "--port" : "--address";
  return "--socket listens on a Unix socket and " + other + " on TCP, but a server listens on one of them; leave one out";
}

void add_what(CLI::App& to, what_to_serve& what) {
  to.add_option("paths", what.paths, "Folders to serve")->type_name("PATH");
  to.add_option("-c,--config", what.config, "A TOML file with sources, links and limits")->type_name("FILE");
  to.add_option("--allow", what.allow,
                "Serve what matches this pattern (as in .gitignore) although it would be left out; may be repeated")
      ->type_name("PATTERN")
      ->allow_extra_args(false);
  to.add_flag("--hidden", what.hidden, "Serve names that begin with a dot too; secrets and .git stay out");
}

void add_tools(CLI::App& to, what_to_serve& what) {
  to.add_flag("--no-tools", what.no_tools, "Serve resources only, without the tools that list, read and search them");
}

}  // namespace

command parse_arguments(int count, const char* const* arguments) {
  CLI::App app(overview, "hondana");
  app.footer(footer);
  app.set_version_flag("-V,--version", "hondana " HONDANA_VERSION, "Print the version");
  app.set_help_flag("-h,--help", "Print this help");
  app.require_subcommand(1);

  stdio_command stdio;
  auto* stdio_app = app.add_subcommand("stdio", "Serve one client over standard input and output");
  add_what(*stdio_app, stdio.what);
  add_tools(*stdio_app, stdio.what);

  serve_command serve;
  auto* serve_app = app.add_subcommand("serve", "Serve over HTTP, on this machine unless told otherwise");
  add_what(*serve_app, serve.what);
  add_tools(*serve_app, serve.what);
  serve_app->add_option("-p,--port", serve.port, "Port; 0 takes any free one (default 7325)")
      ->type_name("N")
      ->check(CLI::Range(0, 65535).description(""));
  serve_app->add_option("--address", serve.address, "Literal address to listen on (default 127.0.0.1)")->type_name("ADDRESS");
  serve_app->add_option("--socket", serve.socket, "Listen on a Unix socket instead")->type_name("PATH");
  serve_app->add_option("--admin", serve.admin, "Report health there and only there: ADDRESS:PORT or a path")
      ->type_name("WHERE");
  serve_app->add_option("--host", serve.hosts, "Also answer to this Host: name or name:port; may be repeated")
      ->type_name("HOST")
      ->allow_extra_args(false);
  serve_app->add_option("--origin", serve.origins, "Also let pages of this origin ask, https://name; may be repeated")
      ->type_name("ORIGIN")
      ->allow_extra_args(false);
  serve_app->add_flag("--without-authentication", serve.without_authentication,
                      "Listen beyond loopback although everybody who reaches it may read everything; needs --host");

  check_command check;
  auto* check_app = app.add_subcommand("check", "Print what would be served, and what is left out and why");
  add_what(*check_app, check.what);
  check_app->add_flag("--json", check.as_json, "Print JSON lines");

  schemes_command schemes;
  auto* schemes_app = app.add_subcommand("schemes", "Print the documentation of all URIs");
  schemes_app->add_flag("--json", schemes.as_json, "Print JSON");
  schemes_app->add_flag("--markdown", schemes.as_markdown, "Print Markdown");

  if (const auto unknown = unknown_command(app, count, arguments)) return usage_error(*unknown, {});
  try {
    app.parse(count, arguments);
  } catch (const CLI::ParseError& error) {
    std::ostringstream out;
    std::ostringstream problem;
    const bool is_request = app.exit(error, out, problem) == 0;
    if (is_request) return finished{exit_ok, out.str()};
    return usage_error(error.what(), arguments[1]);
  }
  if (stdio_app->parsed()) return stdio;
  if (serve_app->parsed()) {
    if (const auto wrong = contradiction(serve)) return usage_error(*wrong, "serve");
    return serve;
  }
  if (check_app->parsed()) return check;
  return schemes;
}

}  // namespace hondana::cli

/// What the commands that serve take.
#include "app/cli/flags/serving_flags.hpp"

#include <array>

#include "app/cli/flags/auth_flags.hpp"

namespace hondana::cli {

constexpr flag config_flag{.name = "config",
                           .letter = 'c',
                           .value = "FILE",
                           .help = "A TOML file with sources, links and limits",
                           .details = "docs/configuration.md describes it.",
                           .by = completion_kind::file};
constexpr flag allow_flag{.name = "allow",
                          .value = "PATTERN",
                          .help = "Also serve left-out files that match this pattern (as in .gitignore)",
                          .is_repeatable = true};
constexpr flag hidden_flag{.name = "hidden", .help = "Also serve names that begin with a dot; secrets and .git stay out"};
constexpr flag no_git_flag{.name = "no-git",
                           .help = "Serve folders that are git repositories as files only",
                           .details = "Configured sources of type git are still served."};
constexpr flag no_tools_flag{.name = "no-tools",
                             .help = "Serve resources only, without the tools that list, read and search them"};
namespace {
constexpr std::array<std::string_view, 3> sandbox_modes{"auto", "required", "off"};
}
constexpr flag sandbox_flag{.name = "sandbox",
                            .value = "MODE",
                            .help =
                                "auto: restrict the process to what its sources need, as far as the kernel supports it; "
                                "required: fail if it does not; off",
                            .details =
                                "Overrides mode = in [sandbox]. docs/sandbox.md lists the restrictions. 'hondana check' prints "
                                "those that would be in force.",
                            .by = completion_kind::choice,
                            .choices = sandbox_modes};
constexpr flag port_flag{.name = "port",
                         .letter = 'p',
                         .value = "N",
                         .help = "Port; 0 is any free port (default 7325)",
                         .number = number_bounds{0, 65535, true}};
constexpr flag address_flag{.name = "address", .value = "ADDRESS", .help = "IP address to listen on (default 127.0.0.1)"};
constexpr flag socket_flag{
    .name = "socket", .value = "PATH", .help = "Listen on a Unix socket instead", .by = completion_kind::path};
constexpr flag admin_flag{.name = "admin",
                          .value = "WHERE",
                          .help = "Serve /healthz, /readyz and /metrics only here: ADDRESS:PORT or a socket's path",
                          .by = completion_kind::path};
constexpr flag host_flag{
    .name = "host", .value = "HOST", .help = "Also accept this Host header: name or name:port", .is_repeatable = true};
constexpr flag origin_flag{.name = "origin",
                           .value = "ORIGIN",
                           .help = "Also accept requests from web pages of this origin, https://name",
                           .is_repeatable = true};
constexpr flag without_authentication_flag{
    .name = "without-authentication",
    .help = "Serve a network without authentication: every client can read everything; needs --host"};
constexpr flag tls_certificate_flag{.name = "tls-certificate",
                                    .value = "FILE",
                                    .help = "Serve HTTPS with this certificate (PEM, followed by its chain)",
                                    .details = "SIGHUP reads it and its key again; open connections stay open.",
                                    .by = completion_kind::file};
constexpr flag tls_key_flag{
    .name = "tls-key", .value = "FILE", .help = "The private key of --tls-certificate (PEM)", .by = completion_kind::file};
constexpr flag as_flag{.name = "as",
                       .value = "IDENTITY",
                       .help = "Explain rule by rule what this caller may do; PATH is then a URI or URI template"};
constexpr flag caller_group_flag{
    .name = "group", .value = "GROUP", .help = "With --as: the caller's token names this group", .is_repeatable = true};
constexpr flag caller_scope_flag{
    .name = "scope", .value = "SCOPE", .help = "With --as: the caller's token has this scope", .is_repeatable = true};
constexpr flag explained_tool_flag{
    .name = "tool", .value = "NAME", .help = "With --as: explain this tool", .is_repeatable = true};
constexpr flag explained_prompt_flag{
    .name = "prompt", .value = "NAME", .help = "With --as: explain this prompt", .is_repeatable = true};
constexpr flag json_lines_flag{.name = "json", .help = "Print JSON lines"};
constexpr flag schemes_json_flag{.name = "json", .help = "Print JSON"};
constexpr flag markdown_flag{.name = "markdown", .help = "Print Markdown"};

namespace {

constexpr std::array served_paths{argument{
    .name = "PATH", .help = "Folders to serve (default: the current one)", .by = completion_kind::path, .is_repeatable = true}};

constexpr std::array what_flags{&config_flag, &allow_flag, &hidden_flag, &no_git_flag, &sandbox_flag};
constexpr flag_group what_group{.title = "What is served", .flags = what_flags};

constexpr std::array stdio_flags{&no_tools_flag};
constexpr std::array serve_flags{&port_flag,
                                 &address_flag,
                                 &socket_flag,
                                 &admin_flag,
                                 &host_flag,
                                 &origin_flag,
                                 &tls_certificate_flag,
                                 &tls_key_flag,
                                 &no_tools_flag,
                                 &tokens_flag,
                                 &without_authentication_flag};
constexpr std::array check_flags{&json_lines_flag,     &tokens_flag,          &as_flag, &caller_group_flag, &caller_scope_flag,
                                 &explained_tool_flag, &explained_prompt_flag};
constexpr std::array schemes_flags{&schemes_json_flag, &markdown_flag};

constexpr std::string_view left_out =
    "Without PATH and --config, the current folder is served. Secrets, hidden files and files that .gitignore and "
    ".hondanaignore name are left out. If the folder is a git repository, its history is served too: all tracked files, hidden "
    "ones included, except secrets and files that .hondanaignore names.";

}  // namespace

constexpr command_entry serve_entry{.name = "serve",
                                    .section = "Serve",
                                    .summary = "Serve over HTTP, on this machine by default",
                                    .details = left_out,
                                    .arguments = served_paths,
                                    .flags = serve_flags,
                                    .group = &what_group};
constexpr command_entry stdio_entry{.name = "stdio",
                                    .section = "Serve",
                                    .summary = "Serve one client over standard input and output",
                                    .details = left_out,
                                    .arguments = served_paths,
                                    .flags = stdio_flags,
                                    .group = &what_group};
constexpr command_entry check_entry{.name = "check",
                                    .section = "Serve",
                                    .summary = "List what would be served, and what is left out and why",
                                    .details = left_out,
                                    .arguments = served_paths,
                                    .flags = check_flags,
                                    .group = &what_group};
constexpr command_entry schemes_entry{
    .name = "schemes", .section = "Serve", .summary = "Print the documentation of all URI schemes", .flags = schemes_flags};

}  // namespace hondana::cli

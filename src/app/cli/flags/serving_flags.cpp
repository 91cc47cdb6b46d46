/// What the commands that serve take.
#include "app/cli/flags/serving_flags.hpp"

#include <array>

#include "app/cli/flags/auth_flags.hpp"

namespace hondana::cli {

constexpr flag config_flag{.name = "config",
                           .letter = 'c',
                           .value = "FILE",
                           .help = "A TOML file with sources, links and limits",
                           .details = "Its format is in docs/configuration.md.",
                           .by = completion_kind::file};
constexpr flag allow_flag{.name = "allow",
                          .value = "PATTERN",
                          .help = "Serve what matches this pattern (as in .gitignore) although it would be left out",
                          .is_repeatable = true};
constexpr flag hidden_flag{.name = "hidden", .help = "Serve names that begin with a dot too; secrets and .git stay out"};
constexpr flag no_git_flag{.name = "no-git",
                           .help = "Serve folders that are git repositories as files only",
                           .details = "Sources of type git in the configuration are served all the same."};
constexpr flag no_tools_flag{.name = "no-tools",
                             .help = "Serve resources only, without the tools that list, read and search them"};
namespace {
constexpr std::array<std::string_view, 3> sandbox_modes{"auto", "required", "off"};
}
constexpr flag sandbox_flag{
    .name = "sandbox",
    .value = "MODE",
    .help = "auto: give up what no source needs, as far as the kernel can; required: or do not start; off",
    .details =
        "It outweighs mode = of [sandbox]; docs/sandbox.md says what is given up. 'hondana check' shows what is in force.",
    .by = completion_kind::choice,
    .choices = sandbox_modes};
constexpr flag port_flag{.name = "port",
                         .letter = 'p',
                         .value = "N",
                         .help = "Port; 0 takes any free one (default 7325)",
                         .number = number_bounds{0, 65535, true}};
constexpr flag address_flag{.name = "address", .value = "ADDRESS", .help = "Literal address to listen on (default 127.0.0.1)"};
constexpr flag socket_flag{
    .name = "socket", .value = "PATH", .help = "Listen on a Unix socket instead", .by = completion_kind::path};
constexpr flag admin_flag{.name = "admin",
                          .value = "WHERE",
                          .help = "Report health there and only there: ADDRESS:PORT or a path",
                          .by = completion_kind::path};
constexpr flag host_flag{
    .name = "host", .value = "HOST", .help = "Also answer to this Host: name or name:port", .is_repeatable = true};
constexpr flag origin_flag{
    .name = "origin", .value = "ORIGIN", .help = "Also let pages of this origin ask, https://name", .is_repeatable = true};
constexpr flag without_authentication_flag{
    .name = "without-authentication",
    .help = "Listen beyond loopback although everybody who reaches it may read everything; needs --host"};
constexpr flag tls_certificate_flag{.name = "tls-certificate",
                                    .value = "FILE",
                                    .help = "Speak TLS with this certificate (PEM, its chain behind it)",
                                    .details = "SIGHUP reads it and its key again; connections that stand live on.",
                                    .by = completion_kind::file};
constexpr flag tls_key_flag{
    .name = "tls-key", .value = "FILE", .help = "The key of --tls-certificate (PEM)", .by = completion_kind::file};
constexpr flag as_flag{.name = "as",
                       .value = "IDENTITY",
                       .help = "Explain rule by rule what this caller may do with the URIs and URI templates in place of PATH"};
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
    "Without PATH and --config the current folder is served. Secrets, hidden files and what .gitignore and .hondanaignore "
    "name stay out. A folder that is a git repository is served as one, too: all that is tracked, hidden files included, but "
    "no secrets and nothing that .hondanaignore names.";

}  // namespace

constexpr command_entry serve_entry{.name = "serve",
                                    .section = "Serve",
                                    .summary = "Serve over HTTP, on this machine unless told otherwise",
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
                                    .summary = "Print what would be served, and what is left out and why",
                                    .details = left_out,
                                    .arguments = served_paths,
                                    .flags = check_flags,
                                    .group = &what_group};
constexpr command_entry schemes_entry{
    .name = "schemes", .section = "Serve", .summary = "Print the documentation of all URIs", .flags = schemes_flags};

}  // namespace hondana::cli

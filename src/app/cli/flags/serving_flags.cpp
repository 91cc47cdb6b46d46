/// Commands and flags that serve, check, and manage tokens, audit logs and analyses.
#include "app/cli/flags/serving_flags.hpp"

#include <array>
#include <string_view>

#include "app/cli/flags/client_flags.hpp"

namespace hondana::cli {

constexpr flag tokens_flag{
    .name = "tokens",
    .value = "FILE",
    .help = "Require a token of this file, which 'hondana token' writes",
    .details = "Overrides tokens = in [auth]. docs/authorization-setup.md describes the other ways to authenticate.",
    .completion = completion_kind::file};
constexpr flag token_file_flag{.name = "file",
                               .value = "FILE",
                               .help = "The file with the tokens (default ~/.config/hondana/tokens)",
                               .details = "If XDG_CONFIG_HOME is set, the default is $XDG_CONFIG_HOME/hondana/tokens.",
                               .completion = completion_kind::file};
constexpr flag token_scope_flag{.name = "scope",
                                .value = "SCOPE",
                                .help = "A scope that the token grants; without any, it grants requests that need no scope",
                                .is_repeatable = true};
constexpr flag expires_flag{
    .name = "expires", .value = "TIME", .help = "Lifetime, such as 12h, 30d or 8w (default: until it is revoked)"};

namespace {

constexpr std::array name_arguments{argument{.name = "NAME", .help = "The caller's name", .is_required = true}};
constexpr std::array id_arguments{
    argument{.name = "ID", .help = "As 'hondana token ls' shows it", .is_required = true, .is_repeatable = true}};
constexpr std::array token_new_flags{&token_scope_flag, &expires_flag, &token_file_flag, &json_flag};
constexpr std::array token_ls_flags{&token_file_flag, &json_flag};
constexpr std::array token_revoke_flags{&token_file_flag};
constexpr std::array token_new_examples{
    example{"hondana token new laptop --expires 30d", "a token that is valid for a month"},
    example{"hondana token new backup --scope read", "a token that never expires, with the scope read"}};

}  // namespace

constexpr command_entry token_new_entry{
    .name = "token new",
    .section = "Set up",
    .summary = "Create a token that grants access to your server",
    .details =
        "The token is printed once. The file stores only its hash, name and scopes. All tokens of one name are the same "
        "caller. A server started with --tokens FILE accepts it at once.",
    .arguments = name_arguments,
    .flags = token_new_flags,
    .examples = token_new_examples};
constexpr command_entry token_ls_entry{.name = "token ls",
                                       .section = "Set up",
                                       .summary = "Print ids, names, scopes and expiries of tokens",
                                       .flags = token_ls_flags};
constexpr command_entry token_revoke_entry{.name = "token revoke",
                                           .section = "Set up",
                                           .summary = "Revoke tokens",
                                           .details = "A server that uses the file rejects them from the next request on.",
                                           .arguments = id_arguments,
                                           .flags = token_revoke_flags};

constexpr flag config_flag{.name = "config",
                           .letter = 'c',
                           .value = "FILE",
                           .help = "A TOML file with sources, links and limits",
                           .details = "docs/configuration.md describes it.",
                           .completion = completion_kind::file};
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
                            .completion = completion_kind::choice,
                            .choices = sandbox_modes};
constexpr flag port_flag{.name = "port",
                         .letter = 'p',
                         .value = "N",
                         .help = "Port; 0 is any free port (default 7325)",
                         .number = number_bounds{0, 65535, true}};
constexpr flag address_flag{.name = "address", .value = "ADDRESS", .help = "IP address to listen on (default 127.0.0.1)"};
constexpr flag socket_flag{
    .name = "socket", .value = "PATH", .help = "Listen on a Unix socket instead", .completion = completion_kind::path};
constexpr flag admin_flag{.name = "admin",
                          .value = "WHERE",
                          .help = "Serve /healthz, /readyz and /metrics only here: ADDRESS:PORT or a socket's path",
                          .completion = completion_kind::path};
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
                                    .completion = completion_kind::file};
constexpr flag tls_key_flag{.name = "tls-key",
                            .value = "FILE",
                            .help = "The private key of --tls-certificate (PEM)",
                            .completion = completion_kind::file};
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

constexpr std::array served_paths{argument{.name = "PATH",
                                           .help = "Folders to serve (default: the current one)",
                                           .completion = completion_kind::path,
                                           .is_repeatable = true}};

constexpr std::array source_flags{&config_flag, &allow_flag, &hidden_flag, &no_git_flag, &sandbox_flag};
constexpr flag_group source_group{.title = "What is served", .flags = source_flags};

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

constexpr std::string_view serving_details =
    "Without PATH and --config, the current folder is served. Secrets, hidden files and files that .gitignore and "
    ".hondanaignore name are left out. If the folder is a git repository, its history is served too: all tracked files, hidden "
    "ones included, except secrets and files that .hondanaignore names.";

}  // namespace

constexpr command_entry serve_entry{.name = "serve",
                                    .section = "Serve",
                                    .summary = "Serve over HTTP, on this machine by default",
                                    .details = serving_details,
                                    .arguments = served_paths,
                                    .flags = serve_flags,
                                    .group = &source_group};
constexpr command_entry stdio_entry{.name = "stdio",
                                    .section = "Serve",
                                    .summary = "Serve one client over standard input and output",
                                    .details = serving_details,
                                    .arguments = served_paths,
                                    .flags = stdio_flags,
                                    .group = &source_group};
constexpr command_entry check_entry{.name = "check",
                                    .section = "Serve",
                                    .summary = "List what would be served, and what is left out and why",
                                    .details = serving_details,
                                    .arguments = served_paths,
                                    .flags = check_flags,
                                    .group = &source_group};
constexpr command_entry schemes_entry{
    .name = "schemes", .section = "Serve", .summary = "Print the documentation of all URI schemes", .flags = schemes_flags};

namespace {

constexpr std::array file_arguments{argument{.name = "FILE",
                                             .help = "Files of one audit log, in any order",
                                             .completion = completion_kind::file,
                                             .is_required = true,
                                             .is_repeatable = true}};
constexpr std::array verify_flags{&json_flag};
constexpr std::array verify_examples{
    example{"hondana audit verify audit.jsonl audit.jsonl.*", "the current file and the older ones together"}};

}  // namespace

constexpr command_entry audit_verify_entry{
    .name = "audit verify",
    .section = "Serve",
    .summary = "Check that an audit log was not changed",
    .details =
        "Every record contains the hash of the previous one, so a changed, removed or inserted record is detected. Records "
        "removed from the end can be detected only by comparing the last hash, which this command prints, with an earlier "
        "copy. The exit code is 5 at the first wrong record. docs/audit.md describes the format.",
    .arguments = file_arguments,
    .flags = verify_flags,
    .examples = verify_examples};

constexpr flag analysis_config_flag{
    .name = "config",
    .letter = 'c',
    .value = "FILE",
    .help = "The configuration with the source of analyses (default ~/.config/hondana/config.toml)",
    .details = "If the file does not exist, the default store of a source of type analyses is used.",
    .completion = completion_kind::file};
constexpr flag analysis_store_flag{.name = "store",
                                   .value = "FILE",
                                   .help = "The store's file, instead of the configured one",
                                   .completion = completion_kind::file};
constexpr flag analysis_session_flag{.name = "session", .value = "NAME", .help = "Only analyses of this session"};
constexpr flag analysis_tag_flag{.name = "tag", .value = "TAG", .help = "Only analyses with this tag"};

namespace {

constexpr std::array<std::string_view, 3> task_choices{"basic", "premium", "critical"};

}  // namespace

constexpr flag analysis_task_flag{.name = "task",
                                  .value = "TYPE",
                                  .help = "Only analyses of this task type: basic, premium or critical",
                                  .completion = completion_kind::choice,
                                  .choices = task_choices};
constexpr flag analysis_context_flag{.name = "context", .value = "URI", .help = "Only analyses based on this resource"};
constexpr flag analysis_all_flag{.name = "all", .help = "All analyses"};
constexpr flag analysis_limit_flag{.name = "limit",
                                   .letter = 'n',
                                   .value = "N",
                                   .help = "At most this many (default 50)",
                                   .number = number_bounds{1, 1'000'000, true}};
constexpr flag analysis_after_flag{.name = "after", .value = "ID", .help = "Only analyses older than this one"};

namespace {

constexpr std::array put_arguments{argument{
    .name = "FILE", .help = "A file with the analysis as JSON (default: standard input)", .completion = completion_kind::file}};
constexpr std::array get_arguments{
    argument{.name = "ID", .help = "An id, the beginning of one, or a wallbounce: URI", .is_required = true}};
constexpr std::array rm_arguments{
    argument{.name = "ID", .help = "Ids, beginnings of ids, or wallbounce://analyses/ URIs", .is_repeatable = true}};

constexpr std::array plain_analysis_flags{&json_flag, &analysis_config_flag, &analysis_store_flag};
constexpr std::array list_analysis_flags{&analysis_session_flag, &analysis_tag_flag,   &analysis_task_flag,
                                         &analysis_limit_flag,   &analysis_after_flag, &json_flag,
                                         &analysis_config_flag,  &analysis_store_flag};
constexpr std::array remove_analysis_flags{&analysis_session_flag, &analysis_tag_flag, &analysis_context_flag,
                                           &analysis_all_flag,     &json_flag,         &analysis_config_flag,
                                           &analysis_store_flag};

constexpr std::array put_analysis_examples{
    example{"hondana analysis put analysis.json", "store an analysis that was computed elsewhere"}};
constexpr std::array get_analysis_examples{
    example{"hondana analysis get 5a3f --json", "the analysis whose id begins with 5a3f, as it was stored"}};
constexpr std::array list_analysis_examples{
    example{"hondana analysis ls --task critical -n 10", "the ten newest critical analyses"}};
constexpr std::array remove_analysis_examples{
    example{"hondana analysis rm --session review-42", "delete all analyses of a session"}};

constexpr std::string_view analysis_section = "Analyses";

}  // namespace

constexpr command_entry analysis_put_entry{
    .name = "analysis put",
    .section = analysis_section,
    .summary = "Store an analysis of several models",
    .details =
        "Reads one JSON object (docs/analyses.md lists its members) and prints the URI of the stored analysis. It writes to "
        "the store directly; a running server notifies its clients. An analysis below its thresholds is stored but never "
        "served as final; a warning says so.",
    .arguments = put_arguments,
    .flags = plain_analysis_flags,
    .examples = put_analysis_examples};
constexpr command_entry analysis_get_entry{
    .name = "analysis get",
    .section = analysis_section,
    .summary = "Print an analysis",
    .details =
        "As Markdown, or with --json as it was stored, with id, status, created and expires. A URI can also name a vote, the "
        "flow, or a prompt (wallbounce://by-prompt/DIGEST).",
    .arguments = get_arguments,
    .flags = plain_analysis_flags,
    .examples = get_analysis_examples};
constexpr command_entry analysis_ls_entry{.name = "analysis ls",
                                          .section = analysis_section,
                                          .summary = "List analyses, the newest first",
                                          .flags = list_analysis_flags,
                                          .examples = list_analysis_examples};
constexpr command_entry analysis_rm_entry{.name = "analysis rm",
                                          .section = analysis_section,
                                          .summary = "Delete analyses",
                                          .details =
                                              "Select by ids, or by one of --session, --tag, --context and --all. Prints the "
                                              "number of deleted analyses. Claims on analyses in progress are cancelled.",
                                          .arguments = rm_arguments,
                                          .flags = remove_analysis_flags,
                                          .examples = remove_analysis_examples};
constexpr command_entry analysis_stats_entry{.name = "analysis stats",
                                             .section = analysis_section,
                                             .summary = "Print hits, misses, cost and time saved, by task type",
                                             .flags = plain_analysis_flags};

}  // namespace hondana::cli

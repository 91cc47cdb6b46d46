/// Commands and flags that use a server, log in and log out.
#include "app/cli/flags/client_flags.hpp"

#include <array>

namespace hondana::cli {
namespace {

constexpr std::array<std::string_view, 5> revisions{"2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"};
constexpr std::array<std::string_view, 3> orders{"name", "priority", "recency"};
constexpr std::array<std::string_view, 2> audiences{"user", "assistant"};

}  // namespace

constexpr flag on_flag{.name = "on",
                       .value = "TARGET",
                       .help = "The server: a URL, unix:PATH, a configured name, or a folder or file",
                       .details = "See TARGETS. Default: hondana serves the current folder itself.",
                       .completion = completion_kind::target};
constexpr flag json_flag{.name = "json",
                         .help = "Print one JSON value instead of text",
                         .details = "Its members are spelled as in the MCP specification; docs/cli.md shows each shape."};
constexpr flag header_flag{.name = "header",
                           .letter = 'H',
                           .value = "'NAME: VALUE'",
                           .help = "Send this with each request over HTTP",
                           .details =
                               "It is sent to the target's origin only. ${env:NAME} in VALUE is replaced by that environment "
                               "variable, which keeps secrets out of the command line.",
                           .is_repeatable = true};
constexpr flag bearer_file_flag{.name = "token-file",
                                .value = "FILE",
                                .help = "Send the token in this file as Authorization: Bearer; - is standard input",
                                .details =
                                    "Other users must not be able to read the file. It is read again when the server rejects "
                                    "the token. Tokens are never sent to another machine over plain http.",
                                .completion = completion_kind::file};
constexpr flag cacert_flag{.name = "cacert",
                           .value = "FILE",
                           .help = "Trust only servers whose certificate was signed by these authorities (PEM)",
                           .details = "Default: the authorities that the system trusts.",
                           .completion = completion_kind::file};
constexpr flag cert_flag{.name = "cert",
                         .value = "FILE",
                         .help = "Present this client certificate (PEM, followed by its chain)",
                         .completion = completion_kind::file};
constexpr flag key_flag{.name = "key",
                        .value = "FILE",
                        .help = "The key of --cert (PEM, without a passphrase; default: in the same file)",
                        .completion = completion_kind::file};
constexpr flag timeout_flag{.name = "timeout",
                            .value = "SECONDS",
                            .help = "Fail if a call takes longer (default 30)",
                            .details = "For a read into a file, this limits the wait for the next bytes, not the whole read.",
                            .number = number_bounds{0.001, 86'400, false}};
constexpr flag revision_flag{.name = "revision",
                             .value = "DATE",
                             .help = "Use only this protocol revision",
                             .details = "Default: the newest revision that both sides support.",
                             .completion = completion_kind::choice,
                             .choices = revisions};
constexpr flag trace_flag{
    .name = "trace",
    .value = "FILE",
    .help = "Write every message to a file: -> to the server, <- from it",
    .details =
        "One message a line. The file is overwritten, with mode 0600; \"-\" is standard error. It contains everything sent and "
        "received except headers, so it may contain secrets. In server messages over 1 MB, texts over 64 KiB are replaced by "
        "\"*\"; a comment line before them gives their sizes and SHA-256.",
    .completion = completion_kind::file};
constexpr flag client_config_flag{.name = "config",
                                  .letter = 'c',
                                  .value = "FILE",
                                  .help = "The file with the configured names (default ~/.config/hondana/config.toml)",
                                  .details = "If XDG_CONFIG_HOME is set, the default is $XDG_CONFIG_HOME/hondana/config.toml.",
                                  .completion = completion_kind::file};
constexpr flag quiet_flag{.name = "quiet", .letter = 'q', .help = "Print only failures on standard error"};

constexpr flag long_flag{.name = "long",
                         .letter = 'l',
                         .help = "Show all fields of each entry",
                         .details =
                             "If the output is not a terminal, each entry is one line, and tabs separate its fields. These are "
                             "URI, name, kind, size "
                             "in bytes, priority, time of the last change, audience, title, type, version and description. "
                             "Missing fields are empty. "
                             "A terminal omits version and description. Icons and metadata are in --json only."};
constexpr flag sort_flag{.name = "sort",
                         .value = "ORDER",
                         .help = "Sort by name, priority (highest first) or recency (latest first)",
                         .details = "Default: the server's order; entries are printed as they arrive.",
                         .completion = completion_kind::choice,
                         .choices = orders};
constexpr flag audience_flag{.name = "audience",
                             .value = "ROLE",
                             .help = "Only entries for this audience: user or assistant",
                             .details = "Entries without an audience are left out.",
                             .completion = completion_kind::choice,
                             .choices = audiences};
constexpr flag min_priority_flag{.name = "min-priority",
                                 .value = "N",
                                 .help = "Only entries of at least this priority, 0 to 1",
                                 .number = number_bounds{0, 1, false}};
constexpr flag filter_flag{
    .name = "filter",
    .value = "TEXT",
    .help = "Only entries with these words, or whose decoded URI matches a pattern with * or ?",
    .details =
        "Words are searched in name, title, description and URI, ignoring case. In a pattern, * matches within a path segment "
        "and ** across segments. A pattern without :// matches the end of the URI, as in '*.md'. Type spaces and letters of "
        "any language as they are, without percent-encoding."};
constexpr flag output_flag{.name = "output",
                           .letter = 'o',
                           .value = "FILE",
                           .help = "Write to this file, which appears when it is complete; - is standard output",
                           .completion = completion_kind::file};
constexpr flag lines_flag{
    .name = "lines",
    .value = "A-B",
    .help = "Only these lines of a text, counted from 1; A- is to the end",
    .details = "If the server has a template with the variable lines, the server cuts the text, otherwise the client does."};
constexpr flag force_flag{.name = "force", .letter = 'f', .help = "Write raw bytes to a terminal, binary ones too"};
constexpr flag with_flag{
    .name = "with", .value = "NAME=VALUE", .help = "A template variable and its value", .is_repeatable = true};
constexpr flag once_flag{.name = "once", .help = "End after the first change"};
constexpr flag for_flag{.name = "for",
                        .value = "SECONDS",
                        .help = "End after this time, with exit code 0",
                        .number = number_bounds{0.001, 31'536'000, false}};
constexpr flag verify_flag{
    .name = "verify",
    .help = "Read every file and compare it with its size and digest",
    .details = "For a SKILL.md, the front matter is compared too. If anything differs, the exit code is 5."};
constexpr flag limit_flag{.name = "limit",
                          .letter = 'n',
                          .value = "N",
                          .help = "At most this many results, 1 to 50 (default 10)",
                          .number = number_bounds{1, 50, true}};
constexpr flag lang_flag{.name = "lang", .value = "TAG", .help = "Only texts in this language, such as ja or en"};
constexpr flag scheme_flag{.name = "scheme", .value = "SCHEME", .help = "Only resources of this scheme, such as docs or file"};
constexpr flag under_flag{.name = "under",
                          .value = "URI",
                          .help = "Only resources whose URI begins with this",
                          .details =
                              "A URI as `hondana ls` prints it, such as docs://set/ or file:///srv/notes/. If no listed URI "
                              "begins with it, the exit code is 1."};
constexpr flag since_flag{
    .name = "since", .value = "TIME", .help = "Only entries changed since 2025-01-12 or 2025-01-12T15:00:58Z"};
constexpr flag owner_flag{
    .name = "owner", .value = "WHO", .help = "Only entries that this person owns: an e-mail address or a name"};
constexpr flag wait_flag{
    .name = "wait",
    .value = "SECONDS",
    .help = "Wait this long for the server's index to be complete (default 60 for a program after --, else 0)",
    .details = "After that, the incomplete index is searched, with a warning on standard error.",
    .number = number_bounds{0, 86'400, false}};
constexpr flag original_flag{.name = "original",
                             .help = "The original file of a document (docs://…, gdrive://…) instead of its text",
                             .details = "By default only a document's text is written; standard error mentions the original."};
constexpr flag arguments_flag{.name = "arguments",
                              .value = "JSON",
                              .help = "All arguments as one JSON object, instead of NAME=VALUE",
                              .details = "\"-\" reads it from standard input."};

namespace {

constexpr std::array shared_flags{&on_flag,       &json_flag,  &header_flag,        &bearer_file_flag,
                                  &cacert_flag,   &cert_flag,  &key_flag,           &timeout_flag,
                                  &revision_flag, &trace_flag, &client_config_flag, &quiet_flag};
constexpr flag_group client_group{.title = "Server and connection", .flags = shared_flags};

constexpr std::array ls_arguments{
    argument{.name = "URI", .help = "A folder, by URI or name, or the beginning of URIs", .completion = completion_kind::uri}};
constexpr std::array ls_flags{&sort_flag, &audience_flag, &min_priority_flag, &filter_flag, &long_flag};
constexpr std::array tree_flags{&audience_flag, &min_priority_flag, &filter_flag};
constexpr std::array read_arguments{argument{.name = "URI",
                                             .help = "The resource: its URI, its name as ls shows it, or the end of its URI",
                                             .completion = completion_kind::uri,
                                             .is_required = true}};
constexpr std::array read_flags{&output_flag, &lines_flag, &original_flag, &with_flag, &force_flag};
constexpr std::array complete_arguments{
    argument{.name = "TEMPLATE", .help = "The template or its name, as `hondana templates` prints them", .is_required = true},
    argument{.name = "VARIABLE", .help = "The variable to complete", .is_required = true},
    argument{.name = "TYPED", .help = "The beginning of its value"}};
constexpr std::array complete_flags{&with_flag};
constexpr std::array watch_arguments{argument{.name = "URI",
                                              .help = "The resource to watch, by URI or name as with read (default: the list)",
                                              .completion = completion_kind::uri,
                                              .is_repeatable = true}};
constexpr std::array watch_flags{&once_flag, &for_flag};
constexpr std::array skills_arguments{argument{.name = "SKILL", .help = "The URI of a SKILL.md, or a skill's name"}};
constexpr std::array skills_flags{&verify_flag};
constexpr std::array call_arguments{argument{.name = "TOOL", .help = "The tool to call (default: all are listed)"},
                                    argument{.name = "NAME=VALUE", .help = "Its arguments", .is_repeatable = true}};
constexpr std::array call_flags{&arguments_flag};
constexpr std::array search_arguments{
    argument{.name = "WORDS", .help = "What to search for", .is_required = true, .is_repeatable = true}};
constexpr std::array search_flags{&limit_flag,    &lang_flag,  &scheme_flag, &under_flag, &min_priority_flag,
                                  &audience_flag, &since_flag, &owner_flag,  &wait_flag};

constexpr std::array ls_examples{
    example{"hondana ls", "resources a file of the current folder"},
    example{"hondana ls --on http://127.0.0.1:7325/mcp --sort recency", "resources of a server, the latest change first"},
    example{"hondana ls --filter '*.md' -- npx some-server",
            "resources of a program that serves on standard input and output"}};
constexpr std::array read_examples{
    example{"hondana read file:///srv/a.pdf --on shelf -o a.pdf", "a resource of the server configured as shelf, into a file"},
    example{"hondana read README.md --lines 1-20", "a file of the current folder"},
    example{"hondana read a.pdf --on http://127.0.0.1:7325/mcp", "a resource by the name that ls shows"}};
constexpr std::array watch_examples{
    example{"hondana watch --on shelf --json", "one line of JSON for each change of the list, until Ctrl-C"}};
constexpr std::array search_examples{
    example{"hondana search restore a backup", "in the current folder"},
    example{"hondana search 証明書 更新 --lang ja --on shelf", "Japanese texts of the server configured as shelf"}};
constexpr std::array call_examples{
    example{"hondana call search_resources q=shelf --on shelf", "values are converted to the types of the tool's schema"}};

}  // namespace

constexpr command_entry ls_entry{
    .name = "ls",
    .section = client_section,
    .summary = "List resources",
    .details =
        "With a URI: the entries of that folder if the server lists folders, otherwise all entries whose URI begins with it. A "
        "terminal shows a table, other outputs one URI a line.",
    .arguments = ls_arguments,
    .flags = ls_flags,
    .group = &client_group,
    .accepts_server = true,
    .examples = ls_examples};
constexpr command_entry tree_entry{.name = "tree",
                                   .section = client_section,
                                   .summary = "Show resources as a tree",
                                   .details = "With --json, a tree of objects: name, uri if there is an entry, children.",
                                   .arguments = ls_arguments,
                                   .flags = tree_flags,
                                   .group = &client_group,
                                   .accepts_server = true};
constexpr command_entry read_entry{
    .name = "read",
    .section = client_section,
    .summary = "Print a resource, or write it to a file",
    .details =
        "A word that is not a URI is looked up in the server's list: first as a name, then as the end of a URI. If the target "
        "is a folder of this machine, paths work too.\n\nContents are written as they are, one item after the other, in "
        "constant memory. A terminal gets text only, without control sequences.",
    .arguments = read_arguments,
    .flags = read_flags,
    .group = &client_group,
    .accepts_server = true,
    .examples = read_examples};
constexpr command_entry templates_entry{.name = "templates",
                                        .section = client_section,
                                        .summary = "List the resource templates",
                                        .group = &client_group,
                                        .accepts_server = true};
constexpr command_entry complete_entry{.name = "complete",
                                       .section = client_section,
                                       .summary = "Print completions for a template variable",
                                       .arguments = complete_arguments,
                                       .flags = complete_flags,
                                       .group = &client_group,
                                       .accepts_server = true};
constexpr command_entry watch_entry{
    .name = "watch",
    .section = client_section,
    .summary = "Print changes as they happen",
    .details =
        "Watching continues when the server restarts; changes that may have been missed are printed. A resource that does not "
        "exist yet can be watched if the server supports it. Otherwise the exit code is 2. A program after --, if it ends, is "
        "restarted with increasing delays. The exit code is 4 if it ends four times in a row within five seconds of its start. "
        "SIGINT and SIGTERM end watching with exit code 0. With --json, each change is one line.",
    .arguments = watch_arguments,
    .flags = watch_flags,
    .group = &client_group,
    .accepts_server = true,
    .examples = watch_examples};
constexpr command_entry info_entry{.name = "info",
                                   .section = client_section,
                                   .summary = "Show name, version and capabilities of a server",
                                   .group = &client_group,
                                   .accepts_server = true};
constexpr command_entry skills_entry{.name = "skills",
                                     .section = client_section,
                                     .summary = "List skills, or the files of one",
                                     .arguments = skills_arguments,
                                     .flags = skills_flags,
                                     .group = &client_group,
                                     .accepts_server = true};
constexpr command_entry search_entry{
    .name = "search",
    .section = client_section,
    .summary = "Find passages by words, the best match first",
    .details =
        "If the server has a search index ([search] in its configuration, docs/search.md), it reads search:///, otherwise it "
        "calls the tool search_resources. A terminal shows each passage with the words highlighted. Other outputs get one line "
        "each: score, URI, range and passage, separated by tabs. Without a search index, the options --lang, --scheme, --owner "
        "and --audience fail.",
    .arguments = search_arguments,
    .flags = search_flags,
    .group = &client_group,
    .accepts_server = true,
    .examples = search_examples};
constexpr command_entry call_entry{
    .name = "call",
    .section = client_section,
    .summary = "Call a tool, or list the tools",
    .details =
        "Values are converted to the types of the tool's input schema. Write arrays and objects as JSON, or repeat a name to "
        "make an array. If a required argument is missing, the tool is not called and the exit code is 1. If the server asks "
        "for input, you answer on the terminal. Without a terminal, the request is declined.",
    .arguments = call_arguments,
    .flags = call_flags,
    .group = &client_group,
    .accepts_server = true,
    .examples = call_examples};

namespace {

constexpr std::array<std::string_view, 2> store_choices{"keyring", "file"};

}  // namespace

constexpr flag scope_flag{.name = "scope",
                          .value = "SCOPE",
                          .help = "Request this scope in addition to those that the server requires",
                          .details = "Separate several scopes in one value by spaces.",
                          .is_repeatable = true};
constexpr flag client_id_flag{
    .name = "client-id",
    .value = "ID",
    .help = "The client ID that hondana is registered with at the authorization server",
    .details =
        "Default: the client of the last login to this server if it was registered by hand. Otherwise the client ID metadata "
        "document if the authorization server supports it, otherwise dynamic registration."};
constexpr flag client_secret_flag{
    .name = "client-secret-file",
    .value = "FILE",
    .help = "The client's secret or private key (PEM); other users must not be able to read the file",
    .details = "A secret requires --issuer and is sent to that authorization server only.",
    .completion = completion_kind::file};
constexpr flag client_metadata_flag{
    .name = "client-metadata", .value = "URL", .help = "The https URL of hondana's Client ID Metadata Document"};
constexpr flag issuer_flag{.name = "issuer",
                           .value = "URL",
                           .help = "Use only this authorization server",
                           .details = "It may be on a private network."};
constexpr flag redirect_port_flag{.name = "redirect-port",
                                  .value = "N",
                                  .help = "Redirect the browser to http://127.0.0.1:N/callback",
                                  .details =
                                      "Needed if --client-id is registered with that redirect URI and the authorization server "
                                      "requires an exact match. Later logins with that client use it too.",
                                  .number = number_bounds{1, 65535, true}};
constexpr flag no_browser_flag{.name = "no-browser", .help = "Do not open a browser; print the address to visit"};
constexpr flag machine_flag{.name = "machine",
                            .help = "Log in as a program with the client's own secret, without a user",
                            .details =
                                "New tokens are requested when these expire, with the secret, which is stored with the login, "
                                "or with the key, which stays in its file."};
constexpr flag store_flag{.name = "store",
                          .value = "PLACE",
                          .help = "Store the login in the desktop's keyring or in a file",
                          .details =
                              "Default: where the server's last login is stored, otherwise the keyring if it answers within "
                              "two seconds, otherwise the file $XDG_DATA_HOME/hondana/credentials.json (mode 0600).",
                          .completion = completion_kind::choice,
                          .choices = store_choices};
constexpr flag source_flag{.name = "source",
                           .value = "NAME",
                           .help = "Log in to the service of this configured source, instead of a server",
                           .details =
                               "For sources of type gdrive. Uses the source's client and scopes, and stores the login in a "
                               "file of its own. A running server picks it up."};
constexpr flag all_flag{.name = "all", .help = "Delete hondana's client registration too"};

namespace {

constexpr std::array login_flags{
    &on_flag,     &source_flag,        &scope_flag,      &client_id_flag, &client_secret_flag, &client_metadata_flag,
    &issuer_flag, &redirect_port_flag, &no_browser_flag, &machine_flag,   &store_flag,         &client_config_flag,
    &quiet_flag,  &cacert_flag,        &cert_flag,       &key_flag};
constexpr std::array logout_flags{&on_flag,   &source_flag, &all_flag,           &cacert_flag,
                                  &cert_flag, &key_flag,    &client_config_flag, &quiet_flag};
constexpr std::array login_examples{
    example{"hondana login --on https://mcp.example/mcp", "then every command can use that server"},
    example{"hondana login --on https://mcp.example/mcp --scope files:write", "with one more scope"},
    example{"hondana login --config hondana.toml --source team-drive", "to Google Drive, for a source of type gdrive"}};

}  // namespace

constexpr command_entry login_entry{
    .name = "login",
    .section = client_section,
    .summary = "Log in to a server that requires authentication",
    .details =
        "Opens the login page of the server's authorization server in a browser and stores the tokens. Later commands use and "
        "refresh them. Without a display, the page's address is printed. If the browser runs on another machine, paste the "
        "address of the page that it fails to load after the login.\n\nA token is sent only to the server that it was issued "
        "for. An Authorization --header replaces it.",
    .flags = login_flags,
    .examples = login_examples};
constexpr command_entry logout_entry{.name = "logout",
                                     .section = client_section,
                                     .summary = "Delete the login of a server",
                                     .details =
                                         "Revokes the tokens at the authorization server, if it supports that, and deletes "
                                         "them. Without revocation, the tokens stay valid until they expire.",
                                     .flags = logout_flags};

}  // namespace hondana::cli

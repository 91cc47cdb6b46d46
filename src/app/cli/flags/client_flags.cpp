/// What the commands that ask a server take.
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
                       .help = "The server to ask: a URL, unix:PATH, a configured name, or a folder or file",
                       .details = "See TARGETS. Without it and without -- COMMAND, the current folder is served and asked.",
                       .by = completion_kind::target};
constexpr flag json_flag{.name = "json",
                         .help = "Print one JSON value instead of text",
                         .details = "Its members are spelled as in the MCP specification; docs/cli.md shows each shape."};
constexpr flag header_flag{.name = "header",
                           .letter = 'H',
                           .value = "'NAME: VALUE'",
                           .help = "Send this with each request over HTTP",
                           .details =
                               "It goes to the target's origin and to no other. ${env:NAME} in VALUE stands for that variable, "
                               "so that no secret need stand in the command line.",
                           .is_repeatable = true};
constexpr flag bearer_file_flag{
    .name = "token-file",
    .value = "FILE",
    .help = "Send the token in this file as Authorization: Bearer; - is standard input",
    .details =
        "A file that others can read is refused. It is read again when the server refuses the token. Tokens are not sent by "
        "plain http: to another machine.",
    .by = completion_kind::file};
constexpr flag cacert_flag{.name = "cacert",
                           .value = "FILE",
                           .help = "Trust servers whose certificate these authorities signed (PEM), and no others",
                           .details = "Without it those that the system trusts.",
                           .by = completion_kind::file};
constexpr flag cert_flag{.name = "cert",
                         .value = "FILE",
                         .help = "Show this certificate to a server that asks for one (PEM, its chain behind it)",
                         .by = completion_kind::file};
constexpr flag key_flag{.name = "key",
                        .value = "FILE",
                        .help = "The key of --cert (PEM, without a passphrase; default: in the same file)",
                        .by = completion_kind::file};
constexpr flag timeout_flag{.name = "timeout",
                            .value = "SECONDS",
                            .help = "Give up when a call takes longer (default 30)",
                            .details = "A read into a file may take longer altogether: there it is the longest wait for more.",
                            .number = number_bounds{0.001, 86'400, false}};
constexpr flag revision_flag{.name = "revision",
                             .value = "DATE",
                             .help = "Speak this revision of the protocol and no other",
                             .details = "Otherwise the newest that both sides know is found as the specification says.",
                             .by = completion_kind::choice,
                             .choices = revisions};
constexpr flag trace_flag{
    .name = "trace",
    .value = "FILE",
    .help = "Write every message to a file: -> to the server, <- from it",
    .details =
        "The file is made anew, readable by you alone, one message a line; \"-\" is standard error. It "
        "holds what was read, and what was sent, secrets among the arguments included; headers are not "
        "in it. In messages of more than a megabyte from the server, texts of more than 64 KiB are \"*\", "
        "and a comment above tells their sizes and SHA-256.",
    .by = completion_kind::file};
constexpr flag names_flag{.name = "config",
                          .letter = 'c',
                          .value = "FILE",
                          .help = "Where the configured names are (default ~/.config/hondana/config.toml)",
                          .details = "The default is $XDG_CONFIG_HOME/hondana/config.toml where that variable is set.",
                          .by = completion_kind::file};
constexpr flag quiet_flag{.name = "quiet", .letter = 'q', .help = "Say nothing on standard error but why something failed"};

constexpr flag long_flag{
    .name = "long",
    .letter = 'l',
    .help = "Show what is known of each entry",
    .details =
        "Where the output is no terminal that is everything but icons and metadata, which --json has: URI, "
        "name, kind, size in bytes, priority, time of the last change, audience, title, type, version and "
        "description, with a tab between two, and nothing for what is not stated. A table has no room "
        "for the last two."};
constexpr flag sort_flag{.name = "sort",
                         .value = "ORDER",
                         .help = "By name, priority (highest first) or recency (latest first)",
                         .details = "Without it entries come in the server's own order, and are printed as they come.",
                         .by = completion_kind::choice,
                         .choices = orders};
constexpr flag audience_flag{.name = "audience",
                             .value = "ROLE",
                             .help = "Only what is meant for the user or the assistant",
                             .details = "Entries that state no audience are meant for nobody in particular, and left out.",
                             .by = completion_kind::choice,
                             .choices = audiences};
constexpr flag min_priority_flag{.name = "min-priority",
                                 .value = "N",
                                 .help = "Only entries of at least this priority, 0 to 1",
                                 .number = number_bounds{0, 1, false}};
constexpr flag filter_flag{.name = "filter",
                           .value = "TEXT",
                           .help = "Only entries with these words, or whose decoded URI fits a pattern with * or ?",
                           .details =
                               "Words may stand in name, title, description or URI, in either case. In a pattern * stays "
                               "within a segment and ** does not; one without :// fits the end of a URI, as in '*.md'. Letters "
                               "of any language and blanks are typed as they are, where URIs spell them with escapes."};
constexpr flag output_flag{.name = "output",
                           .letter = 'o',
                           .value = "FILE",
                           .help = "Write there; the file appears when it is complete; - is standard output",
                           .by = completion_kind::file};
constexpr flag lines_flag{.name = "lines",
                          .value = "A-B",
                          .help = "Only these lines of a text, counted from 1; A- goes to the end",
                          .details =
                              "The server is asked for them where it has a template with the variable lines; otherwise the "
                              "text is cut here."};
constexpr flag force_flag{.name = "force", .letter = 'f', .help = "Send bytes to a terminal as they are, binary ones too"};
constexpr flag with_flag{
    .name = "with", .value = "NAME=VALUE", .help = "A variable of the template and its value", .is_repeatable = true};
constexpr flag once_flag{.name = "once", .help = "End after the first change"};
constexpr flag for_flag{.name = "for",
                        .value = "SECONDS",
                        .help = "End after so long, with exit code 0",
                        .number = number_bounds{0.001, 31'536'000, false}};
constexpr flag verify_flag{
    .name = "verify",
    .help = "Read every file and compare it with its size and digest",
    .details = "Of a SKILL.md the frontmatter is compared too. What does not agree makes the exit code 5."};
constexpr flag limit_flag{.name = "limit",
                          .letter = 'n',
                          .value = "N",
                          .help = "At most so many results, 1 to 50 (default 10)",
                          .number = number_bounds{1, 50, true}};
constexpr flag lang_flag{.name = "lang", .value = "TAG", .help = "Only texts in this language, such as ja or en"};
constexpr flag scheme_flag{.name = "scheme", .value = "SCHEME", .help = "Only resources of this scheme, such as docs or file"};
constexpr flag under_flag{.name = "under",
                          .value = "URI",
                          .help = "Only resources whose URI begins with this",
                          .details =
                              "As `hondana ls` shows URIs, such as docs://set/ or file:///srv/shelf/. A word that no listed "
                              "URI begins with is an error, with exit code 1."};
constexpr flag since_flag{
    .name = "since", .value = "TIME", .help = "Only what has changed since: 2025-01-12 or 2025-01-12T15:00:58Z"};
constexpr flag owner_flag{
    .name = "owner", .value = "WHO", .help = "Only what this person owns: an e-mail address, or a name where there is none"};
constexpr flag wait_flag{
    .name = "wait",
    .value = "SECONDS",
    .help = "Wait so long for the server's index to be complete (default 60 for a program behind --, else 0)",
    .details = "After that what there is by then is searched, and standard error says that it is not all.",
    .number = number_bounds{0, 86'400, false}};
constexpr flag original_flag{
    .name = "original",
    .help = "The file that a document (docs://…, gdrive://…) is the text of, as it is",
    .details = "Without it a document's text is written alone, and standard error says so where the file came with it."};
constexpr flag arguments_flag{.name = "arguments",
                              .value = "JSON",
                              .help = "All arguments as one JSON object, instead of NAME=VALUE",
                              .details = "\"-\" reads it from standard input."};

namespace {

constexpr std::array shared_flags{&on_flag,  &json_flag,    &header_flag,   &bearer_file_flag, &cacert_flag, &cert_flag,
                                  &key_flag, &timeout_flag, &revision_flag, &trace_flag,       &names_flag,  &quiet_flag};
constexpr flag_group client_group{.title = "The server, and how to ask it", .flags = shared_flags};

constexpr std::array below{
    argument{.name = "URI", .help = "A folder, by URI or name, or a URI that others lie below", .by = completion_kind::uri}};
constexpr std::array ls_flags{&sort_flag, &audience_flag, &min_priority_flag, &filter_flag, &long_flag};
constexpr std::array tree_flags{&audience_flag, &min_priority_flag, &filter_flag};
constexpr std::array what_to_read{argument{.name = "URI",
                                           .help = "The resource: its URI, its name as ls shows it, or the URI's last parts",
                                           .by = completion_kind::uri,
                                           .is_required = true}};
constexpr std::array read_flags{&output_flag, &lines_flag, &original_flag, &with_flag, &force_flag};
constexpr std::array what_to_complete{
    argument{.name = "TEMPLATE", .help = "The template or its name, as `hondana templates` prints them", .is_required = true},
    argument{.name = "VARIABLE", .help = "The one to complete", .is_required = true},
    argument{.name = "TYPED", .help = "What there is of its value"}};
constexpr std::array complete_flags{&with_flag};
constexpr std::array what_to_watch{argument{.name = "URI",
                                            .help = "What to watch, by URI or name as with read (default: the list)",
                                            .by = completion_kind::uri,
                                            .is_repeatable = true}};
constexpr std::array watch_flags{&once_flag, &for_flag};
constexpr std::array which_skill{argument{.name = "SKILL", .help = "The URI of a SKILL.md, or a skill's name"}};
constexpr std::array skills_flags{&verify_flag};
constexpr std::array what_to_call{argument{.name = "TOOL", .help = "The tool to call (default: all are listed)"},
                                  argument{.name = "NAME=VALUE", .help = "Its arguments", .is_repeatable = true}};
constexpr std::array call_flags{&arguments_flag};
constexpr std::array what_to_search{
    argument{.name = "WORDS", .help = "What to search for", .is_required = true, .is_repeatable = true}};
constexpr std::array search_flags{&limit_flag,    &lang_flag,  &scheme_flag, &under_flag, &min_priority_flag,
                                  &audience_flag, &since_flag, &owner_flag,  &wait_flag};

constexpr std::array ls_examples{
    example{"hondana ls", "what a server of the current folder would list"},
    example{"hondana ls --on http://127.0.0.1:7325/mcp --sort recency", "of a server, the latest first"},
    example{"hondana ls --filter '*.md' -- npx some-server", "of a program that serves on standard input and output"}};
constexpr std::array read_examples{
    example{"hondana read file:///srv/a.pdf --on shelf -o a.pdf", "from the server configured as shelf, into a file"},
    example{"hondana read README.md --lines 1-20", "of the current folder"},
    example{"hondana read a.pdf --on http://127.0.0.1:7325/mcp", "by the name that ls shows"}};
constexpr std::array watch_examples{
    example{"hondana watch --on shelf --json", "one line of JSON for each change of the list, until Ctrl-C"}};
constexpr std::array search_examples{
    example{"hondana search restore a backup", "in the current folder"},
    example{"hondana search 証明書 更新 --lang ja --on shelf", "Japanese texts of the server configured as shelf"}};
constexpr std::array call_examples{
    example{"hondana call search_resources q=shelf --on shelf", "values get the types the tool wants"}};

}  // namespace

constexpr command_entry ls_entry{
    .name = "ls",
    .section = client_section,
    .summary = "List resources",
    .details =
        "With a URI: the entries of that folder, where the server lists folders; otherwise all entries at or below it. On a "
        "terminal a table is printed, elsewhere one URI a line.",
    .arguments = below,
    .flags = ls_flags,
    .group = &client_group,
    .takes_server = true,
    .examples = ls_examples};
constexpr command_entry tree_entry{.name = "tree",
                                   .section = client_section,
                                   .summary = "Show resources as a tree",
                                   .details = "With --json it is one of objects: name, uri where there is an entry, children.",
                                   .arguments = below,
                                   .flags = tree_flags,
                                   .group = &client_group,
                                   .takes_server = true};
constexpr command_entry read_entry{
    .name = "read",
    .section = client_section,
    .summary = "Print a resource, or write it to a file",
    .details =
        "What is no URI is looked for in the server's list: the one resource of that name, or else the one whose URI ends in "
        "it. Where a folder of this machine is asked a path is one, too.\n\n"
        "The bytes come as they are, one item after the other, and cost no more memory when there are many. A terminal gets "
        "text only, without what it could take for commands.",
    .arguments = what_to_read,
    .flags = read_flags,
    .group = &client_group,
    .takes_server = true,
    .examples = read_examples};
constexpr command_entry templates_entry{.name = "templates",
                                        .section = client_section,
                                        .summary = "List the templates of URIs",
                                        .group = &client_group,
                                        .takes_server = true};
constexpr command_entry complete_entry{.name = "complete",
                                       .section = client_section,
                                       .summary = "Print values for a variable of a template",
                                       .arguments = what_to_complete,
                                       .flags = complete_flags,
                                       .group = &client_group,
                                       .takes_server = true};
constexpr command_entry watch_entry{
    .name = "watch",
    .section = client_section,
    .summary = "Print changes as they happen",
    .details =
        "It goes on when the server restarts, and then tells what may have changed meanwhile. What does not exist yet is "
        "watched where the server would tell of its appearance; where it would not, the exit code is 2. A program behind -- "
        "is started again when it ends, with longer and longer pauses; after the fourth end in a row within five seconds of "
        "its "
        "start the exit code is 4. SIGINT and SIGTERM end it with exit code 0. With --json each change is one line.",
    .arguments = what_to_watch,
    .flags = watch_flags,
    .group = &client_group,
    .takes_server = true,
    .examples = watch_examples};
constexpr command_entry info_entry{.name = "info",
                                   .section = client_section,
                                   .summary = "Show what a server says of itself",
                                   .group = &client_group,
                                   .takes_server = true};
constexpr command_entry skills_entry{.name = "skills",
                                     .section = client_section,
                                     .summary = "List skills, or the files of one",
                                     .arguments = which_skill,
                                     .flags = skills_flags,
                                     .group = &client_group,
                                     .takes_server = true};
constexpr command_entry search_entry{.name = "search",
                                     .section = client_section,
                                     .summary = "Find passages by words, the best first",
                                     .details =
                                         "A server with an index ([search] in its configuration, docs/search.md) is asked for "
                                         "search:///, and another one for its tool "
                                         "search_resources. On a terminal each passage is shown with its words standing out; "
                                         "elsewhere a line has score, URI, range and "
                                         "passage, with a tab between two.",
                                     .arguments = what_to_search,
                                     .flags = search_flags,
                                     .group = &client_group,
                                     .takes_server = true,
                                     .examples = search_examples};
constexpr command_entry call_entry{
    .name = "call",
    .section = client_section,
    .summary = "Call a tool, or list the tools",
    .details =
        "Values get the types of the tool's input schema; arrays and objects are written as JSON, and a name given several "
        "times makes an array. Without what the tool requires it is not called, and the exit code is 1. What the server "
        "asks is answered on the terminal, and declined where there is none.",
    .arguments = what_to_call,
    .flags = call_flags,
    .group = &client_group,
    .takes_server = true,
    .examples = call_examples};

}  // namespace hondana::cli

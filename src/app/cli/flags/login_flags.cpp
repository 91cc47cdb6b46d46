/// What the commands take that log in and out.
#include "app/cli/flags/login_flags.hpp"

#include <array>

#include "app/cli/flags/client_flags.hpp"

namespace hondana::cli {
namespace {

constexpr std::array<std::string_view, 2> places{"keyring", "file"};

}  // namespace

constexpr flag scope_flag{.name = "scope",
                          .value = "SCOPE",
                          .help = "Ask for this besides what the server asks for",
                          .details = "Several may stand in one value, with spaces between.",
                          .is_repeatable = true};
constexpr flag client_id_flag{.name = "client-id",
                              .value = "ID",
                              .help = "Who hondana is registered as at the authorization server",
                              .details =
                                  "Without it the client of the last log-in to this server is used again, if somebody has "
                                  "registered it; else the client's metadata document serves where the authorization server "
                                  "takes such, and elsewhere hondana registers itself."};
constexpr flag client_secret_flag{.name = "client-secret-file",
                                  .value = "FILE",
                                  .help = "The secret or private key (PEM) of the client; a file that nobody else reads",
                                  .details = "A secret goes to the authorization server that --issuer names, and needs that.",
                                  .by = completion_kind::file};
constexpr flag client_metadata_flag{
    .name = "client-metadata", .value = "URL", .help = "The https URL of hondana's Client ID Metadata Document"};
constexpr flag issuer_flag{.name = "issuer",
                           .value = "URL",
                           .help = "The authorization server; no other is used",
                           .details = "One that is named may be on a private network."};
constexpr flag redirect_port_flag{.name = "redirect-port",
                                  .value = "N",
                                  .help = "Have the browser come back to http://127.0.0.1:N/callback",
                                  .details =
                                      "For a --client-id that is registered with that redirect URI, where the authorization "
                                      "server compares it letter by letter. Later log-ins as that client come back there, too.",
                                  .number = number_bounds{1, 65535, true}};
constexpr flag no_browser_flag{.name = "no-browser", .help = "Open no browser; print the address to visit"};
constexpr flag machine_flag{.name = "machine",
                            .help = "Log in as a program, with the client's own secret, and ask nobody",
                            .details =
                                "New tokens are got when these expire, with the secret, which is kept where the log-in is, or "
                                "with the key, which stays in its file."};
constexpr flag store_flag{.name = "store",
                          .value = "PLACE",
                          .help = "Keep the log-in in the desktop's keyring or in a file",
                          .details =
                              "Otherwise it is kept where the server's last one is, or else in the keyring when that "
                              "answers within two seconds. The file is $XDG_DATA_HOME/hondana/credentials.json, readable by "
                              "you alone.",
                          .by = completion_kind::choice,
                          .choices = places};
constexpr flag source_flag{
    .name = "source",
    .value = "NAME",
    .help = "The source of the configuration whose service is meant, instead of a server",
    .details =
        "One of type gdrive: its own client and scopes are used, and the log-in is kept in a file of its "
        "own, where the source takes it up, also while it is served."};
constexpr flag all_flag{.name = "all", .help = "Forget what hondana is registered as there, too"};

namespace {

constexpr std::array login_flags{
    &on_flag,     &source_flag,        &scope_flag,      &client_id_flag, &client_secret_flag, &client_metadata_flag,
    &issuer_flag, &redirect_port_flag, &no_browser_flag, &machine_flag,   &store_flag,         &names_flag,
    &quiet_flag,  &cacert_flag,        &cert_flag,       &key_flag};
constexpr std::array logout_flags{&on_flag,   &source_flag, &all_flag,   &cacert_flag,
                                  &cert_flag, &key_flag,    &names_flag, &quiet_flag};
constexpr std::array login_examples{
    example{"hondana login --on https://mcp.example/mcp", "then any command may ask that server"},
    example{"hondana login --on https://mcp.example/mcp --scope files:write", "for more than before"},
    example{"hondana login --config hondana.toml --source team-drive", "to Google Drive, for a source of type gdrive"}};

}  // namespace

constexpr command_entry login_entry{
    .name = "login",
    .section = client_section,
    .summary = "Log in to a server that wants to know who asks",
    .details =
        "Opens the page of the authorization server that the server names, and keeps the tokens it gives; the commands that "
        "ask "
        "that server use and refresh them without asking. Where there is no display the page's address is printed; when the "
        "browser is on another machine, paste the address of the page that it cannot show.\n\n"
        "A token goes to the server it was given for and to no other. An Authorization --header is sent instead of it.",
    .flags = login_flags,
    .examples = login_examples};
constexpr command_entry logout_entry{
    .name = "logout",
    .section = client_section,
    .summary = "Forget the log-in of a server",
    .details =
        "The authorization server is told that the tokens end, where it can be told; they are forgotten in any case. One that "
        "was not told may take them until they expire.",
    .flags = logout_flags};

}  // namespace hondana::cli

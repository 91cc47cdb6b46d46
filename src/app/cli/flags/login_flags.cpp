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
    .by = completion_kind::file};
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
                          .by = completion_kind::choice,
                          .choices = places};
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
    &issuer_flag, &redirect_port_flag, &no_browser_flag, &machine_flag,   &store_flag,         &names_flag,
    &quiet_flag,  &cacert_flag,        &cert_flag,       &key_flag};
constexpr std::array logout_flags{&on_flag,   &source_flag, &all_flag,   &cacert_flag,
                                  &cert_flag, &key_flag,    &names_flag, &quiet_flag};
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

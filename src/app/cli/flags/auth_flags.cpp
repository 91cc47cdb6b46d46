/// What `hondana token` takes.
#include "app/cli/flags/auth_flags.hpp"

#include <array>

#include "app/cli/flags/client_flags.hpp"

namespace hondana::cli {

constexpr flag tokens_flag{
    .name = "tokens",
    .value = "FILE",
    .help = "Require a token of this file, which 'hondana token' writes",
    .details = "Overrides tokens = in [auth]. docs/authorization-setup.md describes the other ways to authenticate.",
    .by = completion_kind::file};
constexpr flag token_file_flag{.name = "file",
                               .value = "FILE",
                               .help = "The file with the tokens (default ~/.config/hondana/tokens)",
                               .details = "If XDG_CONFIG_HOME is set, the default is $XDG_CONFIG_HOME/hondana/tokens.",
                               .by = completion_kind::file};
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

}  // namespace hondana::cli

/// What `hondana token` takes.
#include "app/cli/flags/auth_flags.hpp"

#include <array>

#include "app/cli/flags/client_flags.hpp"

namespace hondana::cli {

constexpr flag tokens_flag{.name = "tokens",
                           .value = "FILE",
                           .help = "Ask everybody for a token of this file, as 'hondana token' makes them",
                           .details = "It outweighs tokens = of [auth]; docs/authorization-setup.md has the other ways.",
                           .by = completion_kind::file};
constexpr flag token_file_flag{.name = "file",
                               .value = "FILE",
                               .help = "Where the tokens are (default ~/.config/hondana/tokens)",
                               .details = "The default is $XDG_CONFIG_HOME/hondana/tokens where that variable is set.",
                               .by = completion_kind::file};
constexpr flag token_scope_flag{.name = "scope",
                                .value = "SCOPE",
                                .help = "What it may be used for; without one, for what needs no scope",
                                .is_repeatable = true};
constexpr flag expires_flag{
    .name = "expires", .value = "TIME", .help = "How long it is good, such as 12h, 30d or 8w (default: until it is revoked)"};

namespace {

constexpr std::array name_arguments{argument{.name = "NAME", .help = "Whose it is", .is_required = true}};
constexpr std::array id_arguments{
    argument{.name = "ID", .help = "As 'hondana token ls' shows it", .is_required = true, .is_repeatable = true}};
constexpr std::array token_new_flags{&token_scope_flag, &expires_flag, &token_file_flag, &json_flag};
constexpr std::array token_ls_flags{&token_file_flag, &json_flag};
constexpr std::array token_revoke_flags{&token_file_flag};
constexpr std::array token_new_examples{
    example{"hondana token new laptop --expires 30d", "a token that is good for a month"},
    example{"hondana token new backup --scope read", "one that never expires, for what needs the scope read"}};

}  // namespace

constexpr command_entry token_new_entry{
    .name = "token new",
    .section = "Set up",
    .summary = "Make a token that lets its bearer ask a server of yours",
    .details =
        "The token is printed once and kept nowhere: the file has its hash, name and scopes. Several tokens of one name are "
        "one caller. A server started with --tokens FILE takes it at once.",
    .arguments = name_arguments,
    .flags = token_new_flags,
    .examples = token_new_examples};
constexpr command_entry token_ls_entry{.name = "token ls",
                                       .section = "Set up",
                                       .summary = "Print ids, names, scopes and expiries of tokens",
                                       .flags = token_ls_flags};
constexpr command_entry token_revoke_entry{.name = "token revoke",
                                           .section = "Set up",
                                           .summary = "Take tokens back",
                                           .details = "A server that uses the file refuses them at the next request.",
                                           .arguments = id_arguments,
                                           .flags = token_revoke_flags};

}  // namespace hondana::cli

/// Where `hondana serve` listens: command line, configuration and socket activation put together.
#pragma once

#include <vector>

#include <hondana/error.hpp>
#include <hondana/server.hpp>

#include "app/cli/arguments.hpp"
#include "app/cli/greeting.hpp"
#include "sources/config/http_settings.hpp"
#include "sources/config/settings.hpp"

namespace hondana::cli {

/// Descriptors to listen on.
struct inherited_sockets {
  std::vector<int> messages;
  int admin = -1;  ///< The one named `admin`; -1: none.
};

/// Takes what the environment names for this very process, and removes the variables, so that no child takes them for its own.
/// Call before other threads exist. Errors: invalid_argument (variables that contradict each other). Spec: sd_listen_fds(3).
[[nodiscard]] result<inherited_sockets> take_inherited_sockets();

/// The command line wins over the configuration, and inherited sockets win over both; hosts and origins add up.
[[nodiscard]] http_options listening_options(const serve_command& asked, const config::http_settings& configured,
                                             const inherited_sockets& inherited);

/// Looks at what only shows when it is used: the files of `[http.tls]` and the proxies. What `asked` overrides is not looked
/// at. Errors: invalid_argument, "FILE:LINE: http.KEY: …".
[[nodiscard]] result<void> check_listening(const serve_command& asked, const config::settings& configured);

/// Whether tokens would come by a network in the clear, as far as this server can know.
[[nodiscard]] bool shows_tokens(const http_options& http);

/// Where that is, for people: the members of the greeting that say so. `port`: the one it became.
[[nodiscard]] greeting_facts place_of(const http_options& http, std::uint16_t port);

}  // namespace hondana::cli

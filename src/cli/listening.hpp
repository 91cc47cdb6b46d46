/// Where `hondana serve` listens: command line, configuration and supervisor put together.
#pragma once

#include <hondana/server.hpp>

#include "cli/activation.hpp"
#include "cli/arguments.hpp"
#include "cli/greeting.hpp"
#include "config/http_settings.hpp"

namespace hondana::cli {

/// The command line wins over the configuration, and inherited sockets win over both; hosts and origins add up.
[[nodiscard]] http_options listening_options(const serve_command& asked, const config::http_settings& configured,
                                             const inherited_sockets& inherited);

/// Where that is, for people: the members of the greeting that say so. `port`: the one it became.
[[nodiscard]] greeting_facts place_of(const http_options& http, std::uint16_t port);

}  // namespace hondana::cli

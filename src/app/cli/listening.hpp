/// Decides where `hondana serve` listens: combines command line, configuration and socket activation.
#pragma once

#include <vector>

#include <hondana/error.hpp>
#include <hondana/server.hpp>

#include "app/cli/arguments.hpp"
#include "app/cli/greeting.hpp"
#include "sources/config/http_settings.hpp"
#include "sources/config/settings.hpp"

namespace hondana::cli {

/// Listening sockets from socket activation.
struct inherited_sockets {
  std::vector<int> message_sockets;  ///< Descriptors of sockets for MCP.
  std::optional<int> admin_socket;   ///< Descriptor of the socket named `admin`.
};

/// Takes the sockets that the environment passes to this process. Removes the variables so that child processes do not use
/// them. Call it before other threads exist. Errors: invalid_argument for invalid variables. Spec: sd_listen_fds(3).
[[nodiscard]] result<inherited_sockets> adopt_inherited_sockets();

/// Combines the options. The command line overrides the configuration; inherited sockets override both. Allowed hosts and
/// origins of both are merged.
[[nodiscard]] http_options listening_options(const serve_command& command, const config::http_settings& configured,
                                             const inherited_sockets& inherited);

/// Checks configured values that otherwise fail only when used: the files of `[http.tls]`, the proxies and the socket group.
/// Skips TLS files that `command` overrides. Errors: invalid_argument of the form "FILE:LINE: http.KEY: …".
[[nodiscard]] result<void> check_listening(const serve_command& command, const config::settings& configured);

/// Whether tokens would cross a network unencrypted, as far as this server can know.
[[nodiscard]] bool exposes_tokens(const http_options& http);

/// A greeting with only the address of the server. `port`: the actual port.
[[nodiscard]] greeting_info make_greeting_info(const http_options& http, std::uint16_t port);

}  // namespace hondana::cli

/// Uses stored log-ins as the tokens of a client.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include <hondana/authorization.hpp>
#include <hondana/client_target.hpp>

namespace hondana::credentials {

/// What a session with the server of `of` needs that uses a store: authorization servers where somebody has logged in before
/// may be on private networks. Errors: those of the store; invalid_argument for a URL that no token is sent to.
[[nodiscard]] result<oauth_settings> settings_with(std::shared_ptr<token_store> store, const http_target& of);

/// Adds the client that logged in last to `to.store`'s server at `url`, if it was registered by hand: its id, its secret or
/// key, which is read, and that it is a machine, so that its tokens can be renewed. Errors: those of the store; of
/// `disk::read_private`.
[[nodiscard]] result<void> add_kept_client(oauth_settings& to, const std::string& url);

/// The same for another log-in, where `to` names neither a client nor another issuer. A machine's client is none for people,
/// and theirs is none for a machine.
[[nodiscard]] result<void> add_client_of_before(oauth_settings& to, const std::string& url);

/// Of the file of a key or secret.
inline constexpr std::size_t most_secret_bytes = 16u << 10;

/// Tokens that the store has for the target's server, refreshed without asking anybody. It is opened by the first request.
/// A store that cannot be read is an error only once the server refuses a request; before that it is logged, once.
/// Null where none are sent: beside an Authorization header or tokens of its own, over a Unix socket, which knows its peers,
/// and by plain http: to another machine or through a proxy. `advice`: as `oauth_settings::advice`.
[[nodiscard]] std::shared_ptr<token_source> stored_log_in(const http_target& of, std::shared_ptr<token_store> store,
                                                          std::string advice, std::function<void(std::string_view line)> log);

}  // namespace hondana::credentials

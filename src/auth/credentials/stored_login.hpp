/// Uses stored logins as the tokens of a client.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include <hondana/authorization.hpp>
#include <hondana/client_target.hpp>

namespace hondana::credentials {

/// Settings for a session with the server of `target` that uses a store. Authorization servers of earlier logins may be on
/// private networks. Errors: those of the store; invalid_argument for a URL that gets no token.
[[nodiscard]] result<oauth_client_options> make_client_options(std::shared_ptr<token_store> store, const http_target& target);

/// Adds the client of the last login at `url` in `options.store`, if it was registered manually, so that its tokens can be
/// renewed. Sets its id, its secret or key (read from its file), and the grant. Errors: those of the store and of
/// `disk::read_private`.
[[nodiscard]] result<void> add_stored_client(oauth_client_options& options, const std::string& url);

/// The same for a new login, if `options` names neither a client nor another issuer. Clients of machines and of users are not
/// interchangeable.
[[nodiscard]] result<void> add_previous_client(oauth_client_options& options, const std::string& url);

/// Limit of a key or secret file. Bytes.
inline constexpr std::size_t max_secret_bytes = 16u << 10;

/// A token source with the stored tokens for the target's server. It refreshes them without asking the user. The store is
/// opened by the first request. If the store cannot be read, this is logged once, and becomes an error only when the server
/// rejects a request. Null if no token must be sent. That is the case with an Authorization header, another token source or a
/// Unix socket, and for plain http: to another machine or through a proxy. `advice`: see `oauth_client_options::login_advice`.
[[nodiscard]] std::shared_ptr<token_source> make_stored_token_source(const http_target& target,
                                                                     std::shared_ptr<token_store> store, std::string advice,
                                                                     std::function<void(std::string_view line)> log);

}  // namespace hondana::credentials

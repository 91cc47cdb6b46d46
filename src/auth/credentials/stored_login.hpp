/// Lets clients use the tokens and client registrations in a store.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include <hondana/authorization.hpp>
#include <hondana/client_target.hpp>

namespace hondana::credentials {

/// Makes the options of an `oauth_session` for the server of `target`, with `store`, which must not be null. The hosts of all
/// stored issuers of this server go to `private_hosts`. Errors: those of the store and of `oauth_session::create`.
[[nodiscard]] result<oauth_client_options> make_client_options(std::shared_ptr<token_store> store, const http_target& target);

/// Sets the client that got the latest stored tokens for `url`, so that they can be renewed: id, issuer, grant, and secret or
/// key (read from its file). Does nothing if there are no tokens, or if the client was registered dynamically. `options.store`
/// must not be null. Errors: those of the store, of `oauth_session::create` and of `disk::read_private`.
[[nodiscard]] result<void> add_stored_client(oauth_client_options& options, const std::string& url);

/// Like `add_stored_client`, for a new login with the previous client. Does nothing if `options` names a client or another
/// issuer, or has another grant than that client. Keeps a secret or key in `options`.
[[nodiscard]] result<void> add_previous_client(oauth_client_options& options, const std::string& url);

/// Limit of a key or secret file. Bytes.
inline constexpr std::size_t max_secret_bytes = 16u << 10;

/// Makes a token source with the stored tokens for the target's server. It refreshes them without asking the user. The first
/// request opens the store. If the store cannot be read, this is logged once, and becomes an error only when the server rejects
/// a request. `advice`: see `oauth_client_options::login_advice`.
///
/// Null if no token may be sent: with an Authorization header, another token source or a Unix socket, and for plain http: to
/// another machine or through a proxy of the target.
[[nodiscard]] std::shared_ptr<token_source> make_stored_token_source(const http_target& target,
                                                                     std::shared_ptr<token_store> store, std::string advice,
                                                                     std::function<void(std::string_view line)> log);

}  // namespace hondana::credentials

/// What is asked for, and of whom.
#pragma once

#include <hondana/authorization.hpp>
#include <hondana/error.hpp>
#include <optional>
#include <string>
#include <vector>

#include "auth/oauth/discovery.hpp"
#include "auth/oauth/scopes.hpp"

namespace hondana::oauth {

/// Those asked for with `of`; none without.
[[nodiscard]] scope_set asked_for(const std::optional<kept_tokens>& of);

/// What the challenge wants (`wanted`), else all that the MCP server publishes; with what is configured, what was asked for
/// before, and `offline_access` where the authorization server has it.
/// Spec: basic/authorization#scope-selection-strategy, #step-up-authorization-flow, #refresh-tokens.
[[nodiscard]] scope_set scopes_to_ask(const oauth_settings& settings, const std::optional<kept_tokens>& at_hand,
                                      const authority& at, const std::optional<scope_set>& wanted);

/// One of the issuers that an MCP server `named`, which are some: `only` when that is not empty; else that of the tokens at
/// hand, if it is still among them; else the first. Errors: unauthorized when `only` is not among them. Spec:
/// basic/authorization/client-registration#authorization-server-binding.
[[nodiscard]] result<std::string> choose_issuer(const std::vector<std::string>& named, const std::string& only,
                                                const std::optional<kept_tokens>& at_hand, const std::string& url);

/// The latest of `kept` that these settings may use.
[[nodiscard]] std::optional<kept_tokens> choose_tokens(std::vector<kept_tokens> kept, const oauth_settings& settings,
                                                       const std::string& url);

}  // namespace hondana::oauth

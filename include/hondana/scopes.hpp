/// Which scopes of its token a caller needs for which request.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <hondana/error.hpp>

namespace hondana::inline v0 {

/// Scopes that some requests need. The rule applies to a request if each of `methods`, `uris` and `names` is empty or has a
/// matching element.
struct scope_rule {
  /// MCP methods: "resources/read", "tools/call". "resources/read" includes `resources/get`, and "resources/subscribe" includes
  /// `subscriptions/listen` if it names URIs.
  std::vector<std::string> methods{};
  /// Canonical URI prefixes, as for `uri_covers`, or URI templates ("db://{host}/secrets/{+rest}").
  std::vector<std::string> uris{};
  /// Names of tools and prompts.
  std::vector<std::string> names{};
  /// The caller needs all of these.
  std::vector<std::string> scopes{};
};

/// All scope rules of a server. They apply to callers with `caller_info::auth_info`, from a token or a certificate. Other
/// callers need no scopes.
///
/// Lists and completions include resources whose reading needs more scopes; only access rules hide them. Content derived from a
/// resource, such as a patch, an outline or the target of a link, needs the scopes for reading that resource. Without them,
/// `access_filter::may_read` of the caller is false.
struct scope_rules {
  /// Scopes that every request needs.
  std::vector<std::string> always_required{};
  /// A request needs the scopes of all rules that apply to it. No rule applies to `initialize`, `ping`, `server/discover` and
  /// `resources/unsubscribe`.
  std::vector<scope_rule> rules{};
  /// Scopes that a scope includes: "admin" → {"write", "read"}. These may include others.
  std::map<std::string, std::vector<std::string>> implied{};
};

/// Validates rules. Errors: invalid_argument; the text says what is wrong. Scopes must have valid characters (RFC 6749 section
/// 3.3), and methods must be known. URIs must be canonical, or templates. A rule must have scopes. Scopes must not include each
/// other in a circle.
[[nodiscard]] result<void> validate_scope_rules(const scope_rules& rules);

}  // namespace hondana::inline v0

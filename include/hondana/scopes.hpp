/// Which scopes a caller needs for which request.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <hondana/error.hpp>

namespace hondana::inline v0 {

/// A scope requirement of some operations. A rule applies to an operation if each of its lists is empty or has a matching
/// element.
struct scope_rule {
  /// Names of requests: "resources/read", "tools/call". "resources/read" includes `resources/get`, and "resources/subscribe"
  /// includes `subscriptions/listen` if it names URIs.
  std::vector<std::string> methods{};
  /// Canonical URI prefixes, as for `uri_covers`, or URI templates ("db://{host}/secrets/{+rest}").
  std::vector<std::string> uris{};
  /// Names of tools and prompts.
  std::vector<std::string> names{};
  /// The required scopes, all of them.
  std::vector<std::string> scopes{};
};

/// Applies to callers with an `auth_info` (from a token or a certificate). Other callers have no scopes and always pass.
///
/// Lists and completions include resources whose reading needs more scopes; only an access filter hides them. Content derived
/// from a resource, such as a patch, an outline or the target of a link, needs the scopes for reading that resource. Without
/// them, `access_filter::may_read` of the caller is false.
struct scope_rules {
  /// Required for every request.
  std::vector<std::string> always_required{};
  /// All rules that apply are combined. No rule applies to `initialize`, `ping` and `server/discover`, with which clients
  /// begin, or to `resources/unsubscribe`.
  std::vector<scope_rule> rules{};
  /// Scopes that a scope includes, recursively: "admin" → {"write", "read"}.
  std::map<std::string, std::vector<std::string>> implied{};
};

/// Validates rules. Errors: invalid_argument, with a text that names the defect. Scopes must have valid characters (RFC 6749
/// section 3.3), and request names must be known. URIs must be canonical, or templates. A rule needs scopes, and scopes must
/// not include each other in a circle.
[[nodiscard]] result<void> validate_scope_rules(const scope_rules& rules);

}  // namespace hondana::inline v0

/// Which scopes a caller must have proved for what it asks.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <hondana/error.hpp>

namespace hondana::inline v0 {

/// What some operations need. A rule fits an operation when each of its lists is empty or has something that fits.
struct scope_rule {
  /// Names of requests: "resources/read", "tools/call". "resources/read" stands for `resources/get` too, and
  /// "resources/subscribe" for `subscriptions/listen` as far as it names URIs.
  std::vector<std::string> methods{};
  /// Canonical URI prefixes, as `covers` takes them, or URI templates ("db://{host}/secrets/{+rest}").
  std::vector<std::string> uris{};
  /// Names of tools and prompts.
  std::vector<std::string> names{};
  std::vector<std::string> scopes{};
};

/// Applies to callers with a proof (a token or a certificate); others have no scopes and pass. Lists and completions name
/// resources whose reading needs more; what must not even be named is hidden by a caller's view. Content derived from a
/// resource, such as a patch, an outline or the target of a link, needs the scopes for reading the resource: `view::may_read`
/// of the caller's view is false without them.
struct scope_rules {
  /// Every request needs these.
  std::vector<std::string> always{};
  /// All rules that fit count. None fits what every client begins with (`initialize`, `ping`, `server/discover`) nor
  /// `resources/unsubscribe`.
  std::vector<scope_rule> rules{};
  /// What a scope includes: "admin" → {"write", "read"}. What these include is included too.
  std::map<std::string, std::vector<std::string>> implied{};
};

/// Errors: invalid_argument for a scope with characters that no scope may have (RFC 6749 section 3.3), an unknown name of a
/// request, a URI that is neither canonical nor a template, a rule without scopes, and scopes that include one another in a
/// circle; the text says which.
[[nodiscard]] result<void> check(const scope_rules& rules);

}  // namespace hondana::inline v0

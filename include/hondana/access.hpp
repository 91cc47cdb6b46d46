/// Who may list and read what.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <hondana/error.hpp>
#include <hondana/resource.hpp>

namespace hondana::inline v0 {

/// What a caller may do with a resource, each with what stands before it.
enum class grant : std::uint8_t {
  none,  ///< It does not exist for the caller.
  list,  ///< It is listed, completed and told of: its entry without what stands in its content. Tools and prompts are listed.
  read,  ///< It is read. Tools are called, prompts got.
};

/// What some callers may do with some things. A rule is about a caller when each of `identities`, `groups` and `scopes` is
/// empty or has something that fits. It is about a resource when that holds for `uris` and `patterns` together, `kinds`, and
/// `audience`, and about a tool or prompt when it names that. One that has nothing of all this is about everything.
struct access_rule {
  std::vector<std::string> identities{};  ///< As in `caller::identity`; "ci-*" is all that begin with "ci-".
  std::vector<std::string> groups{};      ///< The same of `access_rules::group_claim`.
  std::vector<std::string> scopes{};      ///< The caller has one of them, or one that includes it (`scope_rules::implied`).

  /// Canonical URI prefixes, as `covers` takes them, or URI templates ("db://{host}/secrets/{+rest}"). With a resource they
  /// mean all of its parts (queries and fragments).
  std::vector<std::string> uris{};
  /// Globs over whole canonical URIs, in which `*` ends at a slash and `**` does not: "file:///srv/**/*.md".
  std::vector<std::string> patterns{};
  std::vector<std::string> kinds{};    ///< As in `resource::kind`.
  std::optional<role> audience{};      ///< It is among those in `annotations::audience`.
  std::vector<std::string> tools{};    ///< Names of tools; "admin_*" is all that begin with "admin_".
  std::vector<std::string> prompts{};  ///< The same of prompts.

  grant gives = grant::none;
};

/// Without rules everybody may everything. With one, the last rule that is about the caller and the thing decides, and what no
/// rule is about does not exist; only the server's own tools for resources (`server_options::resource_tools`), which show what
/// the caller may see, are there until a rule says otherwise.
///
/// Rules with `kinds` or `audience` have the server look at a resource's entry before it is read, and at the entry of a changed
/// resource before that is told; what has gone is then not told any more. A resource without an entry has no kind and audience.
struct access_rules {
  /// The claim of a token with the caller's groups, one text or several; "realm_access.roles" is the member of an object.
  std::string group_claim = "groups";
  std::vector<access_rule> rules{};
};

/// Errors: invalid_argument for an empty name, a `*` that is not the last character of a name, a URI that is neither canonical
/// nor a template, a pattern that cannot match, and a rule with conditions on resources that names tools or prompts as well;
/// the text says which rule, from 1.
[[nodiscard]] result<void> check(const access_rules& rules);

}  // namespace hondana::inline v0

/// Access rules: who may list and read which resources.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <hondana/error.hpp>
#include <hondana/resource.hpp>

namespace hondana::inline v0 {

/// What a caller may do. Each value includes those before it.
enum class access_level : std::uint8_t {
  none,  ///< The resource does not exist for the caller.
  /// Lists, completions and notifications include its entry, without members derived from its content. Tools and prompts are
  /// listed.
  list,
  read,  ///< It can be read. Tools can be called, and prompts retrieved.
};

/// One access rule.
///
/// It applies to a caller if each of `identities`, `groups` and `scopes` is empty or has a matching element. It applies to a
/// resource if `uris` and `patterns` together, `kinds`, and `audience` are each empty or match. It applies to a tool or prompt
/// that it names. A rule without conditions applies to everything.
struct access_rule {
  std::vector<std::string> identities{};  ///< As in `caller_info::identity`. "ci-*" matches all that begin with "ci-".
  std::vector<std::string> groups{};      ///< Groups of the claim `access_rules::group_claim`, with the same `*`.
  std::vector<std::string> scopes{};  ///< The caller has one of them, or a scope that includes one (`scope_rules::implied`).

  /// Canonical URI prefixes, as for `uri_covers`, or URI templates ("db://{host}/secrets/{+rest}"). A resource includes all of
  /// its parts (queries and fragments).
  std::vector<std::string> uris{};
  /// Globs for whole canonical URIs. `*` stops at a slash, `**` does not: "file:///srv/**/*.md".
  std::vector<std::string> patterns{};
  std::vector<std::string> kinds{};     ///< As in `resource::kind`.
  std::optional<chat_role> audience{};  ///< Must be in `annotations::audience` of the entry.
  std::vector<std::string> tools{};     ///< Names of tools. "admin_*" matches every name that begins with "admin_".
  std::vector<std::string> prompts{};   ///< Names of prompts, with the same `*`.

  /// What the rule grants; `access_level::none` denies.
  access_level level = access_level::none;
};

/// All access rules of a server.
///
/// Without rules, every caller may do everything. With rules, the last rule that applies to the caller and the thing decides.
/// Things without an applicable rule do not exist for the caller. Exception: the server's own resource tools
/// (`server_options::has_resource_tools`) exist until a rule denies them; they show only what the caller may see.
///
/// With `kinds` or `audience` in a rule, the server looks up a resource's entry before it is read, and before it notifies
/// clients of a change. Clients then are not notified of removed resources. A resource without an entry has neither kind nor
/// audience.
struct access_rules {
  /// The token claim that holds the caller's groups: one string, or several. "realm_access.roles" names a member of an object.
  std::string group_claim = "groups";
  std::vector<access_rule> rules{};
};

/// Validates rules. Errors: invalid_argument, with the number of the rule, from 1. Names must not be empty, and a `*` must be
/// their last character. URIs must be canonical, or templates. Patterns must be able to match. A rule with conditions on
/// resources must not name tools or prompts.
[[nodiscard]] result<void> validate_access_rules(const access_rules& rules);

}  // namespace hondana::inline v0

/// Access rules: who may list and read which resources, and use which tools and prompts.
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
  none,  ///< For the caller, the resource, tool or prompt does not exist.
  /// It is listed, completed, and named in notifications. Entries of resources lack the members that may come from the content:
  /// title, description, version, priority and metadata.
  list,
  read,  ///< The resource can be read, the tool called, the prompt retrieved.
};

/// One access rule.
///
/// It applies to a caller if each of `identities`, `groups` and `scopes` is empty or has a matching element. It applies to:
/// - if it names tools or prompts: these only.
/// - if it has conditions on resources: the resources that match `kinds`, `audience`, and `uris` or `patterns`.
/// - otherwise: all resources, tools and prompts.
struct access_rule {
  std::vector<std::string> identities{};  ///< As in `caller_info::identity`. "ci-*" matches all that begin with "ci-".
  std::vector<std::string> groups{};      ///< Groups in the claim `access_rules::group_claim`. A final `*` as in `identities`.
  std::vector<std::string> scopes{};  ///< The caller has one of them, or a scope that includes one (`scope_rules::implied`).

  /// Canonical URI prefixes, as for `uri_covers`, or URI templates ("db://{host}/secrets/{+rest}"). A prefix "x://a/" also
  /// matches the folder "x://a". A URI that matches also stands for all parts of that resource (its queries and fragments).
  std::vector<std::string> uris{};
  /// Globs for whole canonical URIs. `*` stops at a slash, `**` does not: "file:///srv/**/*.md".
  std::vector<std::string> patterns{};
  std::vector<std::string> kinds{};     ///< Values of `resource::kind`.
  std::optional<chat_role> audience{};  ///< Must be in `annotations::audience` of the entry.
  std::vector<std::string> tools{};     ///< Names of tools. "admin_*" matches every name that begins with "admin_".
  std::vector<std::string> prompts{};   ///< Names of prompts. A final `*` as in `tools`.

  /// What the rule grants; `access_level::none` denies.
  access_level level = access_level::none;
};

/// All access rules of a server.
///
/// Without rules, every caller may do everything. With rules, the last one that applies to both the caller and the resource,
/// tool or prompt decides. If no rule applies, the level is `access_level::none`. Exception: the server's own resource tools
/// (`server_options::has_resource_tools`) exist until a rule denies them; they show only what the caller may see. A part of a
/// resource never has a higher level than the resource.
///
/// With `kinds` or `audience` in a rule, the server looks up a resource's entry before it reads the resource or notifies
/// clients of a change. Clients then are not notified of removed resources. A resource without an entry has neither kind nor
/// audience.
struct access_rules {
  /// The token claim with the caller's groups: a string, or an array of strings. "realm_access.roles": the member `roles` of
  /// the claim `realm_access`.
  std::string group_claim = "groups";
  std::vector<access_rule> rules{};
};

/// Validates rules. Errors: invalid_argument, with the number of the rule, from 1. Names must not be empty, and a `*` must be
/// their last character. Scopes must have valid characters. URIs must be canonical, or templates. Patterns must be able to
/// match URIs. A rule must not combine conditions on resources with tools or prompts.
[[nodiscard]] result<void> validate_access_rules(const access_rules& rules);

}  // namespace hondana::inline v0

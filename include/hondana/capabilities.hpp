/// The capabilities of providers: an interface for each optional part of a source.
///
/// A provider has a capability if its class also derives from the interface. The server finds that out once, when the provider
/// is added. If a source has a capability only with some settings, add the interface in a derived class, and create an object
/// of that class only with these settings.
///
/// Threads: as for `provider`, except for functions that must not block. These are also called on threads that serve clients.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <hondana/error.hpp>
#include <hondana/provider.hpp>
#include <hondana/resource.hpp>
#include <hondana/skill.hpp>

namespace hondana::inline v0 {

/// A request for the entry of one resource.
struct describe_request : request_context {
  std::string uri;                      ///< Canonical.
  std::optional<template_match> match;  ///< As in `read_request`.
  /// The version for the entry, from a read just before. nullopt: the provider determines it, if necessary by reading.
  std::optional<std::string> known_version;
};

/// A provider that makes the entry of one resource. Without it, the server lists the entry, so it finds listed resources only.
class entry_source {
 public:
  /// Returns the current entry of one resource, which need not be listed (a part of a file, for example). It must have a
  /// version if reads return one. Errors: as `provider::read`.
  [[nodiscard]] virtual result<resource> describe(const describe_request& request) = 0;

 protected:
  ~entry_source() = default;
};

/// A request for the direct children of a folder. `after_key` and `limit` are as in `list_request`.
struct children_request : request_context {
  std::string uri;  ///< Canonical. Without a trailing slash, unless the provider claims the URI with one.
  std::string after_key;
  std::size_t limit = 500;
};

/// A provider with folders. Without it, requests for the children of its resources fail as unsupported.
class folder_source {
 public:
  /// Lists one page of the direct children of a folder, in segment order. Errors: resource_not_found, invalid_argument if the
  /// resource is not a folder, unsupported, and those of `provider::list`.
  /// Spec: the extension io.modelcontextprotocol/skills, #reading-directories.
  [[nodiscard]] virtual result<list_result> children(const children_request& request) = 0;

 protected:
  ~folder_source() = default;
};

/// A provider with constant URI templates.
class template_source {
 public:
  /// Returns the URI templates. Constant. Each must compile and start with one of `provider::claims`.
  [[nodiscard]] virtual std::vector<resource_template> templates() const = 0;

 protected:
  ~template_source() = default;
};

/// A provider whose URI templates change at run time. The server does not set `read_request::match` for it. If it is also a
/// `template_source`, the server does not call that.
class dynamic_template_source {
 public:
  /// Returns the current templates. The server ignores those that do not compile, have no name, or do not start with one of
  /// `provider::claims`. Errors: as `provider::list`.
  [[nodiscard]] virtual result<std::vector<resource_template>> current_templates(const request_context& request) = 0;

 protected:
  ~dynamic_template_source() = default;
};

/// A request for completions of one template variable.
struct complete_request : request_context {
  std::string uri_template;
  std::string argument;                                      ///< Name of the variable.
  std::string value;                                         ///< The text typed so far.
  std::vector<std::pair<std::string, std::string>> context;  ///< Names and values of variables that are already chosen.

  /// Returns the value that `context` has for `variable`. Empty: none.
  [[nodiscard]] std::string context_value(std::string_view variable) const;
};

/// Suggested values.
struct complete_result {
  std::vector<std::string> values;  ///< The best first. At most 100 are sent.
  /// Number of all matching values. nullopt: unknown.
  std::optional<std::uint64_t> total;
  bool has_more = false;  ///< There are more matching values than `values`.
};

/// A provider that completes the variables of its templates. Without it, the server collects values from the URIs of listed
/// entries, up to 100 000 entries and 250 ms.
class completion_source {
 public:
  /// Completes a template variable; `complete_from` can choose and rank values. Neither the values nor their number may reveal
  /// resources that the caller may not list. Errors: unsupported, and those of `provider::list`. After unsupported, the server
  /// collects the values from listed entries. Spec: server/utilities/completion.
  [[nodiscard]] virtual result<complete_result> complete(const complete_request& request) = 0;

 protected:
  ~completion_source() = default;
};

/// One page of the skills that the caller may see.
struct skills_result {
  std::vector<skill> skills;            ///< In segment order. May be short or even empty while `next_key` is set.
  std::optional<std::string> next_key;  ///< The `after_key` of the next page. nullopt: this is the last page.
};

/// A request for one skill.
struct skill_request : request_context {
  std::string uri;  ///< Canonical URI of its SKILL.md.
};

/// A provider that has, or may later have, agent skills.
class skill_source {
 public:
  /// Lists a page of skills. Errors: as `provider::list`.
  /// Spec: the extension io.modelcontextprotocol/skills, #listing-skills.
  [[nodiscard]] virtual result<skills_result> skills(const list_request& request) = 0;
  /// Returns one skill, which `skills` need not list. Errors: resource_not_found, and those of `provider::list`.
  /// Spec: the extension io.modelcontextprotocol/skills, #getting-a-skill.
  [[nodiscard]] virtual result<skill> find_skill(const skill_request& request) = 0;

 protected:
  ~skill_source() = default;
};

/// Something that a source has, such as a file, and whether it is served as a resource.
struct inventory_item {
  std::string name;  ///< Name of the entry, or the name that it would have.
  std::string uri;   ///< Canonical. Only with `is_served`.
  bool is_served = false;
  /// Why it is not served, with the name of the rule. If it is served: an optional note, such as the reason for its priority.
  std::string reason;
};

/// A provider that also knows what it does not serve. Without it, the inventory consists of the listed entries.
class inventory_source {
 public:
  /// Calls `visitor` once for every item of the source, in any order. Items inside an excluded folder are left out. Errors: as
  /// `provider::list`.
  [[nodiscard]] virtual result<void> inventory(const request_context& request,
                                               const std::function<void(const inventory_item&)>& visitor) = 0;

 protected:
  ~inventory_source() = default;
};

/// Receives changes from a source. The server implements it. Threads: any. Calls return without waiting for a client, and do
/// not call the provider.
class change_listener {
 public:
  change_listener() = default;
  change_listener(const change_listener&) = delete;
  change_listener& operator=(const change_listener&) = delete;
  virtual ~change_listener() = default;

  /// Call it after resources or templates were added, removed or renamed. Lists that begin later must return the new state.
  virtual void list_changed() = 0;
  /// Call it after the content of `uri` (canonical) changed, or the resource was added or removed. A URI without a query stands
  /// for all parts of the resource. `title`: its title; may be empty. An unnecessary call costs each client one read; without a
  /// necessary one, clients miss the change.
  virtual void content_changed(std::string_view uri, std::string_view title) = 0;
  /// As `content_changed`, for an alias: an additional URI of a resource, such as a link or an id. Access rules may allow the
  /// alias but hide its target. Callers with an access filter are therefore notified only after `entry_source::describe`
  /// has succeeded with their filter. They are not notified when the alias is removed. Default: `content_changed`.
  virtual void alias_changed(std::string_view uri, std::string_view title);
};

/// A provider that notifies a listener of changes. Without it, the application must call `server::notify_resource_updated` and
/// `server::notify_resources_changed`.
class change_source {
 public:
  /// Sets the object to notify of changes; null: none. Called before the first list, and with null when the server removes this
  /// source. Must not block.
  virtual void set_listener(std::shared_ptr<change_listener> listener) = 0;

 protected:
  ~change_source() = default;
};

/// A provider that must know which resources clients watch, in order to notify changes of them.
class watch_source {
 public:
  /// Called when the first client begins to watch `uri` (canonical, without a query), which need not exist. Until `unwatch`,
  /// every change must be notified. Must not block: start the work and return.
  virtual void watch(const std::string& uri) = 0;
  /// Called when the last client has stopped watching `uri`. Must not block.
  virtual void unwatch(const std::string& uri) = 0;

 protected:
  ~watch_source() = default;
};

/// A `watch_source` whose URIs with a query are watched separately. `watch` and `unwatch` are also called for each watched URI
/// with its query, and `content_changed` applies to exactly the URI that it names. Derive from it instead of `watch_source`.
class part_watch_source : public watch_source {
 protected:
  ~part_watch_source() = default;
};

/// A provider that must know whether clients watch its list, in order to notify changes of it.
class list_watch_source {
 public:
  /// Called when the first client begins to watch the list. Until `unwatch_list`, every change of the list must be notified,
  /// even if no client has listed. Must not block.
  virtual void watch_list() = 0;
  /// Called when the last client has stopped watching the list. Must not block.
  virtual void unwatch_list() = 0;

 protected:
  ~list_watch_source() = default;
};

/// The state of a source.
struct provider_health {
  bool is_healthy = true;
  std::string detail;  ///< What the source is doing, or what is wrong; for people. May be empty.
};

/// A provider that reports its state. Without it, the source counts as healthy.
class health_source {
 public:
  /// Returns the provider's state. Must not block.
  [[nodiscard]] virtual provider_health health() const = 0;

 protected:
  ~health_source() = default;
};

}  // namespace hondana::inline v0

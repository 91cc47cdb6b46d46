/// The interface of a provider: one source of resources, with blocking calls.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <hondana/error.hpp>
#include <hondana/resource.hpp>
#include <hondana/skill.hpp>
#include <hondana/uri.hpp>
#include <hondana/value.hpp>

namespace hondana::inline v0 {

/// Which resources a caller may list and read. Callers with equal permissions usually share one object. A caller without an
/// access filter may access everything.
///
/// Threads: any. Each result must depend on the arguments only.
class access_filter {
 public:
  access_filter() = default;
  access_filter(const access_filter&) = delete;
  access_filter& operator=(const access_filter&) = delete;
  virtual ~access_filter() = default;
  /// Filters that decide differently must have different ids. Cached answers and cursors contain the id.
  [[nodiscard]] virtual std::uint64_t id() const noexcept = 0;
  /// Returns whether a resource with this canonical URI may be listed, completed, subscribed to, and named in notifications.
  [[nodiscard]] virtual bool may_see(std::string_view uri) const = 0;
  /// Returns whether a resource with this canonical URI may be read. Default: `may_see`.
  [[nodiscard]] virtual bool may_read(std::string_view uri) const;
  /// Returns whether decisions also depend on entries, not only on URIs. If so, `may_see` and `may_read` are not sufficient: to
  /// see or read a resource, its entry must also pass `may_see_entry` or `may_read_entry`. Constant. Default: false.
  [[nodiscard]] virtual bool uses_entries() const noexcept;
  /// As `may_see`, by the kind and annotations of the entry, too. Default: `may_see` of its URI.
  [[nodiscard]] virtual bool may_see_entry(const resource& entry) const;
  /// As `may_read`, by the kind and annotations of the entry, too. Default: `may_read` of its URI.
  [[nodiscard]] virtual bool may_read_entry(const resource& entry) const;
  /// Returns whether the caller may see some URI of the template, as far as this is known without expansion. If not, the
  /// template does not exist for the caller. Default: true.
  [[nodiscard]] virtual bool may_see_any(const uri_template& pattern) const;
};

/// What a token or certificate proves about a caller.
struct auth_info {
  std::string client{};               ///< The program that sends the request, if the token names it (`client_id`, `azp`).
  std::vector<std::string> scopes{};  ///< The granted scopes.
  value claims{};                     ///< The claims of the token, or the introspection response: an object. Null: none.
};

/// The caller for whom a request is made.
struct caller_info {
  /// The name that the authenticator returns. Otherwise: "local" over stdio, and over a Unix socket for the
  /// server's own user; "uid:N" for other users of a Unix socket; otherwise "anonymous". Each session belongs to one identity.
  std::string identity;
  std::string address;  ///< The client's address, for rate limits and logs. Empty: none.
  /// Null: the caller may see and read everything.
  std::shared_ptr<const hondana::access_filter> access_filter;
  std::shared_ptr<const hondana::auth_info> auth_info{};  ///< Null: no token or certificate; scope rules then do not apply.
};

/// Progress of a slow call.
struct progress {
  double done = 0;              ///< In any unit. Must increase from report to report.
  std::optional<double> total;  ///< The final value of `done`. nullopt: unknown.
  std::string message;
};

/// The trace that a call belongs to. All members empty: none. Spec: W3C Trace Context 3.2 and 3.3, W3C Baggage.
struct trace_context {
  std::string traceparent{};  ///< Well-formed. Contains the span of this call.
  std::string tracestate{};
  std::string baggage{};
};

/// What every call carries.
struct request_context {
  caller_info caller;
  /// At this time the client gets a timeout error, even if the call continues. The provider or handler must return before it.
  std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();
  /// Stop is requested when the client cancels the request or disconnects. The call should then return soon.
  std::stop_token stop;
  /// Sends progress to the client; may be empty. Threads: any.
  std::function<void(const progress&)> report_progress;
  /// Ids of the mounts (mount.hpp) that the request came through, nearest first. A mount that finds its own id here rejects the
  /// call as circular. Clients can send any ids, so use them for nothing else.
  std::vector<std::string> mounts{};
  /// The trace to send with all requests that are made for this call.
  trace_context trace{};
};

/// A request for one page of entries in segment order (`compare_by_segment`), of those that the caller may see.
struct list_request : request_context {
  std::string after_key;    ///< Only entries after this key: a URI, or a result of `key_before`. Empty: from the start.
  std::size_t limit = 500;  ///< At most this many entries.
};

/// One page of entries.
struct list_result {
  std::vector<resource> entries;        ///< In segment order. May be short or even empty while `next_key` is set.
  std::optional<std::string> next_key;  ///< The `after_key` of the next page. nullopt: this is the last page.
  /// Says whether the page is unchanged. Null: unknown. Set it only if all callers with one access filter get the same page.
  std::shared_ptr<const cache_validator> validator{};
};

/// The URI template that matches a URI, with the decoded values of its variables.
struct template_match {
  std::string uri_template;
  uri_template_values variables;
};

/// A request to read one resource.
struct read_request : request_context {
  std::string uri;                      ///< Canonical.
  std::string requested_uri;            ///< As the client spelled it; repeated in the answer.
  std::optional<template_match> match;  ///< Set if one of `provider::templates` matches `uri`.
  /// The version that the client or the server's cache has. If it is current, a provider may return it without contents.
  std::optional<std::string> cached_version;
  std::uint64_t max_bytes = 64ull << 20;  ///< Limit of content bytes, before base64.
};

/// A request for the entry of one resource.
struct describe_request : request_context {
  std::string uri;                      ///< Canonical.
  std::optional<template_match> match;  ///< As in `read_request`.
  /// The version for the entry, from a read just before. Empty: the provider determines it, if necessary by reading.
  std::string known_version;
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

/// A request for the direct children of a folder. `after_key` and `limit` are as in `list_request`.
struct children_request : request_context {
  std::string uri;  ///< Canonical. Without a trailing slash, unless the provider claims the URI with one.
  std::string after_key;
  std::size_t limit = 500;
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

/// What a provider needs from the system. A sandbox permits what the providers declare.
struct system_requirements {
  struct folder {
    std::string path;  ///< Absolute.
    bool is_writable = false;
  };
  std::vector<folder> folders;
  std::vector<std::string> sockets;   ///< Where to connect: paths of Unix sockets, or host:port; "*:*": anywhere.
  std::vector<std::string> programs;  ///< Absolute paths of child programs.
};

/// The documentation of a provider's URI scheme, which `hondana schemes` prints.
struct scheme_documentation {
  std::string scheme;   ///< Such as "file".
  std::string summary;  ///< One sentence.
  struct kind {
    std::string name;
    std::string meaning;
  };
  std::vector<kind> kinds;  ///< All values of `resource::kind` that the provider uses.
  struct form {
    std::string uri_template;
    std::string meaning;
  };
  std::vector<form> forms;  ///< All forms of URIs that the provider answers.
};

/// Who masks secrets in contents (docs/security-secrets.md).
enum class secret_masking : std::uint8_t {
  by_server,  ///< The server, in the contents and entries of the source. For sources that return whole texts.
  by_source,  ///< The source, in the whole text, before it extracts the requested part.
  none,       ///< Secrets are sent.
};

/// The state of a source.
struct provider_health {
  bool is_healthy = true;
  std::string detail;  ///< What the source is doing, or what is wrong; for people. May be empty.
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
  /// alias but hide its target. Callers with an access filter are therefore notified only after `provider::describe` has
  /// succeeded with their filter. They are not notified when the alias is removed. Default: `content_changed`.
  virtual void alias_changed(std::string_view uri, std::string_view title);
};

/// Something that a source has, such as a file, and whether it is served as a resource.
struct inventory_item {
  std::string name;  ///< Name of the entry, or the name that it would have.
  std::string uri;   ///< Canonical. Empty if it is not served.
  bool is_served = false;
  /// Why it is not served, with the name of the rule. If it is served: an optional note, such as the reason for its priority.
  std::string reason;
};

/// One source of resources. Applications derive from this class.
///
/// Threads: calls may block. Several run at the same time on a thread pool of this provider, so it needs its own
/// synchronization. With `never_blocks`, calls run on threads that serve clients. Functions that must not block say so.
/// Lifetime: a call that does not return in time can outlive the server.
class provider {
 public:
  provider() = default;
  provider(const provider&) = delete;
  provider& operator=(const provider&) = delete;
  virtual ~provider() = default;

  /// Returns the source's name in errors and logs, such as "files". Constant.
  [[nodiscard]] virtual std::string name() const = 0;
  /// Returns the canonical URI prefixes that this provider serves (see `uri_covers`). Constant. `server::add` rejects an empty
  /// vector, and providers whose prefixes cover each other.
  [[nodiscard]] virtual std::vector<std::string> claims() const = 0;
  /// Returns the documentation of the provider's URI scheme.
  [[nodiscard]] virtual scheme_documentation documentation() const = 0;

  /// Lists one page. Errors: source_unavailable, timed_out, cancelled. Spec: server/resources#listing-resources.
  [[nodiscard]] virtual result<list_result> list(const list_request& request) = 0;
  /// Reads one resource. Errors: resource_not_found, access_denied, invalid_argument, response_too_large, content_changed, and
  /// those of `list`. Spec: server/resources#reading-resources.
  [[nodiscard]] virtual result<read_result> read(const read_request& request) = 0;

  /// Returns whether `children` is implemented. Constant. Default: false.
  [[nodiscard]] virtual bool has_folders() const noexcept;
  /// Returns the current entry of one resource, which need not be listed (a part of a file, for example). It must have a
  /// version if reads return one. Default: the listed entry. Errors: as `read`.
  [[nodiscard]] virtual result<resource> describe(const describe_request& request);
  /// Lists one page of the direct children of a folder, in segment order. Default: unsupported. Errors: resource_not_found,
  /// invalid_argument if the resource is not a folder, and those of `list`.
  /// Spec: the extension io.modelcontextprotocol/skills, #reading-directories.
  [[nodiscard]] virtual result<list_result> children(const children_request& request);
  /// Returns whether the provider has, or may later have, agent skills. If not, `skills` and `find_skill` are not called.
  /// Constant. Default: false.
  [[nodiscard]] virtual bool has_skills() const noexcept;
  /// Lists a page of skills. Default: none. Errors: as `list`.
  /// Spec: the extension io.modelcontextprotocol/skills, #listing-skills.
  [[nodiscard]] virtual result<skills_result> skills(const list_request& request);
  /// Returns one skill, which `skills` need not list. Default: resource_not_found.
  /// Errors: resource_not_found, and those of `list`. Spec: the extension io.modelcontextprotocol/skills, #getting-a-skill.
  [[nodiscard]] virtual result<skill> find_skill(const skill_request& request);
  /// Returns the URI templates. Constant. Default: none. Each must compile and start with one of `claims()`.
  [[nodiscard]] virtual std::vector<resource_template> templates() const;
  /// Returns whether templates change at run time. If so, the server calls `current_templates` instead of `templates`, and does
  /// not set `read_request::match`. Constant. Default: false.
  [[nodiscard]] virtual bool has_dynamic_templates() const noexcept;
  /// Returns the current templates. The server ignores those that do not compile, have no name, or do not start with one of
  /// `claims()`. Default: `templates`. Errors: as `list`.
  [[nodiscard]] virtual result<std::vector<resource_template>> current_templates(const request_context& request);
  /// Completes a template variable; `complete_from` can choose and rank values. Neither the values nor their number may reveal
  /// resources that the caller may not list. Default: unsupported; the server then collects the variable's values from the URIs
  /// of listed entries, up to 100 000 entries and 250 ms.
  /// Errors: unsupported, and those of `list`. Spec: server/utilities/completion.
  [[nodiscard]] virtual result<complete_result> complete(const complete_request& request);
  /// Calls `visitor` once for every item of the source, in any order. Items inside an excluded folder are left out. Default:
  /// every listed entry. Errors: as `list`.
  [[nodiscard]] virtual result<void> inventory(const request_context& request,
                                               const std::function<void(const inventory_item&)>& visitor);
  /// Sets the object to notify of changes; null: none. Called before the first list, and with null when the server removes this
  /// source. Must not block. Default: does nothing; the application must then call `server::notify_resource_updated` and
  /// `server::notify_resources_changed`.
  virtual void set_listener(std::shared_ptr<change_listener> listener);
  /// Called when the first client begins to watch `uri` (canonical, without a query), which need not exist. Until `unwatch`,
  /// the provider must notify the listener of every change. Must not block: start the work and return. Default: does nothing.
  virtual void watch(const std::string& uri);
  /// Called when the last client has stopped watching `uri`. Must not block. Default: does nothing.
  virtual void unwatch(const std::string& uri);
  /// Returns whether URIs with a query are watched separately. If so, `watch` and `unwatch` are also called for each watched
  /// URI with its query, and `content_changed` applies to exactly the URI that it names. Constant. Default: false.
  [[nodiscard]] virtual bool watches_parts() const noexcept;
  /// Called when the first client begins to watch the list. Until `unwatch_list`, the provider must notify the listener of
  /// every change of the list, even if no client has listed. Must not block. Default: does nothing.
  virtual void watch_list();
  /// Called when the last client has stopped watching the list. Must not block. Default: does nothing.
  virtual void unwatch_list();
  /// Returns true if no call ever waits for a disk, a network, or a lock that is held across either. Calls then run on threads
  /// that serve clients. Constant. Default: false.
  [[nodiscard]] virtual bool never_blocks() const noexcept;
  /// Returns how many calls may run at once, unless `source_limits::max_concurrency` is set. Default: 4.
  [[nodiscard]] virtual std::size_t max_concurrency() const noexcept;
  /// Returns what the provider needs from the system. Default: nothing.
  [[nodiscard]] virtual hondana::system_requirements requirements() const;
  /// Returns who masks secrets. Constant. Default: the server.
  [[nodiscard]] virtual hondana::secret_masking masking() const noexcept;
  /// Returns the provider's state. Must not block: it is called on threads that serve clients. Default: healthy.
  [[nodiscard]] virtual hondana::provider_health health() const;
};

}  // namespace hondana::inline v0

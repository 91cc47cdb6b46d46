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

/// An access filter: which resources a caller may list and read. All callers with equal decisions share one object. A caller
/// without one may access everything.
///
/// Threads: any. Every result must be a pure function of the arguments.
class access_filter {
 public:
  access_filter() = default;
  access_filter(const access_filter&) = delete;
  access_filter& operator=(const access_filter&) = delete;
  virtual ~access_filter() = default;
  /// Unique among live filters; part of the keys of cached answers.
  [[nodiscard]] virtual std::uint64_t id() const noexcept = 0;
  /// Whether a canonical URI may be listed, completed, subscribed to, and named in notifications.
  [[nodiscard]] virtual bool may_see(std::string_view uri) const = 0;
  /// Whether a canonical URI may be read. Default: `may_see`.
  [[nodiscard]] virtual bool may_read(std::string_view uri) const;
  /// Whether decisions also depend on entries, not only on URIs. If so, an entry may be seen or read only if both its URI and
  /// the entry allow it. Constant. Default: no.
  [[nodiscard]] virtual bool uses_entries() const noexcept;
  /// Whether the kind and annotations of an entry, and its URI, allow the caller to see it. Default: `may_see` of its URI.
  [[nodiscard]] virtual bool may_see_entry(const resource& entry) const;
  /// The same for reading. Default: `may_read` of its URI.
  [[nodiscard]] virtual bool may_read_entry(const resource& entry) const;
  /// Whether the caller may see some URI of the template, as far as this is known without expansion. If not, the template does
  /// not exist for the caller. Default: yes.
  [[nodiscard]] virtual bool may_see_any(const uri_template& pattern) const;
};

/// What a token or certificate proves about a caller.
struct auth_info {
  std::string client{};               ///< The program that sends the request, if the token names it (`client_id`, `azp`).
  std::vector<std::string> scopes{};  ///< The granted scopes.
  value claims{};                     ///< The claims of the token, or the introspection response: an object. Null: none.
};

/// The identity that a request is made for. Every call carries one.
struct caller_info {
  /// With an authenticator, the name that it returns. Otherwise "local" over stdio, and over a Unix socket for the server's own
  /// user; "uid:N" for other users of a Unix socket; "anonymous" everywhere else. Each session belongs to one identity.
  std::string identity;
  std::string address;  ///< The client's address, for rate limits and logs. Empty: none.
  /// Null: the caller may see and read everything.
  std::shared_ptr<const hondana::access_filter> access_filter;
  std::shared_ptr<const hondana::auth_info> auth_info{};  ///< Null: no token or certificate, or one without scopes.
};

/// Progress of a slow call. `done` must increase from report to report.
struct progress {
  double done = 0;
  std::optional<double> total;
  std::string message;
};

/// The trace that a call belongs to. Empty: none. Spec: W3C Trace Context 3.2 and 3.3, W3C Baggage.
struct trace_context {
  std::string traceparent{};  ///< Well-formed. Names the span of this call.
  std::string tracestate{};
  std::string baggage{};
};

/// What every call carries.
struct request_context {
  caller_info caller;
  /// When the client gets a timeout error in any case. A provider must return before it.
  std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();
  /// Requested when the client cancels the request or disconnects.
  std::stop_token stop;
  /// Reports progress; may be empty. Threads: any.
  std::function<void(const progress&)> report_progress;
  /// Ids of the mounts (mount.hpp) that the request came through, nearest first. A mount that finds its own id here rejects the
  /// call as circular. Clients can send any ids, so use them for nothing else.
  std::vector<std::string> mounts{};
  /// To be sent along with all requests that are made for this call.
  trace_context trace{};
};

/// A request for entries after a key, in segment order (`compare_by_segment`).
struct list_request : request_context {
  std::string after_key;    ///< Only entries after this key: a URI, or a result of `key_before`. Empty: from the start.
  std::size_t limit = 500;  ///< At most this many entries.
};

/// One page of entries.
struct list_result {
  std::vector<resource> entries;        ///< In segment order. May be short or even empty while `next_key` is set.
  std::optional<std::string> next_key;  ///< The `after_key` of the next page. nullopt: this is the last page.
  /// Holds while the page is unchanged. Null: unknown. Set it only if all callers with one access filter get the same page.
  std::shared_ptr<const cache_validator> validator{};
};

/// A template that matched, with its decoded variables.
struct template_match {
  std::string uri_template;
  uri_template_values variables;
};

/// A request to read one resource.
struct read_request : request_context {
  std::string uri;                      ///< Canonical.
  std::string requested_uri;            ///< As the client spelled it; repeated in the answer.
  std::optional<template_match> match;  ///< Set if one of the provider's templates matches `uri`.
  /// The version that the client already has. If it is current, a provider may return this version without contents.
  std::optional<std::string> cached_version;
  std::uint64_t max_bytes = 64ull << 20;  ///< Limit of content bytes, before base64.
};

/// A request for the entry of one resource.
struct describe_request : request_context {
  std::string uri;                      ///< Canonical.
  std::optional<template_match> match;  ///< As in `read_request`.
  std::string known_version;  ///< The version that a read returned. Empty: the provider determines it, if necessary by reading.
};

/// A request for completions of one template variable.
struct complete_request : request_context {
  std::string uri_template;
  std::string argument;
  std::string value;                                         ///< Typed so far.
  std::vector<std::pair<std::string, std::string>> context;  ///< Variables that the user has already chosen.

  /// The value chosen for `variable`. Empty: none.
  [[nodiscard]] std::string context_value(std::string_view variable) const;
};

/// Suggested values.
struct complete_result {
  std::vector<std::string> values;  ///< By relevance. At most 100 are sent.
  /// Number of all matching values. nullopt: unknown.
  std::optional<std::uint64_t> total;
  bool has_more = false;
};

/// A request for the direct children of a folder. `after_key` and `limit` are as in `list_request`.
struct children_request : request_context {
  std::string uri;  ///< Canonical. Without a trailing slash, unless the provider claims the URI with one.
  std::string after_key;
  std::size_t limit = 500;
};

/// One page of skills.
struct skills_result {
  std::vector<skill> skills;            ///< In segment order. May be short or even empty while `next_key` is set.
  std::optional<std::string> next_key;  ///< The `after_key` of the next page. nullopt: this is the last page.
};

/// A request for one skill.
struct skill_request : request_context {
  std::string uri;  ///< Canonical URI of its SKILL.md.
};

/// What a provider needs from the system, declared before the start. The sandbox permits the union of all requirements.
struct system_requirements {
  struct folder {
    std::string path;  ///< Absolute.
    bool is_writable = false;
  };
  std::vector<folder> folders;
  std::vector<std::string> sockets;   ///< Paths of Unix sockets, or host:port; "*:*": any.
  std::vector<std::string> programs;  ///< Absolute paths of child programs.
};

/// The documentation of a provider's URI scheme, which `hondana schemes` prints.
struct scheme_documentation {
  std::string scheme;   ///< "file"
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
  by_server,  ///< The server, in contents as the source returns them. For sources that return contents whole.
  by_source,  ///< The source, in the whole text, before it extracts the requested part.
  none,       ///< No component: secrets are sent as they are.
};

/// The state of a source.
struct provider_health {
  bool is_healthy = true;
  std::string detail;  ///< For people: what is being indexed, or what is wrong.
};

/// Receives changes from a source. Threads: any. Calls return without waiting for a client, and never call the provider back.
class change_listener {
 public:
  change_listener() = default;
  change_listener(const change_listener&) = delete;
  change_listener& operator=(const change_listener&) = delete;
  virtual ~change_listener() = default;

  /// Resources or templates were added, removed or renamed. Lists that start after this call must return the new state.
  virtual void list_changed() = 0;
  /// The content of `uri` (canonical) changed, or the resource was added or removed. A URI without a query stands for all parts
  /// of the resource. `title` may be empty. An unnecessary call costs each client one read; a missing call makes clients miss
  /// the change.
  virtual void content_changed(std::string_view uri, std::string_view title) = 0;
  /// As `content_changed`, for an alias: an additional URI of a resource, such as a link or an id. Access rules may allow the
  /// alias and hide its target. Callers with an access filter are therefore notified only after `describe` has succeeded with
  /// their filter. They are not notified when the alias is removed. Default: `content_changed`.
  virtual void alias_changed(std::string_view uri, std::string_view title);
};

/// An item of a source, and whether it is served.
struct inventory_item {
  std::string name;  ///< As in the entry. For an item that is not served, the name that it would have.
  std::string uri;   ///< Canonical. Empty for an item that is not served.
  bool is_served = false;
  /// Why the item is not served, with the name of the rule. For a served item an optional note, such as the reason for its
  /// priority.
  std::string reason;
};

/// One source of resources. Applications derive from this class.
///
/// Threads: calls block, and several run at once on a bounded thread pool of this provider, so a provider needs its own
/// synchronization. If `never_blocks()`, calls run on the calling thread. Lifetime: shared; an abandoned call can outlive the
/// shutdown of the server.
class provider {
 public:
  provider() = default;
  provider(const provider&) = delete;
  provider& operator=(const provider&) = delete;
  virtual ~provider() = default;

  /// The source's name in errors and logs, such as "files". Constant.
  [[nodiscard]] virtual std::string name() const = 0;
  /// The canonical URI prefixes that this provider serves (see `uri_covers`). Constant. `server::add` rejects an empty vector,
  /// and providers whose prefixes cover each other.
  [[nodiscard]] virtual std::vector<std::string> claims() const = 0;
  /// The documentation of its scheme. hondana's tests require it for each of its providers.
  [[nodiscard]] virtual scheme_documentation documentation() const = 0;

  /// Lists one page. Errors: source_unavailable, timed_out, cancelled. Spec: server/resources#listing-resources.
  [[nodiscard]] virtual result<list_result> list(const list_request& request) = 0;
  /// Reads one resource.
  ///
  /// Units: `request.max_bytes` counts content bytes, before base64.
  /// Errors: resource_not_found, access_denied, invalid_argument, response_too_large, content_changed, timed_out, cancelled.
  /// Spec: server/resources#reading-resources.
  [[nodiscard]] virtual result<read_result> read(const read_request& request) = 0;

  /// Whether `children` lists folders. Constant. Default: no.
  [[nodiscard]] virtual bool has_folders() const noexcept;
  /// The current entry of one resource, which need not be listed (a part of a file, for example). It must have a version if
  /// reads return one. Default: searches for it with `list`. Errors: as `read`.
  [[nodiscard]] virtual result<resource> describe(const describe_request& request);
  /// The direct children of a folder, in segment order. Default: unsupported. Errors: resource_not_found, invalid_argument if
  /// the resource is not a folder, and those of `list`.
  /// Spec: the extension io.modelcontextprotocol/skills, #reading-directories.
  [[nodiscard]] virtual result<list_result> children(const children_request& request);
  /// Whether the provider has, or may later have, agent skills. If not, the skill functions are not called. Constant. Default:
  /// no.
  [[nodiscard]] virtual bool has_skills() const noexcept;
  /// Lists a page of skills. Default: none. Errors: as `list`.
  /// Spec: the extension io.modelcontextprotocol/skills, #listing-skills.
  [[nodiscard]] virtual result<skills_result> skills(const list_request& request);
  /// The skill with this SKILL.md, which `skills` need not list. Default: resource_not_found.
  /// Errors: resource_not_found, and those of `list`. Spec: the extension io.modelcontextprotocol/skills, #getting-a-skill.
  [[nodiscard]] virtual result<skill> find_skill(const skill_request& request);
  /// URI templates. Constant. Default: none. Each must compile and start with one of `claims()`.
  [[nodiscard]] virtual std::vector<resource_template> templates() const;
  /// Whether templates are added and removed at run time. Constant. If so, the server calls `current_templates` instead of
  /// `templates`, and requests have no `template_match`. Default: no.
  [[nodiscard]] virtual bool has_dynamic_templates() const noexcept;
  /// The current templates. The server ignores templates that do not compile, have no name, or do not start with one of
  /// `claims()`. Errors: as `list`.
  [[nodiscard]] virtual result<std::vector<resource_template>> current_templates(const request_context& request);
  /// Completes a template variable; `complete_from` chooses and ranks values. Neither the values nor their number may reveal
  /// resources that the caller may not list. Default: unsupported. Then the server collects the variable's values from the URIs
  /// of listed entries: up to 100 000 entries, for up to 250 ms.
  /// Errors: unsupported, and those of `list`. Spec: server/utilities/completion.
  [[nodiscard]] virtual result<complete_result> complete(const complete_request& request);
  /// Calls `visitor` once for every item, in any order, to report whether it is served and why not. Items inside an excluded
  /// folder are not reported. Default: every listed entry. Errors: as `list`.
  [[nodiscard]] virtual result<void> inventory(const request_context& request,
                                               const std::function<void(const inventory_item&)>& visitor);
  /// Sets the receiver of changes; null: none. Called before the first list, and with null when the server removes this source.
  /// Must not block. Default: no changes are reported, and the application does it (`server::notify_resource_updated`,
  /// `server::notify_resources_changed`).
  virtual void set_listener(std::shared_ptr<change_listener> listener);
  /// A client begins to watch `uri` (canonical, without a query), which need not exist. The provider must report every later
  /// change, until `unwatch`. Called once for any number of clients. Must not block: start the work and return. Default: does
  /// nothing.
  virtual void watch(const std::string& uri);
  /// The last client has stopped watching `uri`. Must not block.
  virtual void unwatch(const std::string& uri);
  /// Whether URIs with a query are watched separately. If so, `watch` and `unwatch` are called for each watched URI with its
  /// query, and `content_changed` applies to exactly the URI that it names. Constant. Default: no.
  [[nodiscard]] virtual bool watches_parts() const noexcept;
  /// A client begins to watch the list. The provider must report every later change, until `unwatch_list`, even if no client
  /// has listed. Called once for any number of clients. Must not block. Default: does nothing.
  virtual void watch_list();
  /// The last client has stopped watching the list. Must not block.
  virtual void unwatch_list();
  /// True if no call ever waits for a disk, a network, or a lock that is held across either. Calls then run on the calling
  /// thread. Constant. Default: no.
  [[nodiscard]] virtual bool never_blocks() const noexcept;
  /// How many calls may run at once. Default: 4.
  [[nodiscard]] virtual std::size_t max_concurrency() const noexcept;
  /// What the provider needs from the system. Default: nothing.
  [[nodiscard]] virtual hondana::system_requirements requirements() const;
  /// Who masks secrets. Constant. Default: the server.
  [[nodiscard]] virtual hondana::secret_masking masking() const noexcept;
  /// The provider's state. Must not block: it is called on threads that serve other clients. Default: healthy.
  [[nodiscard]] virtual hondana::provider_health health() const;
};

}  // namespace hondana::inline v0

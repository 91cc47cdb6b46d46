/// The core of a provider: one source of resources, with blocking calls. Its optional parts are in capabilities.hpp.
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
#include <vector>

#include <hondana/error.hpp>
#include <hondana/resource.hpp>
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
  std::optional<value> claims{};      ///< The claims of the token, or the introspection response: an object.
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
  std::optional<template_match> match;  ///< Set if one of `template_source::templates` matches `uri`.
  /// The version that the client or the server's cache has. If it is current, a provider may return it without contents.
  std::optional<std::string> cached_version;
  std::uint64_t max_bytes = 64ull << 20;  ///< Limit of content bytes, before base64.
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

/// Constant properties of a provider, which the server reads once.
struct provider_traits {
  /// No call ever waits for a disk, a network, or a lock that is held across either. Calls then run on threads that serve
  /// clients.
  bool never_blocks = false;
  /// Limit of calls that run at once, unless `source_limits::max_concurrency` is set.
  std::size_t max_concurrency = 4;
  secret_masking masking = secret_masking::by_server;
};

/// One source of resources. Applications derive from this class, and from the interface of each capability that the source has
/// (capabilities.hpp), such as folders or completion. The server finds the capabilities once, when the provider is added.
///
/// Threads: calls may block. Several run at the same time on a thread pool of this provider, so it needs its own
/// synchronization. With `provider_traits::never_blocks`, calls run on threads that serve clients. Functions that must not
/// block say so. Lifetime: a call that does not return in time can outlive the server.
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

  /// Returns the constant properties. Default: those of a new `provider_traits`.
  [[nodiscard]] virtual provider_traits traits() const noexcept;
  /// Returns what the provider needs from the system. Default: nothing.
  [[nodiscard]] virtual hondana::system_requirements requirements() const;
};

}  // namespace hondana::inline v0

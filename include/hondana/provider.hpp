/// The contract of a provider: one source of resources behind blocking calls.
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

/// One distinct set of access decisions, shared by all callers with equal decisions. Null in a caller: sees everything.
///
/// Threads: any. Every answer must be a pure function of the arguments.
class view {
 public:
  view() = default;
  view(const view&) = delete;
  view& operator=(const view&) = delete;
  virtual ~view() = default;
  /// Unique among live views; names cached answers.
  [[nodiscard]] virtual std::uint64_t id() const noexcept = 0;
  /// Whether a canonical URI may be seen: listed, completed, subscribed to, told of.
  [[nodiscard]] virtual bool may_see(std::string_view uri) const = 0;
  /// Whether what is there may be read. Default: what may be seen.
  [[nodiscard]] virtual bool may_read(std::string_view uri) const;
  /// Whether entries decide, too, and not URIs alone: then `may_see` says whether the URI allows it, and an entry is seen or
  /// read when its URI and the entry allow it. Constant. Default: no.
  [[nodiscard]] virtual bool looks_at_entries() const noexcept;
  /// Whether kind and annotations of an entry allow it to be seen, its URI included. Default: `may_see` of its URI.
  [[nodiscard]] virtual bool may_see_entry(const resource& entry) const;
  /// The same for reading.
  [[nodiscard]] virtual bool may_read_entry(const resource& entry) const;
  /// Whether anything that the template can expand to may be seen, as far as that can be told without expanding it. A template
  /// of which nothing may be seen does not exist for the caller. Default: yes.
  [[nodiscard]] virtual bool may_see_some(const uri_template& of) const;
};

/// What a caller has proved by a token or a certificate.
struct proof {
  std::string client{};               ///< The program that asks, where the token names it (`client_id`, `azp`).
  std::vector<std::string> scopes{};  ///< What it may be used for, as granted.
  value claims{};                     ///< What the token or its introspection says, an object; null: nothing.
};

/// Who asks. Every call carries one.
struct caller {
  /// "local" over stdio; where nobody is asked "local" over a Unix socket for the server's own user, "uid:N" for others there,
  /// and else "anonymous"; where an authenticator is asked, as it says. Sessions belong to identities.
  std::string identity;
  std::string address;  ///< Peer address for the log; empty where there is none.
  std::shared_ptr<const hondana::view> view;
  std::shared_ptr<const hondana::proof> proof{};  ///< Null: nothing was proved, or it bears no scopes.
};

/// How far a slow call has come; `done` must grow from report to report.
struct progress {
  double done = 0;
  std::optional<double> total;
  std::string message;
};

/// Of which trace a call is a part; both empty: of none. Spec: W3C Trace Context 3.2 and 3.3, W3C Baggage.
struct trace_context {
  std::string traceparent{};  ///< Well-formed; names the span that this call is done in.
  std::string tracestate{};
  std::string baggage{};
};

/// What every call carries.
struct call {
  caller who;
  /// When the peer has been answered without us; a provider gives up before it.
  std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();
  /// Requested when the peer cancels or leaves.
  std::stop_token stop;
  /// Reports progress; may be empty. Threads: any.
  std::function<void(const progress&)> report;
  /// The mounts (mcp.hpp) that the request came through, by id, the nearest first: a mount that finds itself here would go in a
  /// circle. As the peer says, so nothing else may depend on it.
  std::vector<std::string> mounts{};
  /// To be passed on to whatever is asked for the sake of this call.
  trace_context trace{};
};

/// Asks for entries in segment order (`compare_by_segment`) after a key.
struct list_request : call {
  std::string after;        ///< Entries strictly after this key, a URI or made by `key_before`; empty: from the start.
  std::size_t limit = 500;  ///< At most this many.
};

struct list_result {
  std::vector<resource> entries;      ///< In segment order; may be short or even empty while `resume` is set.
  std::optional<std::string> resume;  ///< The `after` of the next page; absent at the end.
  /// That nothing of this has changed; null: not known. Only of what is the same for all callers with one view.
  std::shared_ptr<const validity> valid{};
};

/// A template that matched, with its decoded variables.
struct template_match {
  std::string uriTemplate;
  uri_template_values variables;
};

struct read_request : call {
  std::string uri;                      ///< Canonical.
  std::string asked_uri;                ///< As the client spelled it; repeated in the answer.
  std::optional<template_match> match;  ///< Set when one of the provider's templates matches `uri`.
  /// The version the caller has. When it is current a provider may answer with the version and without contents.
  std::optional<std::string> if_version;
  std::uint64_t max_bytes = 64ull << 20;  ///< Content bytes, before base64.
};

/// Asks for the entry of one resource.
struct describe_request : call {
  std::string uri;                      ///< Canonical.
  std::optional<template_match> match;  ///< As in `read_request`.
  std::string known_version;            ///< Of the resource, from a read; empty: it is to be found out, if need be by reading.
};

/// Asks for completions of one template variable.
struct complete_request : call {
  std::string uriTemplate;
  std::string argument;
  std::string value;                                         ///< Typed so far.
  std::vector<std::pair<std::string, std::string>> context;  ///< Variables already chosen.

  /// What has been chosen for `variable`; empty: nothing.
  [[nodiscard]] std::string chosen(std::string_view variable) const;
};

struct complete_result {
  std::vector<std::string> values;  ///< By relevance; at most 100 are sent.
  std::optional<std::uint64_t> total;
  bool has_more = false;
};

/// Asks for the direct children of a folder, as `list_request` does for all entries.
struct children_request : call {
  std::string uri;  ///< Canonical; without a trailing slash, except where the provider claims it with one.
  std::string after;
  std::size_t limit = 500;
};

struct skills_result {
  std::vector<skill> skills;          ///< In segment order; may be short or even empty while `resume` is set.
  std::optional<std::string> resume;  ///< The `after` of the next page; absent at the end.
};

/// Asks for one skill.
struct skill_request : call {
  std::string uri;  ///< Canonical, of its SKILL.md.
};

/// What a provider needs of the machine, declared before start; the sandbox is the union of all needs.
struct needs {
  struct folder {
    std::string path;  ///< Absolute.
    bool writable = false;
  };
  std::vector<folder> folders;
  std::vector<std::string> sockets;   ///< Unix socket paths or host:port; "*:*": any.
  std::vector<std::string> programs;  ///< Absolute paths of child programs.
};

/// A provider's URI scheme, documented; `hondana schemes` prints it.
struct scheme_documentation {
  std::string scheme;   ///< "file"
  std::string summary;  ///< One sentence.
  struct kind {
    std::string name;
    std::string meaning;
  };
  std::vector<kind> kinds;  ///< Every `resource::kind` it emits.
  struct form {
    std::string uri_template;
    std::string meaning;
  };
  std::vector<form> forms;  ///< Every URI form it answers.
};

/// Who masks secrets in what a source gives (docs/security-secrets.md).
enum class masking : std::uint8_t {
  by_server,  ///< The server, in contents as the source gives them: right for whatever gives them whole.
  by_source,  ///< The source, in the whole text, before it cuts what was asked for out of it.
  none,       ///< Nobody: it is wanted as it is.
};

/// How a source is doing.
struct health {
  bool ok = true;
  std::string detail;  ///< For people: what is being indexed, or what is wrong.
};

/// Hears what changes in a source. Threads: any; calls return without waiting for a peer, and never call the provider back.
class change_listener {
 public:
  change_listener() = default;
  change_listener(const change_listener&) = delete;
  change_listener& operator=(const change_listener&) = delete;
  virtual ~change_listener() = default;

  /// Resources or templates have come, gone or been renamed; whoever lists from now on is answered with what there is now.
  virtual void list_changed() = 0;
  /// What a read of `uri` (canonical) gives has changed, or it has come or gone. Without a query it stands for all parts of
  /// that resource. `title` may be empty. Said too often it costs a client a read, said too seldom a change.
  virtual void content_changed(std::string_view uri, std::string_view title) = 0;
  /// The same of a name for what has another one, too, such as a link or an id: rules may show `uri` and hide what it leads to.
  /// Whoever has a view is told only once `describe` has found it through that view, and so not that it has gone.
  /// Default: `content_changed`.
  virtual void alias_changed(std::string_view uri, std::string_view title);
};

/// One line of a survey: something a source has, and whether it is served.
struct survey_item {
  std::string name;  ///< As in the entry; for what is left out, the name it would have.
  std::string uri;   ///< Canonical; empty for what is left out.
  bool is_served = false;
  /// Why it is left out, naming the rule. Of what is served: what is to be said of it, such as why it has its priority; may be
  /// empty.
  std::string reason;
};

/// One source of resources.
///
/// Calls block, on a bounded pool of this provider, unless `never_blocks()`; several run at once, so a provider is
/// internally synchronised. It is shared: abandoned calls may outlive the server's shutdown.
class provider {
 public:
  provider() = default;
  provider(const provider&) = delete;
  provider& operator=(const provider&) = delete;
  virtual ~provider() = default;

  /// The source's name in errors and logs, e.g. "files". Constant.
  [[nodiscard]] virtual std::string name() const = 0;
  /// Canonical URI prefixes this provider serves (see `covers`). Constant. Two providers whose prefixes cover each other
  /// are refused at start. An empty vector claims exact URIs only through `list`, which is an error.
  [[nodiscard]] virtual std::vector<std::string> claims() const = 0;
  /// The documentation of its scheme; a provider without it fails the tests.
  [[nodiscard]] virtual scheme_documentation documentation() const = 0;

  /// Lists a page. Errors: source_unavailable, timed_out, cancelled. Spec: server/resources#listing-resources.
  [[nodiscard]] virtual result<list_result> list(const list_request& request) = 0;
  /// Reads one resource.
  ///
  /// Units: `request.max_bytes` counts content bytes, before base64.
  /// Errors: resource_not_found, access_denied, invalid_argument, response_too_large, content_changed, timed_out, cancelled.
  /// Spec: server/resources#reading-resources.
  [[nodiscard]] virtual result<reading> read(const read_request& request) = 0;

  /// Whether `children` lists folders. Constant. Default: no.
  [[nodiscard]] virtual bool lists_folders() const noexcept;
  /// The entry of one resource as it is now, also of one that is not listed, such as a part of a file. It has a version where
  /// reads have one. Default: looks for it with `list`. Errors: as `read`.
  [[nodiscard]] virtual result<resource> describe(const describe_request& request);
  /// Direct children of a folder in segment order. Default: unsupported.
  /// Errors: resource_not_found, invalid_argument for what is no folder, and those of `list`.
  /// Spec: the extension io.modelcontextprotocol/skills, #reading-directories.
  [[nodiscard]] virtual result<list_result> children(const children_request& request);
  /// Whether it has agent skills, or may have some one day; only then it is asked for them. Constant. Default: no.
  [[nodiscard]] virtual bool has_skills() const noexcept;
  /// Lists a page of skills. Default: none. Errors: as `list`.
  /// Spec: the extension io.modelcontextprotocol/skills, #listing-skills.
  [[nodiscard]] virtual result<skills_result> skills(const list_request& request);
  /// The skill whose SKILL.md this is, also one that `skills` does not list. Default: resource_not_found.
  /// Errors: resource_not_found, and those of `list`. Spec: the extension io.modelcontextprotocol/skills, #getting-a-skill.
  [[nodiscard]] virtual result<skill> find_skill(const skill_request& request);
  /// Templates; constant. Default: none. Each must compile and start with one of `claims()`.
  [[nodiscard]] virtual std::vector<resource_template> templates() const;
  /// Whether it has templates that come and go. Constant. Then `templates_now` is asked for them instead of `templates`, and
  /// requests carry no `template_match`. Default: no.
  [[nodiscard]] virtual bool templates_change() const noexcept;
  /// The templates now. Those that do not compile, have no name or do not start with one of `claims()` are left out. Errors: as
  /// `list`.
  [[nodiscard]] virtual result<std::vector<resource_template>> templates_now(const call& request);
  /// Completes a template variable; see `complete_from` for the usual way to choose and rank. Nothing that the caller may not
  /// list may show in the values or their number. Default: unsupported, and then the values are those that the variable has in
  /// the URIs of listed entries, as far as 100 000 of them and 250 ms go.
  /// Errors: unsupported, and those of `list`. Spec: server/utilities/completion.
  [[nodiscard]] virtual result<complete_result> complete(const complete_request& request);
  /// Goes through everything once, in no particular order, and says what is served and what is left out and why; what lies
  /// inside something left out is not mentioned. Default: every listed entry. Errors: as `list`.
  [[nodiscard]] virtual result<void> survey(const call& request, const std::function<void(const survey_item&)>& each);
  /// From now on changes are told to `to`; null: to nobody. Called before the first list, and with null when the server lets
  /// go of this source. Must not block. Default: nothing is ever told, and the application says what changes
  /// (`server::resource_updated`, `server::resources_changed`).
  virtual void watch(std::shared_ptr<change_listener> to);
  /// Some peer wants to hear when `uri` (canonical, without a query) changes; there may be nothing yet. Every change after this
  /// call is told, until `detach`. Called once for however many peers; must not block, so what it takes is done behind it.
  /// Default: nothing.
  virtual void attach(const std::string& uri);
  /// The last of them has gone.
  virtual void detach(const std::string& uri);
  /// Whether a URI with a query is watched by itself: `attach` and `detach` are then called for each spelling that peers watch,
  /// with its query, and `content_changed` tells of exactly the URI that it names, with a query or without. Constant. Default:
  /// no.
  [[nodiscard]] virtual bool tells_parts() const noexcept;
  /// Some peer can hear when the list changes. Every change after this call is told, until `detach_list`, whether or not
  /// anybody has listed. Called once for however many peers; must not block. Default: nothing.
  virtual void attach_list();
  /// The last of them has gone.
  virtual void detach_list();
  /// True when no call ever waits for a disk, a network or a lock held across either; calls then run inline.
  [[nodiscard]] virtual bool never_blocks() const noexcept;
  /// How many calls may block at once. Default: 4.
  [[nodiscard]] virtual std::size_t concurrency() const noexcept;
  /// Default: nothing.
  [[nodiscard]] virtual hondana::needs needs() const;
  /// Constant. Default: by the server.
  [[nodiscard]] virtual hondana::masking masking() const noexcept;
  /// Must not block: it is asked from threads that serve other peers. Default: ok.
  [[nodiscard]] virtual hondana::health health() const;
};

}  // namespace hondana::inline v0

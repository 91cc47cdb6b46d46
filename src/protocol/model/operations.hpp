/// Operations that clients request, answers of the server, and changes, independent of protocol revisions.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <hondana/input.hpp>
#include <hondana/prompt.hpp>
#include <hondana/provider.hpp>
#include <hondana/resource.hpp>
#include <hondana/tool.hpp>
#include <hondana/value.hpp>

namespace hondana::model {

/// A filter for lists of resources. An entry must match all conditions that are set. Without a value it does not match.
struct resource_filter {
  std::string uri_prefix{};    ///< Prefix of the canonical URI; need not end at a segment boundary.
  std::string uri_pattern{};   ///< Matches the whole canonical URI; see `ignore::glob::for_path`.
  std::string name_pattern{};  ///< Matches the whole name; see `ignore::glob::for_text`.
  std::string mime_type{};     ///< `type/subtype`, or `type/` for all its subtypes; in lower case, without parameters.
  std::string kind{};
  std::optional<chat_role> audience{};
  std::optional<double> min_priority{};
  std::optional<std::chrono::sys_time<std::chrono::milliseconds>> modified_since{};
  std::string text{};  ///< Words that must each occur in name, title, description or URI; case is ignored for ASCII letters.

  bool operator==(const resource_filter&) const = default;
};

/// A change that a source has reported, or a notification about it.
struct change {
  enum class change_kind {
    resources,  ///< The list of resources or templates.
    tools,      ///< The list of tools.
    prompts,    ///< The list of prompts.
    content,    ///< One resource.
    entry,      ///< One resource, for clients that want its new entry. Made from `content`, never reported by sources.
  };
  change_kind kind = change_kind::resources;
  std::string uri{};                          ///< Canonical; for `content` and `entry`.
  std::string title{};                        ///< Title of the resource, for clients that receive it; may be empty.
  std::shared_ptr<const resource> current{};  ///< For `entry` only: the current entry; null when the resource no longer exists.
  /// For `content` only: the change concerns exactly `uri` and not other parts of the resource, which are reported separately.
  bool is_exact = false;
  /// For `content` only: `uri` is an alias of the changed resource. Access rules may hide the resource from callers that see
  /// `uri`.
  bool is_alias = false;
};

/// A log message to clients that does not belong to a request.
struct log_message {
  log_level level = log_level::info;
  std::string logger{};  ///< The name of its author; may be empty.
  value data{};
};

/// The changes that a client subscribes to.
struct subscription_filter {
  bool tools = false;                  ///< Changes of the list of tools.
  bool prompts = false;                ///< Changes of the list of prompts.
  bool resources = false;              ///< Changes of the list of resources or templates.
  std::vector<std::string> uris{};     ///< Resources whose changes are sent; URIs as spelled by the client.
  std::vector<std::string> entries{};  ///< Resources whose changes are sent with their entries; URIs as spelled by the client.
};

/// A progress token or request id, chosen by the client.
using token = std::variant<std::int64_t, std::string>;

// Requests and notifications of clients. `cursor`: the `next_cursor` of the previous page; nullopt: the first page.

/// Opens a legacy session.
struct initialize {
  std::string revision;  ///< The requested revision.
  client_capabilities client;
  bool supports_versions = false;  ///< The client declares the versioned-resources extension.
};
/// The legacy client is ready.
struct initialized {};
/// Requests the server's description without a session.
struct discover {};
struct ping {};
struct list_resources {
  std::optional<std::string> cursor;
  std::optional<resource_filter> filter{};  ///< Versioned-resources extension.
};
struct list_templates {
  std::optional<std::string> cursor;
};
struct read_resource {
  std::string uri;            ///< Canonical.
  std::string requested_uri;  ///< As spelled by the client; canonical if that contains raw non-ASCII characters.
  std::optional<std::string> cached_version{};  ///< Versioned-resources extension: the version that the client has.
};
/// Versioned-resources extension: requests a resource with its entry.
struct get_resource {
  std::string uri;                            ///< Canonical.
  std::string requested_uri;                  ///< As in `read_resource`.
  std::optional<std::string> cached_version;  ///< The version that the client has.
};
/// Requests the direct children of a folder.
struct read_directory {
  std::string uri;            ///< Canonical.
  std::string requested_uri;  ///< As in `read_resource`.
  std::optional<std::string> cursor;
};
struct list_skills {
  std::optional<std::string> cursor;
};
struct get_skill {
  std::string uri;            ///< Canonical URI of the skill's SKILL.md.
  std::string requested_uri;  ///< As in `read_resource`.
};
/// Requests completions of a variable of a template or of an argument of a prompt.
struct complete {
  std::string template_uri;                                  ///< As spelled in `resources/templates/list`; empty for a prompt.
  std::string argument;                                      ///< The name of the variable or argument.
  std::string value;                                         ///< What the user has typed so far.
  std::vector<std::pair<std::string, std::string>> context;  ///< Other variables or arguments that already have a value.
  std::optional<std::string> prompt{};                       ///< The name of the prompt; nullopt for a template.
};
struct list_tools {
  std::optional<std::string> cursor;
};
struct list_prompts {
  std::optional<std::string> cursor;
};
/// What a client adds to a request that it repeats after the server has requested input.
struct input_round {
  value::object responses;                  ///< By the key of the server's request.
  std::optional<std::string> sealed_state;  ///< The state of the request as the server sent it (`seal::sealer::seal`).
};
struct call_tool {
  std::string name;
  value arguments;  ///< An object.
  input_round round;
};
struct get_prompt {
  std::string name;
  std::vector<std::pair<std::string, std::string>> arguments;
  input_round round;
};
/// Legacy: requests log messages of this level and above from now on.
struct set_log_level {
  log_level min_level;
};
/// Legacy: requests notifications when a resource changes, until `unsubscribe` or the end of the session.
struct subscribe {
  std::string uri;            ///< Canonical.
  std::string requested_uri;  ///< As spelled by the client; notifications repeat this spelling.
};
struct unsubscribe {
  std::string uri;  ///< Canonical.
};
/// Legacy, versioned-resources extension: subscribes to changes of these resources with their entries.
/// If one of the resources is rejected, the client is subscribed to none of them.
struct subscribe_entries {
  std::vector<std::string> uris;            ///< Canonical.
  std::vector<std::string> requested_uris;  ///< As spelled by the client, in the same order.
};
struct unsubscribe_entries {
  std::vector<std::string> uris;  ///< Canonical.
};
/// Stateless: opens a stream of changes, which lasts until it is cancelled.
struct listen {
  subscription_filter filter;
  std::vector<std::string> canonical_uris{};     ///< `subscription_filter::uris` in canonical form, in the same order.
  std::vector<std::string> canonical_entries{};  ///< `subscription_filter::entries` in canonical form, in the same order.
};
/// Cancels a request.
struct cancel {
  token id;
  std::string reason;
};
/// A notification without a meaning for a resource server (progress, changed roots): accepted and ignored.
struct no_operation {};

using operation =
    std::variant<initialize, initialized, discover, ping, list_resources, list_templates, read_resource, get_resource, complete,
                 subscribe, unsubscribe, subscribe_entries, unsubscribe_entries, listen, list_tools, call_tool, list_prompts,
                 get_prompt, set_log_level, read_directory, list_skills, get_skill, cancel, no_operation>;

/// An operation with data from the rest of its message.
struct request {
  model::operation operation;
  std::optional<token> progress_token;  ///< The client wants progress notifications with this token.
  std::optional<hondana::log_level>
      log_level;                      ///< Stateless: the client wants log messages about this request from this level on.
  client_capabilities client;         ///< Stateless: declared by the request. Legacy: declared by `initialize`.
  bool is_versioned = false;          ///< The client supports the versioned-resources extension.
  std::vector<std::string> mounts{};  ///< As `request_context::mounts`.
  trace_context trace{};              ///< From `_meta`, without malformed parts.
};

/// How long and for whom a client may cache an answer.
struct cache_hint {
  std::chrono::milliseconds ttl{0};
  bool is_private = false;  ///< Only for this caller, because others may get a different answer.

  bool operator==(const cache_hint&) const = default;
};

struct resource_page {
  std::vector<resource> resources;
  std::optional<std::string> next_cursor;
  cache_hint cache;
  std::shared_ptr<const cache_validator> validator{};  ///< Valid while the page is current; null: unknown.
};

/// The children of a folder. Clients must not cache it.
struct directory_page {
  std::vector<resource> resources;
  std::optional<std::string> next_cursor;
};

struct skill_page {
  std::vector<skill> skills;
  std::optional<std::string> next_cursor;
  cache_hint cache;
};

struct skill_answer {
  hondana::skill skill;
  cache_hint cache;
};

struct template_page {
  std::vector<resource_template> templates;
  std::optional<std::string> next_cursor;
  cache_hint cache;
  std::shared_ptr<const cache_validator> validator{};  ///< As in `resource_page`.
};

struct tool_page {
  std::vector<std::shared_ptr<const tool>> tools;
  std::optional<std::string> next_cursor;
  cache_hint cache;
};

struct prompt_page {
  std::vector<std::shared_ptr<const prompt>> prompts;
  std::optional<std::string> next_cursor;
  cache_hint cache;
};

/// An argument of a tool that HTTP requests repeat in a header `Mcp-Param-<name>`.
struct mirrored_argument {
  std::vector<std::string> path;  ///< Member names from the arguments down to the value.
  std::string header;             ///< The name after `Mcp-Param-`, as the tool declares it.
  bool is_integer = false;        ///< Compared as a number.
};

/// The value at `path` in the arguments of a call; null if it is absent or a JSON null.
[[nodiscard]] const value* find_argument(const value& arguments, const std::vector<std::string>& path) noexcept;

/// How a server describes itself and what it offers.
struct server_info {
  std::string name;
  std::string version;
  std::string title;
  std::string instructions;
  bool has_completions = false;
  bool has_subscriptions = false;    ///< Clients can subscribe to changes of single resources.
  bool announces_resources = false;  ///< Clients are notified of changes of the list of resources.
  bool has_tools = false;
  bool has_prompts = false;
  bool has_logging = false;
  bool announces_tools = false;    ///< Clients are notified of changes of the list of tools.
  bool announces_prompts = false;  ///< Clients are notified of changes of the list of prompts.
  bool has_skills = false;         ///< At least one source has agent skills, or may have some.
  bool lists_folders = false;      ///< At least one source lists the children of folders.

  bool operator==(const server_info&) const = default;
};

}  // namespace hondana::model

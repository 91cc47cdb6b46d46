/// Operations of clients, answers of the catalog, and changes, independent of protocol revisions.
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

/// A filter for lists. All conditions that are set must match. A condition on a value that an entry lacks never matches.
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

/// A change. Sources report it, and the change feed forwards it.
struct change {
  enum class change_kind {
    resources,  ///< The list of resources or templates.
    tools,      ///< The list of tools.
    prompts,    ///< The list of prompts.
    content,    ///< One resource.
    entry,      ///< One resource, for clients that subscribed to entries. Derived from `content`, never reported by sources.
  };
  change_kind kind = change_kind::resources;
  std::string uri{};                          ///< Canonical; for `content` and `entry`.
  std::string title{};                        ///< Title of the resource, for clients that receive it; may be empty.
  std::shared_ptr<const resource> current{};  ///< For `entry` only: the current entry; null when the resource no longer exists.
  /// For `content` only: parts of the resource are reported separately, so this change concerns exactly `uri`.
  bool is_exact = false;
  /// For `content` only: `uri` is an alias of the changed resource. Access rules may hide the resource from callers that see
  /// `uri`.
  bool is_alias = false;
};

/// A log message to clients that does not belong to a request.
struct log_message {
  log_level level = log_level::info;
  std::string logger{};  ///< May be empty.
  value data{};
};

/// The changes that a client subscribes to.
struct subscription_filter {
  bool tools = false;
  bool prompts = false;
  bool resources = false;
  std::vector<std::string> uris{};     ///< As spelled by the client.
  std::vector<std::string> entries{};  ///< Resources whose changes are sent with their entries.
};

/// A progress token or request id, chosen by the client.
using token = std::variant<std::int64_t, std::string>;

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
  std::string uri;
  std::string requested_uri;
  std::optional<std::string> cached_version;
};
/// Requests the direct children of a folder.
struct read_directory {
  std::string uri;            ///< Canonical.
  std::string requested_uri;  ///< As spelled by the client.
  std::optional<std::string> cursor;
};
struct list_skills {
  std::optional<std::string> cursor;
};
struct get_skill {
  std::string uri;            ///< Canonical URI of the skill's SKILL.md.
  std::string requested_uri;  ///< As spelled by the client.
};
struct complete {
  std::string template_uri;  ///< As spelled in `resources/templates/list`; empty for an argument of a prompt.
  std::string argument;
  std::string value;
  std::vector<std::pair<std::string, std::string>> context;
  std::optional<std::string> prompt{};  ///< The name of the prompt, if its argument is to be completed.
};
struct list_tools {
  std::optional<std::string> cursor;
};
struct list_prompts {
  std::optional<std::string> cursor;
};
/// What a client sends when it repeats a request after the server has asked it for input.
struct input_round {
  value::object responses;
  std::optional<std::string> sealed_state;
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
/// Requests log messages of this level and above from now on.
struct set_log_level {
  log_level min_level;
};
/// Requests notifications when a resource changes, until `unsubscribe` or the end of the session.
struct subscribe {
  std::string uri;            ///< Canonical.
  std::string requested_uri;  ///< As spelled by the client; notifications repeat this spelling.
};
struct unsubscribe {
  std::string uri;
};
/// Versioned-resources extension: subscribes to changes of all these resources with their entries, or to none of them.
struct subscribe_entries {
  std::vector<std::string> uris;            ///< Canonical.
  std::vector<std::string> requested_uris;  ///< As spelled by the client, in the same order.
};
struct unsubscribe_entries {
  std::vector<std::string> uris;
};
/// Opens a stream of changes, which lasts until it is cancelled.
struct listen {
  subscription_filter filter;                    ///< `uris` are as spelled by the client.
  std::vector<std::string> canonical_uris{};     ///< The same in canonical form, in the same order.
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

/// An operation with the data of its envelope.
struct request {
  model::operation operation;
  std::optional<token> progress_token;
  std::optional<hondana::log_level> log_level;  ///< Stateless: log messages about this request are wanted, from this level on.
  client_capabilities client;                   ///< Stateless: declared by the request. Legacy: declared by `initialize`.
  bool is_versioned = false;                    ///< The client supports the versioned-resources extension.
  std::vector<std::string> mounts{};            ///< See `request_context::mounts`.
  trace_context trace{};                        ///< From `_meta`, without malformed parts.
};

/// How long and for whom an answer may be cached.
struct cache_hint {
  std::chrono::milliseconds ttl{0};
  bool is_private = false;  ///< Other callers may get a different answer.

  bool operator==(const cache_hint&) const = default;
};

struct resource_page {
  std::vector<resource> resources;
  std::optional<std::string> next_cursor;
  cache_hint cache;
  std::shared_ptr<const cache_validator> validator{};  ///< Covers everything that the page is made from; null: unknown.
};

/// The children of a folder. Must not be cached.
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
  std::string header;             ///< The name after `Mcp-Param-`, as declared.
  bool is_integer = false;
};

/// The value at `path` in the arguments of a call; null when it is absent or a JSON null.
[[nodiscard]] const value* find_argument(const value& arguments, const std::vector<std::string>& path) noexcept;

/// How a server describes itself.
struct server_info {
  std::string name;
  std::string version;
  std::string title;
  std::string instructions;
  bool has_completions = false;
  bool has_subscriptions = false;    ///< Changes of single resources are sent to clients that subscribed to them.
  bool announces_resources = false;  ///< Changes of the list of resources are announced.
  bool has_tools = false;
  bool has_prompts = false;
  bool has_logging = false;
  bool announces_tools = false;    ///< Changes of the list of tools are announced.
  bool announces_prompts = false;  ///< Changes of the list of prompts are announced.
  bool has_skills = false;         ///< At least one source has agent skills, or may have some.
  bool lists_folders = false;      ///< At least one source lists the children of folders.

  bool operator==(const server_info&) const = default;
};

}  // namespace hondana::model

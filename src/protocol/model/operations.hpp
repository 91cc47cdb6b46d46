/// Operations of peers, answers of the catalog, and changes, free of any protocol revision.
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

/// All that is set must hold of an entry. What an entry does not state never holds of it.
struct resource_filter {
  std::string uri_prefix{};    ///< The canonical URI starts with these characters, be they whole segments or not.
  std::string uri_pattern{};   ///< Matches the whole canonical URI; see `ignore::glob::for_path`.
  std::string name_pattern{};  ///< Matches the whole name; see `ignore::glob::for_text`.
  std::string mime_type{};     ///< `type/subtype`, or `type/` for all of a type; in lower case, without parameters.
  std::string kind{};
  std::optional<role> audience{};
  std::optional<double> min_priority{};
  std::optional<std::chrono::sys_time<std::chrono::milliseconds>> modified_since{};
  std::string text{};  ///< Words, each somewhere in name, title, description or URI; ASCII letters match in either case.

  bool operator==(const resource_filter&) const = default;
};

/// One thing that happened; sources report it, the feed passes it on.
struct change {
  enum class what {
    resources,  ///< The list of resources or templates.
    tools,      ///< The list of tools.
    prompts,    ///< The list of prompts.
    content,    ///< One resource.
    entry,      ///< The same, told with its entry to whoever wants that; made of `content`, never reported.
  };
  what kind = what::resources;
  std::string uri{};                      ///< Canonical; of `content` only.
  std::string title{};                    ///< Of that resource, for peers that are shown it; may be empty.
  std::shared_ptr<const resource> now{};  ///< Of `entry` only: as it is now; null when it is not there any more.
  /// Of `content` only: parts of the resource are told of by themselves, and this is of what `uri` names alone.
  bool is_exact = false;
  /// Of `content` only: `uri` is another name of what changed, which rules may hide from who may see `uri`.
  bool is_alias = false;
};

/// A message to whoever listens, about no request.
struct log_message {
  log_level level = log_level::info;
  std::string logger{};  ///< May be empty.
  value data{};
};

/// Which changes somebody wants to hear of.
struct interests {
  bool tools = false;
  bool prompts = false;
  bool resources = false;
  std::vector<std::string> uris{};     ///< As the peer spelled them.
  std::vector<std::string> entries{};  ///< Resources whose entries are to be told.
};

/// A progress token or request id as peers choose them.
using token = std::variant<std::int64_t, std::string>;

/// Opens a legacy session.
struct initialize {
  std::string revision;  ///< As asked for.
  client_abilities client;
  bool knows_versions = false;  ///< It declares the versioned dialect.
};
/// The legacy peer is ready.
struct initialized {};
/// Asks what the server is, without a session.
struct discover {};
struct ping {};
struct list_resources {
  std::optional<std::string> cursor;
  std::optional<resource_filter> filter{};  ///< Versioned dialect.
};
struct list_templates {
  std::optional<std::string> cursor;
};
struct read_resource {
  std::string uri;                          ///< Canonical.
  std::string asked_uri;                    ///< As spelled by the peer; canonical where that has raw non-ASCII.
  std::optional<std::string> if_version{};  ///< Versioned dialect: the version the peer has.
};
/// Versioned dialect: a resource with its entry.
struct get_resource {
  std::string uri;
  std::string asked_uri;
  std::optional<std::string> if_version;
};
/// Asks for the direct children of a folder.
struct read_directory {
  std::string uri;        ///< Canonical.
  std::string asked_uri;  ///< As spelled by the peer.
  std::optional<std::string> cursor;
};
struct list_skills {
  std::optional<std::string> cursor;
};
struct get_skill {
  std::string uri;        ///< Canonical, of the skill's SKILL.md.
  std::string asked_uri;  ///< As spelled by the peer.
};
struct complete {
  std::string template_uri;  ///< As spelled in `resources/templates/list`; empty when it is about a prompt.
  std::string argument;
  std::string value;
  std::vector<std::pair<std::string, std::string>> context;
  std::optional<std::string> prompt{};  ///< The prompt's name, when it is about one of its arguments.
};
struct list_tools {
  std::optional<std::string> cursor;
};
struct list_prompts {
  std::optional<std::string> cursor;
};
/// What a peer sends along when it asks again after it was asked for input.
struct input_round {
  value::object answers;
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
/// From now on, messages of this level and above.
struct set_log_level {
  log_level least;
};
/// Asks to be told when a resource changes, until `unsubscribe` or the end of the session.
struct subscribe {
  std::string uri;        ///< Canonical.
  std::string asked_uri;  ///< As spelled by the peer; what it is told of repeats it.
};
struct unsubscribe {
  std::string uri;
};
/// Versioned dialect: asks to be told the entries of all these when they change, or of none.
struct subscribe_entries {
  std::vector<std::string> uris;        ///< Canonical.
  std::vector<std::string> asked_uris;  ///< As spelled by the peer, in the same order.
};
struct unsubscribe_entries {
  std::vector<std::string> uris;
};
/// Opens a stream of changes, which lasts until it is cancelled.
struct listen {
  interests wanted;                              ///< `uris` are as spelled by the peer,
  std::vector<std::string> canonical_uris{};     ///< and canonical, in the same order.
  std::vector<std::string> canonical_entries{};  ///< The same of `interests::entries`.
};
/// Withdraws a request.
struct cancel {
  token id;
  std::string reason;
};
/// A notification that means nothing to a resource server (progress of nothing, roots changed): accepted and dropped.
struct no_operation {};

using operation =
    std::variant<initialize, initialized, discover, ping, list_resources, list_templates, read_resource, get_resource, complete,
                 subscribe, unsubscribe, subscribe_entries, unsubscribe_entries, listen, list_tools, call_tool, list_prompts,
                 get_prompt, set_log_level, read_directory, list_skills, get_skill, cancel, no_operation>;

/// An operation with what its envelope said about it.
struct request {
  model::operation operation;
  std::optional<token> progress_token;
  std::optional<hondana::log_level> log_level;  ///< Modern: messages about this request are wanted, from this level on.
  client_abilities client;                      ///< Modern: what the request declares. Legacy peers declared it before.
  bool is_versioned = false;                    ///< From a peer that knows the versioned dialect.
  std::vector<std::string> mounts{};            ///< See `call::mounts`.
  trace_context trace{};                        ///< Of `_meta`; what is malformed there is left out.
};

/// For how long and for whom an answer may be kept.
struct cache_hint {
  std::chrono::milliseconds ttl{0};
  bool is_private = false;  ///< Others may be told something else.

  bool operator==(const cache_hint&) const = default;
};

struct resource_page {
  std::vector<resource> resources;
  std::optional<std::string> next_cursor;
  cache_hint cache;
  std::shared_ptr<const validity> valid{};  ///< Of all that it is made from; null: not known.
};

/// Children of a folder; nobody may keep it.
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
  std::shared_ptr<const validity> valid{};  ///< As of a page of resources.
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
  std::vector<std::string> path;  ///< Members from the arguments down to it.
  std::string header;             ///< Behind `Mcp-Param-`, as declared.
  bool is_integer = false;
};

/// What stands there among a call's arguments; null when there is nothing, or a null.
[[nodiscard]] const value* argument_at(const value& arguments, const std::vector<std::string>& path) noexcept;

/// What a server says of itself.
struct self_description {
  std::string name;
  std::string version;
  std::string title;
  std::string instructions;
  bool has_completions = false;
  bool has_subscriptions = false;    ///< Changes of single resources are announced to whoever asked.
  bool announces_resources = false;  ///< Changes of the list of resources are announced.
  bool has_tools = false;
  bool has_prompts = false;
  bool has_logging = false;
  bool announces_tools = false;    ///< Changes of the list of tools are announced;
  bool announces_prompts = false;  ///< and of that of prompts.
  bool has_skills = false;         ///< Some source has agent skills, or may have.
  bool lists_folders = false;      ///< Some source lists the children of folders.

  bool operator==(const self_description&) const = default;
};

}  // namespace hondana::model

/// What a peer asks for, free of any protocol revision.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <hondana/input.hpp>
#include <hondana/provider.hpp>
#include <hondana/value.hpp>

#include "protocol/model/change.hpp"
#include "protocol/model/filter.hpp"

namespace hondana::model {

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

}  // namespace hondana::model

/// What a peer asks for, free of any protocol revision.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace hondana::model {

/// A progress token or request id as peers choose them.
using token = std::variant<std::int64_t, std::string>;

/// Opens a legacy session.
struct initialize {
  std::string revision;  ///< As asked for.
};
/// The legacy peer is ready.
struct initialized {};
/// Asks what the server is, without a session.
struct discover {};
struct ping {};
struct list_resources {
  std::optional<std::string> cursor;
};
struct list_templates {
  std::optional<std::string> cursor;
};
struct read_resource {
  std::string uri;        ///< Canonical.
  std::string asked_uri;  ///< As spelled by the peer; canonical where that has raw non-ASCII.
};
struct complete {
  std::string template_uri;  ///< As spelled in `resources/templates/list`.
  std::string argument;
  std::string value;
  std::vector<std::pair<std::string, std::string>> context;
};
/// Withdraws a request.
struct cancel {
  token id;
  std::string reason;
};
/// A notification that means nothing to a resource server (progress of nothing, roots changed): accepted and dropped.
struct no_operation {};

using operation = std::variant<initialize, initialized, discover, ping, list_resources, list_templates, read_resource, complete,
                               cancel, no_operation>;

/// An operation with what its envelope said about it.
struct request {
  model::operation operation;
  std::optional<token> progress_token;
};

}  // namespace hondana::model

/// Asking clients for input: what they declare, what is asked, what they send back.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/input.hpp>

#include "base/json/reader.hpp"
#include "base/json/writer.hpp"
#include "protocol/model/operation.hpp"
#include "protocol/wire/entries.hpp"

namespace hondana::wire {

/// What a `capabilities` object of a client declares; members of other types are taken as not declared.
[[nodiscard]] json::decoded<client_abilities> abilities_of(const json::object& capabilities);

/// `inputResponses` and `requestState`, when a request has them. Errors: members of other types.
[[nodiscard]] json::decoded<model::input_round> round_of(const json::object& params);

/// Which requests a revision can carry.
struct input_members {
  bool forms = false;
  bool links = false;
  bool modes = false;     ///< Forms say that they are forms.
  bool link_ids = false;  ///< `elicitationId` of links.
  bool sampling_tools = false;
  entry_members entries;
};

/// Whether the revision has such a request at all.
[[nodiscard]] bool has_request(const input_request& what, const input_members& members);
/// `"method":...,"params":{...}`, without braces.
void write(json::writer& to, const input_request& what, const input_members& members);
/// A `ClientCapabilities` object with what `requests` need and `client` lacks; empty when nothing is lacking.
[[nodiscard]] std::string lacking(const std::vector<std::pair<std::string, input_request>>& requests,
                                  const client_abilities& client);

}  // namespace hondana::wire

/// The methods of the stateless era, and what every request declares.
#include "protocol/wire/modern/requests.hpp"

#include <array>
#include <optional>
#include <utility>

#include "protocol/wire/inputs.hpp"
#include "protocol/wire/logging.hpp"
#include "protocol/wire/modern/codec.hpp"
#include "protocol/wire/modern/headers.hpp"
#include "protocol/wire/modern/listen.hpp"
#include "protocol/wire/names.hpp"
#include "protocol/wire/params.hpp"
#include "protocol/wire/prompts.hpp"
#include "protocol/wire/refusals.hpp"
#include "protocol/wire/skills/skills.hpp"
#include "protocol/wire/tools.hpp"
#include "protocol/wire/versioned/dialect.hpp"

namespace hondana::wire::modern {
namespace {

using decoder = decoded<model::operation> (*)(std::string_view method, const json::object& params);

decoded<model::operation> decode_discover(std::string_view, const json::object&) { return model::operation{model::discover{}}; }

struct method {
  std::string_view name;
  decoder decode;
};

constexpr std::array methods{
    method{"server/discover", decode_discover},     method{"resources/list", versioned::decode_list},
    method{"resources/get", versioned::decode_get}, method{"resources/templates/list", decode_list_templates},
    method{"resources/read", decode_read},          method{"completion/complete", decode_complete},
    method{"subscriptions/listen", decode_listen},  method{"tools/list", decode_list_tools},
    method{"tools/call", decode_call_tool},         method{"prompts/list", decode_list_prompts},
    method{"prompts/get", decode_get_prompt},       method{"resources/directory/read", skills::decode_read_directory},
    method{"skills/list", skills::decode_list},     method{"skills/get", skills::decode_get},
};

/// What a request says of its client.
struct declarations {
  client_abilities client;
  std::optional<log_level> least;
  bool knows_versions = false;
};

/// The request's own declarations. A request without them is malformed, and on HTTP a bad request.
json::decoded<declarations> declared_by(const json::object& params) {
  const auto meta = params.get_object("_meta");
  if (!meta) {
    // Most likely a client of the other era without its handshake, or a person at a terminal.
    auto why = meta.error();
    why.what +=
        "; declare " + std::string(revision_key) + " and " + std::string(capabilities_key) + " in it, or open with initialize";
    return tl::unexpected(std::move(why));
  }
  HONDANA_TRY(meta->get_string(revision_key));
  HONDANA_TRY(const auto capabilities, meta->get_object(capabilities_key));
  HONDANA_TRY(const auto client, meta->find_object(client_key));
  if (client) {
    HONDANA_TRY(check_implementation(*client));
  }
  HONDANA_TRY(const auto can, abilities_of(capabilities));
  HONDANA_TRY(const auto level, wanted_level(*meta));
  return declarations{can, level, versioned::is_declared_by(capabilities)};
}

protocol_error bad_request(protocol_error error) {
  error.http_status = 400;
  return error;
}

}  // namespace

protocol_error unknown(std::string_view method) {
  auto error = method_not_found(method, this_revision);
  error.http_status = 404;
  return error;
}

decoded<model::request> decode_request(const rpc::request& from, const rpc::facts& facts) {
  const auto declared = declared_by(from.params);
  if (!declared) return tl::unexpected(bad_request(invalid_params(from.method, declared.error())));
  if (facts.http) {
    if (auto mismatch = header_mismatch(from, this_revision, *facts.http)) return tl::unexpected(std::move(*mismatch));
  }
  for (const auto& known : methods) {
    if (known.name != from.method) continue;
    HONDANA_TRY(auto operation, known.decode(from.method, from.params));
    const bool is_versioned = declared->knows_versions || versioned::is_shaped(operation);
    if (is_versioned) {
      const auto taken = versioned::take_version(from.params, operation);
      if (!taken) return tl::unexpected(invalid_params(from.method, taken.error()));
    }
    auto token = progress_token(from.params);
    if (!token) return tl::unexpected(invalid_params(from.method, token.error()));
    auto mounts = mounts_of(from.params);
    if (!mounts) return tl::unexpected(invalid_params(from.method, mounts.error()));
    return model::request{std::move(operation), std::move(*token),  declared->least,      declared->client,
                          is_versioned,         std::move(*mounts), trace_of(from.params)};
  }
  return tl::unexpected(unknown(from.method));
}

json::decoded<std::optional<std::string_view>> declared_revision(const json::object& params) {
  HONDANA_TRY(const auto meta, params.find_object("_meta"));
  if (!meta) return std::optional<std::string_view>{};
  return meta->find_string(revision_key);
}

}  // namespace hondana::wire::modern

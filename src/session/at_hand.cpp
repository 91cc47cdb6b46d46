/// From the cache of readings into the answer.
#include "session/at_hand.hpp"

#include <exception>
#include <string>
#include <utility>
#include <variant>

#include "session/pending.hpp"
#include "session/session.hpp"
#include "wire/refusals.hpp"

namespace hondana::session {

std::optional<rpc::delivery> answer_at_hand(const context& with, const caller& who, const model::operation& what,
                                            const rpc::request_id& id, const wire::codec& codec) {
  const auto* read = std::get_if<model::read_resource>(&what);
  if (read == nullptr) return std::nullopt;
  try {
    auto found = with.catalog->read_at_hand(who, read->uri, read->asked_uri, {read->if_version, false});
    if (!found) return std::nullopt;
    if (found->is_unmodified) return refusal(id, codec.encode_unmodified(read->asked_uri, found->reading.version), codec);
    auto encoded = codec.encode(std::move(found->reading), found->home, found->cache, with.self);
    return rpc::delivery{200, wire::wrap_result(id, std::move(encoded))};
  } catch (const std::exception& error) {
    if (with.log) with.log(std::string("a read could not be answered: ") + error.what());
    return refusal(id, wire::internal_error(), codec);
  }
}

}  // namespace hondana::session

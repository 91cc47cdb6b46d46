/// From the cache of readings into the answer.
#include "server/session/at_hand.hpp"

#include <exception>
#include <string>
#include <utility>
#include <variant>

#include "protocol/wire/refusals.hpp"
#include "server/session/pending.hpp"
#include "server/session/session.hpp"

namespace hondana::session {
namespace {

/// Encodes what is at hand, or sends again what was written for the same reading. That has all that the encoder looks at: the
/// reading, the hint, and what the server says of itself; the codec is that of the request.
rpc::delivery encoded(const context& with, const catalog::held_answer& found, const rpc::request_id& id,
                      const wire::codec& codec, const known_requests::found& known) {
  if (known && known->answer) {
    const auto& before = *known->answer;
    if (before.of == found.reading && before.cache == found.cache && before.by == with.self) {
      return {200, wire::wrap_result(id, std::string_view(before.text))};
    }
  }
  auto result = codec.encode(*found.reading, found.home, found.cache, with.self);
  if (!known || !result.is_whole() || result.bytes_held() > known_requests::longest_result) {
    return {200, wire::wrap_result(id, std::move(result))};
  }
  written_result made{found.reading, found.cache, with.self, result.take_text()};
  rpc::delivery out{200, wire::wrap_result(id, std::string_view(made.text))};
  with.known->keep_answer(known, std::move(made));
  return out;
}

}  // namespace

std::optional<rpc::delivery> answer_at_hand(const context& with, const caller& who, const model::operation& what,
                                            const rpc::request_id& id, const wire::codec& codec,
                                            const known_requests::found& known) {
  const auto* read = std::get_if<model::read_resource>(&what);
  if (read == nullptr) return std::nullopt;
  try {
    const auto found = with.catalog->read_at_hand(who, read->uri, read->asked_uri);
    if (!found) return std::nullopt;
    if (read->if_version && *read->if_version == found->reading->version) {
      return refusal(id, codec.encode_unmodified(read->asked_uri, found->reading->version), codec);
    }
    return encoded(with, *found, id, codec, known);
  } catch (const std::exception& error) {
    if (with.log) with.log(std::string("a read could not be answered: ") + error.what());
    return refusal(id, wire::internal_error(), codec);
  }
}

/// Everything that decides whether there may be an answer, and the record of it, has been done before. Nothing can come between
/// now and the answer, so that nobody can cancel it, and no deadline passes.
std::optional<rpc::delivery> page_at_hand(const page_key& wanted, const context& with, const rpc::request_id& id) {
  const auto page = with.pages->find(wanted);
  if (!page) return std::nullopt;
  return rpc::delivery{200, wire::wrap_result(id, std::string_view(*page))};
}

}  // namespace hondana::session

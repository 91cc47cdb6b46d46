/// Answers that are ready: sent in the call that takes the request, without the table of requests under way.
#include <utility>

#include "session/incoming.hpp"
#include "session/kept_pages.hpp"
#include "session/pending.hpp"
#include "session/session.hpp"
#include "wire/refusals.hpp"

namespace hondana::session {

/// Everything that decides whether there may be an answer, and the record of it, has been done before. Nothing can come between
/// now and the answer, so that nobody can cancel it, and no deadline passes.
bool session::answer_with_page(const page_key& wanted, const context& with, const rpc::request_id& id, const wire::codec& codec,
                               const std::shared_ptr<ending>& end, const incoming& from) {
  // What cannot be registered is refused as ever.
  if (!requests_->has_room_for(id, with.requests_under_way)) return false;
  const auto page = with.pages->find(wanted);
  if (!page) return false;
  if (conversation_.settled != nullptr) is_asked_by(from.facts.who);
  rpc::delivery said{200, wire::wrap_result(id, *page)};
  if (!from.answers->admit(said)) said = refusal(id, wire::too_much_for_a_batch(exchange::most_bytes), codec);
  if (end) end->follow(said);
  from.answer(std::move(said));
  return true;
}

}  // namespace hondana::session

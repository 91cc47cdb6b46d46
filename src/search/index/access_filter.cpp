/// Access checks for indexed documents.
#include "search/index/access_filter.hpp"

#include <chrono>

#include <hondana/clock.hpp>

namespace hondana::search {
namespace {

bool is_open_but_for_making(document_filter which) {
  which.made.reset();
  return which.is_open();
}

}  // namespace

bool sees_everything(const call& by, const tools::surroundings& in) { return in.gate->view_of(by.who) == nullptr; }

failure unreadable(failure why) {
  if (why.code != errc::source_unavailable && why.code != errc::internal) return why;
  auto words = why.private_text.empty() ? std::move(why.public_text) : why.public_text + ": " + why.private_text;
  return {errc::source_unavailable, "The search index cannot be read now. Retry later. The server's log has the reason.",
          std::move(words)};
}

completeness completeness_for(const call& by, const tools::surroundings& in, const ground& of) {
  if (sees_everything(by, in)) {
    const auto state = of.state();
    if (state.is_complete) return {};
    return {false, state.problem.empty() ? "the index is not complete yet" : "the index is not complete: " + state.problem};
  }
  if (!of.has_looked) return {false, "the index is not complete yet"};
  const auto through = in.gate->view_of(by.who);
  const auto missing = of.missing();
  const bool lacks_some = std::any_of(missing->begin(), missing->end(), [&](const std::string& uri) {
    return in.gate->may_see(through.get(), uri) && in.gate->may_read(through.get(), uri);
  });
  if (lacks_some) return {false, "some resources that you may read are not in the index now"};
  return {};
}

sight::sight(const call& by, const tools::surroundings& in, ground& on, state_of_index& kept, const document_filter& which)
    : by_(by),
      in_(in),
      on_(on),
      kept_(kept),
      which_(which),
      through_(in.gate->view_of(by.who)),
      sees_all_(sees_everything(by, in)),
      is_open_(is_open_but_for_making(which)),
      is_by_uri_(through_ != nullptr && !through_->looks_at_entries()) {}

bool sight::may_have(const resource& entry) const {
  if (sees_all_) return true;
  return in_.gate->may_see(through_.get(), entry) && in_.gate->may_read(through_.get(), entry);
}

result<void> sight::learn(std::span<const passage_id> ids) {
  if (by_.stop.stop_requested()) return fail(errc::cancelled, "The search was cancelled.");
  if (monotonic_clock::now() >= by_.deadline) return fail(errc::timed_out, "The search took too long.");
  std::vector<passage_id> unknown;
  for (const auto& id : ids) {
    // False until `show` returns the document; one that it does not return has been removed meanwhile.
    if (!has_.try_emplace(id.document(), false).second) continue;
    const auto uri = is_by_uri_ ? on_.uris.of(kept_.life(), id) : std::nullopt;
    const bool is_hidden = uri && !(in_.gate->may_see(through_.get(), *uri) && in_.gate->may_read(through_.get(), *uri));
    if (!is_hidden) unknown.push_back(id);
  }
  if (unknown.empty()) return {};
  const auto shown = kept_.show(unknown);
  if (!shown) return tl::unexpected(unreadable(shown.error()));
  for (const auto& one : *shown) {
    has_[one.id.document()] = passes(which_, one.of) && may_have(entry_of(one.of));
    if (is_by_uri_) on_.uris.keep(kept_.life(), one.id, one.of.uri);
  }
  return {};
}

}  // namespace hondana::search

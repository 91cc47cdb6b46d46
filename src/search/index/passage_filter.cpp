/// Access checks for indexed documents.
#include "search/index/passage_filter.hpp"

#include <chrono>

#include <hondana/clock.hpp>

namespace hondana::search {
namespace {

bool is_open_except_processing(document_filter filter) {
  filter.processing.reset();
  return filter.is_open();
}

}  // namespace

bool is_unrestricted(const request_context& context, const tools::tool_services& services) {
  return services.gate->filter_of(context.caller) == nullptr;
}

failure sanitize_failure(failure error) {
  if (error.code != errc::source_unavailable && error.code != errc::internal) return error;
  auto details = error.private_text.empty() ? std::move(error.public_text) : error.public_text + ": " + error.private_text;
  return {errc::source_unavailable, "The search index cannot be read now. Retry later. The server's log has the reason.",
          std::move(details)};
}

completeness completeness_for(const request_context& context, const tools::tool_services& services, const shared_index& index) {
  if (is_unrestricted(context, services)) {
    const auto state = index.state();
    if (state.is_complete) return {};
    return {false, state.problem.empty() ? "the index is not complete yet" : "the index is not complete: " + state.problem};
  }
  if (!index.has_scanned) return {false, "the index is not complete yet"};
  const auto filter = services.gate->filter_of(context.caller);
  const auto missing = index.missing();
  const bool lacks_some = std::any_of(missing->begin(), missing->end(), [&](const std::string& uri) {
    return services.gate->may_see(filter.get(), uri) && services.gate->may_read(filter.get(), uri);
  });
  if (lacks_some) return {false, "some resources that you may read are not in the index now"};
  return {};
}

passage_filter::passage_filter(const request_context& context, const tools::tool_services& services, shared_index& index,
                               index_snapshot& snapshot, const document_filter& filter)
    : context_(context),
      services_(services),
      index_(index),
      snapshot_(snapshot),
      filter_(filter),
      access_filter_(services.gate->filter_of(context.caller)),
      sees_all_(is_unrestricted(context, services)),
      is_open_(is_open_except_processing(filter)),
      is_by_uri_(access_filter_ != nullptr && !access_filter_->uses_entries()) {}

bool passage_filter::may_have(const resource& entry) const {
  if (sees_all_) return true;
  return services_.gate->may_see(access_filter_.get(), entry) && services_.gate->may_read(access_filter_.get(), entry);
}

result<void> passage_filter::load_access(std::span<const passage_id> ids) {
  if (context_.stop.stop_requested()) return fail(errc::cancelled, "The search was cancelled.");
  if (monotonic_clock::now() >= context_.deadline) return fail(errc::timed_out, "The search took too long.");
  std::vector<passage_id> unknown;
  for (const auto& id : ids) {
    // False until `load` returns the document; one that it does not return has been removed meanwhile.
    if (!access_.try_emplace(id.document(), false).second) continue;
    const auto cached_uri = is_by_uri_ ? index_.uris.find(snapshot_.generation(), id) : std::nullopt;
    const bool is_hidden = cached_uri && !(services_.gate->may_see(access_filter_.get(), *cached_uri) &&
                                           services_.gate->may_read(access_filter_.get(), *cached_uri));
    if (!is_hidden) unknown.push_back(id);
  }
  if (unknown.empty()) return {};
  const auto loaded = snapshot_.load(unknown);
  if (!loaded) return tl::unexpected(sanitize_failure(loaded.error()));
  for (const auto& passage : *loaded) {
    access_[passage.id.document()] = passes(filter_, passage.metadata) && may_have(make_entry(passage.metadata));
    if (is_by_uri_) index_.uris.insert(snapshot_.generation(), passage.id, passage.metadata.uri);
  }
  return {};
}

}  // namespace hondana::search

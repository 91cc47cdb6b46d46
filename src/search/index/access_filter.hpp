/// Access checks for indexed documents.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <hondana/error.hpp>
#include <hondana/provider.hpp>
#include <hondana/resource.hpp>

#include "search/index/index_state.hpp"
#include "search/index/store.hpp"
#include "server/tools/tool_context.hpp"

namespace hondana::search {

/// Whether no rule restricts this caller, neither an access filter nor missing scopes.
[[nodiscard]] bool sees_everything(const call& by, const tools::surroundings& in);

/// Turns a failure of the store into one that is safe to send to peers.
[[nodiscard]] failure unreadable(failure why);

/// How complete the index is, as far as the caller may know. Resources hidden from the caller do not affect it, except for the
/// duration of the first scan after a start.
struct completeness {
  bool is_complete = true;
  std::string remark{};  ///< Why it is not complete, in fixed words.
};
[[nodiscard]] completeness completeness_for(const call& by, const tools::surroundings& in, const ground& of);

/// Decides during one search which passages the caller may have, among those that match a filter. Result lists are reduced to
/// these before ranking and score fusion, so that hidden passages do not influence results. Threads: one.
class sight {
 public:
  sight(const call& by, const tools::surroundings& in, ground& on, state_of_index& kept, const document_filter& which);

  [[nodiscard]] bool sees_all() const noexcept { return sees_all_; }
  /// Access depends on the current attributes of entries, not only on URIs.
  [[nodiscard]] bool looks_at_entries() const noexcept { return through_ != nullptr && through_->looks_at_entries(); }
  /// Whether the caller may have the entry. `entry`: the current one, or the one from the index.
  [[nodiscard]] bool may_have(const resource& entry) const;
  /// Reduces `all` to the first `most` passages that the caller may have, in the same order. `is_filtered`: all of them match
  /// the filter and are up to date already. Errors: those of the store; timed_out, cancelled.
  template <class Found>
  [[nodiscard]] result<void> keep(std::vector<Found>& all, std::size_t most, bool is_filtered);
  /// Hides the document of this passage from now on.
  void hide(passage_id one) { has_[one.document()] = false; }

 private:
  static constexpr std::size_t at_once = 128;

  /// Determines access for the documents in `ids` that are not known yet.
  [[nodiscard]] result<void> learn(std::span<const passage_id> ids);

  const call& by_;
  const tools::surroundings& in_;
  ground& on_;
  state_of_index& kept_;
  const document_filter& which_;
  const std::shared_ptr<const view> through_;
  const bool sees_all_;
  const bool is_open_;                          // the filter accepts everything, apart from how texts were made
  const bool is_by_uri_;                        // access depends on the URI alone
  std::unordered_map<std::int64_t, bool> has_;  // by document
};

template <class Found>
result<void> sight::keep(std::vector<Found>& all, std::size_t most, bool is_filtered) {
  const bool has_to_look = !sees_all_ || (!is_filtered && !is_open_);
  std::size_t kept = 0;
  for (std::size_t begin = 0; begin < all.size() && kept < most; begin += at_once) {
    const auto end = std::min(begin + at_once, all.size());
    if (has_to_look) {
      std::vector<passage_id> ids;
      ids.reserve(end - begin);
      for (auto at = begin; at < end; ++at) ids.push_back(all[at].id);
      HONDANA_TRY(learn(ids));
    }
    for (auto at = begin; at < end && kept < most; ++at) {
      const auto known = has_.find(all[at].id.document());
      if (known == has_.end() ? !has_to_look : known->second) {
        if (kept != at) all[kept] = std::move(all[at]);
        ++kept;
      }
    }
  }
  all.erase(all.begin() + static_cast<std::ptrdiff_t>(kept), all.end());
  return {};
}

}  // namespace hondana::search

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

/// Whether rules keep nothing from this caller, neither by a view nor by scopes that it lacks.
[[nodiscard]] bool sees_everything(const call& by, const tools::surroundings& in);

/// A failure of the store as peers may read it.
[[nodiscard]] failure unreadable(failure why);

/// How complete the index is, as far as the caller may know. What is hidden from it makes no difference, but for how long the
/// first look after a start takes.
struct completeness {
  bool is_complete = true;
  std::string remark{};  ///< Why it is not, in fixed words.
};
[[nodiscard]] completeness completeness_for(const call& by, const tools::surroundings& in, const ground& of);

/// During one search: which passages the caller may have, of those that pass a filter. Lists are cut down to these before ranks
/// are counted and scores fused, so that what is hidden counts nowhere. Threads: one.
class sight {
 public:
  sight(const call& by, const tools::surroundings& in, ground& on, state_of_index& kept, const document_filter& which);

  [[nodiscard]] bool sees_all() const noexcept { return sees_all_; }
  /// What may be had depends on entries as they are now.
  [[nodiscard]] bool looks_at_entries() const noexcept { return through_ != nullptr && through_->looks_at_entries(); }
  /// As the entry is now, or was when it was indexed.
  [[nodiscard]] bool may_have(const resource& entry) const;
  /// The first `most` of `all` that may be had; the order stays. `is_filtered`: all of them pass already;
  /// all were made as texts are now. Errors: the store's;
  /// timed_out, cancelled.
  template <class Found>
  [[nodiscard]] result<void> keep(std::vector<Found>& all, std::size_t most, bool is_filtered);
  /// Nothing of this document is shown any more.
  void hide(passage_id one) { has_[one.document()] = false; }

 private:
  static constexpr std::size_t at_once = 128;

  /// Of which documents that `ids` name it is not known yet.
  [[nodiscard]] result<void> learn(std::span<const passage_id> ids);

  const call& by_;
  const tools::surroundings& in_;
  ground& on_;
  state_of_index& kept_;
  const document_filter& which_;
  const std::shared_ptr<const view> through_;
  const bool sees_all_;
  const bool is_open_;                          // how texts were made aside
  const bool is_by_uri_;                        // what is hidden, is by its URI alone
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

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

#include "search/index/shared_index.hpp"
#include "search/index/store.hpp"
#include "server/tools/tool_context.hpp"

namespace hondana::search {

/// Whether this caller may see everything: no access filter applies, and no scope is missing.
[[nodiscard]] bool is_unrestricted(const request_context& context, const tools::tool_services& services);

/// Turns a failure of the store into one that is safe to send to clients. The details of source_unavailable and internal move
/// to the private text; other failures stay unchanged.
[[nodiscard]] failure sanitize_failure(failure error);

/// How complete the index is, as far as the caller may know. Resources hidden from the caller do not affect it, except for the
/// duration of the first scan after a start.
struct completeness {
  bool is_complete = true;
  std::string reason{};  ///< Why it is not complete, without details.
};
/// Determines the completeness for a caller.
[[nodiscard]] completeness completeness_for(const request_context& context, const tools::tool_services& services,
                                            const shared_index& index);

/// Decides during one search which passages the caller may have, among those that match a filter. Result lists are reduced to
/// these before ranking and score fusion, so that hidden passages do not influence results. Threads: one.
class passage_filter {
 public:
  /// All arguments must outlive this object.
  passage_filter(const request_context& context, const tools::tool_services& services, shared_index& index,
                 index_snapshot& snapshot, const document_filter& filter);

  /// Whether the caller may have every passage.
  [[nodiscard]] bool sees_all() const noexcept { return sees_all_; }
  /// Whether access depends on the current attributes of entries, not only on URIs.
  [[nodiscard]] bool checks_entries() const noexcept { return access_filter_ != nullptr && access_filter_->uses_entries(); }
  /// Whether the caller may have the entry. `entry`: the source's current entry, or the one in the index.
  [[nodiscard]] bool may_have(const resource& entry) const;
  /// Reduces `passages` to the first `max_passages` passages that match the filter and that the caller may have, in the same
  /// order. `is_filtered`: all of them match the filter and are up to date already. Errors: source_unavailable, timed_out,
  /// cancelled. `Entry` has a member `id`.
  template <class Entry>
  [[nodiscard]] result<void> retain(std::vector<Entry>& passages, std::size_t max_passages, bool is_filtered);
  /// Hides all passages of this passage's document from now on.
  void hide(passage_id id) { access_[id.document()] = false; }

 private:
  static constexpr std::size_t batch_size = 128;

  /// Determines whether the caller may have the documents in `ids`, unless it is known already.
  [[nodiscard]] result<void> load_access(std::span<const passage_id> ids);

  const request_context& context_;
  const tools::tool_services& services_;
  shared_index& index_;
  index_snapshot& snapshot_;
  const document_filter& filter_;
  const std::shared_ptr<const access_filter> access_filter_;
  const bool sees_all_;
  const bool is_open_;                             // the filter has no condition, except maybe on `processing`
  const bool is_by_uri_;                           // access depends on the URI alone
  std::unordered_map<std::int64_t, bool> access_;  // by document
};

template <class Entry>
result<void> passage_filter::retain(std::vector<Entry>& passages, std::size_t max_passages, bool is_filtered) {
  const bool needs_check = !sees_all_ || (!is_filtered && !is_open_);
  std::size_t retained = 0;
  for (std::size_t begin = 0; begin < passages.size() && retained < max_passages; begin += batch_size) {
    const auto end = std::min(begin + batch_size, passages.size());
    if (needs_check) {
      std::vector<passage_id> ids;
      ids.reserve(end - begin);
      for (auto i = begin; i < end; ++i) ids.push_back(passages[i].id);
      HONDANA_TRY(load_access(ids));
    }
    for (auto i = begin; i < end && retained < max_passages; ++i) {
      const auto known = access_.find(passages[i].id.document());
      if (known == access_.end() ? !needs_check : known->second) {
        if (retained != i) passages[retained] = std::move(passages[i]);
        ++retained;
      }
    }
  }
  passages.erase(passages.begin() + static_cast<std::ptrdiff_t>(retained), passages.end());
  return {};
}

}  // namespace hondana::search

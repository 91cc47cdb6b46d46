/// Lists of the mounted server: received within limits, and stored under local URIs.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include <hondana/capabilities.hpp>
#include <hondana/client_types.hpp>
#include <hondana/clock.hpp>
#include <hondana/entry_snapshot.hpp>
#include <hondana/error.hpp>
#include <hondana/provider.hpp>
#include <hondana/resource.hpp>
#include <hondana/skill.hpp>

#include "sources/mcp/sanitizer.hpp"
#include "sources/mcp/uri_mapping.hpp"

namespace hondana::mcp {

/// Memory limit of the children of a folder, and of all stored lists of a mounted server together.
inline constexpr std::size_t max_list_bytes = 64u << 20;
/// The longest accepted message of a mounted server. Contents of streamed reads do not count.
inline constexpr std::size_t max_message_bytes = 32u << 20;

/// Returns the approximate memory use in bytes, with the object itself.
[[nodiscard]] std::size_t memory_size(const resource& entry);
[[nodiscard]] std::size_t memory_size(const resource_template& entry);
[[nodiscard]] std::size_t memory_size(const skill& entry);

/// The remaining memory and time for lists that are stored together. Threads: one.
struct list_budget {
  using clock = monotonic_clock;
  std::size_t bytes_left = max_list_bytes;
  clock::time_point deadline = clock::time_point::max();
};

/// Collects the items of one list within limits. Threads: one.
template <class T>
class list_collector {
 public:
  /// `budget`: must outlive the collector. `masks`: as for `sanitize_fields`.
  list_collector(std::size_t max_entries, list_budget& budget, bool masks)
      : max_entries_(max_entries), budget_(budget), masks_(masks) {}

  /// Sanitizes and adds an item. Returns false without adding it if it would exceed a limit.
  bool add(T item) {
    if constexpr (std::is_same_v<T, skill>) {
      sanitize_fields(item);
    } else {
      sanitize_fields(item, masks_);
    }
    const auto item_bytes = memory_size(item);
    has_more_ = items_.size() == max_entries_ || item_bytes > budget_.bytes_left;
    if (has_more_) return false;
    budget_.bytes_left -= item_bytes;
    items_.push_back(std::move(item));
    return true;
  }
  /// Whether the last `add` returned false, so the list has more items.
  [[nodiscard]] bool has_more() const noexcept { return has_more_; }
  /// Errors: timed_out after the deadline.
  [[nodiscard]] result<void> check_deadline() const {
    if (list_budget::clock::now() < budget_.deadline) return {};
    return fail(errc::timed_out, "its list did not end in time");
  }
  [[nodiscard]] std::vector<T> extract() && { return std::move(items_); }

 private:
  const std::size_t max_entries_;
  list_budget& budget_;
  const bool masks_;
  std::vector<T> items_;
  bool has_more_ = false;
};

/// Adds the items of `source`, which requests its pages itself, until a limit is reached. Errors: those of `source`; timed_out.
template <class T>
result<void> collect(paged_range<T> source, list_collector<T>& collector) {
  for (const auto& item : source) {
    if (!item) return tl::unexpected(item.error());
    if (!collector.add(*item)) return {};
    HONDANA_TRY(collector.check_deadline());
  }
  return {};
}

/// The sanitized lists of the mounted server, with remote URIs.
struct server_lists {
  std::vector<resource> entries{};
  std::vector<resource_template> templates{};
  std::vector<skill> skills{};
  bool has_more_entries = false;  ///< Some were left out because of a limit.
  bool has_more_templates = false;
  bool has_more_skills = false;
  std::chrono::milliseconds ttl{0};  ///< How long the server considers its entries valid; 0: not stated.
};

/// The entries, templates and skills of a mounted server, with local URIs. Immutable. Threads: any.
class list_snapshot {
 public:
  list_snapshot(server_lists lists, const uri_mapping& mapping, const uri_filter& filter);

  [[nodiscard]] const entry_snapshot& entries() const noexcept { return entries_; }
  /// Finds the entry of a local URI. Also finds an entry whose remote URI is not canonical by the canonical form of that URI.
  [[nodiscard]] std::optional<resource> find_entry(std::string_view uri) const;
  /// Returns the templates, sorted by `uri_template` as text.
  [[nodiscard]] const std::vector<resource_template>& templates() const noexcept { return templates_; }
  /// Returns the skills in segment order.
  [[nodiscard]] const std::vector<skill>& skills() const noexcept { return skills_; }
  /// Returns the first thousand entries, templates and skills that are not served, with reasons.
  [[nodiscard]] const std::vector<inventory_item>& skipped() const noexcept { return skipped_; }
  /// Returns the number of all of them.
  [[nodiscard]] std::size_t skipped_count() const noexcept { return skipped_count_; }
  /// Returns the remote URI of a listed entry with the local URI `uri`, if it differs from the part after the prefix; otherwise
  /// nullopt.
  [[nodiscard]] std::optional<std::string> remote_uri_of(std::string_view uri) const;
  /// See `server_lists::ttl`.
  [[nodiscard]] std::chrono::milliseconds ttl() const noexcept { return ttl_; }
  /// Says for people which part of the lists is missing; empty if they are complete.
  [[nodiscard]] const std::string& truncation_note() const noexcept { return truncation_note_; }
  /// Whether clients see no difference between the two snapshots.
  [[nodiscard]] bool is_equivalent(const list_snapshot& other) const;

 private:
  std::vector<resource> to_local_entries(std::vector<resource> remote_entries, const uri_mapping& mapping,
                                         const uri_filter& filter);
  void add_templates(std::vector<resource_template> remote_templates, const uri_mapping& mapping, const uri_filter& filter);
  void add_skills(std::vector<skill> remote_skills, const uri_mapping& mapping, const uri_filter& filter);
  /// Maps a remote URI to a local one. If it is left out, calls `add_skipped` and returns nullopt.
  std::optional<std::string> map_uri(const std::string& remote_uri, const std::string& name, const uri_mapping& mapping,
                                     const uri_filter& filter);
  void add_skipped(const std::string& remote_uri, const std::string& name, const std::string& reason);

  std::unordered_map<std::string, std::string> remote_uris_;     // by local URI; see `remote_uri_of`
  std::unordered_map<std::string, std::string> canonical_uris_;  // local URI, by the prefix and the canonical remote URI
  std::vector<inventory_item> skipped_;
  std::size_t skipped_count_ = 0;
  std::chrono::milliseconds ttl_;
  std::string truncation_note_;
  entry_snapshot entries_;
  std::vector<resource_template> templates_;
  std::vector<skill> skills_;
};

/// Maps a skill to local URIs, without files that the filter excludes. nullopt if one of its other URIs cannot be mapped.
[[nodiscard]] std::optional<skill> to_local_skill(skill remote_skill, const uri_mapping& mapping, const uri_filter& filter);

}  // namespace hondana::mcp

/// Lists of the mounted server: received within limits, and stored under our URIs.
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

/// Memory limit of one answer, and of all lists of a server together.
inline constexpr std::size_t max_list_bytes = 64u << 20;
/// The longest message of a mounted server that is held in memory. Contents of reads are streamed and do not count.
inline constexpr std::size_t max_message_bytes = 32u << 20;

/// Approximate memory use in bytes.
[[nodiscard]] std::size_t memory_size(const resource& entry);
[[nodiscard]] std::size_t memory_size(const resource_template& entry);
[[nodiscard]] std::size_t memory_size(const skill& entry);

/// The remaining memory and time for lists that are stored together. Threads: one.
struct list_budget {
  using clock = monotonic_clock;
  std::size_t bytes_left = max_list_bytes;
  clock::time_point deadline = clock::time_point::max();
};

/// Collects one list within its limits. Threads: one.
template <class T>
class list_collector {
 public:
  /// `masks`: as for `sanitize_fields`.
  list_collector(std::size_t max_entries, list_budget& budget, bool masks)
      : max_entries_(max_entries), budget_(budget), masks_(masks) {}

  /// False if a limit is reached: there was at least one more item.
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

/// Collects the items of a range that requests its pages itself. Errors: those of the range; timed_out.
template <class T>
result<void> collect(paged_range<T> source, list_collector<T>& collector) {
  for (const auto& item : source) {
    if (!item) return tl::unexpected(item.error());
    if (!collector.add(*item)) return {};
    HONDANA_TRY(collector.check_deadline());
  }
  return {};
}

/// The sanitized lists of the other server.
struct server_lists {
  std::vector<resource> entries{};
  std::vector<resource_template> templates{};
  std::vector<skill> skills{};
  bool has_more_entries = false;  ///< Some were not requested.
  bool has_more_templates = false;
  bool has_more_skills = false;
  std::chrono::milliseconds ttl{0};  ///< How long the server considers them valid; 0: not stated.
};

/// An immutable set of entries, templates and skills under our URIs. Threads: any.
class list_snapshot {
 public:
  list_snapshot(server_lists lists, const uri_mapping& mapping, const uri_filter& filter);

  [[nodiscard]] const entry_snapshot& entries() const noexcept { return entries_; }
  /// Finds the entry for one of our URIs. If the server lists a URI that is not canonical, its canonical form finds the entry,
  /// too.
  [[nodiscard]] std::optional<resource> find_entry(std::string_view uri) const;
  /// Ordered by text.
  [[nodiscard]] const std::vector<resource_template>& templates() const noexcept { return templates_; }
  /// Ordered by segment.
  [[nodiscard]] const std::vector<skill>& skills() const noexcept { return skills_; }
  /// Entries that are not served, and why; the first thousand.
  [[nodiscard]] const std::vector<inventory_item>& skipped() const noexcept { return skipped_; }
  [[nodiscard]] std::size_t skipped_count() const noexcept { return skipped_count_; }
  /// The other server's spelling of one of our URIs, if it differs from the part after the prefix.
  [[nodiscard]] std::optional<std::string> remote_uri_of(std::string_view uri) const;
  [[nodiscard]] std::chrono::milliseconds ttl() const noexcept { return ttl_; }
  /// Which part of the lists is missing, for display; empty if they are complete.
  [[nodiscard]] const std::string& truncation_note() const noexcept { return truncation_note_; }
  /// Whether clients would see no difference.
  [[nodiscard]] bool is_equivalent(const list_snapshot& other) const;

 private:
  std::vector<resource> to_local_entries(std::vector<resource> remote_entries, const uri_mapping& mapping,
                                         const uri_filter& filter);
  void add_templates(std::vector<resource_template> remote_templates, const uri_mapping& mapping, const uri_filter& filter);
  void add_skills(std::vector<skill> remote_skills, const uri_mapping& mapping, const uri_filter& filter);
  /// Maps a URI of the other server to ours. Empty, and recorded, if it is left out.
  std::optional<std::string> map_uri(const std::string& remote_uri, const std::string& name, const uri_mapping& mapping,
                                     const uri_filter& filter);
  void add_skipped(const std::string& remote_uri, const std::string& name, const std::string& reason);

  std::unordered_map<std::string, std::string> remote_uris_;
  std::unordered_map<std::string, std::string> canonical_uris_;  // our URI, by the canonical form of the server's
  std::vector<inventory_item> skipped_;
  std::size_t skipped_count_ = 0;
  std::chrono::milliseconds ttl_;
  std::string truncation_note_;
  entry_snapshot entries_;
  std::vector<resource_template> templates_;
  std::vector<skill> skills_;
};

/// A skill under our URIs, without files that are not served. Empty if one of its URIs cannot be mapped.
[[nodiscard]] std::optional<skill> to_local_skill(skill remote_skill, const uri_mapping& mapping, const uri_filter& filter);

}  // namespace hondana::mcp

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
#include <hondana/error.hpp>
#include <hondana/provider.hpp>
#include <hondana/resource.hpp>
#include <hondana/skill.hpp>
#include <hondana/snapshot.hpp>

#include "sources/mcp/sanitizer.hpp"
#include "sources/mcp/uri_mapping.hpp"

namespace hondana::mcp {

/// Memory limit of one answer, and of all lists of a server together.
inline constexpr std::size_t most_list_bytes = 64u << 20;
/// The longest message of a mounted server that is held in memory. Contents of reads are streamed and do not count.
inline constexpr std::size_t most_message_bytes = 32u << 20;

/// Approximate memory use in bytes.
[[nodiscard]] std::size_t weight_of(const resource& entry);
[[nodiscard]] std::size_t weight_of(const resource_template& entry);
[[nodiscard]] std::size_t weight_of(const skill& entry);

/// The remaining memory and time for lists that are stored together. Threads: one.
struct allowance {
  using clock = monotonic_clock;
  std::size_t bytes = most_list_bytes;
  clock::time_point until = clock::time_point::max();
};

/// Collects one list within its limits. Threads: one.
template <class T>
class gathering {
 public:
  /// `masks`: as for `make_fit`.
  gathering(std::size_t most, allowance& room, bool masks) : most_(most), room_(room), masks_(masks) {}

  /// False if a limit is reached: there was at least one more item.
  bool take(T one) {
    if constexpr (std::is_same_v<T, skill>) {
      make_fit(one);
    } else {
      make_fit(one, masks_);
    }
    const auto weight = weight_of(one);
    has_more_ = all_.size() == most_ || weight > room_.bytes;
    if (has_more_) return false;
    room_.bytes -= weight;
    all_.push_back(std::move(one));
    return true;
  }
  [[nodiscard]] bool has_more() const noexcept { return has_more_; }
  /// Errors: timed_out after the deadline.
  [[nodiscard]] result<void> still_in_time() const {
    if (allowance::clock::now() < room_.until) return {};
    return fail(errc::timed_out, "its list did not end in time");
  }
  [[nodiscard]] std::vector<T> taken() && { return std::move(all_); }

 private:
  const std::size_t most_;
  allowance& room_;
  const bool masks_;
  std::vector<T> all_;
  bool has_more_ = false;
};

/// Collects the items of a range that requests its pages itself. Errors: those of the range; timed_out.
template <class T>
result<void> take_all(paged<T> from, gathering<T>& into) {
  for (const auto& one : from) {
    if (!one) return tl::unexpected(one.error());
    if (!into.take(*one)) return {};
    HONDANA_TRY(into.still_in_time());
  }
  return {};
}

/// The sanitized lists of the other server.
struct gathered {
  std::vector<resource> entries{};
  std::vector<resource_template> templates{};
  std::vector<skill> skills{};
  bool has_more_entries = false;  ///< Some were not requested.
  bool has_more_templates = false;
  bool has_more_skills = false;
  std::chrono::milliseconds ttl{0};  ///< How long the server considers them valid; 0: not stated.
};

/// An immutable set of entries, templates and skills under our URIs. Threads: any.
class shelf {
 public:
  shelf(gathered from, const naming& names, const rules& which);

  [[nodiscard]] const entry_snapshot& entries() const noexcept { return entries_; }
  /// Finds the entry for one of our URIs. If the server lists a URI that is not canonical, its canonical form finds the entry,
  /// too.
  [[nodiscard]] std::optional<resource> entry_of(std::string_view ours) const;
  /// Ordered by text.
  [[nodiscard]] const std::vector<resource_template>& templates() const noexcept { return templates_; }
  /// Ordered by segment.
  [[nodiscard]] const std::vector<skill>& skills() const noexcept { return skills_; }
  /// Entries that are not served, and why; the first thousand.
  [[nodiscard]] const std::vector<survey_item>& left_out() const noexcept { return left_out_; }
  [[nodiscard]] std::size_t left_out_count() const noexcept { return left_out_count_; }
  /// The other server's spelling of one of our URIs, if it differs from the part after the prefix.
  [[nodiscard]] std::optional<std::string> spelling_of(std::string_view ours) const;
  [[nodiscard]] std::chrono::milliseconds ttl() const noexcept { return ttl_; }
  /// Which part of the lists is missing, for display; empty if they are complete.
  [[nodiscard]] const std::string& shortness() const noexcept { return shortness_; }
  /// Whether clients would see no difference.
  [[nodiscard]] bool says_the_same_as(const shelf& other) const;

 private:
  std::vector<resource> adopted(std::vector<resource> theirs, const naming& names, const rules& which);
  void adopt(std::vector<resource_template> theirs, const naming& names, const rules& which);
  void adopt(std::vector<skill> theirs, const naming& names, const rules& which);
  /// Maps a URI of the other server to ours. Empty, and recorded, if it is left out.
  std::optional<std::string> take(const std::string& theirs, const std::string& name, const naming& names, const rules& which);
  void leave_out(const std::string& theirs, const std::string& name, const std::string& reason);

  std::unordered_map<std::string, std::string> spellings_;
  std::unordered_map<std::string, std::string> listed_as_;  // our URI, by the canonical form of the server's
  std::vector<survey_item> left_out_;
  std::size_t left_out_count_ = 0;
  std::chrono::milliseconds ttl_;
  std::string shortness_;
  entry_snapshot entries_;
  std::vector<resource_template> templates_;
  std::vector<skill> skills_;
};

/// A skill under our URIs, without files that are not served. Empty if one of its URIs cannot be mapped.
[[nodiscard]] std::optional<skill> adopted(skill theirs, const naming& names, const rules& which);

}  // namespace hondana::mcp

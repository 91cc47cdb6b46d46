/// Extracts templates from log messages, and counts how often each template occurs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "sources/logs/records/log_backend.hpp"

namespace hondana::logs {

/// The maximum length of a template.
inline constexpr std::size_t max_template_bytes = 256;

/// Returns the template of a record: its first line with variable parts replaced. These become `<time>`, `<num>` (a unit
/// directly after it stays: `<num>ms`), `<hex>`, `<uuid>`, `<ip>`, `<url>`, `<path>`, `<email>`, `<id>`, `<masked>`, or `<str>`
/// for quoted strings. Signs of numbers are removed.
/// A timestamp at the beginning is removed. `time_begin`, `time_end`: where the time of the record is written, as in
/// `records::log_record`; both 0: unknown. For JSON and logfmt records, only the message is used: the field `msg` or `message`,
/// in JSON also `event`, `error` and the names of other usual loggers. Requests in access logs keep method and status. Reads
/// the first KiB only. Linear time. `text` must be valid UTF-8. The result is valid UTF-8 with at most `max_template_bytes`
/// bytes; it may be empty.
[[nodiscard]] std::string make_template(std::string_view text, std::size_t time_begin = 0, std::size_t time_end = 0);

/// Statistics of the records with one template.
struct repeated_message {
  std::string pattern;  ///< See `make_template`.
  std::uint64_t count = 0;
  std::optional<records::instant> first{}, last{};  ///< Of the earliest and the latest record. nullopt: no record has a time.
  std::optional<records::severity> max_level{};     ///< nullopt: no record has a level.
  bool is_mixed = false;                            ///< Some records are less severe than `max_level`, or have no level.
  std::string example;                              ///< The beginning of the first line of the first record.
};

/// Counts templates with bounded memory. Removes the rarest ones when there are more than twice `max_templates`. Counts are
/// exact until then, and at most `count_error()` too low afterwards. Amortized constant time per record. Threads: one at a
/// time.
class message_counter {
 public:
  static constexpr std::size_t default_max_templates = 1000;

  /// `max_templates`: how many templates remain when the rarest ones are removed.
  explicit message_counter(std::size_t max_templates = default_max_templates) : max_templates_(max_templates) {}

  /// Counts a record, unless its template is empty.
  void add(const records::log_record& record);
  /// Adds the counts of `other`.
  void add(const message_counter& other);
  /// Removes all except the `count` most frequent templates. Increases `count_error()` if there are more.
  void retain_most_frequent(std::size_t count);

  /// Returns by how much a count may be too low. This is also the greatest possible count of a template that is missing.
  [[nodiscard]] std::uint64_t count_error() const noexcept { return count_error_; }
  /// Returns the number of templates.
  [[nodiscard]] std::size_t size() const noexcept { return messages_.size(); }
  /// Finds the statistics of a template; null if there are none.
  [[nodiscard]] const repeated_message* find(const std::string& pattern) const;
  /// Returns all templates, the most frequent first, then by text.
  [[nodiscard]] std::vector<repeated_message> sorted() const;

 private:
  /// Removes the rarest templates if there are too many.
  void evict_rare();

  std::size_t max_templates_;
  std::uint64_t count_error_ = 0;
  std::unordered_map<std::string, repeated_message> messages_;
};

/// Returns the text up to the first line end, at most `max_bytes` bytes, without cutting a character.
[[nodiscard]] std::string_view first_line(std::string_view text, std::size_t max_bytes) noexcept;

}  // namespace hondana::logs

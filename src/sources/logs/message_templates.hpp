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

inline constexpr std::size_t max_template_bytes = 256;

/// The template of a record: its first line with variable parts replaced. These become `<time>`, `<num>` (a unit directly after
/// it stays: `<num>ms`), `<hex>`, `<uuid>`, `<ip>`, `<url>`, `<path>`, `<email>`, `<id>`, `<masked>`, or `<str>` for quoted
/// strings.
/// A timestamp at the beginning is removed. For JSON and logfmt records, only the message is used: the field `msg`, `message`,
/// `event` or `error`. Requests in access logs keep method and status. Reads the first KiB only.
/// Linear time. `text` must be valid UTF-8. The result is too, with at most `max_template_bytes` bytes.
[[nodiscard]] std::string make_template(std::string_view text);

/// Statistics of the records with one template.
struct repeated_message {
  std::string pattern;  ///< See `make_template`.
  std::uint64_t count = 0;
  std::optional<records::instant> first{}, last{};
  std::optional<records::severity> max_level{};
  bool is_mixed = false;  ///< Some records are less severe, or have no level.
  std::string example;    ///< First line of the first record, cut to a maximum length.
};

/// Counts templates with bounded memory. When the limit is exceeded, it removes the rarer half. Counts are exact until then,
/// and at most `count_error()` too low afterwards. Amortized constant time per record. Threads: one at a time.
class message_counter {
 public:
  static constexpr std::size_t default_max_templates = 1000;

  explicit message_counter(std::size_t max_templates = default_max_templates) : max_templates_(max_templates) {}

  void add(const records::log_record& record);
  void add(const message_counter& other);
  /// Removes all except the `count` most frequent templates.
  void retain_most_frequent(std::size_t count);

  /// By how much a count may be too low. Also the greatest possible count of a template that is missing.
  [[nodiscard]] std::uint64_t count_error() const noexcept { return count_error_; }
  [[nodiscard]] std::size_t size() const noexcept { return messages_.size(); }
  [[nodiscard]] const repeated_message* find(const std::string& pattern) const;
  /// Most frequent first, then by text.
  [[nodiscard]] std::vector<repeated_message> sorted() const;

 private:
  void evict_rare();

  std::size_t max_templates_;
  std::uint64_t count_error_ = 0;
  std::unordered_map<std::string, repeated_message> messages_;
};

/// The text up to the first line end, at most `max_bytes` bytes, without cutting a character.
[[nodiscard]] std::string_view first_line(std::string_view text, std::size_t max_bytes) noexcept;

}  // namespace hondana::logs

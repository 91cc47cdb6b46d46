/// Extracts templates from log messages, and counts how often each template occurs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "sources/logs/records/log.hpp"

namespace hondana::logs {

inline constexpr std::size_t longest_template = 256;

/// The template of a record: its first line with variable parts replaced. These become `<time>`, `<num>` (a unit directly after
/// it stays: `<num>ms`), `<hex>`, `<uuid>`, `<ip>`, `<url>`, `<path>`, `<email>`, `<id>`, `<masked>`, or `<str>` for quoted
/// strings.
/// A timestamp at the beginning is removed. For JSON and logfmt records, only the message is used: the field `msg`, `message`,
/// `event` or `error`. Requests in access logs keep method and status. Reads the first KiB only.
/// Linear time. `text` must be valid UTF-8. The result is too, with at most `longest_template` bytes.
[[nodiscard]] std::string template_of(std::string_view text);

/// Statistics of the records with one template.
struct repeated {
  std::string pattern;  ///< See `template_of`.
  std::uint64_t count = 0;
  std::optional<records::instant> first{}, last{};
  std::optional<records::severity> gravest{};
  bool is_mixed = false;  ///< Some records are less severe, or have no level.
  std::string example;    ///< First line of the first record, cut to a maximum length.
};

/// Counts templates with bounded memory. When the limit is exceeded, it removes the rarer half. Counts are exact until then,
/// and at most `error()` too low afterwards. Amortized constant time per record. Threads: one at a time.
class message_counter {
 public:
  static constexpr std::size_t usual_most = 1000;

  explicit message_counter(std::size_t most = usual_most) : most_(most) {}

  void add(const records::record& one);
  void add(const message_counter& other);
  /// Removes all except the `count` most frequent templates.
  void keep_most_frequent(std::size_t count);

  /// By how much a count may be too low. Also the greatest possible count of a template that is missing.
  [[nodiscard]] std::uint64_t error() const noexcept { return error_; }
  [[nodiscard]] std::size_t size() const noexcept { return known_.size(); }
  [[nodiscard]] const repeated* find(const std::string& pattern) const;
  /// Most frequent first, then by text.
  [[nodiscard]] std::vector<repeated> all() const;

 private:
  void make_room();

  std::size_t most_;
  std::uint64_t error_ = 0;
  std::unordered_map<std::string, repeated> known_;
};

/// The text up to the first line end, at most `most` bytes, without cutting a character.
[[nodiscard]] std::string_view first_line(std::string_view text, std::size_t most) noexcept;

}  // namespace hondana::logs

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

/// The first line of a record with what differs from one record to the next replaced: `<time>`, `<num>` (what follows a number
/// without a blank stays: `<num>ms`), `<hex>`, `<uuid>`, `<ip>`, `<url>`, `<path>`, `<email>`, `<id>`, `<str>` for what stands
/// in quotes, `<masked>`. A time stamp in front is left out. Of records that are JSON or logfmt the message alone is taken, by
/// the members `msg`, `message`, `event`, `error`; of requests in access logs method and status stay. Looks at the first KiB.
/// Linear time; `text` is well-formed UTF-8, and so is the answer, of `longest_template` bytes at most.
[[nodiscard]] std::string template_of(std::string_view text);

/// Records of one template.
struct repeated {
  std::string pattern;  ///< See `template_of`.
  std::uint64_t count = 0;
  std::optional<records::instant> first{}, last{};
  std::optional<records::severity> gravest{};
  bool is_mixed = false;  ///< Some are less grave, or have no level.
  std::string example;    ///< The first line of the first of them, cut.
};

/// Counts templates, with a bounded number of them in mind: when it is passed, the rarer half is forgotten. Counts are exact
/// until then, and at most `error()` too low afterwards. Constant time a record, on the whole. Threads: one at a time.
class message_counter {
 public:
  static constexpr std::size_t usual_most = 1000;

  explicit message_counter(std::size_t most = usual_most) : most_(most) {}

  void add(const records::record& one);
  void add(const message_counter& other);
  /// Forgets all but the most frequent.
  void keep_most_frequent(std::size_t count);

  /// By how much a count may be too low, and how often something that is not there may have come.
  [[nodiscard]] std::uint64_t error() const noexcept { return error_; }
  [[nodiscard]] std::size_t size() const noexcept { return known_.size(); }
  [[nodiscard]] const repeated* find(const std::string& pattern) const;
  /// The most frequent first; of equal ones, by their text.
  [[nodiscard]] std::vector<repeated> all() const;

 private:
  void make_room();

  std::size_t most_;
  std::uint64_t error_ = 0;
  std::unordered_map<std::string, repeated> known_;
};

/// The front of a text up to a line's end, of at most so many bytes, cut between letters.
[[nodiscard]] std::string_view first_line(std::string_view text, std::size_t most) noexcept;

}  // namespace hondana::logs

/// Audit records as text, the hash chain between them, and its verification.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <tl/expected.hpp>

#include <hondana/audit.hpp>

#include "base/bytes/sha256.hpp"

namespace hondana::audit {

/// Limit of a record, in bytes, for writing and reading.
inline constexpr std::size_t longest_record = 4u << 20;

/// A position in the chain: after the record `number`, which has this hash. The first record has number 1, and zeros as
/// previous hash.
struct chain {
  std::uint64_t number = 0;
  bytes::sha256_bytes hash{};

  friend bool operator==(const chain&, const chain&) = default;
};

/// The text of a record without its position in the chain, and without the opening brace. `times`: how many rejections a
/// decision summarizes.
[[nodiscard]] std::string decision_text(std::uint64_t request, const audit_decision& what, std::uint64_t times = 1);
[[nodiscard]] std::string completion_text(std::uint64_t request, const audit_completion& how);
/// The record at the start of each file, and of each run of a server. `unsynced`: number of preceding records that this file
/// repeats, because the previous file could not be synced.
[[nodiscard]] std::string opening_text(std::string_view because, std::string_view run, std::uint64_t torn_bytes,
                                       std::uint64_t unsynced = 0);
[[nodiscard]] std::string closing_text();
/// Reports requests that were served or rejected without a record, for lack of space.
[[nodiscard]] std::string loss_text(std::uint64_t requests);

/// The disk failure that an intact record reports; empty if it reports none.
[[nodiscard]] std::string failure_told_by(std::string_view line);

/// Appends the next record with its newline, and advances `at`.
void append_record(std::string& out, chain& at, std::string_view text);

/// Reads one record, without its newline, that must follow `before`. With null, any record. Errors: a description of the
/// defect.
[[nodiscard]] tl::expected<chain, std::string> read_record(std::string_view line, const chain* before);

}  // namespace hondana::audit

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
inline constexpr std::size_t max_record_bytes = 4u << 20;

/// A position in the chain: after the record `number`, which has this hash. The first record has number 1, and zeros as
/// previous hash.
struct chain_position {
  std::uint64_t number = 0;
  bytes::sha256_bytes hash{};

  friend bool operator==(const chain_position&, const chain_position&) = default;
};

/// The text of a record without its position in the chain, and without the opening brace. `count`: how many rejections a
/// decision summarizes.
[[nodiscard]] std::string decision_text(std::uint64_t request, const audit_decision& decision, std::uint64_t count = 1);
[[nodiscard]] std::string completion_text(std::uint64_t request, const audit_completion& completion);
/// The record at the start of each file, and of each run of a server. `unsynced`: number of preceding records that this file
/// repeats, because the previous file could not be synced.
[[nodiscard]] std::string opening_text(std::string_view reason, std::string_view run_id, std::uint64_t incomplete_bytes,
                                       std::uint64_t unsynced = 0);
[[nodiscard]] std::string closing_text();
/// Reports requests that were served or rejected without a record, for lack of space.
[[nodiscard]] std::string loss_text(std::uint64_t requests);

/// The disk failure that an intact record reports; empty if it reports none.
[[nodiscard]] std::string reported_failure(std::string_view line);

/// Appends the next record with its newline, and advances `position`.
void append_record(std::string& out, chain_position& position, std::string_view text);

/// Reads one record, without its newline, that must follow `predecessor`. With null, any record. Errors: a description of the
/// defect.
[[nodiscard]] tl::expected<chain_position, std::string> read_record(std::string_view line, const chain_position* predecessor);

}  // namespace hondana::audit

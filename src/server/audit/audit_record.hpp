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

/// The longest record that `read_record` accepts, in bytes. Written records are much shorter.
inline constexpr std::size_t max_record_bytes = 4u << 20;

/// A position in the hash chain of records: directly after one record.
struct chain_position {
  std::uint64_t number = 0;    ///< Of that record, from 1. 0: before the first record.
  bytes::sha256_bytes hash{};  ///< SHA-256 of its line without the newline. Zeros: before the first record.

  friend bool operator==(const chain_position&, const chain_position&) = default;
};

/// The text of a decision for `append_record`: JSON without the opening brace and the position in the chain. `request`: number
/// that identifies the request. `count`: how many equal rejections the record stands for.
[[nodiscard]] std::string decision_text(std::uint64_t request, const audit_decision& decision, std::uint64_t count = 1);
/// The text of a completion for `append_record`. `request`: as in its decision.
[[nodiscard]] std::string completion_text(std::uint64_t request, const audit_completion& completion);
/// The text of the first record of a file or of a run of the server, for `append_record`. `reason`: "started", "rotated",
/// "reopened" or "sync_failed". `run_id`: identifies the run. `incomplete_bytes`: size of an incomplete record that was moved
/// aside. `repeated_records`: number of preceding records that this file repeats, because the previous file could not be
/// synced.
[[nodiscard]] std::string opening_text(std::string_view reason, std::string_view run_id, std::uint64_t incomplete_bytes,
                                       std::uint64_t repeated_records = 0);
/// The text of the last record of a run, for `append_record`.
[[nodiscard]] std::string closing_text();
/// The text of a record for `append_record` about requests without records, because the buffer or the disk was full.
[[nodiscard]] std::string loss_text(std::uint64_t requests);

/// The disk failure that an intact record reports, for people; empty if it reports none.
[[nodiscard]] std::string reported_failure(std::string_view line);

/// Appends the next record and a newline to `out`, and advances `position`.
void append_record(std::string& out, chain_position& position, std::string_view text);

/// Checks one record, without its newline, and returns the position after it. `predecessor`: the position that it must follow;
/// null: any. Errors: a description of the defect.
[[nodiscard]] tl::expected<chain_position, std::string> read_record(std::string_view line, const chain_position* predecessor);

}  // namespace hondana::audit

/// Audit records as text, the hash chain that binds them, and its verification.
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

/// No record is longer, and none that is read may be.
inline constexpr std::size_t longest_record = 4u << 20;

/// Where the chain stands: behind the record `number`, whose hash this is. The first record has the number 1 and follows zeros.
struct chain {
  std::uint64_t number = 0;
  bytes::sha256_bytes hash{};

  friend bool operator==(const chain&, const chain&) = default;
};

/// A record without its place in the chain, and without the brace that opens it.
/// `times`: how many of its kind a decision stands for.
[[nodiscard]] std::string decision_text(std::uint64_t request, const audit_decision& what, std::uint64_t times = 1);
[[nodiscard]] std::string completion_text(std::uint64_t request, const audit_completion& how);
/// The record that opens a file, and each run of a server in it.
/// `unsynced`: so many records before it were not on the disk in the file before, whose sync failed.
[[nodiscard]] std::string opening_text(std::string_view because, std::string_view run, std::uint64_t torn_bytes,
                                       std::uint64_t unsynced = 0);
[[nodiscard]] std::string closing_text();
/// So many requests were served or refused without a record, for want of room.
[[nodiscard]] std::string loss_text(std::uint64_t requests);

/// What a sound record says of a disk that failed the log; empty: nothing.
[[nodiscard]] std::string failure_told_by(std::string_view line);

/// Appends the next record with its newline.
void append_record(std::string& out, chain& at, std::string_view text);

/// Reads one record without its newline, that follows `before`, or whatever when that is null. Errors: what is wrong with it.
[[nodiscard]] tl::expected<chain, std::string> read_record(std::string_view line, const chain* before);

}  // namespace hondana::audit

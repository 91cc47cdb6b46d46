/// The interface of a log, and its queries, records and pages.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <hondana/provider.hpp>

namespace hondana::records {

/// Microseconds since 1970 in UTC.
using instant = std::int64_t;

inline constexpr instant one_second = 1'000'000;

/// The severity of a record, in increasing order. Emergency and alert of syslog are `critical`.
enum class severity : std::uint8_t { trace, debug, info, notice, warning, error, critical };

/// Returns the enumerator's name.
[[nodiscard]] std::string_view name_of(severity level) noexcept;
/// Parses any usual name of a severity, such as "WARN", "err" or "fatal", but not "3". Ignores case. Returns nullopt for other
/// texts.
[[nodiscard]] std::optional<severity> parse_severity(std::string_view name) noexcept;

/// One record: a line, with the lines that belong to it.
struct log_record {
  std::optional<instant> time{};  ///< The record's own time, or that of the previous record with one. nullopt: unknown.
  bool has_own_time = false;      ///< `time` is set, and is the record's own.
  std::optional<severity> level{};
  /// Masked, valid UTF-8 without NUL. Lines except the last end with a line feed. Cut at
  /// `read_budget::max_record_bytes`.
  std::string text{};
  std::uint64_t cut_bytes = 0;  ///< Number of bytes cut off at the end.
  std::string source{};         ///< For people: the file name without folders, or the unit.
  /// Where `time` is written in `text`, without brackets. Both 0: it is not in the text.
  std::size_t time_begin = 0, time_end = 0;
};

/// A request for a page. Records must meet all conditions that are set. Texts are compared in masked form, as clients see them.
struct log_query {
  std::optional<instant> since{};       ///< The record's time is this or later.
  std::optional<instant> until{};       ///< The record's time is earlier.
  std::optional<severity> min_level{};  ///< The record is at least so severe.
  std::string grep{};                   ///< An RE2 expression that matches a part of the text. Empty: any text.
  /// Fields of JSON or logfmt records: path with dots (see `find_field`), and the exact text of the value.
  std::vector<std::pair<std::string, std::string>> fields{};
  std::size_t lines = 100;  ///< Maximum number of records.
  std::string cursor{};     ///< `log_page::next` of a previous answer to the same query. Empty: start with the newest record.
};

/// Limits of one answer. The earlier of `deadline` and `request_context::deadline` applies.
struct read_budget {
  std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();
  std::uint64_t max_scanned_bytes = 256u << 20;  ///< Of the log, after decompression.
  /// A walk reads this much even after `deadline`, but not after `request_context::deadline`.
  std::uint64_t min_scanned_bytes = 0;
  std::size_t max_record_bytes = 64u << 10;  ///< Of one record. The rest is left out.
  std::size_t max_answer_bytes = 4u << 20;   ///< Of all texts together.
};

/// Some consecutive matching records.
struct log_page {
  std::vector<log_record> records{};  ///< Newest first.
  std::optional<std::string> next{};  ///< The `cursor` for older records. nullopt: there are none.
  /// Why the page ends before `lines` records although there may be more ("256 MiB were searched, the limit of one answer").
  /// Empty if it does not.
  std::string early_end_reason{};
  std::vector<std::string> notes{};  ///< For people: unreadable files, clocks that were set back, lost records.
  std::size_t masked_count = 0;      ///< Number of masked secrets.
};

/// The result of a walk through a log.
struct walk_result {
  bool is_complete = true;           ///< All readable records of the range were visited.
  std::vector<std::string> notes{};  ///< For people: files that are damaged or left out.
  bool is_cacheable = true;          ///< False: a later walk may visit more records of the same files.
};

/// A log, in files or in a journal. Threads: any, several at once.
class log_backend {
 public:
  log_backend() = default;
  log_backend(const log_backend&) = delete;
  log_backend& operator=(const log_backend&) = delete;
  virtual ~log_backend() = default;

  /// Reads one page, newest record first. A deadline usually ends the page early (`early_end_reason`). Errors: invalid_argument
  /// for an invalid expression or cursor; the text says what to change. resource_not_found if the log does not exist (yet).
  /// access_denied, timed_out, cancelled, content_changed, source_unavailable.
  [[nodiscard]] virtual result<log_page> read(const log_query& query, const read_budget& budget,
                                              const request_context& context) = 0;

  /// Visits the records of [since, until) from the oldest on, within the limits of `budget`. If a bound is set, records without
  /// a time are left out. `visit` returns whether to continue. Unreadable files are skipped if there are others. Remarks about
  /// the set of files as a whole appear only in pages. Errors: as `read`.
  [[nodiscard]] virtual result<walk_result> walk(std::optional<instant> since, std::optional<instant> until,
                                                 const read_budget& budget, const request_context& context,
                                                 const std::function<bool(const log_record&)>& visit) = 0;

  /// Returns a text that changes whenever a read may return something else: from sizes and identities of files, or the
  /// journal's newest entry. Cheap. Empty if unknown. Errors: as `read`.
  [[nodiscard]] virtual result<std::string> version(const request_context& context) = 0;

  /// From now on, calls `on_change` on a thread of the log when records were added, or the log was rotated, truncated, lost or
  /// found again. A call follows within 20 ms, or within two seconds where the kernel does not report changes. Replaces the
  /// previous function; null: none. The previous one is not called after this returns. `on_change` must not block.
  virtual void follow(std::function<void()> on_change) = 0;

  /// Returns masked fields that are not in the text of a record, such as those of a journal, of the newest `max_records`
  /// records. If `name` is empty, returns the names of all fields with empty values; otherwise the values of this field.
  /// Default: none. Errors: as `read`.
  [[nodiscard]] virtual result<std::vector<std::pair<std::string, std::string>>> native_fields(std::string_view name,
                                                                                               std::size_t max_records,
                                                                                               const read_budget& budget,
                                                                                               const request_context& context) {
    static_cast<void>(name);
    static_cast<void>(max_records);
    static_cast<void>(budget);
    static_cast<void>(context);
    return std::vector<std::pair<std::string, std::string>>();
  }

  /// Returns the folders and files that the log uses, for the sandbox.
  [[nodiscard]] virtual system_requirements requirements() const = 0;
  /// Checks whether the log can be read, and updates `last_error`. May block on disk access.
  virtual void check() = 0;
  /// Says for people what was wrong with the log at the last check or read. Empty: nothing. Must not block.
  [[nodiscard]] virtual std::string last_error() const = 0;
};

}  // namespace hondana::records

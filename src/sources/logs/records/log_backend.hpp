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

[[nodiscard]] std::string_view name_of(severity level) noexcept;
/// Parses any usual name of a severity, such as "WARN", "err" or "fatal", but not "3". Ignores case. Returns nothing for other
/// names.
[[nodiscard]] std::optional<severity> parse_severity(std::string_view name) noexcept;

/// One record: a line, with the lines that belong to it.
struct log_record {
  std::optional<instant> time{};  ///< The record's own time, or that of the previous record in the same file.
  bool has_own_time = false;
  std::optional<severity> level{};
  /// Masked, valid UTF-8 without NUL. Lines except the last end with a line feed. Cut at
  /// `read_budget::max_record_bytes`.
  std::string text{};
  std::uint64_t cut_bytes = 0;  ///< Number of bytes cut off at the end.
  std::string source{};         ///< For people: the file name without folders, or the unit.
};

/// A filter. Records must meet all conditions that are set. Texts are compared in masked form, as clients see them.
struct log_query {
  std::optional<instant> since{};  ///< At or after.
  std::optional<instant> until{};  ///< Before.
  std::optional<severity> min_level{};
  std::string grep{};  ///< An RE2 expression. Empty: any.
  /// Fields of JSON or logfmt records: path with dots, and text of the value.
  std::vector<std::pair<std::string, std::string>> fields{};
  std::size_t lines = 100;  ///< The most records.
  std::string cursor{};     ///< `log_page::next` of a previous answer to the same query. Empty: start with the newest record.
};

/// Limits of one answer.
struct read_budget {
  std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();
  std::uint64_t max_scanned_bytes = 256u << 20;  ///< Of a log, after decompression.
  std::size_t max_record_bytes = 64u << 10;      ///< Of one record. The rest is left out.
  std::size_t max_answer_bytes = 4u << 20;       ///< Of all texts together.
};

/// Some consecutive matching records.
struct log_page {
  std::vector<log_record> records{};  ///< Newest first.
  std::optional<std::string> next{};  ///< Where older records continue. Nothing at the beginning of the log.
  /// Why the page ends before `lines` records although there may be more ("256 MiB were searched, the limit of one answer").
  /// Empty if it does not.
  std::string early_end_reason{};
  std::vector<std::string> notes{};  ///< For people: unreadable files, clocks that were set back, lost records.
  std::size_t masked_count = 0;      ///< Number of masked secrets.
};

/// The result of a walk through a log.
struct walk_result {
  bool is_complete = true;           ///< All readable records were visited.
  std::vector<std::string> notes{};  ///< For people: files that are damaged or left out.
  bool is_cacheable = true;          ///< The remarks stay true until the files change.
};

/// A log, in files or in a journal. Threads: any, several at once.
class log_backend {
 public:
  log_backend() = default;
  log_backend(const log_backend&) = delete;
  log_backend& operator=(const log_backend&) = delete;
  virtual ~log_backend() = default;

  /// Reads one page, newest record first. `context` has the stop token and the deadline. A deadline that comes after records
  /// were found ends the page early. Errors: invalid_argument for an invalid expression or cursor; the text says what to
  /// change. resource_not_found if the log does not exist (yet). access_denied, timed_out, cancelled, source_unavailable.
  [[nodiscard]] virtual result<log_page> read(const log_query& query, const read_budget& budget,
                                              const request_context& context) = 0;

  /// Visits the records of [since, until) from the oldest on, within the limits of `budget`. `visit` returns whether to
  /// continue. Used for summaries. Unreadable files are skipped if there are others. Remarks about the set of files as a whole
  /// appear only in pages. Errors: as `read`.
  [[nodiscard]] virtual result<walk_result> walk(std::optional<instant> since, std::optional<instant> until,
                                                 const read_budget& budget, const request_context& context,
                                                 const std::function<bool(const log_record&)>& visit) = 0;

  /// A text that changes whenever a read may return something else: from sizes and identities of files, or the journal's newest
  /// entry. Cheap. Empty if unknown. Errors: as `read`.
  [[nodiscard]] virtual result<std::string> version(const request_context& context) = 0;

  /// Calls `on_change`, on a thread of the log, within 20 ms after records were added, or the log was rotated, truncated, lost
  /// or found again. Null ends this: no call follows after the return. Must not block.
  virtual void follow(std::function<void()> on_change) = 0;

  /// Fields of the newest records outside their texts, such as those of a journal, as masked pairs of name and value. If `name`
  /// is empty, all names without values, else the values of this field. Examines `max_records` records. Errors: as `read`.
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

  /// The folders and files that the log reads, for the sandbox.
  [[nodiscard]] virtual system_requirements requirements() const = 0;
  /// Checks what is wrong with the log, for `last_error`. May block on disk access.
  virtual void check() = 0;
  /// The problem found by the last check, for people. Empty: none. Must not block.
  [[nodiscard]] virtual std::string last_error() const = 0;
};

}  // namespace hondana::records

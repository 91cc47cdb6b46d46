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

/// How grave a record is, in the order of their gravity; syslog's emergency and alert are `critical`.
enum class severity : std::uint8_t { trace, debug, info, notice, warning, error, critical };

[[nodiscard]] std::string_view name_of(severity of) noexcept;
/// By any usual name ("WARN", "err", "fatal", "3" no); case does not matter. Nothing for what is none.
[[nodiscard]] std::optional<severity> severity_named(std::string_view name) noexcept;

/// One record: a line, with the lines that belong to it.
struct record {
  std::optional<instant> time{};  ///< As it says itself; of one that says none, that of the record before it in the same file.
  bool has_own_time = false;
  std::optional<severity> level{};
  /// Masked, well-formed UTF-8 without NUL, lines ended by '\n' but the last; cut at `budget::record_bytes`.
  std::string text{};
  std::uint64_t cut = 0;  ///< Bytes that were cut off its end.
  std::string source{};   ///< The file's name without folders, or the unit; for people.
};

/// Which records. All that is set must hold of a record; text is matched as it is answered, so masked.
struct query {
  std::optional<instant> since{};  ///< At or after.
  std::optional<instant> until{};  ///< Before.
  std::optional<severity> at_least{};
  std::string grep{};  ///< An RE2 expression; empty: any.
  /// Of records that are JSON, or logfmt: path with dots, text of the value.
  std::vector<std::pair<std::string, std::string>> fields{};
  std::size_t lines = 100;  ///< Records at most.
  std::string cursor{};     ///< `page::next` of an answer to the same query; empty: from the newest on.
};

/// How far one answer goes.
struct budget {
  std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();
  std::uint64_t scanned_bytes = 256u << 20;  ///< Of a log, after decompression.
  std::size_t record_bytes = 64u << 10;      ///< Of one record; the rest of it is left out.
  std::size_t answer_bytes = 4u << 20;       ///< Of all texts together.
};

struct page {
  std::vector<record> records{};      ///< The newest first.
  std::optional<std::string> next{};  ///< Where older ones may be; absent at the beginning of the log.
  /// Why it ends before `lines` records though there may be more ("256 MiB were searched, the limit of one answer"); empty: it
  /// does not.
  std::string ended_early{};
  std::vector<std::string> remarks{};  ///< For people: members that could not be read, clocks that went back, what was lost.
  std::size_t masked = 0;              ///< Secrets.
};

/// What going through a log came to.
struct walk_end {
  bool is_whole = true;                ///< All that can be read was gone through.
  std::vector<std::string> remarks{};  ///< For people: members that are damaged or left out.
  bool is_lasting = true;              ///< The remarks stay true as long as the files are what they are.
};

/// Kept in files or in a journal. Threads: any, several at once.
class log {
 public:
  log() = default;
  log(const log&) = delete;
  log& operator=(const log&) = delete;
  virtual ~log() = default;

  /// One page, the newest first. Errors: invalid_argument for an expression or a cursor that is none (naming what to change),
  /// resource_not_found where there is no log (yet), access_denied, timed_out, cancelled, source_unavailable. `by` gives stop
  /// token and deadline; a deadline that comes while records are found ends the page early instead.
  [[nodiscard]] virtual result<page> read(const query& what, const budget& most, const call& by) = 0;

  /// Goes through the records of [since, until) from the oldest on, as far as `most` goes; `each` returns whether to go on. For
  /// summaries. Members that cannot be read are left out as long as there are others;
  /// what is to be said of all files stands in pages alone. Errors: as `read`.
  [[nodiscard]] virtual result<walk_end> walk(std::optional<instant> since, std::optional<instant> until, const budget& most,
                                              const call& by, const std::function<bool(const record&)>& each) = 0;

  /// Changes whenever a read may give something else: ends and identities of its files, or the journal's head. Cheap; empty
  /// where it cannot be told. Errors: as `read`.
  [[nodiscard]] virtual result<std::string> version(const call& by) = 0;

  /// From now on `changed` is called, by a thread of the log's, within 20 ms of records having been added or of the log having
  /// been rotated, truncated, lost or found again; null ends it (it is not called after that returned). Must not block.
  virtual void follow(std::function<void()> changed) = 0;

  /// Fields that the newest records have besides their texts, such as those of a journal, a name and a value each, masked.
  /// `name` empty: all, without values; else those of that name. `newest` records are looked at. Errors: as `read`.
  [[nodiscard]] virtual result<std::vector<std::pair<std::string, std::string>>> own_fields(std::string_view name,
                                                                                            std::size_t newest,
                                                                                            const budget& most,
                                                                                            const call& by) {
    static_cast<void>(name);
    static_cast<void>(newest);
    static_cast<void>(most);
    static_cast<void>(by);
    return std::vector<std::pair<std::string, std::string>>();
  }

  /// Folders and files that it reads, for the sandbox.
  [[nodiscard]] virtual needs needed() const = 0;
  /// Finds out what is wrong with it now, for `trouble`; may wait for disks.
  virtual void look() = 0;
  /// What was found to be wrong with it last, for people; empty: nothing. Must not block.
  [[nodiscard]] virtual std::string trouble() const = 0;
};

}  // namespace hondana::records

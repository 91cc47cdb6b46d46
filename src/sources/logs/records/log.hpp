/// A log, wherever it is kept.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <hondana/provider.hpp>

#include "sources/logs/records/query.hpp"

namespace hondana::records {

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

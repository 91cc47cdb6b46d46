/// Loads libsystemd at run time, and opens a journal with the matches of a source.
#pragma once

#include <systemd/sd-journal.h>

#include <memory>
#include <string>

#include <hondana/error.hpp>

#include "sources/logs/journal.hpp"

namespace hondana::logs {

/// The functions of libsystemd in use. Members are named as the functions, without the prefix `sd_journal_`.
struct journal_library {
  decltype(&::sd_journal_open) open;
  decltype(&::sd_journal_open_directory) open_directory;
  decltype(&::sd_journal_close) close;
  decltype(&::sd_journal_previous) previous;
  decltype(&::sd_journal_next) next;
  decltype(&::sd_journal_get_data) get_data;
  decltype(&::sd_journal_restart_data) restart_data;
  decltype(&::sd_journal_enumerate_data) enumerate_data;
  decltype(&::sd_journal_get_realtime_usec) get_realtime_usec;
  decltype(&::sd_journal_get_cursor) get_cursor;
  decltype(&::sd_journal_seek_cursor) seek_cursor;
  decltype(&::sd_journal_test_cursor) test_cursor;
  decltype(&::sd_journal_seek_realtime_usec) seek_realtime_usec;
  decltype(&::sd_journal_seek_tail) seek_tail;
  decltype(&::sd_journal_seek_head) seek_head;
  decltype(&::sd_journal_add_match) add_match;
  decltype(&::sd_journal_add_conjunction) add_conjunction;
  decltype(&::sd_journal_add_disjunction) add_disjunction;
  decltype(&::sd_journal_set_data_threshold) set_data_threshold;
  decltype(&::sd_journal_get_cutoff_realtime_usec) get_cutoff_realtime_usec;
  decltype(&::sd_journal_has_persistent_files) has_persistent_files;
  decltype(&::sd_journal_has_runtime_files) has_runtime_files;
  decltype(&::sd_journal_get_fd) get_fd;
  decltype(&::sd_journal_get_events) get_events;
  decltype(&::sd_journal_get_timeout) get_timeout;
  decltype(&::sd_journal_process) process;
};

/// Loads the library `name`, which is never unloaded. Threads: any.
/// Errors: source_unavailable if the library is missing, is a different one, or is too old.
[[nodiscard]] result<journal_library> load_journal_library(const char* name);
/// Loads libsystemd, unless an earlier call has loaded it. The pointer is never null and always valid. Errors: as
/// `load_journal_library`; the next call tries again. Threads: any.
[[nodiscard]] result<const journal_library*> loaded_journal_library();

/// Closes an open journal.
class journal_closer {
 public:
  explicit journal_closer(const journal_library* library = nullptr) noexcept : library_(library) {}
  void operator()(sd_journal* journal) const noexcept { library_->close(journal); }

 private:
  const journal_library* library_;
};
/// An open journal. Threads: one at a time.
using journal_handle = std::unique_ptr<sd_journal, journal_closer>;

/// The maximum number of bytes that are read of a field.
inline constexpr std::size_t max_field_bytes = std::size_t{1} << 20;

/// Opens a journal so that only entries that `options` selects are visited. Also succeeds if no file of the journal is
/// readable. Errors: access_denied, source_unavailable.
[[nodiscard]] result<journal_handle> open_journal_handle(const journal_library& library, const journal_options& options);

/// Makes the error "The journal cannot be <operation>". `operation`: a participle, such as "read". `code`: the negative return
/// value of a library function.
[[nodiscard]] failure journal_failure(std::string_view operation, int code);

/// Returns the greatest syslog priority number that is at least as severe as `level`.
[[nodiscard]] int priority_of(records::severity level) noexcept;

}  // namespace hondana::logs

/// Loads libsystemd at run time, and opens a journal with the matches of a source.
#pragma once

#include <systemd/sd-journal.h>

#include <memory>
#include <string>

#include <hondana/error.hpp>

#include "os/libraries/shared_library.hpp"
#include "sources/logs/journal.hpp"

namespace hondana::logs {

/// The functions of libsystemd in use. Members are named as the functions, without the prefix `sd_journal_`.
struct journal_library {
  libraries::function<decltype(&::sd_journal_open)> open{"sd_journal_open"};
  libraries::function<decltype(&::sd_journal_open_directory)> open_directory{"sd_journal_open_directory"};
  libraries::function<decltype(&::sd_journal_close)> close{"sd_journal_close"};
  libraries::function<decltype(&::sd_journal_previous)> previous{"sd_journal_previous"};
  libraries::function<decltype(&::sd_journal_next)> next{"sd_journal_next"};
  libraries::function<decltype(&::sd_journal_get_data)> get_data{"sd_journal_get_data"};
  libraries::function<decltype(&::sd_journal_restart_data)> restart_data{"sd_journal_restart_data"};
  libraries::function<decltype(&::sd_journal_enumerate_data)> enumerate_data{"sd_journal_enumerate_data"};
  libraries::function<decltype(&::sd_journal_get_realtime_usec)> get_realtime_usec{"sd_journal_get_realtime_usec"};
  libraries::function<decltype(&::sd_journal_get_cursor)> get_cursor{"sd_journal_get_cursor"};
  libraries::function<decltype(&::sd_journal_seek_cursor)> seek_cursor{"sd_journal_seek_cursor"};
  libraries::function<decltype(&::sd_journal_test_cursor)> test_cursor{"sd_journal_test_cursor"};
  libraries::function<decltype(&::sd_journal_seek_realtime_usec)> seek_realtime_usec{"sd_journal_seek_realtime_usec"};
  libraries::function<decltype(&::sd_journal_seek_tail)> seek_tail{"sd_journal_seek_tail"};
  libraries::function<decltype(&::sd_journal_seek_head)> seek_head{"sd_journal_seek_head"};
  libraries::function<decltype(&::sd_journal_add_match)> add_match{"sd_journal_add_match"};
  libraries::function<decltype(&::sd_journal_add_conjunction)> add_conjunction{"sd_journal_add_conjunction"};
  libraries::function<decltype(&::sd_journal_add_disjunction)> add_disjunction{"sd_journal_add_disjunction"};
  libraries::function<decltype(&::sd_journal_set_data_threshold)> set_data_threshold{"sd_journal_set_data_threshold"};
  libraries::function<decltype(&::sd_journal_get_cutoff_realtime_usec)> get_cutoff_realtime_usec{
      "sd_journal_get_cutoff_realtime_usec"};
  libraries::function<decltype(&::sd_journal_has_persistent_files)> has_persistent_files{"sd_journal_has_persistent_files"};
  libraries::function<decltype(&::sd_journal_has_runtime_files)> has_runtime_files{"sd_journal_has_runtime_files"};
  libraries::function<decltype(&::sd_journal_get_fd)> get_fd{"sd_journal_get_fd"};
  libraries::function<decltype(&::sd_journal_get_events)> get_events{"sd_journal_get_events"};
  libraries::function<decltype(&::sd_journal_get_timeout)> get_timeout{"sd_journal_get_timeout"};
  libraries::function<decltype(&::sd_journal_process)> process{"sd_journal_process"};
};

/// Returns libsystemd, which the first successful call loads. Errors: source_unavailable, see `libraries::load_once`. Threads:
/// any.
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

/// Loads libsystemd at run time, and opens a journal with the matches of a source.
#include "sources/logs/journal_library.hpp"

#include <dlfcn.h>

#include <atomic>
#include <cerrno>
#include <mutex>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <utility>

namespace hondana::logs {
namespace {

constexpr const char* journal_library_name = "libsystemd.so.0";

}  // namespace

result<journal_library> load_journal_library(const char* name) {
  const auto load_error = [name](std::string_view advice) {
    const char* const message = ::dlerror();
    return fail(
        errc::source_unavailable,
        "journals require libsystemd, which cannot be loaded; " + std::string(advice) + " " + name + " (Debian: libsystemd0)",
        message != nullptr ? message : std::string());
  };
  void* const handle = ::dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return load_error("install");
  journal_library out{};
  bool is_complete = true;
  const auto load = [&](auto& function_pointer, const char* function) {
    function_pointer = reinterpret_cast<std::remove_reference_t<decltype(function_pointer)>>(::dlsym(handle, function));
    is_complete = is_complete && function_pointer != nullptr;
  };
  load(out.open, "sd_journal_open");
  load(out.open_directory, "sd_journal_open_directory");
  load(out.close, "sd_journal_close");
  load(out.previous, "sd_journal_previous");
  load(out.next, "sd_journal_next");
  load(out.get_data, "sd_journal_get_data");
  load(out.restart_data, "sd_journal_restart_data");
  load(out.enumerate_data, "sd_journal_enumerate_data");
  load(out.get_realtime_usec, "sd_journal_get_realtime_usec");
  load(out.get_cursor, "sd_journal_get_cursor");
  load(out.seek_cursor, "sd_journal_seek_cursor");
  load(out.test_cursor, "sd_journal_test_cursor");
  load(out.seek_realtime_usec, "sd_journal_seek_realtime_usec");
  load(out.seek_tail, "sd_journal_seek_tail");
  load(out.seek_head, "sd_journal_seek_head");
  load(out.add_match, "sd_journal_add_match");
  load(out.add_conjunction, "sd_journal_add_conjunction");
  load(out.add_disjunction, "sd_journal_add_disjunction");
  load(out.set_data_threshold, "sd_journal_set_data_threshold");
  load(out.get_cutoff_realtime_usec, "sd_journal_get_cutoff_realtime_usec");
  load(out.has_persistent_files, "sd_journal_has_persistent_files");
  load(out.has_runtime_files, "sd_journal_has_runtime_files");
  load(out.get_fd, "sd_journal_get_fd");
  load(out.get_events, "sd_journal_get_events");
  load(out.get_timeout, "sd_journal_get_timeout");
  load(out.process, "sd_journal_process");
  if (!is_complete) return load_error("functions are missing: install a newer");
  return out;
}

result<const journal_library*> loaded_journal_library() {
  static std::atomic<const journal_library*> loaded_library{nullptr};
  if (const auto* const existing = loaded_library.load(std::memory_order_acquire)) return existing;
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  if (const auto* const current = loaded_library.load(std::memory_order_acquire)) return current;
  HONDANA_TRY(auto loaded, load_journal_library(journal_library_name));
  static journal_library table;
  table = loaded;
  loaded_library.store(&table, std::memory_order_release);
  return &table;
}

namespace {

std::string errno_text(int code) { return std::generic_category().message(code < 0 ? -code : code); }

/// Adds matches to a journal. Remembers the first failure.
class match_builder {
 public:
  match_builder(const journal_library& library, sd_journal* journal) : library_(library), journal_(journal) {}

  void add(const std::string& text) { record_error(library_.add_match(journal_, text.data(), text.size())); }
  void add_or() { record_error(library_.add_disjunction(journal_)); }
  void add_and() { record_error(library_.add_conjunction(journal_)); }
  [[nodiscard]] int code() const noexcept { return code_; }

 private:
  void record_error(int code) noexcept {
    if (code < 0 && code_ == 0) code_ = code;
  }
  const journal_library& library_;
  sd_journal* journal_;
  int code_ = 0;
};

int add_matches(const journal_library& library, sd_journal* journal, const journal_options& options) {
  match_builder matches(library, journal);
  for (const auto& unit : options.units) {
    matches.add("_SYSTEMD_UNIT=" + unit);
    matches.add_or();
    matches.add("_PID=1");
    matches.add("UNIT=" + unit);
    matches.add_or();
    matches.add("_UID=0");
    matches.add("OBJECT_SYSTEMD_UNIT=" + unit);
    matches.add_or();
  }
  if (!options.units.empty()) matches.add_and();
  for (const auto& identifier : options.identifiers) matches.add("SYSLOG_IDENTIFIER=" + identifier);
  if (!options.identifiers.empty()) matches.add_and();
  if (options.min_level)
    for (int i = 0; i <= priority_of(*options.min_level); ++i) matches.add("PRIORITY=" + std::to_string(i));
  return matches.code();
}

}  // namespace

int priority_of(records::severity level) noexcept {
  switch (level) {
    case records::severity::critical:
      return 2;
    case records::severity::error:
      return 3;
    case records::severity::warning:
      return 4;
    case records::severity::notice:
      return 5;
    case records::severity::info:
      return 6;
    case records::severity::debug:
    case records::severity::trace:
      break;
  }
  return 7;
}

failure journal_failure(std::string_view operation, int code) {
  const bool is_denied = code == -EACCES || code == -EPERM;
  return {
      is_denied ? errc::access_denied : errc::source_unavailable,
      "The journal cannot be " + std::string(operation) +
          (is_denied ? ": the server's user has no permission. Add it to the group systemd-journal." : " now. Retry later."),
      errno_text(code)};
}

result<journal_handle> open_journal_handle(const journal_library& library, const journal_options& options) {
  sd_journal* raw = nullptr;
  const int code = options.folder.empty() ? library.open(&raw, SD_JOURNAL_LOCAL_ONLY)
                                          : library.open_directory(&raw, options.folder.c_str(), 0);
  if (code < 0) return tl::unexpected(journal_failure("opened", code));
  journal_handle opened(raw, journal_closer(&library));
  static_cast<void>(library.set_data_threshold(raw, max_field_bytes));
  if (const int match_code = add_matches(library, raw, options); match_code < 0)
    return tl::unexpected(journal_failure("searched", match_code));
  return opened;
}

}  // namespace hondana::logs

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
  const auto why_not = [name](std::string_view advice) {
    const char* const said = ::dlerror();
    return fail(
        errc::source_unavailable,
        "journals require libsystemd, which cannot be loaded; " + std::string(advice) + " " + name + " (Debian: libsystemd0)",
        said != nullptr ? said : std::string());
  };
  void* const handle = ::dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return why_not("install");
  journal_library out{};
  bool is_whole = true;
  const auto find = [&](auto& into, const char* function) {
    into = reinterpret_cast<std::remove_reference_t<decltype(into)>>(::dlsym(handle, function));
    is_whole = is_whole && into != nullptr;
  };
  find(out.open, "sd_journal_open");
  find(out.open_directory, "sd_journal_open_directory");
  find(out.close, "sd_journal_close");
  find(out.previous, "sd_journal_previous");
  find(out.next, "sd_journal_next");
  find(out.get_data, "sd_journal_get_data");
  find(out.restart_data, "sd_journal_restart_data");
  find(out.enumerate_data, "sd_journal_enumerate_data");
  find(out.get_realtime_usec, "sd_journal_get_realtime_usec");
  find(out.get_cursor, "sd_journal_get_cursor");
  find(out.seek_cursor, "sd_journal_seek_cursor");
  find(out.test_cursor, "sd_journal_test_cursor");
  find(out.seek_realtime_usec, "sd_journal_seek_realtime_usec");
  find(out.seek_tail, "sd_journal_seek_tail");
  find(out.seek_head, "sd_journal_seek_head");
  find(out.add_match, "sd_journal_add_match");
  find(out.add_conjunction, "sd_journal_add_conjunction");
  find(out.add_disjunction, "sd_journal_add_disjunction");
  find(out.set_data_threshold, "sd_journal_set_data_threshold");
  find(out.get_cutoff_realtime_usec, "sd_journal_get_cutoff_realtime_usec");
  find(out.has_persistent_files, "sd_journal_has_persistent_files");
  find(out.has_runtime_files, "sd_journal_has_runtime_files");
  find(out.get_fd, "sd_journal_get_fd");
  find(out.get_events, "sd_journal_get_events");
  find(out.get_timeout, "sd_journal_get_timeout");
  find(out.process, "sd_journal_process");
  if (!is_whole) return why_not("functions are missing: install a newer");
  return out;
}

result<const journal_library*> loaded_journal_library() {
  static std::atomic<const journal_library*> known{nullptr};
  if (const auto* const already = known.load(std::memory_order_acquire)) return already;
  static std::mutex one_at_a_time;
  const std::lock_guard lock(one_at_a_time);
  if (const auto* const already = known.load(std::memory_order_acquire)) return already;
  HONDANA_TRY(auto loaded, load_journal_library(journal_library_name));
  static journal_library table;
  table = loaded;
  known.store(&table, std::memory_order_release);
  return &table;
}

namespace {

std::string errno_text(int code) { return std::generic_category().message(code < 0 ? -code : code); }

/// Adds matches to a journal. Remembers the first failure.
class matching {
 public:
  matching(const journal_library& by, sd_journal* to) : by_(by), to_(to) {}

  void match(const std::string& text) { note(by_.add_match(to_, text.data(), text.size())); }
  void alternative() { note(by_.add_disjunction(to_)); }
  void and_also() { note(by_.add_conjunction(to_)); }
  [[nodiscard]] int code() const noexcept { return code_; }

 private:
  void note(int code) noexcept {
    if (code < 0 && code_ == 0) code_ = code;
  }
  const journal_library& by_;
  sd_journal* to_;
  int code_ = 0;
};

int add_matches(const journal_library& by, sd_journal* to, const journal_options& what) {
  matching all(by, to);
  for (const auto& unit : what.units) {
    all.match("_SYSTEMD_UNIT=" + unit);
    all.alternative();
    all.match("_PID=1");
    all.match("UNIT=" + unit);
    all.alternative();
    all.match("_UID=0");
    all.match("OBJECT_SYSTEMD_UNIT=" + unit);
    all.alternative();
  }
  if (!what.units.empty()) all.and_also();
  for (const auto& one : what.identifiers) all.match("SYSLOG_IDENTIFIER=" + one);
  if (!what.identifiers.empty()) all.and_also();
  if (what.at_least)
    for (int i = 0; i <= priority_of(*what.at_least); ++i) all.match("PRIORITY=" + std::to_string(i));
  return all.code();
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

failure journal_failure(std::string_view doing, int code) {
  const bool is_denied = code == -EACCES || code == -EPERM;
  return {
      is_denied ? errc::access_denied : errc::source_unavailable,
      "The journal cannot be " + std::string(doing) +
          (is_denied ? ": the server's user has no permission. Add it to the group systemd-journal." : " now. Retry later."),
      errno_text(code)};
}

result<journal_handle> open_matching(const journal_library& by, const journal_options& what) {
  sd_journal* raw = nullptr;
  const int code = what.folder.empty() ? by.open(&raw, SD_JOURNAL_LOCAL_ONLY) : by.open_directory(&raw, what.folder.c_str(), 0);
  if (code < 0) return tl::unexpected(journal_failure("opened", code));
  journal_handle opened(raw, closes_journal(&by));
  static_cast<void>(by.set_data_threshold(raw, longest_datum));
  if (const int refused = add_matches(by, raw, what); refused < 0) return tl::unexpected(journal_failure("searched", refused));
  return opened;
}

}  // namespace hondana::logs

/// Finding libsystemd.
#include "sources/logs/journal_library.hpp"

#include <dlfcn.h>

#include <atomic>
#include <mutex>
#include <string>
#include <string_view>
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

}  // namespace hondana::logs

/// The log of systemd's journal: access to its files, pages, walks and waiting for new entries.
#include "sources/logs/journal.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <functional>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include <hondana/clock.hpp>
#include <hondana/error.hpp>

#include "base/bytes/digest.hpp"
#include "base/executor/thread_guards.hpp"
#include "os/disk/file_descriptor.hpp"
#include "protocol/model/caller_checks.hpp"
#include "sources/logs/journal_library.hpp"
#include "sources/logs/journal_reader.hpp"

namespace hondana::logs {

struct journal_files {
  std::size_t readable = 0;
  std::size_t unreadable = 0;  ///< Includes folders that cannot be listed.
  bool has_folder = false;

  /// A remark about unreadable files if others are readable. Empty: none.
  [[nodiscard]] std::string note() const;
};

/// Counts the journal files in `folder` and in its folders named by machine IDs. Empty: in the system journal of this machine.
/// Errors: resource_not_found if there are none. access_denied if none is readable; the text names the group with access.
/// source_unavailable.
[[nodiscard]] result<journal_files> scan_journal_files(const std::string& folder);

namespace {

constexpr std::size_t max_folder_names = 100'000;  // in one folder
constexpr std::size_t machine_id_digits = 32;

bool is_machine_id(std::string_view name) noexcept {
  return name.size() == machine_id_digits && std::all_of(name.begin(), name.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
         });
}

/// The machine ID. Empty if unknown.
std::string read_machine_id() {
  std::ifstream file("/etc/machine-id");
  std::string out;
  if (!(file >> out) || !is_machine_id(out)) out.clear();
  return out;
}

/// Counts the files of a folder and, if `recurses`, of its folders named by machine IDs. Returns 0, or the errno of opening or
/// reading the folder.
int count_journal_files(int parent, const char* path, const std::string& machine_id, bool recurses, journal_files& files) {
  disk::dir_stream names(disk::handle(::openat(parent, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)));
  if (!names.is_open()) {
    if (names.error() == EACCES || names.error() == EPERM) ++files.unreadable;
    return names.error();
  }
  files.has_folder = true;
  const int folder = names.descriptor();
  for (std::size_t count = 0; count < max_folder_names; ++count) {
    const auto* const entry = names.next();
    if (entry == nullptr) break;
    const std::string_view name = entry->d_name;
    if (name.ends_with(".journal") || name.ends_with(".journal~")) {
      const disk::handle file(::openat(folder, entry->d_name, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY));
      ++(file.is_open() ? files.readable : files.unreadable);
    } else if (recurses && is_machine_id(name.substr(0, name.find('.'))) && (machine_id.empty() || name == machine_id)) {
      static_cast<void>(count_journal_files(folder, entry->d_name, machine_id, false, files));
    }
  }
  return names.error();
}

}  // namespace

std::string journal_files::note() const {
  if (unreadable == 0 || readable == 0) return {};
  return std::to_string(unreadable) + " of " + std::to_string(unreadable + readable) +
         " journal files are left out: the server's user has no permission to read them. Add it to the group systemd-journal.";
}

result<journal_files> scan_journal_files(const std::string& folder) {
  journal_files files;
  std::string errors;
  int first_error = 0;
  const auto scan = [&](const std::string& path, const std::string& machine_id) {
    const int error = count_journal_files(AT_FDCWD, path.c_str(), machine_id, true, files);
    if (error != 0) errors += (errors.empty() ? "" : "; ") + path + ": " + std::strerror(error);
    if (error != 0 && error != ENOENT && error != ENOTDIR && first_error == 0) first_error = error;
  };
  if (folder.empty()) {
    const auto machine_id = read_machine_id();
    for (const auto* path : {"/var/log/journal", "/run/log/journal"}) scan(path, machine_id);
  } else {
    scan(folder, {});
  }
  if (files.readable != 0) return files;
  if (files.unreadable != 0) {
    return fail(
        errc::access_denied,
        "The server's user has no permission to read the journal. Add it to the group systemd-journal, and restart the server.",
        errors);
  }
  if (first_error != 0) {
    return fail(errc::source_unavailable, "The journal's folder cannot be opened now. Retry later.", errors);
  }
  if (!folder.empty() && !files.has_folder) {
    return fail(errc::resource_not_found,
                "The journal's folder does not exist (yet). Retry when it does, or correct journal_folder in its table.",
                errors);
  }
  return fail(
      errc::resource_not_found,
      folder.empty()
          ? "The system journal has no files (yet). Check that systemd-journald is running and stores its journal."
          : "The journal's folder contains no journal files (yet). Retry when it does, or correct journal_folder in its table.",
      errors);
}

/// Calls `on_change` when matching entries arrive, or when journal files appear or disappear. Uses one thread. If there is no
/// journal, it looks again every two seconds.
class journal_watcher {
 public:
  /// Reports entries that arrive after the construction.
  journal_watcher(const journal_library& library, const journal_options& options, std::function<void()> on_change);
  /// Waits for a running call. No call follows. Must not run within `on_change`.
  ~journal_watcher();
  journal_watcher(const journal_watcher&) = delete;
  journal_watcher& operator=(const journal_watcher&) = delete;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

namespace {

constexpr int retry_interval_ms = 2000;
constexpr int max_skipped = 1000;

int poll_timeout(std::uint64_t deadline) {
  if (deadline == UINT64_MAX) return -1;
  struct timespec timespec_now{};
  ::clock_gettime(CLOCK_MONOTONIC, &timespec_now);
  const auto now =
      static_cast<std::uint64_t>(timespec_now.tv_sec) * 1'000'000 + static_cast<std::uint64_t>(timespec_now.tv_nsec) / 1000;
  if (deadline <= now) return 0;
  return static_cast<int>(std::min<std::uint64_t>((deadline - now) / 1000 + 1, 60'000));
}

}  // namespace

struct journal_watcher::state {
  state(const journal_library& journal_api, const journal_options& watch_options, std::function<void()> callback)
      : library(journal_api), options(watch_options), on_change(std::move(callback)) {}

  const journal_library& library;
  const journal_options options;
  const std::function<void()> on_change;
  disk::handle wake_event{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  journal_handle journal{nullptr, journal_closer()};
  std::jthread thread;  // must be the last member: it uses the others

  /// Opens the journal and moves behind its last entry.
  void open() {
    if (!scan_journal_files(options.folder)) return;
    auto handle = open_journal_handle(library, options);
    if (!handle) return;
    journal = std::move(*handle);
    if (library.get_fd(journal.get()) < 0) return journal.reset();
    seek_end();
  }
  void seek_end() {
    if (library.seek_tail(journal.get()) < 0 || library.previous(journal.get()) > 0) return;
    static_cast<void>(library.seek_head(journal.get()));
  }
  [[nodiscard]] bool skip_new_entries() {
    int skipped = 0;
    while (skipped < max_skipped && library.next(journal.get()) > 0) ++skipped;
    if (skipped == max_skipped) seek_end();
    return skipped != 0;
  }
  void run(const std::stop_token& stop);
  /// Returns false if the journal must be opened again.
  [[nodiscard]] bool wait(const std::stop_token& stop);
};

bool journal_watcher::state::wait(const std::stop_token& stop) {
  std::array<pollfd, 2> poll_descriptors{{{wake_event.get(), POLLIN, 0}, {-1, POLLIN, 0}}};
  int timeout = retry_interval_ms;
  if (journal) {
    const int events = library.get_events(journal.get());
    std::uint64_t deadline = UINT64_MAX;
    if (events < 0 || library.get_timeout(journal.get(), &deadline) < 0) return false;
    poll_descriptors[1] = {library.get_fd(journal.get()), static_cast<short>(events), 0};
    timeout = poll_timeout(deadline);
  }
  static_cast<void>(::poll(poll_descriptors.data(), poll_descriptors.size(), timeout));
  if (stop.stop_requested() || !journal) return !!journal;
  const int change = library.process(journal.get());
  if (change < 0) return false;
  if (change == SD_JOURNAL_NOP) return true;
  if ((skip_new_entries() || change == SD_JOURNAL_INVALIDATE) && !stop.stop_requested()) on_change();
  return true;
}

void journal_watcher::state::run(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    if (wait(stop) || stop.stop_requested()) continue;
    journal.reset();
    open();
    if (journal && !stop.stop_requested()) on_change();
  }
}

journal_watcher::journal_watcher(const journal_library& library, const journal_options& options,
                                 std::function<void()> on_change)
    : state_(std::make_unique<state>(library, options, std::move(on_change))) {
  state_->open();
  const executor::signal_blocker blocker;
  try {
    state_->thread = std::jthread([watcher_state = state_.get()](const std::stop_token& stop) { watcher_state->run(stop); });
  } catch (const std::system_error&) {
    state_->journal.reset();  // no notifications; the next subscription tries again
  }
}

journal_watcher::~journal_watcher() {
  state_->thread.request_stop();
  static_cast<void>(::eventfd_write(state_->wake_event.get(), 1));
}

namespace {

using records::instant;

constexpr std::size_t walk_entries_per_check = 64;
constexpr std::uint64_t walk_entry_overhead = 512;

/// See `open_journal`.
class journal_log final : public records::log_backend {
 public:
  journal_log(const journal_library& library, journal_options options) : library_(library), options_(std::move(options)) {}

  result<records::log_page> read(const records::log_query& query, const records::read_budget& budget,
                                 const request_context& context) override {
    HONDANA_TRY(const auto journal_filter, journal_query::compile(query));
    journal_files files;
    HONDANA_TRY(auto handle, open(&files));
    auto page = read_page(library_, handle.get(), journal_filter, options_.redact, budget, context);
    if (page && files.unreadable != 0) page->notes.insert(page->notes.begin(), files.note());
    return page;
  }

  result<records::walk_result> walk(std::optional<instant> since, std::optional<instant> until,
                                    const records::read_budget& budget, const request_context& context,
                                    const std::function<bool(const records::log_record&)>& visit) override;

  result<std::string> version(const request_context&) override {
    journal_files files;
    HONDANA_TRY(auto handle, open(&files));
    // The version depends on the newest entry, and on the oldest, which changes when the journal is vacuumed.
    std::uint64_t oldest = 0;
    static_cast<void>(library_.get_cutoff_realtime_usec(handle.get(), &oldest, nullptr));
    std::string newest;
    if (library_.seek_tail(handle.get()) >= 0 && library_.previous(handle.get()) > 0)
      newest = read_cursor(library_, handle.get());
    return bytes::to_hex(bytes::digest_of(newest + ' ' + std::to_string(oldest) + ' ' + files.note()));
  }

  result<journal_fields> native_fields(std::string_view name, std::size_t max_records, const records::read_budget& budget,
                                       const request_context& context) override {
    HONDANA_TRY(auto handle, open());
    journal_fields fields;
    if (const int code = library_.seek_tail(handle.get()); code < 0) return tl::unexpected(journal_failure("searched", code));
    for (std::size_t count = 0; count < max_records && library_.previous(handle.get()) > 0; ++count) {
      if (count % walk_entries_per_check == 0) {
        HONDANA_TRY(check_cancellation(context));
        if (monotonic_clock::now() >= budget.deadline) break;
      }
      add_fields(library_, handle.get(), name, options_.redact, fields);
    }
    return fields;
  }

  void follow(std::function<void()> on_change) override {
    const std::lock_guard lock(watcher_mutex_);
    watcher_.reset();
    if (on_change) watcher_ = std::make_unique<journal_watcher>(library_, options_, std::move(on_change));
  }

  [[nodiscard]] system_requirements requirements() const override {
    system_requirements out;
    if (!options_.folder.empty()) {
      out.folders.push_back({options_.folder});
    } else {
      out.folders = {{"/var/log/journal"}, {"/run/log/journal"}, {"/etc/machine-id"}};
    }
    return out;
  }

  void check() override {
    // Opening the journal would map every file. Checking that files are readable is enough.
    const auto files = scan_journal_files(options_.folder);
    remember(files ? std::string() : files.error().public_text);
  }

  [[nodiscard]] std::string last_error() const override {
    const std::lock_guard lock(mutex_);
    return last_error_;
  }

 private:
  result<journal_handle> open(journal_files* counts = nullptr) {
    auto files = scan_journal_files(options_.folder);
    auto opened = files ? open_journal_handle(library_, options_) : result<journal_handle>(tl::unexpected(files.error()));
    remember(opened ? std::string() : opened.error().public_text);
    if (files && counts != nullptr) *counts = *files;
    return opened;
  }
  void remember(std::string error) {
    const std::lock_guard lock(mutex_);
    last_error_ = std::move(error);
  }

  const journal_library& library_;
  const journal_options options_;
  mutable std::mutex mutex_;
  std::string last_error_;
  std::mutex watcher_mutex_;
  std::unique_ptr<journal_watcher> watcher_;
};

/// Moves before the entries that influence the masking of the first entry from `since` on.
int seek_before(const journal_library& library, sd_journal* journal, std::optional<instant> since) {
  if (!since) return library.seek_head(journal);
  if (const int code = library.seek_realtime_usec(journal, static_cast<std::uint64_t>(std::max<instant>(*since, 0))); code < 0)
    return code;
  for (std::size_t i = 0; i < context_entries; ++i) {
    const int code = library.previous(journal);
    if (code < 0) return code;
    if (code == 0) return library.seek_head(journal);
  }
  return 0;
}

result<records::walk_result> journal_log::walk(std::optional<instant> since, std::optional<instant> until,
                                               const records::read_budget& budget, const request_context& context,
                                               const std::function<bool(const records::log_record&)>& visit) {
  HONDANA_TRY(auto handle, open());
  if (const int code = seek_before(library_, handle.get(), since); code < 0)
    return tl::unexpected(journal_failure("searched", code));
  entry_masker masker;
  std::uint64_t scanned_bytes = 0;
  for (std::size_t count = 0;; ++count) {
    if (count % walk_entries_per_check == 0) {
      HONDANA_TRY(check_cancellation(context));
      if (monotonic_clock::now() >= budget.deadline || scanned_bytes >= budget.max_scanned_bytes)
        return records::walk_result{.is_complete = false};
    }
    const int code = library_.next(handle.get());
    if (code < 0) return tl::unexpected(journal_failure("read", code));
    if (code == 0) return records::walk_result{};
    auto entry = read_entry(library_, handle.get(), {}, options_.redact, budget.max_record_bytes);
    scanned_bytes += entry.message.size() + entry.cut_bytes + walk_entry_overhead;
    if (options_.redact) static_cast<void>(masker.mask(entry));
    if (until && entry.time >= *until) return records::walk_result{};
    if (since && entry.time < *since) continue;
    if (!visit(to_record(std::move(entry), budget.max_record_bytes))) return records::walk_result{.is_complete = false};
  }
}

}  // namespace

result<std::shared_ptr<records::log_backend>> open_journal(journal_options options) {
  HONDANA_TRY(const auto library, loaded_journal_library());
  return std::shared_ptr<records::log_backend>(std::make_shared<journal_log>(*library, std::move(options)));
}

}  // namespace hondana::logs

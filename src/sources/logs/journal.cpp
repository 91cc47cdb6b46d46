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
  std::size_t refused = 0;  ///< Includes folders that cannot be listed.
  bool has_folder = false;

  /// A remark about unreadable files if others are readable. Empty: none.
  [[nodiscard]] std::string remark() const;
};

/// Counts the journal files in `folder` and in its folders named by machine IDs. Empty: in the system journal of this machine.
/// Errors: resource_not_found if there are none. access_denied if none is readable; the text names the group with access.
/// source_unavailable.
[[nodiscard]] result<journal_files> look_at_journal(const std::string& folder);

namespace {

constexpr std::size_t most_journal_names = 100'000;  // in one folder
constexpr std::size_t machine_digits = 32;

bool is_machine(std::string_view name) noexcept {
  return name.size() == machine_digits && std::all_of(name.begin(), name.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
         });
}

/// The machine ID. Empty if unknown.
std::string this_machine() {
  std::ifstream in("/etc/machine-id");
  std::string out;
  if (!(in >> out) || !is_machine(out)) out.clear();
  return out;
}

/// Counts the files of a folder and, if `goes_in`, of its folders named by machine IDs. Returns 0, or the errno of opening the
/// folder.
int count_files(int at, const char* path, const std::string& machine, bool goes_in, journal_files& into) {
  const auto names = disk::stream_of(disk::handle(::openat(at, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)));
  if (!names) {
    const int problem = errno;
    if (problem == EACCES || problem == EPERM) ++into.refused;
    return problem;
  }
  into.has_folder = true;
  const int here = ::dirfd(names.get());
  for (std::size_t count = 0; count < most_journal_names; ++count) {
    const dirent* const one = ::readdir(names.get());
    if (one == nullptr) break;
    const std::string_view name = one->d_name;
    if (name.ends_with(".journal") || name.ends_with(".journal~")) {
      const disk::handle file(::openat(here, one->d_name, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY));
      ++(file.is_open() ? into.readable : into.refused);
    } else if (goes_in && is_machine(name.substr(0, name.find('.'))) && (machine.empty() || name == machine)) {
      static_cast<void>(count_files(here, one->d_name, machine, false, into));
    }
  }
  return 0;
}

}  // namespace

std::string journal_files::remark() const {
  if (refused == 0 || readable == 0) return {};
  return std::to_string(refused) + " of " + std::to_string(refused + readable) +
         " journal files are left out: the server's user has no permission to read them. Add it to the group systemd-journal.";
}

result<journal_files> look_at_journal(const std::string& folder) {
  journal_files out;
  std::string tried;
  int problem = 0;
  const auto look = [&](const std::string& path, const std::string& machine) {
    const int said = count_files(AT_FDCWD, path.c_str(), machine, true, out);
    if (said != 0) tried += (tried.empty() ? "" : "; ") + path + ": " + std::strerror(said);
    if (said != 0 && said != ENOENT && said != ENOTDIR && problem == 0) problem = said;
  };
  if (folder.empty()) {
    const auto machine = this_machine();
    for (const auto* path : {"/var/log/journal", "/run/log/journal"}) look(path, machine);
  } else {
    look(folder, {});
  }
  if (out.readable != 0) return out;
  if (out.refused != 0) {
    return fail(
        errc::access_denied,
        "The server's user has no permission to read the journal. Add it to the group systemd-journal, and restart the server.",
        tried);
  }
  if (problem != 0) {
    return fail(errc::source_unavailable, "The journal's folder cannot be opened now. Retry later.", tried);
  }
  if (!folder.empty() && !out.has_folder) {
    return fail(errc::resource_not_found,
                "The journal's folder does not exist (yet). Retry when it does, or correct journal_folder in its table.",
                tried);
  }
  return fail(
      errc::resource_not_found,
      folder.empty()
          ? "The system journal has no files (yet). Check that systemd-journald is running and stores its journal."
          : "The journal's folder contains no journal files (yet). Retry when it does, or correct journal_folder in its table.",
      tried);
}

/// Calls `changed` when matching entries arrive, or when journal files appear or disappear. Uses one thread. If there is no
/// journal, it looks again every two seconds.
class journal_follower {
 public:
  /// Reports entries that arrive after the construction.
  journal_follower(const journal_library& by, const journal_options& what, std::function<void()> changed);
  /// Waits for a running call. No call follows. Must not run within `changed`.
  ~journal_follower();
  journal_follower(const journal_follower&) = delete;
  journal_follower& operator=(const journal_follower&) = delete;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

namespace {

constexpr int look_again_ms = 2000;
constexpr int most_passed = 1000;

int timeout_of(std::uint64_t until) {
  if (until == UINT64_MAX) return -1;
  struct timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  const auto present = static_cast<std::uint64_t>(now.tv_sec) * 1'000'000 + static_cast<std::uint64_t>(now.tv_nsec) / 1000;
  if (until <= present) return 0;
  return static_cast<int>(std::min<std::uint64_t>((until - present) / 1000 + 1, 60'000));
}

}  // namespace

struct journal_follower::state {
  state(const journal_library& library, const journal_options& options, std::function<void()> call)
      : by(library), what(options), changed(std::move(call)) {}

  const journal_library& by;
  const journal_options what;
  const std::function<void()> changed;
  disk::handle bell{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  journal_handle at{nullptr, closes_journal()};
  std::jthread thread;  // must be the last member: it uses the others

  /// Opens the journal and moves behind its last entry.
  void open() {
    if (!look_at_journal(what.folder)) return;
    auto opened = open_matching(by, what);
    if (!opened) return;
    at = std::move(*opened);
    if (by.get_fd(at.get()) < 0) return at.reset();
    go_to_end();
  }
  void go_to_end() {
    if (by.seek_tail(at.get()) < 0 || by.previous(at.get()) > 0) return;
    static_cast<void>(by.seek_head(at.get()));
  }
  [[nodiscard]] bool has_more() {
    int passed = 0;
    while (passed < most_passed && by.next(at.get()) > 0) ++passed;
    if (passed == most_passed) go_to_end();
    return passed != 0;
  }
  void run(const std::stop_token& stop);
  /// Returns false if the journal must be opened again.
  [[nodiscard]] bool wait(const std::stop_token& stop);
};

bool journal_follower::state::wait(const std::stop_token& stop) {
  std::array<pollfd, 2> all{{{bell.get(), POLLIN, 0}, {-1, POLLIN, 0}}};
  int timeout = look_again_ms;
  if (at) {
    const int events = by.get_events(at.get());
    std::uint64_t until = UINT64_MAX;
    if (events < 0 || by.get_timeout(at.get(), &until) < 0) return false;
    all[1] = {by.get_fd(at.get()), static_cast<short>(events), 0};
    timeout = timeout_of(until);
  }
  static_cast<void>(::poll(all.data(), all.size(), timeout));
  if (stop.stop_requested() || !at) return !!at;
  const int happened = by.process(at.get());
  if (happened < 0) return false;
  if (happened == SD_JOURNAL_NOP) return true;
  if ((has_more() || happened == SD_JOURNAL_INVALIDATE) && !stop.stop_requested()) changed();
  return true;
}

void journal_follower::state::run(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    if (wait(stop) || stop.stop_requested()) continue;
    at.reset();
    open();
    if (at && !stop.stop_requested()) changed();
  }
}

journal_follower::journal_follower(const journal_library& by, const journal_options& what, std::function<void()> changed)
    : state_(std::make_unique<state>(by, what, std::move(changed))) {
  state_->open();
  const executor::signals_blocked quiet;
  try {
    state_->thread = std::jthread([at = state_.get()](const std::stop_token& stop) { at->run(stop); });
  } catch (const std::system_error&) {
    state_->at.reset();  // no notifications; the next subscription tries again
  }
}

journal_follower::~journal_follower() {
  state_->thread.request_stop();
  static_cast<void>(::eventfd_write(state_->bell.get(), 1));
}

namespace {

using records::instant;

constexpr std::size_t entries_between_looks = 64;
constexpr std::uint64_t cost_of_entry = 512;

/// See `open_journal`.
class journal final : public records::log {
 public:
  journal(const journal_library& by, journal_options with) : by_(by), with_(std::move(with)) {}

  result<records::page> read(const records::query& what, const records::budget& most, const call& by) override {
    HONDANA_TRY(const auto asked, journal_query::of(what));
    journal_files files;
    HONDANA_TRY(auto in, open(&files));
    auto page = read_page(by_, in.get(), asked, with_.redact, most, by);
    if (page && files.refused != 0) page->remarks.insert(page->remarks.begin(), files.remark());
    return page;
  }

  result<records::walk_end> walk(std::optional<instant> since, std::optional<instant> until, const records::budget& most,
                                 const call& by, const std::function<bool(const records::record&)>& each) override;

  result<std::string> version(const call&) override {
    journal_files files;
    HONDANA_TRY(auto in, open(&files));
    // The version depends on the newest entry, and on the oldest, which changes when the journal is vacuumed.
    std::uint64_t oldest = 0;
    static_cast<void>(by_.get_cutoff_realtime_usec(in.get(), &oldest, nullptr));
    std::string newest;
    if (by_.seek_tail(in.get()) >= 0 && by_.previous(in.get()) > 0) newest = cursor_at(by_, in.get());
    return bytes::to_hex(bytes::digest_of(newest + ' ' + std::to_string(oldest) + ' ' + files.remark()));
  }

  result<journal_fields> own_fields(std::string_view name, std::size_t newest, const records::budget& most,
                                    const call& by) override {
    HONDANA_TRY(auto in, open());
    journal_fields out;
    if (const int code = by_.seek_tail(in.get()); code < 0) return tl::unexpected(journal_failure("searched", code));
    for (std::size_t count = 0; count < newest && by_.previous(in.get()) > 0; ++count) {
      if (count % entries_between_looks == 0) {
        HONDANA_TRY(still_wanted(by));
        if (monotonic_clock::now() >= most.deadline) break;
      }
      add_fields(by_, in.get(), name, with_.redact, out);
    }
    return out;
  }

  void follow(std::function<void()> changed) override {
    const std::lock_guard lock(following_);
    follower_.reset();
    if (changed) follower_ = std::make_unique<journal_follower>(by_, with_, std::move(changed));
  }

  [[nodiscard]] needs needed() const override {
    needs out;
    if (!with_.folder.empty()) {
      out.folders.push_back({with_.folder});
    } else {
      out.folders = {{"/var/log/journal"}, {"/run/log/journal"}, {"/etc/machine-id"}};
    }
    return out;
  }

  void look() override {
    // Opening the journal would map every file. Checking that files are readable is enough.
    const auto files = look_at_journal(with_.folder);
    remember(files ? std::string() : files.error().public_text);
  }

  [[nodiscard]] std::string trouble() const override {
    const std::lock_guard lock(mutex_);
    return trouble_;
  }

 private:
  result<journal_handle> open(journal_files* found = nullptr) {
    auto files = look_at_journal(with_.folder);
    auto opened = files ? open_matching(by_, with_) : result<journal_handle>(tl::unexpected(files.error()));
    remember(opened ? std::string() : opened.error().public_text);
    if (files && found != nullptr) *found = *files;
    return opened;
  }
  void remember(std::string what) {
    const std::lock_guard lock(mutex_);
    trouble_ = std::move(what);
  }

  const journal_library& by_;
  const journal_options with_;
  mutable std::mutex mutex_;
  std::string trouble_;
  std::mutex following_;
  std::unique_ptr<journal_follower> follower_;
};

/// Moves before the entries that influence the masking of the first entry from `since` on.
int seek_before(const journal_library& by, sd_journal* in, std::optional<instant> since) {
  if (!since) return by.seek_head(in);
  if (const int code = by.seek_realtime_usec(in, static_cast<std::uint64_t>(std::max<instant>(*since, 0))); code < 0)
    return code;
  for (std::size_t i = 0; i < deciding_entries; ++i) {
    const int code = by.previous(in);
    if (code < 0) return code;
    if (code == 0) return by.seek_head(in);
  }
  return 0;
}

result<records::walk_end> journal::walk(std::optional<instant> since, std::optional<instant> until, const records::budget& most,
                                        const call& by, const std::function<bool(const records::record&)>& each) {
  HONDANA_TRY(auto in, open());
  if (const int code = seek_before(by_, in.get(), since); code < 0) return tl::unexpected(journal_failure("searched", code));
  entry_masker with;
  std::uint64_t scanned = 0;
  for (std::size_t count = 0;; ++count) {
    if (count % entries_between_looks == 0) {
      HONDANA_TRY(still_wanted(by));
      if (monotonic_clock::now() >= most.deadline || scanned >= most.scanned_bytes) return records::walk_end{.is_whole = false};
    }
    const int code = by_.next(in.get());
    if (code < 0) return tl::unexpected(journal_failure("read", code));
    if (code == 0) return records::walk_end{};
    auto one = read_entry(by_, in.get(), {}, with_.redact, most.record_bytes);
    scanned += one.message.size() + one.cut + cost_of_entry;
    if (with_.redact) static_cast<void>(with.mask(one));
    if (until && one.time >= *until) return records::walk_end{};
    if (since && one.time < *since) continue;
    if (!each(record_of(std::move(one), most.record_bytes))) return records::walk_end{.is_whole = false};
  }
}

}  // namespace

result<std::shared_ptr<records::log>> open_journal(journal_options with) {
  HONDANA_TRY(const auto library, loaded_journal_library());
  return std::shared_ptr<records::log>(std::make_shared<journal>(*library, std::move(with)));
}

}  // namespace hondana::logs

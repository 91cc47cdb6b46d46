/// Opens, locks and checks this program's own database files.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <hondana/error.hpp>

#include "os/disk/file_descriptor.hpp"
#include "os/sqlite/sqlite.hpp"

namespace hondana::sqlite {

/// A type of database file.
struct file_kind {
  const char* name = "";             ///< For messages: "metrics store"
  const char* purpose = "";          ///< For errors of the form "cannot PURPOSE in PATH": "store metrics"
  const char* in_use_reason = "";    ///< For errors: "another process uses it for its metrics"
  std::uint32_t application_id = 0;  ///< SQLite's application_id of such files. Files with another id are never changed.
  std::int64_t schema_version = 1;   ///< Version of the tables. Files with a newer version are never changed.
  const char* schema = "";           ///< SQL that creates the tables.
  const char* setup = "";            ///< SQL to run before `schema`, for settings that cannot be changed later; may be empty.
  const char* settings = "";         ///< SQL to run at each opening; not for databases in memory.
  const char* check = "";            ///< SQL that fails if the content is damaged. Run after SQLite's own, faster check.
  bool replaces_older = false;       ///< Files of an older version are deleted and created again.
  /// SQL: entry i upgrades the tables from version i + 1 to i + 2. Empty: there are no files of older versions, or
  /// `replaces_older` is set.
  std::span<const char* const> upgrades{};
  /// Several processes, and several connections of one process, may have the file open at once.
  bool is_shared = false;
};

/// An open database file.
struct owned_file {
  disk::handle lock{};  ///< Of `acquire_file_lock`; for a shared file, the lock that all users share.
  std::shared_ptr<const void> open_registration{};  ///< Shared file: marks it as open here. Must outlive all connections.
  connection writer{};
  bool was_suspect = false;  ///< The file was marked as suspect. The checks found no damage, but its content may be wrong.
};

/// Identifies the file that a path names at the moment.
struct file_identity {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  friend bool operator==(const file_identity&, const file_identity&) = default;
};
/// Returns nullopt if there is no file.
[[nodiscard]] std::optional<file_identity> identity_of(const std::string& path) noexcept;

/// Checks that an existing file at `path` is not another program's, before companion files are created beside it.
/// Skips the check if this program has already created its lock file there. Creates nothing. Errors: as `open_owned`.
[[nodiscard]] result<void> reject_foreign_file(const std::string& path, const file_kind& kind);
/// Reads the version of the tables from the first bytes of the file. 0: the file is empty; nullopt: there is no file.
/// This process must not have the file open. Errors: source_unavailable, also for files of other programs and newer versions.
[[nodiscard]] result<std::optional<std::uint32_t>> read_schema_version(const std::string& path, const file_kind& kind);

/// Takes exclusive ownership of a file until the handle is destroyed or the process ends.
/// Returns nullopt if another owner does not release it within `timeout`. Errors: source_unavailable.
[[nodiscard]] result<std::optional<disk::handle>> acquire_file_lock(const std::string& path, const file_kind& kind,
                                                                    std::chrono::milliseconds timeout);
/// Whether a lock of `acquire_file_lock` still applies to `path`. False if the lock file was deleted: others can then lock
/// another one.
[[nodiscard]] bool is_lock_of(const std::string& path, const disk::handle& lock) noexcept;
/// Locks the names of the file and its log until the handle is destroyed. Hold the lock while the files are renamed or opened,
/// but only then. Otherwise another process could open an old file with a new log.
/// Waits at most 20 seconds. Errors: source_unavailable.
[[nodiscard]] result<disk::handle> lock_file_names(const std::string& path, const file_kind& kind);
/// Like `open_owned`, for a caller that holds `lock`, the result of `acquire_file_lock`.
/// `is_open_here`: a connection of this process has the file open. Only SQLite may then open it, because closing another
/// descriptor would release SQLite's locks.
[[nodiscard]] result<owned_file> open_locked(const std::string& path, const file_kind& kind, disk::handle lock,
                                             bool is_open_here, const std::function<void(std::string_view)>& log);
/// Deletes the file and its log. The caller must hold the lock of `acquire_file_lock`. Errors: source_unavailable.
[[nodiscard]] result<void> remove_owned(const std::string& path, const file_kind& kind);
/// Runs SQLite's check of all pages, and `file_kind::check`.
/// Errors: source_unavailable. `is_corruption` says whether the file is damaged.
[[nodiscard]] result<void> check_integrity(connection& database, const file_kind& kind);
/// `open_owned` runs `check_integrity` on files up to this size. For larger files, the caller must run it.
inline constexpr std::uint64_t max_full_check_bytes = 8u << 20;
/// Whether `mark_suspect` has marked the file.
[[nodiscard]] bool is_suspect(const std::string& path) noexcept;

/// Opens or creates a database file. `path`: absolute; empty: in memory. `log` receives messages for people; may be empty.
///
/// Files up to 8 MiB, and suspect files of any size, are checked by `check_integrity`. Other files up to 64 MiB get SQLite's
/// check of all pages only. A shared file that has other users is checked only if it is suspect.
/// A damaged file is moved aside (`quarantine`) and replaced by a new one, unless it has other users.
/// Errors: source_unavailable, "cannot PURPOSE in PATH: WHY".
[[nodiscard]] result<owned_file> open_owned(const std::string& path, const file_kind& kind,
                                            const std::function<void(std::string_view)>& log);
/// Renames a damaged file and its log, so that the next `open_owned` creates new ones. Deletes older files that were moved
/// aside, except the newest of them. `reason`: why, for the log.
/// The caller must hold the lock of `acquire_file_lock`. Other connections must only read; they continue with the old file.
[[nodiscard]] result<void> quarantine(const std::string& path, const file_kind& kind, std::string_view reason,
                                      const std::function<void(std::string_view)>& log);
/// Marks a file as suspect after a read error, so that each opening checks it completely. Ignores failures.
void mark_suspect(const std::string& path) noexcept;
/// Removes the mark of `mark_suspect`, if any.
void clear_suspect(const std::string& path) noexcept;
/// The size of the file and its log (WAL) together; a missing file counts as 0.
[[nodiscard]] std::uint64_t bytes_on_disk(const std::string& path) noexcept;
/// Whether an error of `open_owned` says that another process owns the file.
[[nodiscard]] bool is_in_use(const failure& error) noexcept;
/// Makes the error "cannot PURPOSE in PATH: REASON". `details`: for our log only.
[[nodiscard]] tl::unexpected<failure> file_failure(const std::string& path, const file_kind& kind, const std::string& reason,
                                                   std::string details = {});

}  // namespace hondana::sqlite

/// Opens and checks this program's own database files, and records which processes have them open.
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

/// A type of database file. All texts appear in messages for people.
struct file_kind {
  const char* name = "";             ///< "metrics store"
  const char* purpose = "";          ///< "store metrics": the purpose, for errors of the form "cannot PURPOSE in PATH".
  const char* in_use_reason = "";    ///< "another process uses it for its metrics"
  std::uint32_t application_id = 0;  ///< The application_id of such files. Files with another id are never changed.
  std::int64_t schema_version = 1;   ///< Version of the tables. Files with a newer version are never changed.
  const char* schema = "";           ///< SQL that creates the tables.
  const char* setup = "";            ///< SQL to run before `schema`, for settings that cannot be changed later; may be empty.
  const char* settings = "";         ///< SQL to run at each opening; not for databases in memory.
  const char* check = "";            ///< SQL that fails if the content is damaged. Run after SQLite's own, faster check.
  bool replaces_older = false;       ///< Files of an older version are deleted and created again.
  /// Entry i upgrades the tables from version i + 1 to i + 2. Empty: no files of older versions exist.
  std::span<const char* const> upgrades{};
  /// Several processes, and several connections of one process, may have the file open at once.
  bool is_shared = false;
};

struct owned_file {
  disk::handle lock{};                              ///< Holds the ownership of the file, or the shared lock of its users.
  std::shared_ptr<const void> open_registration{};  ///< Shared file: marks it as open here. Must outlive all connections.
  connection writer{};
  bool was_suspect = false;  ///< The file was marked as suspect. Its pages are intact, but its content may be wrong.
};

/// Identifies the file that a path names at the moment.
struct file_identity {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  friend bool operator==(const file_identity&, const file_identity&) = default;
};
/// Returns nothing if there is no file.
[[nodiscard]] std::optional<file_identity> identity_of(const std::string& path) noexcept;

/// Checks that an existing file at `path` is not another program's, before companion files are created beside it.
/// Skips the check if such a companion file already exists. Creates nothing. Errors: as `open_owned`.
[[nodiscard]] result<void> reject_foreign_file(const std::string& path, const file_kind& kind);
/// The version of the tables according to the first bytes of the file; 0: the file is new; nothing: there is no file.
/// Creates nothing. This process must not have the file open. Errors: as `open_owned` for a file of another program.
[[nodiscard]] result<std::optional<std::uint32_t>> read_schema_version(const std::string& path, const file_kind& kind);

/// Takes exclusive ownership of a file as long as the handle lives; it is released when the process ends.
/// Nothing: another owner has held it for longer than `timeout`. Errors: source_unavailable.
[[nodiscard]] result<std::optional<disk::handle>> acquire_file_lock(const std::string& path, const file_kind& kind,
                                                                    std::chrono::milliseconds timeout);
/// Whether the lock still applies to `path`. False if the lock file was deleted: others then create and lock another one.
[[nodiscard]] bool is_lock_of(const std::string& path, const disk::handle& lock) noexcept;
/// Holds a lock while files are renamed, and while others open them. Otherwise they could combine an old file with a new log.
/// Held only for a short time. Errors: source_unavailable.
[[nodiscard]] result<disk::handle> lock_file_names(const std::string& path, const file_kind& kind);
/// Like `open_owned`, for a caller that already holds the lock.
/// `is_open_here`: a connection of this process has the file open. Its descriptors must then not be opened and closed directly,
/// because that would release SQLite's locks.
[[nodiscard]] result<owned_file> open_locked(const std::string& path, const file_kind& kind, disk::handle lock,
                                             bool is_open_here, const std::function<void(std::string_view)>& log);
/// Deletes the file and its log. The caller must hold the lock.
[[nodiscard]] result<void> remove_owned(const std::string& path, const file_kind& kind);
/// Runs SQLite's check and `file_kind::check`. Errors: source_unavailable; `is_corruption` is true for it if the file is
/// damaged.
[[nodiscard]] result<void> check_integrity(connection& database, const file_kind& kind);
/// Files up to this size are checked with `file_kind::check` at each opening. For larger files, the caller must do this.
inline constexpr std::uint64_t max_full_check_bytes = 8u << 20;
[[nodiscard]] bool is_suspect(const std::string& path) noexcept;

/// Opens or creates a database file. Empty path: in memory. A damaged file is moved aside and replaced by a new one.
///
/// Files up to 64 MiB get a quick check of all pages, larger ones only if they are marked as suspect. Shared files are only
/// checked if no other process has them open. A damaged file that others have open is not moved aside.
/// Errors: source_unavailable, "cannot PURPOSE in PATH: WHY".
[[nodiscard]] result<owned_file> open_owned(const std::string& path, const file_kind& kind,
                                            const std::function<void(std::string_view)>& log);
/// Moves a damaged file and its log aside, so that the next `open_owned` creates a new one.
/// Only the two newest such files are retained. The caller must hold the lock. Other connections may only be readers, which
/// continue with the old file.
[[nodiscard]] result<void> quarantine(const std::string& path, const file_kind& kind, std::string_view reason,
                                      const std::function<void(std::string_view)>& log);
/// `mark_suspect` marks a file after a read error, so that each opening checks it completely until `clear_suspect` removes the
/// mark.
void mark_suspect(const std::string& path) noexcept;
void clear_suspect(const std::string& path) noexcept;
/// The size of the file and its log.
[[nodiscard]] std::uint64_t bytes_on_disk(const std::string& path) noexcept;
/// The error "cannot PURPOSE in PATH: WHY".
[[nodiscard]] tl::unexpected<failure> file_failure(const std::string& path, const file_kind& kind, const std::string& reason,
                                                   std::string details = {});

}  // namespace hondana::sqlite

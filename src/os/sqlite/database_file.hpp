/// Opens and checks this program's own database files, and shows which processes have them open.
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

/// One sort of file. Texts are for people.
struct file_kind {
  const char* what = "";          ///< "metrics store"
  const char* purpose = "";       ///< "store metrics": what cannot be done with a file that cannot be had.
  const char* user = "";          ///< "another process uses it for its metrics"
  std::uint32_t application = 0;  ///< Marks such files; those of other programs are not touched.
  std::int64_t version = 1;       ///< Of the tables; files of a newer one are not touched.
  const char* schema = "";        ///< Makes the tables.
  const char* before = "";        ///< Run before that, for what cannot be set later; may be empty.
  const char* settings = "";      ///< Run each time, in files only.
  const char* check = "";         ///< Slower than SQLite's own check, and run behind it; fails for what is damaged.
  bool replaces_older = false;    ///< What an older version made is removed, and a new one begun.
  /// Number i brings the tables of version i + 1 to those of i + 2. None: files of older versions are not expected.
  std::span<const char* const> upgrades{};
  /// Several processes, and several places of one, have it open at the same time.
  bool is_shared = false;
};

struct owned_file {
  disk::handle lock{};                   ///< Held as long as it is ours, or we are one of those who have it.
  std::shared_ptr<const void> in_use{};  ///< Of a shared one: this process has it open. Dies after all connections.
  connection writer{};
  bool was_suspect = false;  ///< And its pages are good: it is not known whether what stands in them is.
};

/// Which file a path names now; nothing: none.
struct file_identity {
  std::uint64_t device = 0;
  std::uint64_t number = 0;
  friend bool operator==(const file_identity&, const file_identity&) = default;
};
[[nodiscard]] std::optional<file_identity> identity_of(const std::string& path) noexcept;

/// Where nothing of ours lies beside a file yet, looks whether it is another's, so that nothing of ours comes to lie there.
/// Makes nothing. Errors: as `open_owned`.
[[nodiscard]] result<void> refuse_foreign(const std::string& path, const file_kind& kind);
/// The version of the tables in a file, by its first bytes; 0: it is new. Nothing: there is none. Makes nothing. This process
/// does not have it open. Errors: as `open_owned` for what is another's.
[[nodiscard]] result<std::optional<std::uint32_t>> version_at(const std::string& path, const file_kind& kind);

/// Makes a file one's own as long as the handle lives; it goes with its process. Nothing: another has it for longer than
/// `patience`. Errors: source_unavailable.
[[nodiscard]] result<std::optional<disk::handle>> lock_owned(const std::string& path, const file_kind& kind,
                                                             std::chrono::milliseconds patience);
/// Whether others who want it meet this lock; else its file was removed, and they make and lock another.
[[nodiscard]] bool is_lock_of(const std::string& path, const disk::handle& lock) noexcept;
/// Held while names are given other files, and by others who open one: else they had the old file with the new one's log.
/// Short. Errors: source_unavailable.
[[nodiscard]] result<disk::handle> hold_names(const std::string& path, const file_kind& kind);
/// As `open_owned`, with its lock. `is_open_here`: by a connection of this process, so that no other descriptor of it may be
/// closed, with which SQLite's locks would go.
[[nodiscard]] result<owned_file> open_locked(const std::string& path, const file_kind& kind, disk::handle lock,
                                             bool is_open_here, const std::function<void(std::string_view)>& log);
/// Removes it with its log. The caller holds the lock.
[[nodiscard]] result<void> remove_owned(const std::string& path, const file_kind& kind);
/// SQLite's check, and the kind's own. Errors: source_unavailable, of which `says_damaged` is true where it is.
[[nodiscard]] result<void> check_whole(connection& on, const file_kind& kind);
/// Up to this size the kind's own check is made at each opening; who opens a larger one has to make it.
inline constexpr std::uint64_t checked_by_kind = 8u << 20;
[[nodiscard]] bool is_suspect(const std::string& path) noexcept;

/// Opens or makes it. Empty path: in memory. The file that a damaged one left is new. A quick check of the whole is made of
/// files up to 64 MiB, and of larger ones when `suspect` has been said of them; of shared ones when nobody else has it open. A
/// damaged one that others have open is not moved aside. Errors: source_unavailable, "cannot PURPOSE in PATH: WHY".
[[nodiscard]] result<owned_file> open_owned(const std::string& path, const file_kind& kind,
                                            const std::function<void(std::string_view)>& log);
/// Moves it aside, with its log; the next `open_owned` begins a new one. Of those moved aside the newest two are kept. The
/// caller holds the lock, and nothing has it open but those that read, who go on with the old one.
[[nodiscard]] result<void> move_aside(const std::string& path, const file_kind& kind, std::string_view why,
                                      const std::function<void(std::string_view)>& log);
/// Reading has met damage: the file is checked whole when it is opened next, until `trust` is said of it.
void suspect(const std::string& path) noexcept;
void trust(const std::string& path) noexcept;
/// Of the file and its log.
[[nodiscard]] std::uint64_t bytes_on_disk(const std::string& path) noexcept;
/// "cannot PURPOSE in PATH: WHY".
[[nodiscard]] tl::unexpected<failure> cannot_have(const std::string& path, const file_kind& kind, const std::string& why,
                                                  std::string inner = {});

}  // namespace hondana::sqlite

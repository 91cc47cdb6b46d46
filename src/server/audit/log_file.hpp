/// The files of one audit log: opening, repair after a crash, rotation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <hondana/audit.hpp>
#include <hondana/error.hpp>

#include "os/disk/file_descriptor.hpp"
#include "server/audit/audit_record.hpp"

namespace hondana::audit {

/// The end of the intact records in a file.
struct intact_end {
  std::uint64_t offset = 0;  ///< In bytes.
  chain_position position;   ///< After the last intact record.
};

/// The current file of an audit log, and the older files next to it. Threads: one at a time.
class log_file {
 public:
  /// Locks and opens the log. Creates a missing folder or file. Moves an incomplete last record to a separate file. Errors:
  /// invalid_argument for an unsuitable path or file, or if another process uses the log; source_unavailable.
  [[nodiscard]] static result<log_file> open(const audit_file_options& options);

  /// The position in the chain when the log was opened: after its last intact record.
  [[nodiscard]] const chain_position& initial_position() const noexcept { return initial_position_; }
  /// Size of the incomplete last record that `open` moved to a separate file, in bytes. 0: there was none.
  [[nodiscard]] std::uint64_t incomplete_bytes() const noexcept { return incomplete_bytes_; }
  /// Bytes in the current file.
  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }
  /// Bytes written since the last sync. They are also held in memory, for `restart`.
  [[nodiscard]] std::size_t unsynced() const noexcept { return unsynced_.size(); }
  /// Whether a sync failed. Then only `restart` may follow: the kernel may have dropped data since the last sync, and reports
  /// that only once.
  [[nodiscard]] bool has_sync_failed() const noexcept { return has_sync_failed_; }

  /// Writes whole records. Removes the written ones from `records`, also after an error. Errors: source_unavailable.
  [[nodiscard]] result<void> append(std::string& records);
  /// Syncs the file to disk. Errors: source_unavailable; then check `has_sync_failed`.
  [[nodiscard]] result<void> sync();
  /// Writes the unsynced records and then `records` to a new file, and syncs its contents; the next `sync` also syncs its name.
  /// Cuts the current file at its last sync, and renames it as an older one. Clears `records`. Errors: as `open`; the call can
  /// be retried.
  [[nodiscard]] result<void> restart(std::string& records);
  /// Continues in a new file, and renames the current one and the older ones. Precondition: all records are synced. Errors: as
  /// `open`; then the current file stays in use, possibly renamed. Deletes no records.
  [[nodiscard]] result<void> rotate();
  /// Deletes the oldest files beyond `audit_file_options::max_old_files`. Errors: source_unavailable.
  [[nodiscard]] result<void> delete_oldest() const;
  /// Whether the path of the log names another file or none, because another program renamed or deleted the current one.
  [[nodiscard]] bool was_moved() const;
  /// Continues in the file that the path names now, which must be empty or missing. Precondition: all records are synced.
  /// Errors: as `open`; then the current file stays in use.
  [[nodiscard]] result<void> reopen();

 private:
  log_file(const audit_file_options& options, disk::handle lock);
  [[nodiscard]] static result<disk::handle> open_private(const std::string& path, std::uint64_t& size);
  [[nodiscard]] static result<disk::handle> open_empty(const std::string& path);
  [[nodiscard]] result<void> open_current();
  [[nodiscard]] result<void> adopt(disk::handle file, std::uint64_t size);
  [[nodiscard]] result<intact_end> repair(int file, std::uint64_t size);
  [[nodiscard]] result<chain_position> last_old_position() const;
  [[nodiscard]] unsigned count_old_files() const;
  [[nodiscard]] result<disk::handle> open_next() const;
  [[nodiscard]] result<void> shift_old_files() const;
  [[nodiscard]] std::string old_path(unsigned age) const;
  [[nodiscard]] std::string next_path() const;

  std::string path_;
  std::optional<unsigned> max_old_files_;
  disk::handle lock_;
  disk::handle file_;
  chain_position initial_position_;
  std::uint64_t size_ = 0;
  std::string unsynced_;      // text of the records since the last sync
  std::uint64_t synced_ = 0;  // bytes of the file up to the last sync
  bool has_sync_failed_ = false;
  bool is_name_durable_ = true;  // the folder was synced after the file got its name
  std::uint64_t incomplete_bytes_ = 0;
};

}  // namespace hondana::audit

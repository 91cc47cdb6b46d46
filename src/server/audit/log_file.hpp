/// The files of one audit log: opened, repaired after a crash, rotated, and followed by others.
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

/// The end of what is sound, and where the chain stands there.
struct sound_end {
  std::uint64_t offset = 0;
  chain at;
};

/// The file that is written now. Threads: one at a time.
class log_file {
 public:
  /// Takes the lock and opens; see `audit_file::open`. Nothing is written before `append`.
  [[nodiscard]] static result<log_file> open(const audit_file_options& with);

  /// Where the chain stood in the files when they were opened.
  [[nodiscard]] const chain& end() const noexcept { return end_; }
  /// What a crash had left of a last record, which is beside the file now; 0: nothing.
  [[nodiscard]] std::uint64_t torn_bytes() const noexcept { return torn_bytes_; }
  /// Bytes in the present file.
  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }
  /// Bytes of records that were written since the last sync, and are held until the next.
  [[nodiscard]] std::size_t unsynced() const noexcept { return unsynced_.size(); }
  /// A sync has failed. The kernel says so once and may have dropped what was written since the last: what it says of this file
  /// from then on is not believed, and only `begin_anew` may follow.
  [[nodiscard]] bool is_doubtful() const noexcept { return is_doubtful_; }

  /// Writes whole records and takes away from the beginning of `records` those that were written. Errors: source_unavailable.
  [[nodiscard]] result<void> append(std::string& records);
  /// Errors: source_unavailable; see `is_doubtful`.
  [[nodiscard]] result<void> sync();
  /// Writes what was not synced, and `records` behind it, to a new file, and syncs that; the present one is cut off where it
  /// was synced last and becomes an older one. Takes `records` away. Errors: source_unavailable; then it may be tried again.
  [[nodiscard]] result<void> begin_anew(std::string& records);
  /// Goes on in a new file; the present one and the older ones get another name. Errors: source_unavailable; then the present
  /// one is written on, and nothing has been deleted.
  [[nodiscard]] result<void> rotate();
  /// Deletes older files beyond those that are kept. Errors: source_unavailable.
  [[nodiscard]] result<void> drop_oldest() const;
  /// Whether another file stands at the path by now, or none, since somebody renamed this one.
  [[nodiscard]] bool was_moved() const;
  /// Goes on in the file that stands at the path by now, which is to be empty. Errors: as `open`; then the present one is
  /// written on.
  [[nodiscard]] result<void> follow();

 private:
  log_file(const audit_file_options& with, disk::handle lock);
  [[nodiscard]] static result<disk::handle> open_own(const std::string& path, std::uint64_t& size);
  [[nodiscard]] static result<disk::handle> open_empty(const std::string& path);
  [[nodiscard]] result<void> open_first();
  [[nodiscard]] result<void> take(disk::handle file, std::uint64_t size);
  [[nodiscard]] result<sound_end> mend(int file, std::uint64_t size);
  [[nodiscard]] result<chain> end_of_older() const;
  [[nodiscard]] unsigned count_older() const;
  [[nodiscard]] result<disk::handle> open_next() const;
  [[nodiscard]] result<void> make_older() const;
  [[nodiscard]] std::string older(unsigned age) const;
  [[nodiscard]] std::string next() const;

  std::string path_;
  unsigned keep_;
  disk::handle lock_;
  disk::handle file_;
  chain end_;
  std::uint64_t size_ = 0;
  std::string unsynced_;
  std::uint64_t synced_ = 0;  // bytes of the file that are on the disk
  bool is_doubtful_ = false;
  bool is_named_ = true;  // and the folder is on the disk with its name
  std::uint64_t torn_bytes_ = 0;
};

}  // namespace hondana::audit

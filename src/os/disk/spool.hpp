/// A temporary buffer: small content in memory, large content in an unnamed file.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <variant>

#include <hondana/error.hpp>
#include <hondana/resource.hpp>

#include "os/disk/file_descriptor.hpp"

namespace hondana::disk {

/// Creates a file in `spool::folder()` without a name, which is deleted when its descriptor is closed.
/// Errors: source_unavailable; `failure::private_text` says which step failed.
[[nodiscard]] result<handle> create_unnamed_file();

/// Collects bytes in pieces, and then returns them as one content. Threads: one at a time.
class spool {
 public:
  /// Larger content is written to an unnamed file.
  static constexpr std::size_t max_memory_bytes = 1u << 20;
  /// The folder for temporary files: a private folder of this user in `TMPDIR` or /tmp, created if missing.
  /// A sandbox therefore need not allow all of /tmp. If another user owns the private folder or has access to it, the result is
  /// `TMPDIR` or /tmp itself.
  [[nodiscard]] static std::string folder();

  /// Adds a piece. Errors: source_unavailable, for example if the disk is full. The spool must not be used afterwards.
  result<void> append(std::string_view bytes);
  /// The number of appended bytes.
  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }
  /// Returns all appended bytes: in memory, or as a reader of the file if there are more than `max_memory_bytes`.
  /// The spool must not be used afterwards. Errors: source_unavailable.
  [[nodiscard]] result<std::variant<shared_bytes, std::shared_ptr<byte_reader>>> finish();

 private:
  result<void> flush();

  std::string memory_;
  handle file_;
  std::uint64_t written_ = 0;
  std::uint64_t size_ = 0;
};

}  // namespace hondana::disk

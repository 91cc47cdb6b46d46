/// Bytes in transit: few of them in memory, many in a file without a name.
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

/// A file in `spool::folder()` that is gone with its descriptor. Errors: source_unavailable; the private text says what failed.
[[nodiscard]] result<handle> nameless_file();

/// Takes bytes piece by piece, and gives them back. Threads: one at a time.
class spool {
 public:
  static constexpr std::size_t most_in_memory = 1u << 20;
  /// Where the files are: a folder of this user's alone below `TMPDIR` or /tmp, which is made if need be, so that a sandbox
  /// need not open the whole of it; where that is another's, there itself.
  [[nodiscard]] static std::string folder();

  /// Errors: source_unavailable when there is no room on the disk.
  result<void> append(std::string_view bytes);
  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }
  /// What was appended; then it is over. Errors: source_unavailable.
  [[nodiscard]] result<std::variant<shared_bytes, std::shared_ptr<byte_reader>>> take();

 private:
  result<void> flush();

  std::string memory_;
  handle file_;
  std::uint64_t written_ = 0;
  std::uint64_t size_ = 0;
};

}  // namespace hondana::disk

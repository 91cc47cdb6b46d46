/// A regular file that is open for reading.
#pragma once

#include <cstddef>
#include <cstdint>

#include <hondana/error.hpp>

#include "os/disk/handle.hpp"
#include "os/disk/stamp.hpp"

namespace hondana::files {

/// What a read needs of a file. Threads: any, at once.
class open_file {
 public:
  open_file() = default;
  explicit open_file(disk::handle file) noexcept : file_(std::move(file)) {}
  open_file(const open_file&) = delete;
  open_file& operator=(const open_file&) = delete;
  virtual ~open_file() = default;

  /// As it is now. Errors: source_unavailable.
  [[nodiscard]] virtual result<disk::stamp> state() const;
  /// Fills `into` with up to `size` bytes from `offset`; fewer only where the file ends. Errors: source_unavailable.
  [[nodiscard]] virtual result<std::size_t> read(char* into, std::size_t size, std::uint64_t offset) const;
  /// The same, and adds to `masked` how many secrets were masked that begin there, or with `is_first` have begun before.
  [[nodiscard]] virtual result<std::size_t> read_counting(char* into, std::size_t size, std::uint64_t offset, bool is_first,
                                                          std::size_t& masked) const;

 private:
  disk::handle file_;
};

}  // namespace hondana::files

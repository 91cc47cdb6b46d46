/// A file for a process that renders it.
#pragma once

#include <string_view>

#include <hondana/error.hpp>

#include "os/disk/handle.hpp"

namespace hondana::gdrive {

/// Takes bytes, and gives a descriptor that can only be read, of a file that has no name. Threads: one at a time.
class scratch {
 public:
  /// Errors of all: source_unavailable when there is no room on the disk.
  [[nodiscard]] static result<scratch> make();
  [[nodiscard]] result<void> append(std::string_view bytes);
  [[nodiscard]] int reader() const noexcept { return reader_.get(); }

 private:
  disk::handle writer_;
  disk::handle reader_;
};

}  // namespace hondana::gdrive

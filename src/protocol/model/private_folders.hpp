/// What tells folders that hold a source's own files from those that are served.
#pragma once

#include <string>
#include <vector>

namespace hondana::model {

/// What a source is besides that reads single files of its own, such as a key, out of folders that its `needs` name: nothing
/// else in these is served or used.
class has_private_folders {
 public:
  has_private_folders() = default;
  has_private_folders(const has_private_folders&) = delete;
  has_private_folders& operator=(const has_private_folders&) = delete;
  virtual ~has_private_folders() = default;

  /// As they stand in `needs`. Constant. Threads: any.
  [[nodiscard]] virtual std::vector<std::string> private_folders() const = 0;
};

}  // namespace hondana::model

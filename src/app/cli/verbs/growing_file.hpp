/// The file that `read -o` writes.
#pragma once

#include <string>
#include <string_view>

#include <hondana/error.hpp>

#include "os/disk/handle.hpp"

namespace hondana::cli {

/// A file that appears under its name when it is complete. What is there and is no plain file (a device, a pipe) is written to
/// as it is, and never replaced. Errors of all calls: invalid_argument.
class growing_file {
 public:
  explicit growing_file(std::string path);
  ~growing_file();
  growing_file(const growing_file&) = delete;
  growing_file& operator=(const growing_file&) = delete;

  [[nodiscard]] result<void> open();
  [[nodiscard]] result<void> write(std::string_view bytes);
  [[nodiscard]] result<void> finish();

 private:
  [[nodiscard]] tl::unexpected<failure> unable(const char* what) const;

  std::string path_;
  std::string growing_;
  bool is_beside_ = true;
  disk::handle file_;
};

}  // namespace hondana::cli

/// The log in files: the live file and the files it was rotated into, compressed or not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/error.hpp>

#include "sources/logs/records/log_backend.hpp"

namespace hondana::records {

/// Options of a log in files.
struct file_log_options {
  /// Absolute path of the live file, which programs write. It need not exist yet. Rotated files are in the same folder.
  std::string path;
  /// An RE2 expression that matches the whole names of rotated files. Empty: the usual names (see `rotated_files.hpp`).
  std::string pattern{};
  /// Where records begin: "auto", "never" (every line is a record), or an RE2 expression that matches the first line of each.
  std::string multi_line = "auto";
  /// The zone of times without one: "local" (of the host), "UTC", or an offset such as "+09:00".
  std::string zone = "local";
  bool redact = true;                           ///< Mask secrets.
  std::uint64_t max_file_bytes = 16ull << 30;   ///< Of one compressed file after decompression. The rest is not read.
  std::uint64_t max_cached_bytes = 1ull << 30;  ///< Disk space for copies of compressed files.
  std::size_t max_files = 1000;                 ///< Older files are left out, with a remark.
  /// The server's own files, which never belong to the log under any name. Absolute, with links resolved.
  std::vector<std::string> own_files{};
};

/// Creates a log without opening files. Errors: invalid_argument for an invalid path, expression or zone. The text begins with
/// the name of the option.
[[nodiscard]] result<std::shared_ptr<log_backend>> open_file_log(file_log_options options);

}  // namespace hondana::records

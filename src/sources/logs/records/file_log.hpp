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

#include "sources/logs/records/log.hpp"

namespace hondana::records {

struct file_log_options {
  /// Of the file that is written; absolute. It need not be there (yet). What it was rotated into is found beside it.
  std::string path;
  /// Of rotated members: an RE2 expression that their whole names match. Empty: the usual names (see `rotated_files.hpp`).
  std::string pattern{};
  /// Where records begin: "auto", "never" (every line is one), or an RE2 expression that the first line of each matches.
  std::string multi_line = "auto";
  /// Of times that name none: "local" (the host's), "UTC", or an offset such as "+09:00".
  std::string zone = "local";
  bool redact = true;
  std::uint64_t member_bytes = 16ull << 30;  ///< Of one compressed member after decompression; the rest is not read.
  std::uint64_t kept_bytes = 1ull << 30;     ///< Of what compressed members are turned into, on disk.
  std::size_t most_members = 1000;           ///< Older ones are left out, which a remark says.
  /// Files that are none of the log, under any name: the server's own. Absolute, links resolved.
  std::vector<std::string> kept_back{};
};

/// Nothing is opened yet. Errors: invalid_argument for a path, an expression or a zone that is none; the text names it by the
/// option's name.
[[nodiscard]] result<std::shared_ptr<log>> open_file_log(file_log_options with);

}  // namespace hondana::records

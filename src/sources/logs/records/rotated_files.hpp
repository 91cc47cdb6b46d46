/// Lists the files of a log: recognizes rotated names, orders them and opens them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/error.hpp>

#include "os/disk/file_descriptor.hpp"
#include "os/disk/file_stamp.hpp"
#include "os/disk/private_file.hpp"

namespace hondana::records {

/// The position of a file among others, derived from its name.
struct file_rank {
  enum class rotation_scheme : std::uint8_t {
    live,      ///< The file that programs write.
    numbered,  ///< app.log.1, app.log.2.gz, app.1.log: higher numbers are older.
    dated,     ///< app.log-20260131.gz, app.log-20260131-1700000000, app.log.2026-01-31, app-2026-01-31.log, …-31.2.log.
    other      ///< Matches the configured pattern.
  };
  rotation_scheme scheme = rotation_scheme::live;
  std::vector<std::uint64_t> numbers{};  ///< The number, or the parts of the date from the year on.

  /// Whether the file of this rank is older than that of `other`. Both must have the same scheme.
  [[nodiscard]] bool precedes(const file_rank& other) const noexcept;
};

/// Derives the rank of a file from its name. Returns nullopt if it is neither `live_name` nor a rotated file of it. Each form
/// may end with a suffix of compressed files (.gz, .xz, .zst, .zstd).
[[nodiscard]] std::optional<file_rank> parse_rank(std::string_view name, std::string_view live_name);

/// Returns the name without a suffix of compressed files.
[[nodiscard]] std::string_view uncompressed_name(std::string_view name) noexcept;

}  // namespace hondana::records

namespace re2 {
class RE2;
}

namespace hondana::records {

/// A file in a `file_listing`.
struct listed_file {
  std::string name;  ///< In the folder.
  file_rank rank{};
  disk::stamp stamp{};
};

/// The result of `list_files`.
struct file_listing {
  std::shared_ptr<const disk::handle> folder;
  std::vector<listed_file> files{};  ///< Oldest first.
  std::vector<std::string> notes{};  ///< For people: files that are missing or left out.
  disk::own_files own_files{};       ///< The server's own files, which are never listed.
};

/// Where the files of a log are.
struct log_file_set {
  std::string folder;                         ///< Absolute.
  std::string live_name;                      ///< Name of the live file in the folder.
  std::shared_ptr<const re2::RE2> pattern{};  ///< Matches whole names of rotated files. Null: those that `parse_rank` accepts.
  std::size_t max_files = 1000;               ///< Older files are left out, with a remark.
  std::vector<std::string> own_files{};       ///< The server's own files: absolute, with links resolved.
};

/// Lists the files of a log, as they existed at one moment. If a file exists both compressed and uncompressed, such as during
/// compression, lists the uncompressed one.
/// Orders files by the numbers or dates in their names if all use the same scheme, otherwise by modification time. The live
/// file is the last one. Ignores links, and the server's own files under any name. Errors: resource_not_found if there are
/// none, access_denied, source_unavailable. content_changed if files are renamed during each attempt.
[[nodiscard]] result<file_listing> list_files(const log_file_set& set);

/// Opens a listed file. Errors: content_changed if the name now leads to another file. access_denied, resource_not_found,
/// source_unavailable.
[[nodiscard]] result<disk::handle> open_listed(const file_listing& listing, const listed_file& file);

}  // namespace hondana::records

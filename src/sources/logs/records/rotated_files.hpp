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
    live,      ///< The file that is written.
    numbered,  ///< app.log.1, app.log.2.gz, app.1.log: higher numbers are older.
    dated,     ///< app.log-20260131.gz, app.log-20260131-1700000000, app.log.2026-01-31, app-2026-01-31.log, …-31.2.log.
    other      ///< Matches the configured pattern.
  };
  rotation_scheme scheme = rotation_scheme::live;
  std::vector<std::uint64_t> numbers{};

  /// Whether this is older. Only for ranks of the same scheme.
  [[nodiscard]] bool precedes(const file_rank& other) const noexcept;
};

/// The rank of a file name in the folder of `live_name`. Nothing if it does not belong to the log. Each form may end with a
/// suffix of compressed files (.gz, .xz, .zst, .zstd).
[[nodiscard]] std::optional<file_rank> parse_rank(std::string_view name, std::string_view live_name);

/// The name without a suffix of compressed files.
[[nodiscard]] std::string_view uncompressed_name(std::string_view name) noexcept;

}  // namespace hondana::records

namespace re2 {
class RE2;
}

namespace hondana::records {

struct listed_file {
  std::string name;
  file_rank rank{};
  disk::stamp stamp{};
};

/// The result of `list_files`.
struct file_listing {
  std::shared_ptr<const disk::handle> folder;
  std::vector<listed_file> files{};  ///< Oldest first.
  std::vector<std::string> notes{};
  disk::own_files own_files{};  ///< The server's own files, which are never listed.
};

/// Where the files of a log are.
struct log_file_set {
  std::string folder;     ///< Absolute.
  std::string live_name;  ///< A name in the folder.
  std::shared_ptr<const re2::RE2> pattern{};
  std::size_t max_files = 1000;
  std::vector<std::string> own_files{};  ///< The server's own files: absolute, with links resolved.
};

/// Lists the files of a log, as they existed at one moment. If a file exists both compressed and uncompressed, such as during
/// compression, the uncompressed one is listed.
/// Files are ordered by the numbers or dates in their names if all use the same scheme, otherwise by modification time. The
/// server's own files are ignored, under any name.
/// Errors: resource_not_found if there are none, access_denied, source_unavailable.
[[nodiscard]] result<file_listing> list_files(const log_file_set& set);

/// Opens a listed file. Errors: content_changed if the name now leads to another file. access_denied, resource_not_found.
[[nodiscard]] result<disk::handle> open_listed(const file_listing& listing, const listed_file& file);

}  // namespace hondana::records

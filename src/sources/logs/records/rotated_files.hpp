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

/// What a name says of a member's place among others.
struct file_rank {
  enum class scheme : std::uint8_t {
    live,      ///< The file that is written.
    numbered,  ///< app.log.1, app.log.2.gz, app.1.log: higher numbers are older.
    dated,     ///< app.log-20260131.gz, app.log-20260131-1700000000, app.log.2026-01-31, app-2026-01-31.log, …-31.2.log.
    other      ///< Matched by a pattern of the settings.
  };
  scheme how = scheme::live;
  std::vector<std::uint64_t> numbers{};

  /// Whether this is older, for ranks of the same scheme.
  [[nodiscard]] bool is_before(const file_rank& than) const noexcept;
};

/// Of the name of a file beside `live`; nothing for what is no member of that log. A suffix for compressed files (.gz, .xz,
/// .zst, .zstd) may follow any of them.
[[nodiscard]] std::optional<file_rank> rank_of(std::string_view name, std::string_view live);

/// Without a suffix for compressed files.
[[nodiscard]] std::string_view unpacked_name(std::string_view name) noexcept;

}  // namespace hondana::records

namespace re2 {
class RE2;
}

namespace hondana::records {

struct listed_file {
  std::string name;
  file_rank rank{};
  disk::stamp facts{};
};

struct listed_set {
  std::shared_ptr<const disk::handle> folder;
  std::vector<listed_file> files{};  ///< The oldest first.
  std::vector<std::string> remarks{};
  disk::own_files own{};  ///< Of them none is listed.
};

/// Where they are.
struct set_place {
  std::string folder;  ///< Absolute.
  std::string live;    ///< A name in it.
  std::shared_ptr<const re2::RE2> pattern{};
  std::size_t most = 1000;
  std::vector<std::string> kept_back{};  ///< Files that the server keeps for itself: absolute, links resolved.
};

/// Lists them as they were together at one moment. Of a file that stands there twice, such as while it is compressed, one is
/// taken: the one that is not compressed. The order is that of numbers or dates in names, where all have the same kind of them,
/// and else of their times. What is kept back is as if it were not there, under any name. Errors: resource_not_found when there
/// is none, access_denied, source_unavailable.
[[nodiscard]] result<listed_set> list_files(const set_place& where);

/// Opens one that was listed; that is the same file still, else content_changed. Errors: access_denied, resource_not_found.
[[nodiscard]] result<disk::handle> open_listed(const listed_set& in, const listed_file& which);

}  // namespace hondana::records

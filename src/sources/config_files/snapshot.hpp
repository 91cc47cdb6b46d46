/// An immutable snapshot of the files of a set, with their catalog entries.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/snapshot.hpp>

#include "os/disk/file_stamp.hpp"
#include "sources/config_files/options.hpp"
#include "text/located/format.hpp"

namespace hondana::config_files {

/// A served file.
struct seen_file {
  disk::stamp state;
  located::format how = located::format::toml;
  bool is_racy = false;  ///< A following change may leave `state` unchanged.
  /// For a link, the path that its target is or would be served by. Empty if that is the same path, or if it is not a link.
  std::string behind{};
};

/// An entry that is not served.
struct omission {
  std::string path;
  std::string reason;

  bool operator==(const omission&) const = default;
};

/// The state of a set at one moment.
struct scene {
  std::map<std::string, seen_file, std::less<>> files;  ///< By the path that they are served by.
  std::vector<omission> left_out;
  std::vector<std::string> unreachable;           ///< Folders that cannot be read, with the reason.
  std::int64_t changed = 0;                       ///< The latest change time of all folders.
  std::shared_ptr<const entry_snapshot> entries;  ///< Files, folders, and the views of layers.
};

/// The entry of a file.
[[nodiscard]] resource entry_of(std::string_view set, const std::string& path, const seen_file& file);
/// All entries of a set with these files.
[[nodiscard]] std::shared_ptr<const entry_snapshot> entries_of(std::string_view set,
                                                               const std::map<std::string, seen_file, std::less<>>& files,
                                                               const std::vector<layer_options>& layers);

/// The media type of a format.
[[nodiscard]] std::string_view media_type_of(located::format how) noexcept;

}  // namespace hondana::config_files

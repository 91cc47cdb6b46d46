/// An immutable snapshot of the files of a set, with their catalog entries.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/entry_snapshot.hpp>

#include "os/disk/file_stamp.hpp"
#include "sources/config_files/options.hpp"
#include "text/located/format.hpp"

namespace hondana::config_files {

/// A served file.
struct served_file {
  disk::stamp state;
  located::config_format format = located::config_format::toml;
  bool is_racy = false;  ///< Another change may leave `state` as it is (`disk::is_racy`).
  /// For a link: the path that its target is, or would be, served by. Empty if it is not a link, or if the target has no path
  /// of its own in the set.
  std::string link_target{};
};

/// A file or folder that is not served.
struct omitted_entry {
  std::string path;
  std::string reason;  ///< For people.

  bool operator==(const omitted_entry&) const = default;
};

/// The state of a set at one moment.
struct snapshot {
  std::map<std::string, served_file, std::less<>> files;  ///< By the path that they are served by.
  std::vector<omitted_entry> omitted;
  std::vector<std::string> unreadable_folders;    ///< The paths of folders that cannot be read, each with the reason.
  std::int64_t last_change = 0;                   ///< The latest ctime of all folders, in nanoseconds since 1970.
  std::shared_ptr<const entry_snapshot> entries;  ///< Files, folders, and the views of layers.
};

/// Makes the entry of a file, without a version if it is racy.
[[nodiscard]] resource make_entry(std::string_view set, const std::string& path, const served_file& file);
/// Makes the entries of a set: of its files, their folders, and its layers.
[[nodiscard]] std::shared_ptr<const entry_snapshot> make_entries(std::string_view set,
                                                                 const std::map<std::string, served_file, std::less<>>& files,
                                                                 const std::vector<layer_options>& layers);

/// The media type of a format.
[[nodiscard]] std::string_view media_type_of(located::config_format format) noexcept;

}  // namespace hondana::config_files

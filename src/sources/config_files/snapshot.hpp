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
  bool is_racy = false;  ///< A following change may leave `state` unchanged.
  /// For a link, the path that its target is or would be served by. Empty if that is the same path, or if it is not a link.
  std::string link_target{};
};

/// An entry that is not served.
struct omitted_entry {
  std::string path;
  std::string reason;

  bool operator==(const omitted_entry&) const = default;
};

/// The state of a set at one moment.
struct snapshot {
  std::map<std::string, served_file, std::less<>> files;  ///< By the path that they are served by.
  std::vector<omitted_entry> omitted;
  std::vector<std::string> unreadable_folders;    ///< Folders that cannot be read, with the reason.
  std::int64_t last_change = 0;                   ///< The latest change time of all folders.
  std::shared_ptr<const entry_snapshot> entries;  ///< Files, folders, and the views of layers.
};

/// The entry of a file.
[[nodiscard]] resource make_entry(std::string_view set, const std::string& path, const served_file& file);
/// All entries of a set with these files.
[[nodiscard]] std::shared_ptr<const entry_snapshot> make_entries(std::string_view set,
                                                                 const std::map<std::string, served_file, std::less<>>& files,
                                                                 const std::vector<layer_options>& layers);

/// The media type of a format.
[[nodiscard]] std::string_view media_type_of(located::config_format format) noexcept;

}  // namespace hondana::config_files

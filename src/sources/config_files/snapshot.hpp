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

struct seen_file {
  disk::stamp state;
  located::format how = located::format::toml;
  bool is_racy = false;  ///< It may change further without another stamp.
  /// Of a link, the path that what it leads to is served as, or would be; empty where that is its own or there is none.
  std::string behind{};
};

/// Something that is not served.
struct omission {
  std::string path;
  std::string reason;

  bool operator==(const omission&) const = default;
};

struct scene {
  std::map<std::string, seen_file, std::less<>> files;  ///< By the path they are served as.
  std::vector<omission> left_out;
  std::vector<std::string> unreachable;           ///< Folders that cannot be looked at, with the reason.
  std::int64_t changed = 0;                       ///< When the folder that had changed last had.
  std::shared_ptr<const entry_snapshot> entries;  ///< Files, folders, and what is made of layers.
};

/// The entry of a file as it was seen.
[[nodiscard]] resource entry_of(std::string_view set, const std::string& path, const seen_file& file);
/// All entries of a set with these files.
[[nodiscard]] std::shared_ptr<const entry_snapshot> entries_of(std::string_view set,
                                                               const std::map<std::string, seen_file, std::less<>>& files,
                                                               const std::vector<layer_options>& layers);

/// As which type a file of a format is sent.
[[nodiscard]] std::string_view media_type_of(located::format how) noexcept;

}  // namespace hondana::config_files

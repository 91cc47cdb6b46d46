/// What a confined process may still do.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace hondana::sandbox {

/// With a path and all below it. Looking at names, types, sizes and times stays possible everywhere.
enum class access : std::uint8_t {
  read,        ///< Files are read, folders listed.
  read_named,  ///< Files are read by whoever knows their names.
  write,       ///< Files are also written, made, renamed and removed.
  use_device,  ///< A file is read and written, but none is made.
  listen,      ///< Unix sockets are made and removed, and the folder is listed.
  execute,     ///< Files are read, and run as programs by whoever may start any; folders listed.
};

struct path_permission {
  std::string path;  ///< Absolute; a file or a folder.
  access may = access::read;
};

struct permissions {
  std::vector<path_permission> paths;
  std::vector<std::uint16_t> listens;  ///< TCP ports; 0: one that the system chooses.
  std::optional<std::vector<std::uint16_t>> connects = std::vector<std::uint16_t>();  ///< TCP ports; nothing: any.
  bool abstract_sockets = false;  ///< Whether Unix sockets without a file may be connected to that others have made.
  /// Whether a Unix socket gets another mode or group once it is there, which needs calls that change those of any file.
  bool changes_modes = false;
  /// Nothing but turning what is open, and what may be opened, into output: no sockets, processes or threads, and of all system
  /// calls only those that are listed for that. Where a path is one to `execute`, another program may take this one's place.
  bool only_computes = false;
};

}  // namespace hondana::sandbox

/// The text of one file, as it was at one moment.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <hondana/error.hpp>

#include "os/disk/stamp.hpp"
#include "sources/config_files/ground.hpp"

namespace hondana::config_files {

/// Files of configuration are no larger.
inline constexpr std::size_t most_file_bytes = 8u << 20;

struct file_text {
  std::string bytes;
  disk::stamp state;
  bool is_racy = false;  ///< A further change may leave the stamp as it is.
  std::string behind{};  ///< As in `seen_file`.
};

/// Reads all of it, twice where the time stamps may not show that it is a mix. Errors: response_too_large, content_changed,
/// source_unavailable. `name`: what the texts call it.
[[nodiscard]] result<file_text> read_text(const opened_file& from, std::string_view name);

}  // namespace hondana::config_files

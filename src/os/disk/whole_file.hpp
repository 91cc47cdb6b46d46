/// Reads whole files up to a limit, and notices changes during the read.
#pragma once

#include <cstdint>
#include <string>

#include <tl/expected.hpp>

#include "os/disk/file_stamp.hpp"

namespace hondana::disk {

/// The result of `read_whole`.
struct whole_file {
  enum class read_outcome : std::uint8_t {
    complete,  ///< The file had the same stamp before and after the read.
    changed,   ///< It changed meanwhile. `bytes` may mix its old and new content.
    too_large  ///< It is larger than the limit, and was not read.
  };
  read_outcome outcome = read_outcome::complete;
  std::string bytes{};
  stamp state{};  ///< Before the read.

  [[nodiscard]] bool is_complete() const noexcept { return outcome == read_outcome::complete; }
  [[nodiscard]] bool is_too_large() const noexcept { return outcome == read_outcome::too_large; }
};

/// Reads an open regular file from its beginning, as many bytes as it has now, which must be at most `max_bytes`. Errors: an
/// errno; EINVAL if it is not a regular file.
[[nodiscard]] tl::expected<whole_file, int> read_whole(int file, std::uint64_t max_bytes);

}  // namespace hondana::disk

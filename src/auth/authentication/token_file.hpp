/// A file of tokens: its lines, and making, listing and revoking tokens in it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/error.hpp>

#include "auth/authentication/clocks.hpp"
#include "base/bytes/sha256.hpp"
#include "os/disk/file_stamp.hpp"
#include "os/disk/private_file.hpp"

namespace hondana::authentication {

struct kept_token {
  std::string id;    ///< What `hondana token revoke` takes; no secret.
  std::string name;  ///< Whose it is.
  bytes::sha256_bytes hash{};
  std::vector<std::string> scopes;
  wall_time created{};
  std::optional<wall_time> expires;
};

struct bad_line {
  std::size_t line;  ///< From 1.
  std::string why;   ///< Repeats nothing of it.
};

struct token_list {
  static constexpr std::size_t most_bytes = 64u << 20;
  static constexpr std::size_t longest_line = 16u << 10;
  static constexpr std::size_t most_bad_lines = 100;  ///< That are told of; the rest is passed over too.

  std::vector<kept_token> tokens;
  std::vector<bad_line> bad;
};

/// Whether it may name somebody: 1 to 64 letters, digits and `. _ - @ +`.
[[nodiscard]] bool is_token_name(std::string_view text) noexcept;

/// Errors: invalid_argument.
[[nodiscard]] result<kept_token> parse_token_line(std::string_view line);
/// Lines that are wrong admit nobody. Empty lines and those that begin with `#` are passed over.
[[nodiscard]] token_list parse_tokens(std::string_view text);
/// With the newline.
[[nodiscard]] std::string line_of(const kept_token& token);
/// The text without the lines of that id, all others as they were; nothing when there is none.
[[nodiscard]] std::optional<std::string> without_token(std::string_view text, std::string_view id);

/// What a new one is to be like.
struct wanted_token {
  std::string name;
  std::vector<std::string> scopes;
  std::optional<wall_time> expires;
};

struct new_token {
  kept_token kept;
  std::string token;  ///< Is nowhere else.
};

struct loaded_tokens {
  token_list list;
  disk::stamp state;
};

/// Errors: as `disk::read_private`.
[[nodiscard]] result<loaded_tokens> load_tokens(const std::string& path, disk::owners whose = disk::owners::ours);
/// Adds one; makes the file if need be. Threads and processes: any, at once. Errors: invalid_argument for a name or scope that
/// is none; else as `disk::read_private` and `disk::replace_private`.
[[nodiscard]] result<new_token> add_token(const std::string& path, wanted_token like, wall_time now);
/// Takes one out. Errors: resource_not_found when there is none of that id; else as `add_token`.
[[nodiscard]] result<void> revoke_token(const std::string& path, std::string_view id);

}  // namespace hondana::authentication

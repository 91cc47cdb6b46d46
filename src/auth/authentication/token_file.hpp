/// A file of tokens, one JSON object per line: parses it, and adds and revokes tokens.
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

/// One line of the file. It contains a hash of the token instead of the token.
struct stored_token {
  std::string id;              ///< The argument of `hondana token revoke`; not secret.
  std::string name;            ///< The caller's name.
  bytes::sha256_bytes hash{};  ///< SHA-256 of the token.
  std::vector<std::string> scopes;
  wall_time created{};                  ///< 1970 if the line has no time.
  std::optional<wall_time> expires_at;  ///< Empty: the token does not expire.
};

/// A malformed line.
struct bad_line {
  std::size_t line;    ///< Its number in the file, from 1.
  std::string reason;  ///< Why it is malformed; contains no part of the line.
};

/// The contents of a token file.
struct token_list {
  static constexpr std::size_t max_bytes = 64u << 20;       ///< A larger file is an error.
  static constexpr std::size_t max_line_bytes = 16u << 10;  ///< A longer line is malformed.
  static constexpr std::size_t max_bad_lines = 100;         ///< Further malformed lines are not in `bad_lines`.

  std::vector<stored_token> tokens;
  std::vector<bad_line> bad_lines;
};

/// Whether `text` is a valid name or id of a token: 1 to 64 letters, digits and `. _ - @ +`.
[[nodiscard]] bool is_token_name(std::string_view text) noexcept;

/// Parses one line. Errors: invalid_argument; the text contains no part of the line.
[[nodiscard]] result<stored_token> parse_token_line(std::string_view line);
/// Parses the text of a file. Skips malformed lines and lists them in `bad_lines`. Ignores blank lines and lines that begin
/// with `#`.
[[nodiscard]] token_list parse_tokens(std::string_view text);
/// Returns the line for a token, with the newline.
[[nodiscard]] std::string line_of(const stored_token& token);
/// Returns the text of a file without the lines of that id, otherwise unchanged. Empty optional: no line has that id.
[[nodiscard]] std::optional<std::string> without_token(std::string_view text, std::string_view id);

/// The arguments of `add_token`, see `stored_token`.
struct token_properties {
  std::string name;
  std::vector<std::string> scopes;
  std::optional<wall_time> expires_at;
};

/// The result of `add_token`.
struct new_token {
  stored_token stored;
  std::string token;  ///< The secret token, which is stored nowhere else.
};

/// The result of `load_tokens`.
struct loaded_tokens {
  token_list list;
  disk::stamp stamp;  ///< The state of the file that was read. To notice later changes, compare it.
};

/// Reads and parses a token file. `owners`: the owners that the file may have. Errors: those of `disk::read_private`.
[[nodiscard]] result<loaded_tokens> load_tokens(const std::string& path,
                                                disk::accepted_owners owners = disk::accepted_owners::current_user);
/// Makes a random token and adds its line to the file; creates a missing file. Waits while another thread or process changes
/// the file. Errors: invalid_argument for an invalid name or scope, or too many scopes; response_too_large if the file is full;
/// internal without random bytes; those of os/disk/private_file.hpp.
[[nodiscard]] result<new_token> add_token(const std::string& path, token_properties properties, wall_time now);
/// Removes the lines of a token from the file. Errors: resource_not_found if no line has that id; those of
/// os/disk/private_file.hpp.
[[nodiscard]] result<void> revoke_token(const std::string& path, std::string_view id);

}  // namespace hondana::authentication

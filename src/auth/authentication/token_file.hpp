/// A file of tokens: parses its lines, and creates, lists and revokes tokens.
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

/// A token as the file stores it, without the token itself.
struct stored_token {
  std::string id;    ///< The argument of `hondana token revoke`; not secret.
  std::string name;  ///< The caller's name.
  bytes::sha256_bytes hash{};
  std::vector<std::string> scopes;
  wall_time created{};
  std::optional<wall_time> expires_at;
};

/// A malformed line, for the log.
struct bad_line {
  std::size_t line;    ///< From 1.
  std::string reason;  ///< Contains no part of the line.
};

/// The contents of a token file.
struct token_list {
  static constexpr std::size_t max_bytes = 64u << 20;
  static constexpr std::size_t max_line_bytes = 16u << 10;
  static constexpr std::size_t max_bad_lines = 100;  ///< Only so many are reported; all are ignored.

  std::vector<stored_token> tokens;
  std::vector<bad_line> bad_lines;
};

/// Whether it is a valid name: 1 to 64 letters, digits and `. _ - @ +`.
[[nodiscard]] bool is_token_name(std::string_view text) noexcept;

/// Parses a line. Errors: invalid_argument.
[[nodiscard]] result<stored_token> parse_token_line(std::string_view line);
/// Parses a file. Malformed lines authenticate no caller and are listed in `bad_lines`. Empty lines and lines that begin with
/// `#` are ignored.
[[nodiscard]] token_list parse_tokens(std::string_view text);
/// The line for a token, with the newline.
[[nodiscard]] std::string line_of(const stored_token& token);
/// The text without the lines of that id, otherwise unchanged. Empty if no line has that id.
[[nodiscard]] std::optional<std::string> without_token(std::string_view text, std::string_view id);

/// The properties of a token to create.
struct token_properties {
  std::string name;
  std::vector<std::string> scopes;
  std::optional<wall_time> expires_at;
};

/// The result of `add_token`.
struct new_token {
  stored_token stored;
  std::string token;  ///< The only copy: the file stores a hash.
};

/// The contents of a token file, with the file stamp to notice later changes.
struct loaded_tokens {
  token_list list;
  disk::stamp stamp;
};

/// Reads a token file. Errors: those of `disk::read_private`.
[[nodiscard]] result<loaded_tokens> load_tokens(const std::string& path,
                                                disk::accepted_owners owners = disk::accepted_owners::current_user);
/// Creates a token; creates the file if necessary. Threads and processes: any, at once. Errors: invalid_argument for an invalid
/// name or scope; those of `disk::read_private` and `disk::replace_private`.
[[nodiscard]] result<new_token> add_token(const std::string& path, token_properties properties, wall_time now);
/// Removes a token. Errors: resource_not_found if no token has that id; those of `add_token`.
[[nodiscard]] result<void> revoke_token(const std::string& path, std::string_view id);

}  // namespace hondana::authentication

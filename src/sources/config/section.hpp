/// One table of a TOML configuration file, parsed and read key by key with errors that name file, line and key.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <hondana/error.hpp>

namespace hondana::config {

struct value;
using list = std::vector<value>;
using table = std::map<std::string, value, std::less<>>;

/// A value with its line. Dates and times are rejected when the file is loaded.
struct value {
  std::variant<bool, std::int64_t, double, std::string, list, table> data;
  std::size_t line = 0;
};

/// A table that is being read. The caller reads each known key once; `finish` rejects keys that were not read.
///
/// Accessors return an empty result for a missing key. Errors: invalid_argument, "FILE:LINE: KEY: what was expected".
class section {
 public:
  section(std::string file, std::string name, std::size_t line, table members);

  [[nodiscard]] result<std::optional<std::string>> string(std::string_view key);
  [[nodiscard]] result<std::optional<bool>> boolean(std::string_view key);
  /// An integer within [low, high].
  [[nodiscard]] result<std::optional<std::int64_t>> integer(std::string_view key, std::int64_t low, std::int64_t high);
  [[nodiscard]] result<std::optional<double>> number(std::string_view key, double low, double high);
  /// Bytes: an integer, or a string such as "64MiB", "512KiB", "1GiB".
  [[nodiscard]] result<std::optional<std::uint64_t>> bytes(std::string_view key);
  [[nodiscard]] result<std::vector<std::string>> strings(std::string_view key);
  /// The same, or a single string instead of an array.
  [[nodiscard]] result<std::vector<std::string>> string_or_strings(std::string_view key);
  /// A table of strings under names of the user's choice, such as headers, by name.
  [[nodiscard]] result<std::vector<std::pair<std::string, std::string>>> strings_by_name(std::string_view key);
  /// Reads this whole table as arrays of strings under names of the user's choice, by name.
  [[nodiscard]] result<std::vector<std::pair<std::string, std::vector<std::string>>>> string_lists_by_name();
  /// The same for integers within [low, high].
  [[nodiscard]] result<std::vector<std::pair<std::string, std::int64_t>>> integers_by_name(std::int64_t low, std::int64_t high);
  /// An array of tables, such as `[[source]]`.
  [[nodiscard]] result<std::vector<section>> sections(std::string_view key);
  /// A table, such as `[http]`.
  [[nodiscard]] result<std::optional<section>> subsection(std::string_view key);
  [[nodiscard]] bool has(std::string_view key) const { return members_.find(key) != members_.end(); }
  /// Rejects keys that were not read, and names the known ones.
  [[nodiscard]] result<void> finish() const;

  /// Makes an error about a key of this table, in the common form.
  [[nodiscard]] failure error_at(std::string_view key, std::string_view message) const;
  /// The same for a key of a nested table: "http.tls.key". If the key is missing, the line is that of the innermost table.
  [[nodiscard]] failure error_at_path(std::string_view path, std::string_view message) const;
  [[nodiscard]] const std::string& file() const noexcept { return file_; }
  /// Resolves a path from this table. Relative paths are relative to the folder of the configuration file.
  [[nodiscard]] std::string resolve_path(const std::string& path) const;
  /// Paths of the server's own files that this table, and all tables in it, name: keys, tokens, credentials and stores. Some
  /// may not exist.
  /// They are recognized by key: `key`, `redis_key`, `tokens`, `credentials`, `client`, `store`, and keys that end with
  /// `_file`. Among the variables of a child process: absolute paths in names that end with `_FILE` or `_CREDENTIALS`.
  [[nodiscard]] std::vector<std::string> find_own_files() const;
  /// The line where the table begins; 0 if it is not from a file.
  [[nodiscard]] std::size_t line() const noexcept { return line_; }
  /// Absolute paths that must not be served. The program adds them to the table of a source.
  void set_own_files(std::vector<std::string> paths) { own_files_ = std::move(paths); }
  [[nodiscard]] const std::vector<std::string>& own_files() const noexcept { return own_files_; }
  /// Whether both tables have the same content, regardless of their place.
  [[nodiscard]] bool is_equivalent_to(const section& other) const;

 private:
  const value* read_member(std::string_view key);
  /// The full name of a key for errors, with the tables that contain it.
  [[nodiscard]] std::string qualified_key(std::string_view key) const;

  std::string file_;
  std::string name_;
  std::size_t line_;
  table members_;
  std::set<std::string, std::less<>> read_keys_;
  std::vector<std::string> own_files_;
};

/// Parses "64MiB", "10 KiB", "1GiB" or plain bytes; empty if it is not a size.
[[nodiscard]] std::optional<std::uint64_t> parse_size(std::string_view text);

/// Parses a TOML document. Errors: invalid_argument, "FILE:LINE: what is wrong". Nesting beyond 32 levels is rejected, too.
[[nodiscard]] result<section> parse_toml(std::string_view text, const std::string& file);

}  // namespace hondana::config

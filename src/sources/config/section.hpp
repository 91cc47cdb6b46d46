/// One table of a TOML configuration file, parsed and read key by key with errors that name file, line and key.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
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

/// A value with its line. `parse_toml` rejects dates and times.
struct value {
  std::variant<bool, std::int64_t, double, std::string, list, table> data;
  std::size_t line = 0;  ///< From 1; 0: not from a file.
};

/// A table that is being read. Callers read all known keys, and then call `finish`, which rejects keys that were not read. A
/// renamed key or value is also read under its old name, with a warning.
///
/// The functions with a key, up to `subsection`, read its value. For a missing key they return nothing, or an empty list.
/// Errors: invalid_argument, "FILE:LINE: KEY: what was expected". KEY includes the names of the tables above.
class section {
 public:
  /// `file`: its path, or another name for errors. `name`: the full name of the table, such as "http.tls"; empty: the whole
  /// file. `line`: where the table begins; 0: not from a file.
  section(std::string file, std::string name, std::size_t line, table members);

  [[nodiscard]] result<std::optional<std::string>> string(std::string_view key);
  [[nodiscard]] result<std::optional<bool>> boolean(std::string_view key);
  /// An integer within [low, high].
  [[nodiscard]] result<std::optional<std::int64_t>> integer(std::string_view key, std::int64_t low, std::int64_t high);
  /// An integer or a floating-point number within [low, high].
  [[nodiscard]] result<std::optional<double>> number(std::string_view key, double low, double high);
  /// A number of bytes: an integer, or a string as for `parse_size`.
  [[nodiscard]] result<std::optional<std::uint64_t>> bytes(std::string_view key);
  /// An array of strings.
  [[nodiscard]] result<std::vector<std::string>> strings(std::string_view key);
  /// An array of strings, or a single string.
  [[nodiscard]] result<std::vector<std::string>> string_or_strings(std::string_view key);
  /// A table of strings under names of the user's choice, such as headers. Sorted by name.
  [[nodiscard]] result<std::vector<std::pair<std::string, std::string>>> strings_by_name(std::string_view key);
  /// All values of this table, which must be arrays of strings under names of the user's choice. Sorted by name.
  [[nodiscard]] result<std::vector<std::pair<std::string, std::vector<std::string>>>> string_lists_by_name();
  /// All values of this table, which must be integers within [low, high] under names of the user's choice. Sorted by name.
  [[nodiscard]] result<std::vector<std::pair<std::string, std::int64_t>>> integers_by_name(std::int64_t low, std::int64_t high);
  /// An array of tables, such as `[[source]]`.
  [[nodiscard]] result<std::vector<section>> sections(std::string_view key);
  /// A table, such as `[http]`.
  [[nodiscard]] result<std::optional<section>> subsection(std::string_view key);
  /// Whether a key is present. Does not count as reading it.
  [[nodiscard]] bool has(std::string_view key) const { return find_member(key) != members_.end(); }
  /// Fails if a key was not read. The error names the most similar key that was read, and all keys that were.
  [[nodiscard]] result<void> finish() const;

  /// Makes the error "FILE:LINE: KEY: message" about a key of this table. If the key is missing, LINE is that of the table.
  [[nodiscard]] failure error_at(std::string_view key, std::string_view message) const;
  /// Makes such an error about a key of a nested table: "http.tls.key". If it is missing, LINE is that of the innermost table.
  [[nodiscard]] failure error_at_path(std::string_view path, std::string_view message) const;
  /// Makes an error about a value of a key that is not one of the `known` ones: names these, and the most similar one.
  [[nodiscard]] failure unknown_value(std::string_view key, std::string_view value,
                                      std::span<const std::string_view> known) const;
  [[nodiscard]] const std::string& file() const noexcept { return file_; }
  /// Resolves a path relative to the folder of the configuration file. The result is relative if the path of that file is.
  [[nodiscard]] std::string resolve_path(const std::string& path) const;
  /// Paths of the server's own files that this table, and all tables in it, name: keys, tokens, credentials and stores. Some
  /// may not exist.
  ///
  /// They are recognized by key: `tokens`, `store`, and keys that end with `_file`, except `ca_file`, and `certificate_file` in
  /// a table with `key_file`. In tables named `environment`: absolute paths under names that end with `_FILE` or
  /// `_CREDENTIALS`, in any case. Tables named `headers` are skipped.
  [[nodiscard]] std::vector<std::string> find_own_files() const;
  /// The line where the table begins; 0: not from a file.
  [[nodiscard]] std::size_t line() const noexcept { return line_; }
  /// Warnings about old names that were read so far, in this table and all others of the file: "FILE:LINE: KEY: …". Sorted.
  [[nodiscard]] const std::set<std::string>& old_name_warnings() const noexcept { return *warnings_; }
  /// Sets the absolute paths of files that must not be served. The program does so for the table of each source.
  void set_own_files(std::vector<std::string> paths) { own_files_ = std::move(paths); }
  [[nodiscard]] const std::vector<std::string>& own_files() const noexcept { return own_files_; }
  /// Whether both tables have the same members and own files, regardless of file, name and lines.
  [[nodiscard]] bool is_equivalent_to(const section& other) const;

 private:
  /// A nested table. Its warnings are collected with those of `parent`.
  section(const section& parent, std::string name, std::size_t line, table members);
  /// Marks a key as read, and warns if it has its old name. Returns null if it is missing.
  const value* read_member(std::string_view key);
  /// Finds a key by its name or by an old name that was not read as a key of its own.
  [[nodiscard]] table::const_iterator find_member(std::string_view key) const;
  void warn_of_old_name(std::string_view key, std::string_view old_name, std::string_view new_name) const;
  /// The full name of a key for errors, with the tables that contain it.
  [[nodiscard]] std::string qualified_key(std::string_view key) const;

  std::string file_;
  std::string name_;
  std::size_t line_;
  table members_;
  std::set<std::string, std::less<>> read_keys_;
  std::set<std::string, std::less<>> read_old_names_;
  std::shared_ptr<std::set<std::string>> warnings_;  ///< Shared by all tables of a file.
  std::vector<std::string> own_files_;
};

/// Parses a number of bytes: "4096", "10 KiB", "64MiB", "1GiB". Nothing for other texts, and above 64 bits.
[[nodiscard]] std::optional<std::uint64_t> parse_size(std::string_view text);

/// Parses a TOML document. Errors: invalid_argument, "FILE:LINE: what is wrong", also for dates, times and more than 32 levels.
[[nodiscard]] result<section> parse_toml(std::string_view text, const std::string& file);

}  // namespace hondana::config

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

/// A value with the line it stands on. Date and time values are not configuration and are refused when loading.
struct value {
  std::variant<bool, std::int64_t, double, std::string, list, table> data;
  std::size_t line = 0;
};

/// A table being read. Every known key is asked for once; `finish` refuses what was never asked for.
///
/// Accessors return nothing for an absent key. Errors: invalid_argument, "FILE:LINE: KEY: what was expected".
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
  /// The same, or one string without an array around it.
  [[nodiscard]] result<std::vector<std::string>> string_or_strings(std::string_view key);
  /// A table of strings under names of the user's choice, such as headers, by name.
  [[nodiscard]] result<std::vector<std::pair<std::string, std::string>>> strings_by_name(std::string_view key);
  /// This whole table, as one of arrays of strings under names of the user's choice, by name.
  [[nodiscard]] result<std::vector<std::pair<std::string, std::vector<std::string>>>> string_lists_by_name();
  /// The same of integers within [low, high].
  [[nodiscard]] result<std::vector<std::pair<std::string, std::int64_t>>> integers_by_name(std::int64_t low, std::int64_t high);
  /// An array of tables, e.g. `[[source]]`.
  [[nodiscard]] result<std::vector<section>> sections(std::string_view key);
  /// A table, e.g. `[http]`.
  [[nodiscard]] result<std::optional<section>> subsection(std::string_view key);
  [[nodiscard]] bool has(std::string_view key) const { return members_.find(key) != members_.end(); }
  /// Refuses keys nobody asked for, naming those that exist.
  [[nodiscard]] result<void> finish() const;

  /// An error about a key of this table, in the form of all others.
  [[nodiscard]] failure wrong(std::string_view key, std::string_view what) const;
  /// The same about a key of a table inside: "http.tls.key". Where it is not there, the line is that of the innermost table.
  [[nodiscard]] failure wrong_inside(std::string_view path, std::string_view what) const;
  [[nodiscard]] const std::string& file() const noexcept { return file_; }
  /// A path of this table as it is meant: relative ones are relative to the folder of the file they stand in.
  [[nodiscard]] std::string path_from(const std::string& written) const;
  /// Paths of files that this table, and all tables in it, name for the server alone: keys, tokens, credentials and stores.
  /// They are found by the names of keys: `key`, `redis_key`, `tokens`, `credentials`, `client`, `store`, and names that end
  /// with
  /// `_file`; among the variables of a child, absolute paths in names that end with `_FILE` or `_CREDENTIALS`. Some may not
  /// exist.
  [[nodiscard]] std::vector<std::string> own_files() const;
  /// Where the table begins; 0 when it stands in no file.
  [[nodiscard]] std::size_t line() const noexcept { return line_; }
  /// What the program itself adds to the table of a source: absolute paths of what must not be served.
  void keep_back(std::vector<std::string> paths) { kept_back_ = std::move(paths); }
  [[nodiscard]] const std::vector<std::string>& kept_back() const noexcept { return kept_back_; }
  /// Whether both tables say the same, wherever they stand.
  [[nodiscard]] bool says_the_same_as(const section& other) const;

 private:
  const value* ask(std::string_view key);
  /// What a key of this table is called in errors: with the tables it stands in.
  [[nodiscard]] std::string below(std::string_view key) const;

  std::string file_;
  std::string name_;
  std::size_t line_;
  table members_;
  std::set<std::string, std::less<>> asked_;
  std::vector<std::string> kept_back_;
};

/// Parses "64MiB", "10 KiB", "1GiB" or plain bytes; nothing when it is not a size.
[[nodiscard]] std::optional<std::uint64_t> parse_size(std::string_view text);

/// Parses a TOML document. Errors: invalid_argument, "FILE:LINE: what is wrong"; nesting beyond 32 is wrong too.
[[nodiscard]] result<section> parse_toml(std::string_view text, const std::string& file);

}  // namespace hondana::config

/// The variables of one source that callers may see, with their allow list.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/capabilities.hpp>
#include <hondana/error.hpp>
#include <hondana/provider.hpp>
#include <hondana/resource.hpp>

#include "text/located/format.hpp"
#include "text/secrets/matcher.hpp"

namespace hondana::env {

/// Patterns of variable names: `*` stands for any bytes and `?` for one byte; all other bytes are compared exactly. Immutable.
class allow_list {
 public:
  static constexpr std::size_t max_patterns = 1000;
  static constexpr std::size_t max_pattern_bytes = 256;

  /// Errors: invalid_argument for an empty list, an empty or overlong pattern, too many patterns, or characters of regular
  /// expressions (`[ ] ^ $ ( )`). The error says what to write instead.
  [[nodiscard]] static result<allow_list> create(std::vector<std::string> patterns);

  /// Whether a pattern matches the whole name. Time per pattern: at most the product of the lengths of name and pattern.
  [[nodiscard]] bool allows(std::string_view name) const noexcept;

 private:
  explicit allow_list(std::vector<std::string> patterns) noexcept : patterns_(std::move(patterns)) {}

  std::vector<std::string> patterns_;
};

/// Which variables are served, and whether secrets are masked.
struct variable_rules {
  allow_list allow;
  bool redact = true;
  located::config_format file_format = located::config_format::dotenv;  ///< `dotenv` or `compose_env`.
};

/// A variable that is served.
struct env_variable {
  std::string name;            ///< Any bytes.
  std::string label;           ///< For display: the name, percent-encoded if it is not UTF-8 or has control characters.
  bool is_text = true;         ///< Whether `display_value` is UTF-8 without NUL.
  shared_bytes display_value;  ///< The value, with secrets masked if `variable_rules::redact`.
  std::string version;  ///< The digest of `display_value`. A digest of the unmasked value would allow guessing the secret.
  std::size_t masked_count = 0;  ///< The number of masked secrets.
};

/// A variable of the process or of a file, before rules are applied.
struct raw_variable {
  std::string name;
  std::string text;                           ///< The value, unmasked.
  std::vector<secrets::span> secret_parts{};  ///< Parts of `text` that belong to a secret found in the whole file.
  bool has_secret_name = false;               ///< `name` itself belongs to such a secret.
};

/// The variables of the process or of one file that are served. Immutable.
class variable_set {
 public:
  using variable_map = std::map<std::string, env_variable, std::less<>>;
  using raw_variables = std::vector<raw_variable>;

  /// Selects and masks variables. `prefix`: of their URIs, with a final slash. Of two variables with the same name, the first
  /// counts.
  variable_set(std::string prefix, raw_variables raw, const variable_rules& rules);

  [[nodiscard]] const std::string& prefix() const noexcept { return prefix_; }
  /// Returns the served variables by URI.
  [[nodiscard]] const variable_map& entries() const noexcept { return entries_; }
  /// Finds a variable by its URI; null if it is not served.
  [[nodiscard]] const env_variable* find(std::string_view uri) const;
  /// Number of variables that match no pattern.
  [[nodiscard]] std::size_t hidden_count() const noexcept { return hidden_count_; }
  /// Number of allowed variables that are not served, because their names cannot be in a URI or contain a secret.
  [[nodiscard]] std::size_t unnameable_count() const noexcept { return unnameable_count_; }

 private:
  std::string prefix_;
  variable_map entries_;
  std::size_t hidden_count_ = 0;
  std::size_t unnameable_count_ = 0;
};

/// Makes the entry of one variable. `origin`: the process or file, for display.
[[nodiscard]] resource make_entry(const std::string& uri, const env_variable& variable, std::string_view origin);
/// Makes the entry of the JSON object of all variables. `prefix`: its URI. `origin`: as for `make_entry`.
[[nodiscard]] resource make_summary_entry(const std::string& prefix, std::string_view origin);

/// The result of `summarize`.
struct env_summary {
  std::string text;              ///< A JSON object of strings.
  std::size_t masked_count = 0;  ///< The number of masked secrets in `text`.
};
/// Makes a JSON object of all variables that the caller may read: their labels and values. `origin`: as for `make_entry`.
[[nodiscard]] env_summary summarize(const variable_set& variables, std::string_view origin, const caller_info& caller);

/// Notifies `listener` of variables that were added, removed or changed, and of the JSON object of all variables. Null: the
/// file could not be read.
void notify_changes(const variable_set* previous, const variable_set* current, change_listener& listener);

}  // namespace hondana::env

/// The variables of one source that callers may see, with their allow list.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/error.hpp>
#include <hondana/provider.hpp>
#include <hondana/resource.hpp>

#include "text/secrets/matcher.hpp"

namespace hondana::env {

/// Patterns with `*` for any bytes and `?` for one byte; all other bytes are compared exactly. Immutable.
class allow_list {
 public:
  static constexpr std::size_t most_patterns = 1000;
  static constexpr std::size_t longest_pattern = 256;

  /// Errors: invalid_argument for no pattern, an empty or overlong pattern, too many patterns, or characters of regular
  /// expressions (`[ ] ^ $ ( )`). The text says what to write.
  [[nodiscard]] static result<allow_list> of(std::vector<std::string> patterns);

  /// Time per pattern: at most the product of the lengths of name and pattern.
  [[nodiscard]] bool allows(std::string_view name) const noexcept;

 private:
  explicit allow_list(std::vector<std::string> patterns) noexcept : patterns_(std::move(patterns)) {}

  std::vector<std::string> patterns_;
};

/// Which variables are served, and whether secrets are masked.
struct rules {
  allow_list allow;
  bool redact = true;
};

/// A variable that is served.
struct variable {
  std::string name;     ///< Unchanged.
  std::string label;    ///< For display: the name, percent-encoded if it is not UTF-8 or has control characters.
  bool is_text = true;  ///< Whether its value is text.
  shared_bytes shown;
  std::string version;     ///< The digest of `shown`. A digest of the unmasked value would allow guessing the secret.
  std::size_t masked = 0;  ///< Secrets in it.
};

/// A variable as read from its origin.
struct given_variable {
  std::string name;
  std::string text;
  /// Parts of the text that are secret by its context in the file.
  std::vector<secrets::span> secret_parts{};
  bool has_secret_name = false;  ///< The same for the name.
};

/// The variables of one origin that are served. Immutable.
class variables {
 public:
  using by_uri = std::map<std::string, variable, std::less<>>;
  using given = std::vector<given_variable>;

  /// `prefix`: of their URIs, with a final slash. Of two variables with the same name, the first counts.
  variables(std::string prefix, given all, const rules& by);

  [[nodiscard]] const std::string& prefix() const noexcept { return prefix_; }
  [[nodiscard]] const by_uri& all() const noexcept { return all_; }
  /// Null if it does not exist or is not allowed.
  [[nodiscard]] const variable* find(std::string_view uri) const;
  /// Number of variables that match no pattern.
  [[nodiscard]] std::size_t hidden() const noexcept { return hidden_; }
  /// Number of allowed variables whose names cannot be in a URI or contain a secret. They are not served.
  [[nodiscard]] std::size_t unnameable() const noexcept { return unnameable_; }

 private:
  std::string prefix_;
  by_uri all_;
  std::size_t hidden_ = 0;
  std::size_t unnameable_ = 0;
};

/// The entry of one variable. `origin`: the process or file, for display.
[[nodiscard]] resource entry_of(const std::string& uri, const variable& of, std::string_view origin);
/// The entry of all variables together.
[[nodiscard]] resource summary_entry(const std::string& prefix, std::string_view origin);

/// All variables that the caller may read, as a JSON object of strings.
struct summary {
  std::string text;
  std::size_t masked = 0;
};
[[nodiscard]] summary summary_of(const variables& all, std::string_view origin, const caller& who);

/// Notifies of all differences. Null stands for no variables.
void tell_changes(const variables* before, const variables* now, change_listener& to);

}  // namespace hondana::env

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

/// Patterns in which `*` stands for any bytes and `?` for one; every other byte stands for itself, in its case. Immutable.
class allow_list {
 public:
  static constexpr std::size_t most_patterns = 1000;
  static constexpr std::size_t longest_pattern = 256;

  /// Errors: invalid_argument for no pattern at all, an empty one, a longer one, more of them, or one with
  /// what only regular expressions have (`[ ] ^ $ ( )`); the text says what to write.
  [[nodiscard]] static result<allow_list> of(std::vector<std::string> patterns);

  /// Time: the length of the name times that of the longest pattern at most, for each pattern.
  [[nodiscard]] bool allows(std::string_view name) const noexcept;

 private:
  explicit allow_list(std::vector<std::string> patterns) noexcept : patterns_(std::move(patterns)) {}

  std::vector<std::string> patterns_;
};

/// What is shown, and how.
struct rules {
  allow_list allow;
  bool redact = true;
};

struct variable {
  std::string name;     ///< As it is.
  std::string label;    ///< The same for people: what is no text, or has control characters, percent-encoded.
  bool is_text = true;  ///< Its value is.
  shared_bytes shown;
  std::string version;     ///< The digest of what is shown: one of a secret would let it be guessed.
  std::size_t masked = 0;  ///< Secrets in it.
};

/// As it is where it comes from.
struct given_variable {
  std::string name;
  std::string text;
  /// What is known to be secret in the text by what stands around it.
  std::vector<secrets::span> secret_parts{};
  bool has_secret_name = false;  ///< The same of the name.
};

/// Immutable.
class variables {
 public:
  using by_uri = std::map<std::string, variable, std::less<>>;
  using given = std::vector<given_variable>;

  /// `prefix`: what their URIs begin with, with a slash at its end. Of two with one name the first counts.
  variables(std::string prefix, given all, const rules& by);

  [[nodiscard]] const std::string& prefix() const noexcept { return prefix_; }
  [[nodiscard]] const by_uri& all() const noexcept { return all_; }
  /// Null: there is none, or it may not be seen.
  [[nodiscard]] const variable* find(std::string_view uri) const;
  /// How many there are that are in no pattern.
  [[nodiscard]] std::size_t hidden() const noexcept { return hidden_; }
  /// How many are that cannot be shown, since a URI cannot have their names, or these have secrets in them.
  [[nodiscard]] std::size_t unnameable() const noexcept { return unnameable_; }

 private:
  std::string prefix_;
  by_uri all_;
  std::size_t hidden_ = 0;
  std::size_t unnameable_ = 0;
};

/// The entry of one. `origin`: what it is a variable of, for people.
[[nodiscard]] resource entry_of(const std::string& uri, const variable& of, std::string_view origin);
/// The entry of all of them together.
[[nodiscard]] resource summary_entry(const std::string& prefix, std::string_view origin);

/// All that the caller may read, as JSON: an object of texts.
struct summary {
  std::string text;
  std::size_t masked = 0;
};
[[nodiscard]] summary summary_of(const variables& all, std::string_view origin, const caller& who);

/// Tells what differs. Either may be null: there are none.
void tell_changes(const variables* before, const variables* now, change_listener& to);

}  // namespace hondana::env

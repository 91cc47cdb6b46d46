/// Names of files that hold credentials.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace hondana::secrets {

/// Exceptions: names that match a rule's pattern but are not secret.
enum class rule_exception : std::uint8_t {
  none,
  sources,          ///< Source code and documents, by the usual extensions: `parser.key.ts`, `kubeconfig.go`, `id_rsa.md`.
  sources_and_pub,  ///< `sources`, and public keys: `id_rsa.pub`.
};

/// A name pattern. `*` matches any bytes except `/`. A pattern with `/` inside matches the end of a path. A pattern with `/` at
/// its end matches folders; callers apply it to everything below them, too. Other patterns match everything else. Ignores case.
struct secret_rule {
  std::string_view pattern;
  std::string_view reason;  ///< What the file holds, for people.
  rule_exception exception = rule_exception::none;
};

/// Returns all rules, for `hondana check` and the documentation.
[[nodiscard]] std::span<const secret_rule> secret_rules() noexcept;

/// Returns the first rule that matches the last segment (or segments) of `path`; null if there is none. Does not check parent
/// folders. `is_folder`: `path` is a folder.
[[nodiscard]] const secret_rule* find_secret(std::string_view path, bool is_folder) noexcept;

}  // namespace hondana::secrets

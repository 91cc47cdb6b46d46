/// Names of files that hold credentials.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace hondana::secrets {

/// Names a rule's pattern matches that are no secrets all the same.
enum class spared : std::uint8_t {
  none,
  sources,          ///< Source code and documents, by the usual extensions: `parser.key.ts`, `kubeconfig.go`, `id_rsa.md`.
  sources_and_pub,  ///< Those, and public keys: `id_rsa.pub`.
};

/// One shape of name. `*` stands for any bytes but `/`; a pattern with `/` inside matches the end of a path; with a final `/`
/// it is for folders (and so for everything below them), without one for everything else. Case does not matter.
struct secret_rule {
  std::string_view pattern;
  std::string_view reason;
  spared but = spared::none;
};

/// The whole table, for `hondana check` and the documentation.
[[nodiscard]] std::span<const secret_rule> secret_rules() noexcept;

/// The rule that matches the last segment (or segments) of `path`; null when none does. Ancestors are not looked at.
[[nodiscard]] const secret_rule* find_secret(std::string_view path, bool is_folder) noexcept;

}  // namespace hondana::secrets

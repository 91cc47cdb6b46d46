/// Keys of configuration whose values are secrets.
#pragma once

#include <cstdint>
#include <string_view>

#include "text/located/node.hpp"

namespace hondana::located {

/// How surely a value is a secret, judged by keys.
enum class secret_confidence : std::uint8_t {
  none,
  doubtful,   ///< By a key that has other meanings, too: `auth`, `key`, `salt`.
  inherited,  ///< By a key above its own, or by an earlier part of its own: `secrets.db`.
  certain,    ///< By its own key.
};

/// What the keys above a table say about it.
struct parent_context {
  std::string_view key{};  ///< The key of the table; for items of a list, the key of the list.
  secret_confidence confidence = secret_confidence::none;
};

/// What the members of a table say about the table as a whole.
struct table_traits {
  bool is_external_secret = false;  ///< A reference of External Secrets to a secret.
  bool references_secret = false;   ///< It says where a secret is stored.
  bool is_definition = false;       ///< A schema, a service or a job.
};

/// Determines the traits of a table. Call only once for each table, because it looks up many keys.
[[nodiscard]] table_traits traits_of(const node& table);

/// Determines what keys say about a member of a table and its content. `none` for names of objects: references to secrets in
/// Kubernetes and Compose, schemas, services, jobs, dependencies and permissions. `traits`: those of the table.
[[nodiscard]] secret_confidence assess_member(const member& entry, const table_traits& traits, const parent_context& parent);

/// Whether to mask a text or number with this key. `confidence`: the result of `assess_member`. Not masked: empty texts, words
/// such as `true` and `none`, and references to secrets stored elsewhere. If the key has dots, as in translations, words about
/// secrets are not masked either.
[[nodiscard]] bool is_secret_by_key(const node& leaf, std::string_view key, secret_confidence confidence);

/// Whether a text is the name of a secret stored elsewhere, in the `secrets` lists of Compose and Kubernetes.
[[nodiscard]] bool names_secret(std::string_view key, std::string_view text);

}  // namespace hondana::located

/// Keys of configuration whose values are secrets.
#pragma once

#include <cstdint>
#include <string_view>

#include "text/located/node.hpp"

namespace hondana::located {

/// How sure it is, by keys, that a value is a secret.
enum class sureness : std::uint8_t {
  none,
  doubtful,   ///< By a key that has other meanings, too: `auth`, `key`, `salt`.
  inherited,  ///< By a key above its own, or by an earlier part of its own: `secrets.db`.
  certain,    ///< By its own key.
};

/// What the keys above a table say about it.
struct surroundings {
  std::string_view key{};  ///< The key of the table; for items of a list, the key of the list.
  sureness is_told = sureness::none;
};

/// What the members of a table say about the table as a whole. All false: nothing.
struct nature {
  bool is_kept_elsewhere = false;  ///< A secret of External Secrets.
  bool names_place = false;        ///< It says where a secret is stored.
  bool is_of_things = false;       ///< A schema, a service or a job.
};

/// Call once for each table: it looks up each of the telling names.
[[nodiscard]] nature nature_of(const node& table);

/// What keys say about a member of a table and its content. Nothing for names of objects: references to secrets in Kubernetes
/// and Compose, schemas, services, jobs, dependencies and permissions.
[[nodiscard]] sureness told_to(const member& one, const nature& table, const surroundings& around);

/// Whether to mask a text or number with this key. Not masked: empty texts, booleans, and references to secrets stored
/// elsewhere. If the keys are those of translations, words about secrets are not masked either.
[[nodiscard]] bool is_secret_by_key(const node& leaf, std::string_view key, sureness how);

/// Whether a text is the name of a secret stored elsewhere, in the `secrets` lists of Compose and Kubernetes.
[[nodiscard]] bool names_secret(std::string_view key, std::string_view text);

}  // namespace hondana::located

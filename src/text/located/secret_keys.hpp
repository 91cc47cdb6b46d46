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
  inherited,  ///< By a key above its own, or by a part of its own before the last: `secrets.db`.
  certain,    ///< By its own key.
};

/// What a table is told by those above it, and tells.
struct surroundings {
  std::string_view key{};  ///< The table stands below; items of a list stand below its key.
  sureness is_told = sureness::none;
};

/// What the members of a table together say that it is; of none, nothing.
struct nature {
  bool is_kept_elsewhere = false;  ///< A secret of External Secrets.
  bool names_place = false;        ///< It says where a secret is.
  bool is_of_things = false;       ///< A schema, a service, a job.
};

/// Once for a table: it looks for each name that tells.
[[nodiscard]] nature nature_of(const node& table);

/// What a member of a table is told, itself or what stands in it. What names things is told nothing: references to secrets
/// of Kubernetes and Compose, schemas, services and jobs, dependencies, permissions.
[[nodiscard]] sureness told_to(const member& one, const nature& table, const surroundings& around);

/// Whether a text or a number with this key is masked. Not masked are what is empty, a truth or stands for a secret that is
/// kept elsewhere, and, where keys are those of translations, words about secrets.
[[nodiscard]] bool is_secret_by_key(const node& leaf, std::string_view key, sureness how);

/// Whether a text is the name of a secret that is kept elsewhere: in the lists called `secrets` of Compose and Kubernetes.
[[nodiscard]] bool names_secret(std::string_view key, std::string_view text);

}  // namespace hondana::located

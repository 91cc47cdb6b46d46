/// Reads the [[source]] table of analyses, and opens the cache it describes.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <hondana/error.hpp>
#include <hondana/provider.hpp>

#include "sources/analyses/cache/cache.hpp"
#include "sources/analyses/cache/redis/redis_store.hpp"
#include "sources/config/section.hpp"

namespace hondana::analyses_source {

/// The keys `redis` and `redis_…`. At most one of `password_file` and `password_variable` is set.
struct redis_settings {
  analyses::redis_options options{};  ///< Without the password, which `open_cache` reads.
  std::string password_file{};        ///< Empty: none.
  std::string password_variable{};    ///< Name of an environment variable; empty: none.
};

/// The `[[source]]` table. docs/analyses.md describes its keys.
struct settings {
  std::string path{};                     ///< The SQLite file. Empty: in memory. Not used with Redis.
  std::optional<redis_settings> redis{};  ///< nullopt: analyses are stored in SQLite.
  analyses::cache_policy policy{};
  bool redact = true;
  bool watch = true;
  std::chrono::milliseconds check_interval{60'000};
};

/// Reads the table, and checks all values. Errors: invalid_argument, naming file, line and key.
[[nodiscard]] result<settings> parse_settings(config::section& section);

/// The default of `settings::path`: `$XDG_STATE_HOME/hondana/analyses.db`, or below `~/.local/state` if the variable is not
/// set. nullopt: no home folder was found.
[[nodiscard]] std::optional<std::string> default_store_path();

/// Returns the folders and the socket that the store needs. Errors: invalid_argument: the Redis URL.
[[nodiscard]] result<hondana::system_requirements> requirements_of(const settings& settings);

/// Opens the store and the cache; blocks. Errors: those of `open_redis` or `open_embedded`; invalid_argument: the policy, or a
/// Redis password that cannot be read. `log`: may be empty. Threads of `log`: any.
[[nodiscard]] result<std::shared_ptr<analyses::cache>> open_cache(const settings& settings,
                                                                  std::function<void(std::string_view)> log);

}  // namespace hondana::analyses_source

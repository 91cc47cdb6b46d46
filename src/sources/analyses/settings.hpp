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

struct redis_settings {
  analyses::redis_options options{};  ///< Without the password.
  std::string password_file{};        ///< Empty: none.
  std::string password_variable{};    ///< Name of an environment variable; empty: none.
};

/// The `[[source]]` table.
struct settings {
  std::string path{};                     ///< Of the embedded store; empty: in memory.
  std::optional<redis_settings> redis{};  ///< Without a value, the embedded store is used.
  analyses::cache_policy policy{};
  bool redact = true;
  bool watch = true;
  std::chrono::milliseconds check_interval{60'000};
};

/// Errors: invalid_argument, naming file, line and key.
[[nodiscard]] result<settings> parse_settings(config::section& section);

/// The default path of the store: `$XDG_STATE_HOME/hondana/analyses.db`, or in `~/.local/state` if that is unset. Empty without
/// a home folder.
[[nodiscard]] std::optional<std::string> default_store_path();

/// What the store needs of the machine. Errors: invalid_argument.
[[nodiscard]] result<hondana::system_requirements> requirements_of(const settings& settings);

/// Opens the cache. Errors: those of the store; invalid_argument.
[[nodiscard]] result<std::shared_ptr<analyses::cache>> open_cache(const settings& settings,
                                                                  std::function<void(std::string_view)> log);

}  // namespace hondana::analyses_source

/// The [[source]] table of analyses, and opening the cache it describes.
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
  analyses::redis_options at{};     ///< But for the password.
  std::string password_file{};      ///< Empty: none.
  std::string password_variable{};  ///< Of the environment; empty: none.
};

struct settings {
  std::string path{};                     ///< Of the embedded store; empty: in memory.
  std::optional<redis_settings> redis{};  ///< Otherwise the embedded one.
  analyses::policy by{};
  bool redact = true;
  bool watch = true;
  std::chrono::milliseconds check_every{60'000};
};

/// Errors: invalid_argument, naming file, line and key.
[[nodiscard]] result<settings> read_settings(config::section& from);

/// Where the store is unless a source says so: `$XDG_STATE_HOME/hondana/analyses.db`, of `~/.local/state` where that is not
/// set; nothing where there is no home either.
[[nodiscard]] std::optional<std::string> usual_store();

/// What the store needs of the machine. Errors: invalid_argument.
[[nodiscard]] result<hondana::needs> needs_of(const settings& what);

/// Opens the cache. Errors: those of the store; invalid_argument.
[[nodiscard]] result<std::shared_ptr<analyses::cache>> open_cache(const settings& what,
                                                                  std::function<void(std::string_view)> log);

}  // namespace hondana::analyses_source

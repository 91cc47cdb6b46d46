/// Reads the `[[source]]` table of a metrics source, and creates the source.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/error.hpp>

#include "sources/config/section.hpp"
#include "sources/metrics/address.hpp"
#include "sources/metrics/exposition/parser.hpp"
#include "sources/metrics/samples/store.hpp"
#include "transport/endpoint/endpoint.hpp"

namespace hondana::metrics {

/// A `[[source.scrape]]` table. Members that `scraping::target` also has mean the same there.
struct scrape_settings {
  std::string job{};
  std::string instance{};  ///< Empty: host:port of the URL.
  endpoint::settings server{};
  series::duration interval = 0;  ///< 0: the source's interval.
  bool honor_labels = false;
  bool honor_timestamps = true;
  exposition::parse_limits limits{};
};

/// The settings of one metrics source. Members that `provider_options` also has mean the same there.
struct settings {
  std::string name{};                              ///< A slug.
  std::optional<endpoint::settings> prometheus{};  ///< Set: the source is a Prometheus server. nullopt: an embedded store.
  bool has_host = false;                           ///< Embedded store: collect metrics of this machine.
  bool has_process = false;                        ///< Embedded store: collect metrics of this process.
  std::vector<scrape_settings> scrapes{};          ///< Embedded store.
  samples::store_options store{};                  ///< Embedded store.
  series::duration interval = 15'000;              ///< Scrape interval in milliseconds. 0: taken from the Prometheus server.
  response_limits limits{};
  bool redact = true;
  bool watch = true;
  bool has_query = true;  ///< Prometheus: PromQL queries are allowed.
  std::string zone{};
};

/// Reads the table of a metrics source, and rejects unknown keys. Errors: invalid_argument, with file, line and key.
[[nodiscard]] result<settings> read_settings(config::section& section);

/// Reads the keys of an HTTP endpoint except its URL: bearer_file, user, password_file, ca_file, certificate_file, key_file,
/// headers, proxy, timeout, allow_cleartext_credentials. Errors: as `read_settings`.
[[nodiscard]] result<void> read_endpoint(config::section& section, endpoint::settings& server);

/// Reads a duration from `min` to `max`. Returns nullopt if the key is missing. Errors: as `read_settings`.
[[nodiscard]] result<std::optional<series::duration>> read_duration(config::section& section, std::string_view key,
                                                                    series::duration min, series::duration max);

/// Returns the default path of a source's store: `$XDG_STATE_HOME/hondana/metrics/NAME.db`, with `~/.local/state` if the
/// variable is not set. Empty if there is no home folder either.
[[nodiscard]] std::string default_store_path(std::string_view name);

}  // namespace hondana::metrics

/// Reads the `[[source]]` table of a metrics source, and makes the source from it.
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

/// One `[[source.scrape]]`.
struct scrape_settings {
  std::string job{};
  std::string instance{};  ///< Empty: host:port of the URL.
  endpoint::settings at{};
  series::duration interval = 0;  ///< 0: the source's.
  bool honours_labels = false;
  bool honours_timestamps = true;
  exposition::limits most{};
};

struct settings {
  std::string name{};                              ///< A slug.
  std::optional<endpoint::settings> prometheus{};  ///< Otherwise what follows.
  bool has_host = false;
  bool has_process = false;
  std::vector<scrape_settings> scrapes{};
  samples::store_options store{};
  series::duration interval = 15'000;  ///< 0: as the Prometheus says.
  limits most{};
  bool redact = true;
  bool watch = true;
  bool has_query = true;  ///< PromQL may be asked.
  std::string zone{};     ///< Of charts; empty: UTC.
};

/// Errors: invalid_argument, naming file, line and key.
[[nodiscard]] result<settings> read_settings(config::section& from);

/// The members of an HTTP endpoint, but for its URL: bearer_file, user, password_file, ca, cert, key, headers, proxy,
/// timeout, secrets_in_the_clear. Errors: as `read_settings`.
[[nodiscard]] result<void> read_endpoint(config::section& from, endpoint::settings& into);

/// A length of time within the bounds; nothing where the key is not there. Errors: as `read_settings`.
[[nodiscard]] result<std::optional<series::duration>> read_span(config::section& from, std::string_view key,
                                                                series::duration least, series::duration most);

/// Where the store of a source is unless it says so: `$XDG_STATE_HOME/hondana/metrics/NAME.db`, of `~/.local/state` where that
/// is not set; empty where there is no home either.
[[nodiscard]] std::string usual_store(std::string_view name);

}  // namespace hondana::metrics

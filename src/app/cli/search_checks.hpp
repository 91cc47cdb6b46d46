/// Checks of `[search]`: folders, dictionaries and services, and whether the configured prefixes are served.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <hondana/error.hpp>
#include <hondana/provider.hpp>

#include "sources/config/settings.hpp"

namespace hondana::cli {

/// Checks whether an index could be created and stored as configured. Starts and writes nothing. Passes if no index is
/// configured. Errors: invalid_argument, with the line of the wrong key.
[[nodiscard]] result<void> check_search(const config::settings& settings);
/// Prints how texts are split into words, and the reason if Japanese is split poorly. Prints nothing if no index is configured.
void print_tokenizer(const config::settings& settings, bool as_json);

/// Warnings about prefixes in `include` and `exclude` that no source can serve. Also if access rules let only "local" read
/// `search:///`: other callers then cannot wait for a complete index.
[[nodiscard]] std::vector<std::string> search_warnings(const config::settings& settings,
                                                       const std::vector<std::shared_ptr<provider>>& sources);

/// Records which prefixes of [search] match listed URIs.
class prefix_usage {
 public:
  /// `settings` must outlive this object.
  explicit prefix_usage(const config::settings& settings);
  /// Whether there are no prefixes.
  [[nodiscard]] bool is_empty() const noexcept { return prefixes_.empty(); }
  /// Records a listed URI.
  void record_uri(std::string_view uri);
  /// Records that the list of a source has ended. `is_complete`: it had all entries.
  void finish_source(const provider& source, bool is_complete);
  /// Warnings, with file and line, about prefixes that no listed URI begins with, and the nearest listed URI. Prefixes whose
  /// sources were not all listed completely are left out.
  [[nodiscard]] std::vector<std::string> unused_warnings() const;

 private:
  /// A configured prefix.
  struct prefix_record {
    std::string key;  // "search.include" or "search.exclude"
    std::string text;
    std::string effect;              // what an unused prefix means, for the warning
    std::vector<std::string> forms;  // `catalog::prefix_forms` of the prefix
    bool is_used = false;
    bool has_source = false;  // a listed source can serve it
    bool is_fully_listed = true;
    std::string nearest_uri{};
    std::size_t common_bytes = 0;  // length of the common start with `nearest_uri`, in bytes
  };

  const config::settings& settings_;
  std::vector<prefix_record> prefixes_;
};

}  // namespace hondana::cli

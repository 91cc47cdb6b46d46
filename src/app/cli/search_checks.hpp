/// Checks of `[search]`: folders, dictionaries and services, and whether the configured prefixes are served.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <hondana/error.hpp>
#include <hondana/provider.hpp>

#include "sources/config/settings.hpp"

namespace hondana::cli {

/// Whether an index could be created and stored as configured. Starts and writes nothing. Errors: invalid_argument, with the
/// line of the wrong key.
[[nodiscard]] result<void> check_search(const config::settings& settings);
/// Prints how texts are split into words, if there is an index, and what to install if Japanese is split poorly.
void print_tokenizer(const config::settings& settings, bool as_json);

/// Warnings about prefixes in `include` and `exclude` that no source can serve, and about access rules that let only "local"
/// read `search:///`. Other callers then cannot wait for a complete index.
[[nodiscard]] std::vector<std::string> search_warnings(const config::settings& settings,
                                                       const std::vector<std::shared_ptr<provider>>& sources);

/// Checks whether listed URIs begin with the prefixes of [search]. The settings must outlive this object.
class prefix_usage {
 public:
  explicit prefix_usage(const config::settings& settings);
  /// Whether there are no prefixes.
  [[nodiscard]] bool is_empty() const noexcept { return prefixes_.empty(); }
  /// Records a listed URI.
  void record_uri(std::string_view uri);
  /// Records that a source has been listed. `is_complete`: the listing was complete.
  void finish_source(const provider& source, bool is_complete);
  /// Warnings, with file and line, about prefixes that no listed URI begins with, and the nearest listed URI. Prefixes whose
  /// sources were not all listed completely are left out.
  [[nodiscard]] std::vector<std::string> unused_warnings() const;

 private:
  struct prefix_record {
    std::string key;
    std::string text;
    std::string effect;
    std::vector<std::string> forms;
    bool is_used = false;
    bool has_source = false;
    bool is_fully_listed = true;
    std::string nearest_uri{};
    std::size_t common_bytes = 0;  // length of the common prefix with `nearest_uri`, in bytes
  };

  const config::settings& settings_;
  std::vector<prefix_record> prefixes_;
};

}  // namespace hondana::cli

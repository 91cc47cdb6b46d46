/// Checks of `[search]`: folders, dictionaries and services, and whether what it names is served.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <hondana/error.hpp>
#include <hondana/provider.hpp>

#include "sources/config/settings.hpp"

namespace hondana::cli {

/// Whether an index could be made and kept as configured; starts and writes nothing. Errors: invalid_argument, with the line of
/// the key that is wrong.
[[nodiscard]] result<void> check_search(const config::settings& of);
/// Prints how texts are cut into words, where there is an index; says what to install where Japanese is not cut well.
void print_words_of_index(const config::settings& of, bool as_json);

/// Warnings of prefixes in `include` and `exclude` that no source can serve, and of access rules that let nobody but "local"
/// read `search:///`, so that words are searched in what is indexed by chance.
[[nodiscard]] std::vector<std::string> warnings_of_search(const config::settings& of,
                                                          const std::vector<std::shared_ptr<provider>>& sources);

/// Whether what is listed begins with the prefixes of [search]. Uses the settings to its end.
class prefix_use {
 public:
  explicit prefix_use(const config::settings& of);
  /// Whether there are none.
  [[nodiscard]] bool is_empty() const noexcept { return prefixes_.empty(); }
  /// Something that is listed.
  void note(std::string_view uri);
  /// A source has listed what it has, completely or not.
  void end(const provider& source, bool is_complete);
  /// Warnings, with file and line, of those that nothing begins with though all sources that may have it were listed
  /// completely, and what is listed nearest.
  [[nodiscard]] std::vector<std::string> idle() const;

 private:
  struct prefix {
    std::string key;
    std::string written;
    std::string outcome;
    std::vector<std::string> spelled;
    bool is_used = false;
    bool has_source = false;
    bool is_sure = true;
    std::string nearest{};
    std::size_t common = 0;  // of its bytes
  };

  const config::settings& settings_;
  std::vector<prefix> prefixes_;
};

}  // namespace hondana::cli

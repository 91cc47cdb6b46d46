/// The files of a set: found, opened, read and arranged in layers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/provider.hpp>

#include "sources/config_files/config_folder.hpp"
#include "sources/config_files/file_rules.hpp"
#include "sources/config_files/merged_layers.hpp"
#include "sources/config_files/options.hpp"
#include "sources/config_files/snapshot.hpp"
#include "sources/config_files/value_cache.hpp"
#include "sources/config_files/variable_layers.hpp"

namespace hondana::config_files {

/// A file with its content.
struct read_file {
  file_text text;
  located::format how = located::format::toml;
  std::uint64_t turn = 0;  ///< As returned by `kept_values::turn`.
};

/// The files and layers of a set. Threads: any.
class file_set {
 public:
  /// Limit of served files.
  static constexpr std::size_t most_files = 10'000;
  /// Called with each folder before it is read. The first argument is an index of `grounds`.
  using entering_ground = std::function<void(std::size_t, const std::string&, int)>;

  /// Errors: invalid_argument for inconsistent settings; source_unavailable for paths that cannot be opened.
  [[nodiscard]] static result<std::unique_ptr<file_set>> open(const options& all, std::function<void(const std::string&)> log);

  /// Scans all folders. The result names folders that cannot be read. Errors: cancelled, timed_out; source_unavailable if no
  /// folder can be read.
  [[nodiscard]] result<scene> look(const call& by, const entering_ground& entering) const;

  /// `see`: the state of one file, without reading it. `read`: its content. Errors: as `ground::open_file` and `read_text`.
  [[nodiscard]] result<seen_file> see(const std::string& path) const;
  [[nodiscard]] result<read_file> read(const std::string& path);
  /// The values of a file. If it cannot be read or parsed, its last valid values. Errors: resource_not_found if it is missing;
  /// other errors only if no values are cached.
  [[nodiscard]] result<kept> values(const std::string& path);
  /// The values of a text that was just read; null if other values are cached by now.
  [[nodiscard]] shared_values values_of(const std::string& path, const read_file& file);

  /// The values of all layers. Errors: those of an unreadable file, naming its layer.
  [[nodiscard]] result<layer_states> layers();
  /// The path that the file of a layer is served by; empty: it has none.
  [[nodiscard]] const std::string& file_of_layer(std::size_t which) const noexcept { return files_of_layers_[which]; }
  [[nodiscard]] const std::vector<layer_options>& layer_settings() const noexcept { return layers_; }

  [[nodiscard]] const std::vector<std::shared_ptr<const ground>>& grounds() const noexcept { return grounds_; }
  [[nodiscard]] kept_values& known() noexcept { return known_; }
  [[nodiscard]] const kept_values& known() const noexcept { return known_; }

 private:
  /// A file that the settings name.
  struct named_file {
    std::size_t ground = 0;
    std::string below;
  };
  struct found_file {
    opened_file file;
    located::format how;
    std::string behind;  // as in `seen_file`
  };

  file_set(const options& all, rules which, std::function<void(const std::string&)> log);
  [[nodiscard]] result<std::size_t> ground_at(const std::string& folder);
  [[nodiscard]] result<std::string> name_file(const std::string& path, bool must_be_there);
  [[nodiscard]] result<found_file> open_file(const std::string& path) const;
  [[nodiscard]] result<found_file> open_in_folders(const std::string& path) const;
  void look_at_named(scene& into, const entering_ground& entering) const;
  [[nodiscard]] result<std::int64_t> look_at_ground(std::size_t which, const call& by, scene& into,
                                                    const entering_ground& entering) const;
  void take_seen(scene& into, std::string path, const disk::stamp& state, located::format how, std::string behind = {}) const;
  [[nodiscard]] std::string behind_link(std::size_t ground, std::string_view below, const std::string& real) const;
  /// Why the target of a link is not served.
  [[nodiscard]] std::string refusal_of_target(std::size_t ground, const std::string& real) const;
  [[nodiscard]] shared_values variables_of_layer(std::size_t which, const shared_values& file);
  [[nodiscard]] bool is_named(std::size_t ground, std::string_view below) const;

  const std::string name_;
  const std::vector<std::string> kept_back_;
  const rules rules_;
  std::vector<std::shared_ptr<const ground>> grounds_;
  std::vector<bool> is_walked_;                           // by ground; in other folders, only configured files are served
  std::map<std::string, named_file, std::less<>> named_;  // by the path that they are served by
  std::vector<layer_options> layers_;
  std::vector<std::string> files_of_layers_;
  std::vector<named_values> fixed_;  // of layers that never change, by layer
  /// The values that the variables of a file were converted to.
  struct made_of_file {
    shared_values from;
    shared_values made;
  };
  std::mutex making_;
  std::vector<made_of_file> made_;  // by layer
  kept_values known_;
};

}  // namespace hondana::config_files

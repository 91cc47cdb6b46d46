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
struct file_content {
  file_text text;
  located::config_format format = located::config_format::toml;
  std::uint64_t sequence = 0;  ///< The result of `value_cache::next_sequence` before the file was read.
};

/// The files and layers of a set. A file is identified by the path that it is served by: the PATH of `config://SET/file/PATH`.
/// Threads: any.
class file_set {
 public:
  /// Limit of served files.
  static constexpr std::size_t max_files = 10'000;
  /// As `folder_callback`, with the index of the `config_folder` in `folders` as first argument.
  using folder_listener = std::function<void(std::size_t, const std::string&, int)>;

  /// `log`: receives lines for people. Errors: invalid_argument for inconsistent options; source_unavailable for paths that
  /// cannot be opened.
  [[nodiscard]] static result<std::unique_ptr<file_set>> open(const options& options,
                                                              std::function<void(const std::string&)> log);

  /// Scans all folders. The result has no `entries`. Errors: cancelled, timed_out; source_unavailable if no folder can be read.
  [[nodiscard]] result<snapshot> scan(const request_context& context, const folder_listener& on_enter_folder) const;

  /// The current state of a file, without reading it. Errors: as `config_folder::open_file`; resource_not_found also if it is
  /// not served.
  [[nodiscard]] result<served_file> inspect(const std::string& path) const;
  /// The current content of a file, unmasked. Errors: as `inspect` and `read_text`.
  [[nodiscard]] result<file_content> read(const std::string& path);
  /// The values of a file. If it cannot be read or parsed, its last valid values, with the reason. Errors: resource_not_found
  /// if it is missing; other errors only if no values are cached.
  [[nodiscard]] result<cached_values> values(const std::string& path);
  /// The values of a text that `read` returned. Null if it cannot be parsed, or a newer text was parsed meanwhile.
  [[nodiscard]] shared_values parsed_values(const std::string& path, const file_content& file);

  /// The current values of all layers, in the order of `layer_settings`. A missing file gives a layer without values. Errors:
  /// those of `values` for any other reason, naming the layer.
  [[nodiscard]] result<layer_states> layers();
  /// The path that the file of a layer is served by; empty: the layer has no file.
  [[nodiscard]] const std::string& layer_file(std::size_t index) const noexcept { return layer_files_[index]; }
  [[nodiscard]] const std::vector<layer_options>& layer_settings() const noexcept { return layers_; }

  [[nodiscard]] const std::vector<std::shared_ptr<const config_folder>>& folders() const noexcept { return folders_; }
  [[nodiscard]] value_cache& cache() noexcept { return cache_; }
  [[nodiscard]] const value_cache& cache() const noexcept { return cache_; }

 private:
  /// A file that `options::paths` or a layer names.
  struct named_path {
    std::size_t folder_index = 0;
    std::string relative_path;  // to that folder
  };
  /// An open file of the set.
  struct located_file {
    opened_file file;
    located::config_format format;
    std::string link_target;  // as in `served_file`
  };

  file_set(const options& options, file_rules rules, std::function<void(const std::string&)> log);
  /// Returns the index of a folder, which is opened unless it is already in `folders_`.
  [[nodiscard]] result<std::size_t> add_folder(const std::string& folder);
  /// Adds a file to `named_files_`. Returns the path that it is served by.
  [[nodiscard]] result<std::string> add_named_file(const std::string& path, bool must_exist);
  [[nodiscard]] result<located_file> open_file(const std::string& path) const;
  /// Opens a file that is not in `named_files_`, in the first walked folder that has it.
  [[nodiscard]] result<located_file> open_in_folders(const std::string& path) const;
  void scan_named_files(snapshot& snapshot, const folder_listener& on_enter_folder) const;
  /// Returns the latest ctime of the folder and, if it is walked, those below it.
  [[nodiscard]] result<std::int64_t> scan_folder(std::size_t index, const request_context& context, snapshot& snapshot,
                                                 const folder_listener& on_enter_folder) const;
  /// Adds a file to `snapshot`: as served, or omitted if a limit is reached or another file has its path.
  void add_file(snapshot& snapshot, std::string path, const disk::stamp& state, located::config_format format,
                std::string link_target = {}) const;
  /// The value of `served_file::link_target` for a file whose path without links is `real_path`.
  [[nodiscard]] std::string find_link_target(std::size_t folder_index, std::string_view relative_path,
                                             const std::string& real_path) const;
  /// Why the target of a link is not served; empty if it is.
  [[nodiscard]] std::string target_rejection_reason(std::size_t folder_index, const std::string& real_path) const;
  /// The values of the layer `index`, which consists of the variables in `file`. Caches the result.
  [[nodiscard]] shared_values convert_variables(std::size_t index, const shared_values& file);
  /// Whether `named_files_` has this file.
  [[nodiscard]] bool is_named(std::size_t folder_index, std::string_view relative_path) const;

  const std::string name_;
  const std::vector<std::string> own_files_;
  const file_rules rules_;
  std::vector<std::shared_ptr<const config_folder>> folders_;
  std::vector<bool> is_walked_;                                 // by folder; in other folders, only named files are served
  std::map<std::string, named_path, std::less<>> named_files_;  // by the path that they are served by
  std::vector<layer_options> layers_;
  std::vector<std::string> layer_files_;    // by layer; see `layer_file`
  std::vector<named_values> fixed_values_;  // of layers that never change, by layer
  /// The values that the variables of a file were converted to.
  struct converted_variables {
    shared_values source;
    shared_values converted;
  };
  std::mutex conversion_mutex_;
  std::vector<converted_variables> conversions_;  // by layer
  value_cache cache_;
};

}  // namespace hondana::config_files

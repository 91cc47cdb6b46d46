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
  std::uint64_t sequence = 0;  ///< As returned by `value_cache::next_sequence`.
};

/// The files and layers of a set. Threads: any.
class file_set {
 public:
  /// Limit of served files.
  static constexpr std::size_t max_files = 10'000;
  /// Called with each folder before it is read. The first argument is an index of `folders`.
  using folder_listener = std::function<void(std::size_t, const std::string&, int)>;

  /// Errors: invalid_argument for inconsistent settings; source_unavailable for paths that cannot be opened.
  [[nodiscard]] static result<std::unique_ptr<file_set>> open(const options& options,
                                                              std::function<void(const std::string&)> log);

  /// Scans all folders. The result names folders that cannot be read. Errors: cancelled, timed_out; source_unavailable if no
  /// folder can be read.
  [[nodiscard]] result<snapshot> scan(const request_context& context, const folder_listener& on_enter_folder) const;

  /// `inspect`: the state of one file, without reading it. `read`: its content. Errors: as `config_folder::open_file` and
  /// `read_text`.
  [[nodiscard]] result<served_file> inspect(const std::string& path) const;
  [[nodiscard]] result<file_content> read(const std::string& path);
  /// The values of a file. If it cannot be read or parsed, its last valid values. Errors: resource_not_found if it is missing;
  /// other errors only if no values are cached.
  [[nodiscard]] result<cached_values> values(const std::string& path);
  /// The values of a text that was just read; null if other values are cached by now.
  [[nodiscard]] shared_values parsed_values(const std::string& path, const file_content& file);

  /// The values of all layers. Errors: those of an unreadable file, naming its layer.
  [[nodiscard]] result<layer_states> layers();
  /// The path that the file of a layer is served by; empty: it has none.
  [[nodiscard]] const std::string& layer_file(std::size_t index) const noexcept { return layer_files_[index]; }
  [[nodiscard]] const std::vector<layer_options>& layer_settings() const noexcept { return layers_; }

  [[nodiscard]] const std::vector<std::shared_ptr<const config_folder>>& folders() const noexcept { return folders_; }
  [[nodiscard]] value_cache& cache() noexcept { return cache_; }
  [[nodiscard]] const value_cache& cache() const noexcept { return cache_; }

 private:
  /// A file that the settings name.
  struct named_path {
    std::size_t folder_index = 0;
    std::string relative_path;
  };
  struct located_file {
    opened_file file;
    located::config_format format;
    std::string link_target;  // as in `served_file`
  };

  file_set(const options& options, file_rules rules, std::function<void(const std::string&)> log);
  [[nodiscard]] result<std::size_t> add_folder(const std::string& folder);
  [[nodiscard]] result<std::string> add_named_file(const std::string& path, bool must_exist);
  [[nodiscard]] result<located_file> open_file(const std::string& path) const;
  [[nodiscard]] result<located_file> open_in_folders(const std::string& path) const;
  void scan_named_files(snapshot& snapshot, const folder_listener& on_enter_folder) const;
  [[nodiscard]] result<std::int64_t> scan_folder(std::size_t index, const request_context& context, snapshot& snapshot,
                                                 const folder_listener& on_enter_folder) const;
  void add_file(snapshot& snapshot, std::string path, const disk::stamp& state, located::config_format format,
                std::string link_target = {}) const;
  [[nodiscard]] std::string find_link_target(std::size_t folder_index, std::string_view relative_path,
                                             const std::string& real_path) const;
  /// Why the target of a link is not served.
  [[nodiscard]] std::string target_rejection_reason(std::size_t folder_index, const std::string& real_path) const;
  [[nodiscard]] shared_values convert_variables(std::size_t index, const shared_values& file);
  [[nodiscard]] bool is_named(std::size_t folder_index, std::string_view relative_path) const;

  const std::string name_;
  const std::vector<std::string> own_files_;
  const file_rules rules_;
  std::vector<std::shared_ptr<const config_folder>> folders_;
  std::vector<bool> is_walked_;                                 // by folder; in other folders, only configured files are served
  std::map<std::string, named_path, std::less<>> named_files_;  // by the path that they are served by
  std::vector<layer_options> layers_;
  std::vector<std::string> layer_files_;
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

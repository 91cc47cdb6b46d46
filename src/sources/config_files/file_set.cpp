/// The files of a set: found, opened, read and arranged in layers.
#include "sources/config_files/file_set.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include "sources/config_files/variable_layers.hpp"

namespace hondana::config_files {

file_set::file_set(const options& options, file_rules rules, std::function<void(const std::string&)> log)
    : name_(options.name),
      own_files_(options.own_files),
      rules_(std::move(rules)),
      layers_(options.layers),
      layer_files_(options.layers.size()),
      fixed_values_(options.layers.size()),
      conversions_(options.layers.size()),
      cache_(options.redact, std::move(log)) {}

bool file_set::is_named(std::size_t folder_index, std::string_view relative_path) const {
  return std::any_of(named_files_.begin(), named_files_.end(), [&](const auto& named) {
    return named.second.folder_index == folder_index && named.second.relative_path == relative_path;
  });
}

std::string file_set::find_link_target(std::size_t folder_index, std::string_view relative_path,
                                       const std::string& real_path) const {
  if (real_path == relative_path) return {};
  for (const auto& [path, named] : named_files_) {
    if (named.folder_index == folder_index && named.relative_path == real_path) return path;
  }
  return is_walked_[folder_index] && !rules_.is_in_volume(real_path) ? real_path : std::string();
}

std::string file_set::target_rejection_reason(std::size_t folder_index, const std::string& real_path) const {
  return is_named(folder_index, real_path) ? std::string() : rules_.target_rejection_reason(real_path);
}

result<file_set::located_file> file_set::open_in_folders(const std::string& path) const {
  const auto missing_file_error = [&path] { return system_failure(ENOENT, path); };
  if (!rules_.path_rejection_reason(path).empty()) return missing_file_error();
  std::optional<failure> error;
  for (std::size_t i = 0; i < folders_.size(); ++i) {
    if (!is_walked_[i]) continue;
    auto file = folders_[i]->open_file(path);
    if (!file) {
      const bool is_missing = file.error().code == errc::resource_not_found;
      if (!is_missing) return tl::unexpected(std::move(file.error()));
      if (!error) error = std::move(file.error());
      continue;
    }
    if (file->is_below_link || (file->real_path != path && !target_rejection_reason(i, file->real_path).empty()))
      return missing_file_error();
    auto link_target = find_link_target(i, path, file->real_path);
    return located_file{std::move(*file), rules_.format_of(path).value_or(located::config_format::toml),
                        std::move(link_target)};
  }
  if (error) return tl::unexpected(std::move(*error));
  return missing_file_error();
}

result<file_set::located_file> file_set::open_file(const std::string& path) const {
  const auto match = named_files_.find(path);
  if (match == named_files_.end()) return open_in_folders(path);
  HONDANA_TRY(auto file, folders_[match->second.folder_index]->open_file(match->second.relative_path));
  auto link_target = find_link_target(match->second.folder_index, match->second.relative_path, file.real_path);
  return located_file{std::move(file), rules_.format_of(path).value_or(located::config_format::toml), std::move(link_target)};
}

result<served_file> file_set::inspect(const std::string& path) const {
  return open_file(path).map([](const located_file& opened) {
    return served_file{opened.file.state, opened.format, is_racy(opened.file.state, disk::wall_clock()), opened.link_target};
  });
}

result<file_content> file_set::read(const std::string& path) {
  const auto sequence = cache_.next_sequence();
  HONDANA_TRY(auto opened, open_file(path));
  return read_text(opened.file, path).map([&](file_text text) {
    text.link_target = std::move(opened.link_target);
    return file_content{std::move(text), opened.format, sequence};
  });
}

result<cached_values> file_set::values(const std::string& path) {
  const auto or_cached = [this, &path](failure error) -> result<cached_values> {
    if (auto cached = cache_.last_valid(path, error.public_text)) return std::move(*cached);
    return tl::unexpected(std::move(error));
  };
  const auto sequence = cache_.next_sequence();
  auto opened = open_file(path);
  if (!opened) {
    if (opened.error().code != errc::resource_not_found) return or_cached(std::move(opened.error()));
    cache_.erase(path);
    return tl::unexpected(std::move(opened.error()));
  }
  if (auto cached = cache_.find(path, opened->file.state)) return std::move(*cached);
  auto text = read_text(opened->file, path);
  if (!text) return or_cached(text.error());
  text->link_target = std::move(opened->link_target);
  auto parsed = cache_.parse(path, opened->format, *text, sequence);
  if (!parsed) parsed.error().public_text = "In the set \"" + name_ + "\": " + parsed.error().public_text;
  return parsed;
}

shared_values file_set::parsed_values(const std::string& path, const file_content& file) {
  auto cached = file.text.is_racy ? std::nullopt : cache_.find(path, file.text.state);
  if (!cached) {
    auto parsed = cache_.parse(path, file.format, file.text, file.sequence);
    if (!parsed) return nullptr;
    cached = std::move(*parsed);
  }
  return cached->stale_reason.empty() && !cached->is_newer ? cached->values : nullptr;
}

shared_values file_set::convert_variables(std::size_t index, const shared_values& file) {
  std::unique_lock lock(conversion_mutex_);
  if (conversions_[index].source == file) return conversions_[index].converted;
  lock.unlock();
  auto converted = convert_environment(*file, layers_[index].prefix);
  lock.lock();
  conversions_[index] = {file, converted};
  return converted;
}

result<layer_states> file_set::layers() {
  layer_states layers;
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    layer_state layer{&layers_[i], layer_files_[i]};
    if (layer.file.empty()) {
      layer.values = fixed_values_[i].values;
      layer.names = fixed_values_[i].names;
    } else if (auto file_values = values(layer.file)) {
      layer.stale_reason = std::move(file_values->stale_reason);
      layer.link_target = std::move(file_values->link_target);
      const bool is_environment = layers_[i].kind == layer_options::layer_kind::environment;
      layer.values = is_environment ? convert_variables(i, file_values->values) : std::move(file_values->values);
    } else if (file_values.error().code != errc::resource_not_found) {
      auto error = std::move(file_values.error());
      error.public_text = "The layer \"" + layers_[i].name + "\": " + error.public_text;
      return tl::unexpected(std::move(error));
    }
    layers.push_back(std::move(layer));
  }
  return layers;
}

namespace {

namespace fs = std::filesystem;

failure invalid_option_error(std::string message) { return {errc::invalid_argument, std::move(message), {}}; }

/// Resolves the links of a folder's path, if possible.
std::string resolve_folder(const std::string& folder) {
  std::error_code error;
  const auto real_path = fs::canonical(folder, error);
  return error ? folder : real_path.string();
}

}  // namespace

result<std::unique_ptr<file_set>> file_set::open(const options& options, std::function<void(const std::string&)> log) {
  HONDANA_TRY(auto rules, file_rules::create(options));
  std::unique_ptr<file_set> set(new file_set(options, std::move(rules), std::move(log)));
  std::vector<std::string> files;
  for (const auto& path : options.paths) {
    struct stat attributes{};
    if (::stat(path.c_str(), &attributes) != 0 || !S_ISDIR(attributes.st_mode)) {
      files.push_back(path);
      continue;
    }
    HONDANA_TRY(const auto index, set->add_folder(path));
    set->is_walked_[index] = true;
  }
  for (const auto& path : files) {
    HONDANA_TRY(set->add_named_file(path, true));
  }
  for (std::size_t i = 0; i < options.layers.size(); ++i) {
    const auto& layer = options.layers[i];
    if (!layer.file.empty()) {
      HONDANA_TRY(auto served_path, set->add_named_file(layer.file, false));
      const bool is_environment = layer.kind == layer_options::layer_kind::environment;
      const auto format = set->rules_.format_of(served_path);
      if (is_environment && (!format || !located::is_environment_format(*format))) {
        return tl::unexpected(invalid_option_error(
            "layer \"" + layer.name + "\": env needs a file in dotenv format; set the format in formats, or remove env"));
      }
      set->layer_files_[i] = std::move(served_path);
    } else if (layer.kind == layer_options::layer_kind::environment) {
      set->fixed_values_[i] = convert_environment(options.environment ? options.environment() : process_environment(),
                                                  layer.prefix, options.redact);
    } else if (layer.kind == layer_options::layer_kind::flags) {
      set->fixed_values_[i].values = parse_flags(layer.flags, options.redact);
    } else {
      set->fixed_values_[i].values = convert_texts(layer.values, options.redact);
    }
  }
  return set;
}

result<std::size_t> file_set::add_folder(const std::string& folder) {
  const auto real_path = resolve_folder(folder);
  for (std::size_t i = 0; i < folders_.size(); ++i) {
    if (resolve_folder(folders_[i]->path()) == real_path) return i;
  }
  HONDANA_TRY(auto opened, config_folder::open(folder, own_files_));
  folders_.push_back(std::move(opened));
  is_walked_.push_back(false);
  return folders_.size() - 1;
}

result<std::string> file_set::add_named_file(const std::string& path, bool must_exist) {
  const fs::path full_path(path);
  const auto file_name = full_path.filename().string();
  const auto parent = resolve_folder(full_path.parent_path().string());
  named_path named{folders_.size(), file_name};
  std::string served_path;
  for (std::size_t i = 0; i < folders_.size() && served_path.empty(); ++i) {
    const auto root_path = resolve_folder(folders_[i]->path());
    if (parent != root_path && !(is_walked_[i] && parent.starts_with(root_path.ends_with('/') ? root_path : root_path + '/')))
      continue;
    named = {i, parent == root_path ? file_name
                                    : parent.substr(root_path.size() + (root_path.ends_with('/') ? 0 : 1)) + '/' + file_name};
    if (is_walked_[i]) served_path = named.relative_path;
    break;
  }
  if (named.folder_index == folders_.size()) {
    HONDANA_TRY(auto index, add_folder(full_path.parent_path().string()));
    named.folder_index = index;
  }
  for (const auto& [existing_path, existing] : named_files_) {
    if (existing.folder_index == named.folder_index && existing.relative_path == named.relative_path) return existing_path;
  }
  // Of two files with the same name, the second is served with its folder in the path.
  if (served_path.empty()) {
    served_path = file_name;
    for (auto folder = full_path.parent_path(); named_files_.contains(served_path) && folder.has_filename();
         folder = folder.parent_path()) {
      served_path = folder.filename().string() + '/' + served_path;
    }
  }
  if (must_exist) {
    struct stat attributes{};
    if (::stat(path.c_str(), &attributes) != 0) {
      return fail(errc::source_unavailable, "The configuration file \"" + path + "\" cannot be opened: " +
                                                std::error_code(errno, std::generic_category()).message() +
                                                ". Check its path.");
    }
    if (!S_ISREG(attributes.st_mode)) return tl::unexpected(invalid_option_error(path + " is neither a file nor a folder"));
  }
  if (!rules_.format_of(served_path)) {
    return tl::unexpected(invalid_option_error("the name of " + path + " has no known format; set one, such as formats = { \"" +
                                               file_name + "\" = \"ini\" }"));
  }
  named_files_.emplace(served_path, std::move(named));
  return served_path;
}

void file_set::add_file(snapshot& snapshot, std::string path, const disk::stamp& state, located::config_format format,
                        std::string link_target) const {
  if (snapshot.files.contains(path)) {
    snapshot.omitted.push_back({std::move(path), "another file of the set has this path and takes precedence"});
  } else if (state.size > max_file_bytes) {
    snapshot.omitted.push_back({std::move(path), "it is larger than 8 MiB"});
  } else if (snapshot.files.size() >= max_files) {
    snapshot.omitted.push_back({std::move(path), "it is beyond the first " + std::to_string(max_files) + " files"});
  } else {
    snapshot.files.emplace(std::move(path),
                           served_file{state, format, is_racy(state, disk::wall_clock()), std::move(link_target)});
  }
}

void file_set::scan_named_files(snapshot& snapshot, const folder_listener& on_enter_folder) const {
  for (const auto& [path, named] : named_files_) {
    const auto file =
        folders_[named.folder_index]->open_file(named.relative_path, [&](const std::string& folder, int descriptor) {
          if (on_enter_folder) on_enter_folder(named.folder_index, folder, descriptor);
        });
    if (file) {
      add_file(snapshot, path, file->state, rules_.format_of(path).value_or(located::config_format::toml),
               find_link_target(named.folder_index, named.relative_path, file->real_path));
    } else {
      snapshot.omitted.push_back({path, file.error().public_text});
    }
  }
}

result<std::int64_t> file_set::scan_folder(std::size_t index, const request_context& context, snapshot& snapshot,
                                           const folder_listener& on_enter_folder) const {
  const auto on_enter = [&](const std::string& folder, int descriptor) {
    if (on_enter_folder) on_enter_folder(index, folder, descriptor);
  };
  if (!is_walked_[index]) return folders_[index]->enter_root(on_enter);
  const auto omit = [&snapshot](std::string path, std::string reason) {
    snapshot.omitted.push_back({std::move(path), std::move(reason)});
  };
  const auto visit = [&](config_folder::folder_entry entry) {
    if (is_named(index, entry.path)) return false;  // was handled before
    auto reason = rules_.rejection_reason(entry.path, entry.is_folder);
    if (!reason.empty()) {
      omit(std::move(entry.path), std::move(reason));
      return false;
    }
    if (entry.is_folder) return true;
    if (!entry.is_file && !entry.is_link) {
      omit(std::move(entry.path), "it is neither a file nor a folder");
      return false;
    }
    const auto format = rules_.format_of(entry.path).value_or(located::config_format::toml);
    if (entry.is_file) {
      add_file(snapshot, std::move(entry.path), entry.state, format);
      return false;
    }
    const auto file = folders_[index]->open_file(entry.path, on_enter);
    if (file) reason = target_rejection_reason(index, file->real_path);
    if (!file) {
      omit(std::move(entry.path), file.error().public_text);
    } else if (!reason.empty()) {
      omit(std::move(entry.path), "its target is not served: " + reason);
    } else {
      auto link_target = find_link_target(index, entry.path, file->real_path);
      add_file(snapshot, std::move(entry.path), file->state, format, std::move(link_target));
    }
    return false;
  };
  return folders_[index]->walk(context, on_enter, visit, omit);
}

result<snapshot> file_set::scan(const request_context& context, const folder_listener& on_enter_folder) const {
  snapshot scanned;
  std::optional<failure> error;
  // Watch the folders of configured files before reading these files.
  for (std::size_t i = 0; i < folders_.size(); ++i) {
    if (is_walked_[i]) continue;
    const auto last_change = scan_folder(i, context, scanned, on_enter_folder);
    if (last_change) {
      scanned.last_change = std::max(scanned.last_change, *last_change);
    } else {
      scanned.unreadable_folders.push_back(folders_[i]->path() + ": " + last_change.error().private_text);
      error = last_change.error();
    }
  }
  scan_named_files(scanned, on_enter_folder);
  for (std::size_t i = 0; i < folders_.size(); ++i) {
    if (!is_walked_[i]) continue;
    const auto last_change = scan_folder(i, context, scanned, on_enter_folder);
    if (last_change) {
      scanned.last_change = std::max(scanned.last_change, *last_change);
      continue;
    }
    if (last_change.error().code != errc::source_unavailable) return tl::unexpected(last_change.error());
    scanned.unreadable_folders.push_back(folders_[i]->path() + ": " + last_change.error().private_text);
    error = last_change.error();
  }
  if (scanned.unreadable_folders.size() == folders_.size() && error) return tl::unexpected(std::move(*error));
  return scanned;
}

}  // namespace hondana::config_files

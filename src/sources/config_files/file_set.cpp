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

file_set::file_set(const options& all, rules which, std::function<void(const std::string&)> log)
    : name_(all.name),
      kept_back_(all.kept_back),
      rules_(std::move(which)),
      layers_(all.layers),
      files_of_layers_(all.layers.size()),
      fixed_(all.layers.size()),
      made_(all.layers.size()),
      known_(all.redact, std::move(log)) {}

bool file_set::is_named(std::size_t ground, std::string_view below) const {
  return std::any_of(named_.begin(), named_.end(),
                     [&](const auto& one) { return one.second.ground == ground && one.second.below == below; });
}

std::string file_set::behind_link(std::size_t ground, std::string_view below, const std::string& real) const {
  if (real == below) return {};
  for (const auto& [path, one] : named_) {
    if (one.ground == ground && one.below == real) return path;
  }
  return is_walked_[ground] && !rules_.is_of_volume(real) ? real : std::string();
}

std::string file_set::refusal_of_target(std::size_t ground, const std::string& real) const {
  return is_named(ground, real) ? std::string() : rules_.refusal_of_target(real);
}

result<file_set::found_file> file_set::open_in_folders(const std::string& path) const {
  const auto no_such_file = [&path] { return refused_by_system(ENOENT, path); };
  if (!rules_.refusal_of_all(path).empty()) return no_such_file();
  std::optional<failure> why;
  for (std::size_t i = 0; i < grounds_.size(); ++i) {
    if (!is_walked_[i]) continue;
    auto file = grounds_[i]->open_file(path);
    if (!file) {
      const bool is_elsewhere = file.error().code == errc::resource_not_found;
      if (!is_elsewhere) return tl::unexpected(std::move(file.error()));
      if (!why) why = std::move(file.error());
      continue;
    }
    if (file->is_below_link || (file->real != path && !refusal_of_target(i, file->real).empty())) return no_such_file();
    auto behind = behind_link(i, path, file->real);
    return found_file{std::move(*file), rules_.format_of(path).value_or(located::format::toml), std::move(behind)};
  }
  if (why) return tl::unexpected(std::move(*why));
  return no_such_file();
}

result<file_set::found_file> file_set::open_file(const std::string& path) const {
  const auto named = named_.find(path);
  if (named == named_.end()) return open_in_folders(path);
  HONDANA_TRY(auto file, grounds_[named->second.ground]->open_file(named->second.below));
  auto behind = behind_link(named->second.ground, named->second.below, file.real);
  return found_file{std::move(file), rules_.format_of(path).value_or(located::format::toml), std::move(behind)};
}

result<seen_file> file_set::see(const std::string& path) const {
  return open_file(path).map([](const found_file& found) {
    return seen_file{found.file.state, found.how, is_racy(found.file.state, disk::wall_clock()), found.behind};
  });
}

result<read_file> file_set::read(const std::string& path) {
  const auto turn = known_.turn();
  HONDANA_TRY(auto found, open_file(path));
  return read_text(found.file, path).map([&](file_text text) {
    text.behind = std::move(found.behind);
    return read_file{std::move(text), found.how, turn};
  });
}

result<kept> file_set::values(const std::string& path) {
  const auto or_before = [this, &path](failure why) -> result<kept> {
    if (auto before = known_.before(path, why.public_text)) return std::move(*before);
    return tl::unexpected(std::move(why));
  };
  const auto turn = known_.turn();
  auto found = open_file(path);
  if (!found) {
    if (found.error().code != errc::resource_not_found) return or_before(std::move(found.error()));
    known_.forget(path);
    return tl::unexpected(std::move(found.error()));
  }
  if (auto known = known_.of(path, found->file.state)) return std::move(*known);
  auto text = read_text(found->file, path);
  if (!text) return or_before(text.error());
  text->behind = std::move(found->behind);
  auto said = known_.read(path, found->how, *text, turn);
  if (!said) said.error().public_text = "In the set \"" + name_ + "\": " + said.error().public_text;
  return said;
}

shared_values file_set::values_of(const std::string& path, const read_file& file) {
  auto known = file.text.is_racy ? std::nullopt : known_.of(path, file.text.state);
  if (!known) {
    auto read = known_.read(path, file.how, file.text, file.turn);
    if (!read) return nullptr;
    known = std::move(*read);
  }
  return known->stale.empty() && !known->is_other ? known->what : nullptr;
}

shared_values file_set::variables_of_layer(std::size_t which, const shared_values& file) {
  std::unique_lock lock(making_);
  if (made_[which].from == file) return made_[which].made;
  lock.unlock();
  auto made = of_environment(*file, layers_[which].prefix);
  lock.lock();
  made_[which] = {file, made};
  return made;
}

result<layer_states> file_set::layers() {
  layer_states all;
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    layer_state one{&layers_[i], files_of_layers_[i]};
    if (one.file.empty()) {
      one.what = fixed_[i].what;
      one.names = fixed_[i].names;
    } else if (auto said = values(one.file)) {
      one.stale = std::move(said->stale);
      one.behind = std::move(said->behind);
      const bool is_environment = layers_[i].is == layer_options::kind::environment;
      one.what = is_environment ? variables_of_layer(i, said->what) : std::move(said->what);
    } else if (said.error().code != errc::resource_not_found) {
      auto why = std::move(said.error());
      why.public_text = "The layer \"" + layers_[i].name + "\": " + why.public_text;
      return tl::unexpected(std::move(why));
    }
    all.push_back(std::move(one));
  }
  return all;
}

namespace {

namespace fs = std::filesystem;

failure bad_setting(std::string what) { return {errc::invalid_argument, std::move(what), {}}; }

/// Resolves the links of a folder's path, if possible.
std::string without_links_above(const std::string& folder) {
  std::error_code problem;
  const auto real = fs::canonical(folder, problem);
  return problem ? folder : real.string();
}

}  // namespace

result<std::unique_ptr<file_set>> file_set::open(const options& all, std::function<void(const std::string&)> log) {
  HONDANA_TRY(auto which, rules::from(all));
  std::unique_ptr<file_set> made(new file_set(all, std::move(which), std::move(log)));
  std::vector<std::string> files;
  for (const auto& path : all.paths) {
    struct stat facts{};
    if (::stat(path.c_str(), &facts) != 0 || !S_ISDIR(facts.st_mode)) {
      files.push_back(path);
      continue;
    }
    HONDANA_TRY(const auto at, made->ground_at(path));
    made->is_walked_[at] = true;
  }
  for (const auto& path : files) {
    HONDANA_TRY(made->name_file(path, true));
  }
  for (std::size_t i = 0; i < all.layers.size(); ++i) {
    const auto& layer = all.layers[i];
    if (!layer.file.empty()) {
      HONDANA_TRY(auto named, made->name_file(layer.file, false));
      const bool is_environment = layer.is == layer_options::kind::environment;
      if (is_environment && made->rules_.format_of(named) != located::format::dotenv) {
        return tl::unexpected(bad_setting("layer \"" + layer.name +
                                          "\": env needs a file in dotenv format; set the format in formats, or remove env"));
      }
      made->files_of_layers_[i] = std::move(named);
    } else if (layer.is == layer_options::kind::environment) {
      made->fixed_[i] = of_environment(all.environment ? all.environment() : process_environment(), layer.prefix, all.redact);
    } else if (layer.is == layer_options::kind::flags) {
      made->fixed_[i].what = of_flags(layer.flags, all.redact);
    } else {
      made->fixed_[i].what = of_texts(layer.values, all.redact);
    }
  }
  return made;
}

result<std::size_t> file_set::ground_at(const std::string& folder) {
  const auto real = without_links_above(folder);
  for (std::size_t i = 0; i < grounds_.size(); ++i) {
    if (without_links_above(grounds_[i]->path()) == real) return i;
  }
  HONDANA_TRY(auto opened, ground::open(folder, kept_back_));
  grounds_.push_back(std::move(opened));
  is_walked_.push_back(false);
  return grounds_.size() - 1;
}

result<std::string> file_set::name_file(const std::string& path, bool must_be_there) {
  const fs::path whole(path);
  const auto last = whole.filename().string();
  const auto above = without_links_above(whole.parent_path().string());
  named_file made{grounds_.size(), last};
  std::string served;
  for (std::size_t i = 0; i < grounds_.size() && served.empty(); ++i) {
    const auto root = without_links_above(grounds_[i]->path());
    if (above != root && !(is_walked_[i] && above.starts_with(root.ends_with('/') ? root : root + '/'))) continue;
    made = {i, above == root ? last : above.substr(root.size() + (root.ends_with('/') ? 0 : 1)) + '/' + last};
    if (is_walked_[i]) served = made.below;
    break;
  }
  if (made.ground == grounds_.size()) {
    HONDANA_TRY(auto at, ground_at(whole.parent_path().string()));
    made.ground = at;
  }
  for (const auto& [known, one] : named_) {
    if (one.ground == made.ground && one.below == made.below) return known;
  }
  // Of two files with the same name, the second is served with its folder in the path.
  if (served.empty()) {
    served = last;
    for (auto from = whole.parent_path(); named_.contains(served) && from.has_filename(); from = from.parent_path()) {
      served = from.filename().string() + '/' + served;
    }
  }
  if (must_be_there) {
    struct stat facts{};
    if (::stat(path.c_str(), &facts) != 0) {
      return fail(errc::source_unavailable, "The configuration file \"" + path + "\" cannot be opened: " +
                                                std::error_code(errno, std::generic_category()).message() +
                                                ". Check its path.");
    }
    if (!S_ISREG(facts.st_mode)) return tl::unexpected(bad_setting(path + " is neither a file nor a folder"));
  }
  if (!rules_.format_of(served)) {
    return tl::unexpected(
        bad_setting("the name of " + path + " has no known format; set one, such as formats = { \"" + last + "\" = \"ini\" }"));
  }
  named_.emplace(served, std::move(made));
  return served;
}

void file_set::take_seen(scene& into, std::string path, const disk::stamp& state, located::format how,
                         std::string behind) const {
  if (into.files.contains(path)) {
    into.left_out.push_back({std::move(path), "another file of the set has this path and takes precedence"});
  } else if (state.size > most_file_bytes) {
    into.left_out.push_back({std::move(path), "it is larger than 8 MiB"});
  } else if (into.files.size() >= most_files) {
    into.left_out.push_back({std::move(path), "it is beyond the first " + std::to_string(most_files) + " files"});
  } else {
    into.files.emplace(std::move(path), seen_file{state, how, is_racy(state, disk::wall_clock()), std::move(behind)});
  }
}

void file_set::look_at_named(scene& into, const entering_ground& entering) const {
  for (const auto& [path, one] : named_) {
    const auto file = grounds_[one.ground]->open_file(one.below, [&](const std::string& folder, int at) {
      if (entering) entering(one.ground, folder, at);
    });
    if (file) {
      take_seen(into, path, file->state, rules_.format_of(path).value_or(located::format::toml),
                behind_link(one.ground, one.below, file->real));
    } else {
      into.left_out.push_back({path, file.error().public_text});
    }
  }
}

result<std::int64_t> file_set::look_at_ground(std::size_t which, const call& by, scene& into,
                                              const entering_ground& entering) const {
  const auto enter = [&](const std::string& folder, int at) {
    if (entering) entering(which, folder, at);
  };
  if (!is_walked_[which]) return grounds_[which]->enter(enter);
  const auto leave_out = [&into](std::string path, std::string why) {
    into.left_out.push_back({std::move(path), std::move(why)});
  };
  const auto take = [&](ground::found one) {
    if (is_named(which, one.path)) return false;  // was handled before
    auto why = rules_.refusal(one.path, one.is_folder);
    if (!why.empty()) {
      leave_out(std::move(one.path), std::move(why));
      return false;
    }
    if (one.is_folder) return true;
    if (!one.is_file && !one.is_link) {
      leave_out(std::move(one.path), "it is neither a file nor a folder");
      return false;
    }
    const auto how = rules_.format_of(one.path).value_or(located::format::toml);
    if (one.is_file) {
      take_seen(into, std::move(one.path), one.state, how);
      return false;
    }
    const auto file = grounds_[which]->open_file(one.path, enter);
    if (file) why = refusal_of_target(which, file->real);
    if (!file) {
      leave_out(std::move(one.path), file.error().public_text);
    } else if (!why.empty()) {
      leave_out(std::move(one.path), "its target is not served: " + why);
    } else {
      auto behind = behind_link(which, one.path, file->real);
      take_seen(into, std::move(one.path), file->state, how, std::move(behind));
    }
    return false;
  };
  return grounds_[which]->walk(by, enter, take, leave_out);
}

result<scene> file_set::look(const call& by, const entering_ground& entering) const {
  scene now;
  std::optional<failure> why;
  // Watch the folders of configured files before reading these files.
  for (std::size_t i = 0; i < grounds_.size(); ++i) {
    if (is_walked_[i]) continue;
    const auto changed = look_at_ground(i, by, now, entering);
    if (changed) {
      now.changed = std::max(now.changed, *changed);
    } else {
      now.unreachable.push_back(grounds_[i]->path() + ": " + changed.error().private_text);
      why = changed.error();
    }
  }
  look_at_named(now, entering);
  for (std::size_t i = 0; i < grounds_.size(); ++i) {
    if (!is_walked_[i]) continue;
    const auto changed = look_at_ground(i, by, now, entering);
    if (changed) {
      now.changed = std::max(now.changed, *changed);
      continue;
    }
    if (changed.error().code != errc::source_unavailable) return tl::unexpected(changed.error());
    now.unreachable.push_back(grounds_[i]->path() + ": " + changed.error().private_text);
    why = changed.error();
  }
  if (now.unreachable.size() == grounds_.size() && why) return tl::unexpected(std::move(*why));
  return now;
}

}  // namespace hondana::config_files

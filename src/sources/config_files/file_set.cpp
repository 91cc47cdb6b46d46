/// Opening and reading the files of a set, and what its layers say.
#include "sources/config_files/file_set.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "sources/config_files/variables.hpp"

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

}  // namespace hondana::config_files

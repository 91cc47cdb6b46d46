/// Merging layers, and naming them.
#include "sources/config_files/layers.hpp"

#include <algorithm>

namespace hondana::config_files {
namespace {

const located::node& empty_table() {
  static const located::node one = [] {
    located::node made;
    made.is = located::kind::table;
    return made;
  }();
  return one;
}

/// Whether it says anything: an empty YAML file is null.
bool has_something(const layer_state& of) { return of.what && of.what->raw.root.is != located::kind::null; }

layered_value root_of(const layer_states& all, std::size_t which) {
  return {which, &all[which].what->shown.root, &all[which].what->raw.root};
}

}  // namespace

std::optional<std::size_t> layer_called(const std::vector<layer_options>& among, std::string_view name) {
  const auto found = std::find_if(among.begin(), among.end(), [name](const auto& one) { return one.name == name; });
  if (found == among.end()) return std::nullopt;
  return static_cast<std::size_t>(found - among.begin());
}

blend merged(const layer_states& all) {
  blend made;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (has_something(all[i])) lay_over(made, root_of(all, i));
  }
  if (made.from.raw == nullptr) made = blend_of({0, &empty_table(), &empty_table()});
  return made;
}

blend alone(const layer_states& all, std::size_t which) {
  if (!has_something(all[which])) return blend_of({which, &empty_table(), &empty_table()});
  return blend_of(root_of(all, which));
}

bool has_texts_only(const layer_options& of) noexcept { return of.is != layer_options::kind::file; }

std::string_view name_of(layer_options::kind is) noexcept {
  switch (is) {
    case layer_options::kind::file:
      return "file";
    case layer_options::kind::environment:
      return "environment";
    case layer_options::kind::flags:
      return "flags";
    case layer_options::kind::values:
      return "values";
  }
  return "file";
}

}  // namespace hondana::config_files

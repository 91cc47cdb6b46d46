/// The request for a view of a repository, the rendered response, and its version.
#include "sources/git/rendering.hpp"

#include <array>
#include <cstddef>

#include "base/bytes/digest.hpp"

namespace hondana::git {

rendering rendering_for(const asking& what) {
  rendering made;
  made.kind = what.at.what == topic::overview ? "repository" : std::string(name_of(what.at.what));
  if (what.at.is_json) made.mime_type = "application/json";
  return made;
}

std::string version_of(std::initializer_list<std::string_view> parts) {
  bytes::digester all;
  for (const auto part : parts) {
    all.feed(std::to_string(part.size()) + ':');
    all.feed(part);
  }
  return bytes::to_hex(all.value());
}

std::string version_with_hidden(std::string version, const asking& what) {
  for (const auto& state : {what.hides.ignored().state(), what.hides.state_of_view()}) {
    if (!state.empty()) version += '.' + state;
  }
  return version;
}

void add_ignored(rendering& made, const asking& what, std::size_t folders_before) {
  const auto& ignored = what.hides.ignored();
  if (ignored.folder_count() == folders_before) return;
  made.version = version_of({made.version, ignored.state()});
  if (what.is_enough(made.version)) made.text.reset();
}

void version_by_text(rendering& made, const asking& what) {
  if (!made.text) return;
  made.version = bytes::to_hex(bytes::digest_of(*made.text));
  if (what.is_enough(made.version)) made.text.reset();
}

result<rendering> render(const asking& what) {
  constexpr std::array renderers{render_overview, render_branches,  render_tags,   render_log,   render_commit,
                                 render_tree,     render_blob,      render_diff,   render_blame, render_history,
                                 render_stashes,  render_worktrees, render_changes};
  return renderers.at(static_cast<std::size_t>(what.at.what))(what);
}

}  // namespace hondana::git

/// The request for a view of a repository, the rendered response, and its version.
#include "sources/git/rendering.hpp"

#include <array>
#include <cstddef>

#include "base/bytes/digest.hpp"

namespace hondana::git {

rendering make_rendering(const view_request& request) {
  rendering rendered;
  rendered.kind = request.target.kind == resource_kind::overview ? "repository" : std::string(name_of(request.target.kind));
  if (request.target.is_json) rendered.mime_type = "application/json";
  return rendered;
}

std::string version_of(std::initializer_list<std::string_view> parts) {
  bytes::digester digester;
  for (const auto part : parts) {
    digester.update(std::to_string(part.size()) + ':');
    digester.update(part);
  }
  return bytes::to_hex(digester.value());
}

std::string version_with_visibility(std::string version, const view_request& request) {
  for (const auto& key : {request.visibility.ignored().digest(), request.visibility.filter_key()}) {
    if (!key.empty()) version += '.' + key;
  }
  return version;
}

void add_ignored_version(rendering& rendered, const view_request& request, std::size_t previous_folder_count) {
  const auto& ignored = request.visibility.ignored();
  if (ignored.folder_count() == previous_folder_count) return;
  rendered.version = version_of({rendered.version, ignored.digest()});
  if (request.is_satisfied_by(rendered.version)) rendered.text.reset();
}

void set_version_by_text(rendering& rendered, const view_request& request) {
  if (!rendered.text) return;
  rendered.version = bytes::to_hex(bytes::digest_of(*rendered.text));
  if (request.is_satisfied_by(rendered.version)) rendered.text.reset();
}

result<rendering> render(const view_request& request) {
  constexpr std::array renderers{render_overview, render_branches,  render_tags,   render_log,   render_commit,
                                 render_tree,     render_blob,      render_diff,   render_blame, render_history,
                                 render_stashes,  render_worktrees, render_changes};
  return renderers.at(static_cast<std::size_t>(request.target.kind))(request);
}

}  // namespace hondana::git

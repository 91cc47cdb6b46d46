/// The view of a folder at a revision.
#include <cstddef>
#include <string>
#include <utility>

#include "json/writer.hpp"
#include "providers/git/markdown.hpp"
#include "providers/git/rendering.hpp"
#include "providers/git/tag_object.hpp"
#include "providers/git/text.hpp"
#include "providers/git/tree_entries.hpp"

namespace hondana::git {
namespace {

/// Of more, people are shown no sizes: each takes a look at the object store.
constexpr std::size_t most_sizes = 1000;
constexpr std::size_t most_lines = 5000;

class tree_view {
 public:
  tree_view(const asking& what, const git_oid& tree, shown_entries shown, odb_pointer objects)
      : what_(what), tree_(tree), shown_(std::move(shown)), objects_(std::move(objects)) {}

  std::string markdown() const {
    const auto& at = what_.at;
    std::string out = "# " + (at.path.empty() ? std::string("Top folder") : code(shown_path_of(at.path))) + " of " + at.repo +
                      " at " + code(at.rev) + "\n\n";
    if (shown_.entries.empty()) out += "Nothing is shown here.\n";
    for (std::size_t i = 0; i < shown_.entries.size() && i < most_lines; ++i) append_line(out, shown_.entries[i]);
    if (shown_.entries.size() > most_lines) {
      auto whole = at;
      whole.is_json = true;
      out += "\n" + std::to_string(shown_.entries.size() - most_lines) + " more: " + link_to("as JSON", uri_of(whole)) + ".\n";
    }
    if (shown_.secrets > 0)
      out += "\n" + std::to_string(shown_.secrets) +
             " more left out: their names are those of files that hold credentials, or of the server's own.\n";
    return out;
  }

  std::string json() const {
    std::string out;
    json::writer to(out);
    to.begin_object().member("repository", what_.at.repo).member("revision", what_.at.rev);
    to.member("path", shown_path_of(what_.at.path)).member("tree", text_of(tree_)).key("entries").begin_array();
    for (const auto& one : shown_.entries) {
      to.begin_object().member("name", shown_path_of(one.name)).member("kind", one.kind());
      to.member("id", text_of(one.id)).member("uri", uri_of(address_of(what_.at, one)));
      if (const auto size = size_of(one)) to.key("size").unsigned_integer(*size);
      if ((one.mode & 0111U) != 0 && one.kind() == "blob") to.key("executable").boolean(true);
      to.end_object();
    }
    to.end_array();
    if (shown_.secrets > 0) to.key("leftOut").unsigned_integer(shown_.secrets);
    to.end_object();
    return out;
  }

 private:
  void append_line(std::string& to, const tree_entry& one) const {
    to += "- " + link_to(code(shown_path_of(one.name) + (one.is_folder() ? "/" : "")), uri_of(address_of(what_.at, one)));
    if (one.is_link()) to += " (link)";
    if (one.is_submodule()) to += " (submodule at `" + text_of(one.id) + "`)";
    if (const auto size = size_of(one)) to += ", " + std::to_string(*size) + (*size == 1 ? " byte" : " bytes");
    to += '\n';
  }

  std::optional<std::uint64_t> size_of(const tree_entry& one) const {
    if (one.is_folder() || one.is_submodule() || shown_.entries.size() > most_sizes) return std::nullopt;
    std::size_t size = 0;
    git_object_t type{};
    if (git_odb_read_header(&size, &type, objects_.get(), &one.id) < 0) return std::nullopt;  // a read of it will say so
    return size;
  }

  const asking& what_;
  const git_oid tree_;
  const shown_entries shown_;
  const odb_pointer objects_;
};

}  // namespace

result<rendering> render_tree(const asking& what) {
  const auto folder = find_folder(what.in, what.at, what.hides);
  if (!folder) return tl::unexpected(folder.error());
  auto made = rendering_for(what);
  made.is_fixed = folder->is_fixed;
  made.version = text_of(folder->tree) + (what.at.is_json ? ".json" : "");
  if (what.is_enough(made.version)) return made;
  auto all = entries_of(what.in, folder->tree);
  if (!all) return tl::unexpected(std::move(all.error()));
  auto objects = objects_of(what.in);
  if (!objects) return tl::unexpected(std::move(objects.error()));
  const tree_view view(what, folder->tree, shown_of(std::move(*all), what.at, what.hides), std::move(*objects));
  made.text = what.at.is_json ? view.json() : view.markdown();
  return made;
}

}  // namespace hondana::git

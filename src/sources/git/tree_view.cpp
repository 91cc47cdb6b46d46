/// The view of a folder at a revision.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json/writer.hpp"
#include "sources/git/cancellation.hpp"
#include "sources/git/object_parser.hpp"
#include "sources/git/rendering.hpp"
#include "sources/git/text_encoding.hpp"
#include "sources/git/text_escaping.hpp"
#include "sources/git/tree_entries.hpp"

namespace hondana::git {
namespace {

/// For more entries no sizes are shown, because each needs a lookup in the object database.
constexpr std::size_t most_sizes = 1000;
constexpr std::size_t most_entries_a_page = 5000;

/// A name as trees sort it.
std::string sorted_name(std::string_view name, bool is_folder) { return std::string(name) + (is_folder ? "/" : ""); }

bool is_sorted_behind(std::string_view name, bool is_folder, std::string_view after) {
  return is_folder && after.starts_with(name) ? sorted_name(name, true) > after : name > after;
}

/// The part of a folder after some name in it that the caller may see.
struct folder_page {
  std::vector<tree_entry> entries;
  std::size_t secrets = 0;  // entries in between that are left out because of their names
  std::string next;         // the name after which the next page begins; empty: this is the last one
};

result<folder_page> page_behind(const asking& what, const git_oid& tree) {
  HONDANA_TRY(const auto listing, tree_listing::open(what.in, tree));
  stopping when(what.is_stopped);
  folder_page page;
  std::size_t secrets_behind = 0;  // after the last one shown
  for (std::size_t place = 0; place < listing.size(); ++place) {
    HONDANA_TRY(when.step());
    if (!listing.is_sound(place) || !is_sorted_behind(listing.name(place), listing.is_folder(place), what.at.cursor)) continue;
    auto one = listing.at(place);
    const auto sight = sight_of(one, what.at, what.hides);
    if (sight == entry_sight::secret) ++secrets_behind;
    if (sight != entry_sight::shown) continue;
    if (page.entries.size() == most_entries_a_page) {
      page.next = sorted_name(page.entries.back().name, page.entries.back().is_folder());
      return page;
    }
    page.entries.push_back(std::move(one));
    page.secrets += std::exchange(secrets_behind, 0);
  }
  page.secrets += secrets_behind;
  return page;
}

class tree_view {
 public:
  tree_view(const asking& what, const git_oid& tree, folder_page shown, odb_pointer objects)
      : what_(what), tree_(tree), shown_(std::move(shown)), objects_(std::move(objects)) {}

  std::string markdown() const {
    const auto& at = what_.at;
    std::string out = "# " + (at.path.empty() ? std::string("Top folder") : code(shown_path_of(at.path))) + " of " + at.repo +
                      " at " + code(at.rev) + "\n\n";
    if (shown_.entries.empty()) out += "No entries.\n";
    for (const auto& one : shown_.entries) append_line(out, one);
    if (!shown_.next.empty()) out += '\n' + link_to("More entries", next_uri_of_folder()) + '\n';
    if (shown_.secrets > 0)
      out +=
          "\n" + std::to_string(shown_.secrets) +
          " more left out: files with names of credential files, the server's own files, or paths listed in .hondanaignore.\n";
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
    if (!shown_.next.empty()) to.member("next", next_uri_of_folder());
    to.end_object();
    return out;
  }

 private:
  std::string next_uri_of_folder() const {
    auto next = what_.at;
    next.cursor = shown_.next;
    return uri_of(next);
  }

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
    if (git_odb_read_header(&size, &type, objects_.get(), &one.id) < 0) return std::nullopt;  // a read will report it
    return size;
  }

  const asking& what_;
  const git_oid tree_;
  const folder_page shown_;
  const odb_pointer objects_;
};

}  // namespace

result<rendering> render_tree(const asking& what) {
  HONDANA_TRY(const auto folder, find_folder(what.in, what.at, what.hides));
  auto made = rendering_for(what);
  made.is_fixed = folder.is_fixed;
  what.hides.ignored().look_into(what.at.path);
  made.version = version_with_hidden(text_of(folder.tree) + (what.at.is_json ? ".json" : ""), what);
  if (what.is_enough(made.version)) return made;
  HONDANA_TRY(auto page, page_behind(what, folder.tree));
  HONDANA_TRY(auto objects, objects_of(what.in));
  const tree_view view(what, folder.tree, std::move(page), std::move(objects));
  made.text = what.at.is_json ? view.json() : view.markdown();
  return made;
}

}  // namespace hondana::git

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
constexpr std::size_t max_sizes = 1000;
constexpr std::size_t max_page_entries = 5000;

/// A name as trees sort it.
std::string sort_key(std::string_view name, bool is_folder) { return std::string(name) + (is_folder ? "/" : ""); }

bool is_sorted_after(std::string_view name, bool is_folder, std::string_view cursor) {
  return is_folder && cursor.starts_with(name) ? sort_key(name, true) > cursor : name > cursor;
}

/// The part of a folder after some name in it that the caller may see.
struct folder_page {
  std::vector<tree_entry> entries;
  std::size_t secret_count = 0;  // entries in between that are left out because of their names
  std::string next;              // the name after which the next page begins; empty: this is the last one
};

result<folder_page> read_folder_page(const view_request& request, const git_oid& tree) {
  HONDANA_TRY(const auto listing, tree_listing::open(request.repo, tree));
  cancellation_checker cancellation(request.is_stopped);
  folder_page page;
  std::size_t pending_secrets = 0;  // after the last one shown
  for (std::size_t i = 0; i < listing.size(); ++i) {
    HONDANA_TRY(cancellation.step());
    if (!listing.is_valid(i) || !is_sorted_after(listing.name(i), listing.is_folder(i), request.target.cursor)) continue;
    auto entry = listing.at(i);
    const auto visibility = visibility_of(entry, request.target, request.visibility);
    if (visibility == entry_visibility::secret) ++pending_secrets;
    if (visibility != entry_visibility::visible) continue;
    if (page.entries.size() == max_page_entries) {
      page.next = sort_key(page.entries.back().name, page.entries.back().is_folder());
      return page;
    }
    page.entries.push_back(std::move(entry));
    page.secret_count += std::exchange(pending_secrets, 0);
  }
  page.secret_count += pending_secrets;
  return page;
}

class tree_view {
 public:
  tree_view(const view_request& request, const git_oid& tree, folder_page page, odb_pointer odb)
      : request_(request), tree_(tree), page_(std::move(page)), odb_(std::move(odb)) {}

  std::string markdown() const {
    const auto& target = request_.target;
    std::string out = "# " + (target.path.empty() ? std::string("Top folder") : code_span(display_path(target.path))) + " of " +
                      target.repo + " at " + code_span(target.rev) + "\n\n";
    if (page_.entries.empty()) out += "No entries.\n";
    for (const auto& entry : page_.entries) append_line(out, entry);
    if (!page_.next.empty()) out += '\n' + markdown_link("More entries", next_page_uri()) + '\n';
    if (page_.secret_count > 0)
      out +=
          "\n" + std::to_string(page_.secret_count) +
          " more left out: files with names of credential files, the server's own files, or paths listed in .hondanaignore.\n";
    return out;
  }

  std::string json() const {
    std::string out;
    json::writer writer(out);
    writer.begin_object().member("repository", request_.target.repo).member("revision", request_.target.rev);
    writer.member("path", display_path(request_.target.path)).member("tree", to_hex(tree_)).key("entries").begin_array();
    for (const auto& entry : page_.entries) {
      writer.begin_object().member("name", display_path(entry.name)).member("kind", entry.kind());
      writer.member("id", to_hex(entry.id)).member("uri", uri_of(entry_address(request_.target, entry)));
      if (const auto size = size_of(entry)) writer.key("size").unsigned_integer(*size);
      if ((entry.mode & 0111U) != 0 && entry.kind() == "blob") writer.key("executable").boolean(true);
      writer.end_object();
    }
    writer.end_array();
    if (page_.secret_count > 0) writer.key("omitted").unsigned_integer(page_.secret_count);
    if (!page_.next.empty()) writer.member("next", next_page_uri());
    writer.end_object();
    return out;
  }

 private:
  std::string next_page_uri() const {
    auto next = request_.target;
    next.cursor = page_.next;
    return uri_of(next);
  }

  void append_line(std::string& text, const tree_entry& entry) const {
    text += "- " + markdown_link(code_span(display_path(entry.name) + (entry.is_folder() ? "/" : "")),
                                 uri_of(entry_address(request_.target, entry)));
    if (entry.is_link()) text += " (link)";
    if (entry.is_submodule()) text += " (submodule at `" + to_hex(entry.id) + "`)";
    if (const auto size = size_of(entry)) text += ", " + std::to_string(*size) + (*size == 1 ? " byte" : " bytes");
    text += '\n';
  }

  std::optional<std::uint64_t> size_of(const tree_entry& entry) const {
    if (entry.is_folder() || entry.is_submodule() || page_.entries.size() > max_sizes) return std::nullopt;
    std::size_t size = 0;
    git_object_t type{};
    if (git_odb_read_header(&size, &type, odb_.get(), &entry.id) < 0) return std::nullopt;  // a read will report it
    return size;
  }

  const view_request& request_;
  const git_oid tree_;
  const folder_page page_;
  const odb_pointer odb_;
};

}  // namespace

result<rendering> render_tree(const view_request& request) {
  HONDANA_TRY(const auto folder, find_folder(request.repo, request.target, request.visibility));
  auto rendered = make_rendering(request);
  rendered.is_fixed = folder.is_fixed;
  request.visibility.ignored().load_folder(request.target.path);
  rendered.version = version_with_visibility(to_hex(folder.tree) + (request.target.is_json ? ".json" : ""), request);
  if (request.is_satisfied_by(rendered.version)) return rendered;
  HONDANA_TRY(auto page, read_folder_page(request, folder.tree));
  HONDANA_TRY(auto odb, open_odb(request.repo));
  const tree_view view(request, folder.tree, std::move(page), std::move(odb));
  rendered.text = request.target.is_json ? view.json() : view.markdown();
  return rendered;
}

}  // namespace hondana::git

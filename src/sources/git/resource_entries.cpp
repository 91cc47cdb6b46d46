/// Entries that a repository lists: names, titles, media types, and the children of a folder.
#include "sources/git/resource_entries.hpp"

#include <algorithm>
#include <array>
#include <compare>
#include <cstdint>
#include <string_view>
#include <utility>

#include <hondana/uri.hpp>

#include "base/bytes/media_type.hpp"
#include "base/bytes/named_media_type.hpp"
#include "base/uri/uri_syntax.hpp"
#include "sources/git/cancellation.hpp"
#include "sources/git/object_parser.hpp"
#include "sources/git/text_encoding.hpp"
#include "sources/git/tree_entries.hpp"

namespace hondana::git {
namespace {

std::string_view base_name_of(std::string_view path) noexcept { return path.substr(path.rfind('/') + 1); }

}  // namespace

std::string_view media_type_of(std::string_view path, std::string_view bytes, bool is_text) {
  return bytes::effective_named_type(base_name_of(path), bytes.substr(0, bytes::sniffed_bytes), is_text);
}

namespace {

std::string display_base_name(const std::string& path) {
  return display_path(std::string_view(path).substr(path.rfind('/') + 1));
}

std::string entry_name(const address& address) {
  switch (address.kind) {
    case resource_kind::commit:
      return display_path(address.rev);
    case resource_kind::diff:
      return display_path(address.from_rev + ".." + address.to_rev);
    case resource_kind::tree:
    case resource_kind::blob:
    case resource_kind::blame:
    case resource_kind::history:
      return address.path.empty() ? address.repo : display_base_name(address.path);
    default:
      return address.repo + '/' + std::string(name_of(address.kind));
  }
}

std::string entry_title(const address& address) {
  switch (address.kind) {
    case resource_kind::overview:
      return address.repo + ": overview";
    case resource_kind::commit:
      return address.repo + ": commit " + display_path(address.rev);
    case resource_kind::tree:
    case resource_kind::blob:
      return address.repo + ": " + (address.path.empty() ? "files" : display_path(address.path)) + " at " +
             display_path(address.rev);
    case resource_kind::blame:
    case resource_kind::history:
      return address.repo + ": " + std::string(name_of(address.kind)) + " of " + display_path(address.path) + " at " +
             display_path(address.rev);
    case resource_kind::diff:
      return address.repo + ": from " + display_path(address.from_rev) + " to " + display_path(address.to_rev);
    default:
      return address.repo + ": " + std::string(name_of(address.kind));
  }
}

std::string_view kind_description(resource_kind kind) noexcept {
  constexpr std::array<std::string_view, 13> descriptions{
      "Branch, state of the work tree, remotes and the latest commits of a git repository.",
      "Local and remote branches with their commits.",
      "Tags and their targets.",
      "Commits, newest first.",
      "A commit's message, author, committer, changed files and patch.",
      "Files and folders at a revision.",
      "A file at a revision.",
      "Differences between two revisions.",
      "Which commit wrote each line of a file.",
      "Commits that changed a file.",
      "Stashed changes.",
      "Work trees of the repository and what each has checked out.",
      "Uncommitted changes in the work tree, with patches."};
  return descriptions.at(static_cast<std::size_t>(kind));
}

/// The order of bytes in URIs. Bytes that are escaped there begin with a percent sign, which is itself always escaped. So no
/// two bytes have the same rank.
constexpr auto uri_ranks = [] {
  std::array<std::uint16_t, 256> ranks{};
  for (unsigned byte = 0; byte < ranks.size(); ++byte) {
    const auto raw = static_cast<char>(byte);
    ranks[byte] =
        static_cast<std::uint16_t>(uri::file_path_characters.contains(raw) ? byte << 8U : (unsigned{'%'} << 8U) + byte);
  }
  return ranks;
}();

bool precedes_in_uri(std::string_view a, std::string_view b) noexcept {
  const auto [x, y] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  if (x == a.end() || y == b.end()) return x == a.end() && y != b.end();
  return uri_ranks[static_cast<unsigned char>(*x)] < uri_ranks[static_cast<unsigned char>(*y)];
}

/// Indexes of all valid entries in segment order: files first, because blobs come before trees. Most trees already are in that
/// order.
result<std::vector<std::uint32_t>> listing_order(const tree_listing& listing, cancellation_checker& cancellation) {
  std::vector<std::uint32_t> files, folders;
  files.reserve(listing.size());
  for (std::uint32_t i = 0; i < listing.size(); ++i) {
    HONDANA_TRY(cancellation.step());
    if (listing.is_valid(i)) (listing.is_folder(i) ? folders : files).push_back(i);
  }
  const auto precedes = [&listing](std::uint32_t a, std::uint32_t b) {
    return precedes_in_uri(listing.name(a), listing.name(b));
  };
  for (auto* indexes : {&files, &folders}) {
    if (!std::is_sorted(indexes->begin(), indexes->end(), precedes)) std::sort(indexes->begin(), indexes->end(), precedes);
    HONDANA_TRY(cancellation.check());
  }
  files.insert(files.end(), folders.begin(), folders.end());
  return files;
}

/// The type by name. The name `x.ts` is ambiguous: there the content decides, unless it is so large that the type stays
/// unknown.
std::string_view listed_media_type(git_repository* repo, const tree_entry& child) {
  constexpr std::size_t max_examined_bytes = std::size_t{256} << 10;
  const auto named = bytes::mime_type_of(child.name).name;
  if (named != "text/typescript") return named;
  const auto odb = open_odb(repo);
  std::size_t size = 0;
  git_object_t type{};
  git_odb_object* raw = nullptr;
  const bool is_read = odb && git_odb_read_header(&size, &type, odb->get(), &child.id) == 0 && size <= max_examined_bytes &&
                       git_odb_read(&raw, odb->get(), &child.id) == 0;
  git_error_clear();
  if (!is_read) return {};
  const odb_object_pointer object(raw);
  const std::string_view bytes(static_cast<const char*>(git_odb_object_data(raw)), git_odb_object_size(raw));
  return media_type_of(child.name, bytes, decode_file(bytes).has_value());
}

resource make_child_resource(git_repository* repo, const address& folder, const tree_entry& child) {
  const auto target = entry_address(folder, child);
  auto entry = make_resource(target);
  entry.kind = child.kind();
  entry.version = to_hex(child.id);
  if (child.is_link() || child.is_submodule()) {
    entry.mime_type = "text/plain";
    if (child.is_submodule()) entry.version.clear();
  } else if (!child.is_folder()) {
    entry.mime_type = listed_media_type(repo, child);
  }
  return entry;
}

bool precedes_by_segment(const resource& a, const resource& b) noexcept { return std::is_lt(compare_by_segment(a.uri, b.uri)); }

}  // namespace

std::string kind_of(const address& address) {
  return address.kind == resource_kind::overview ? "repository" : std::string(name_of(address.kind));
}

resource make_resource(const address& address) {
  resource entry;
  entry.uri = uri_of(address);
  entry.name = entry_name(address);
  entry.title = entry_title(address);
  entry.description = kind_description(address.kind);
  entry.kind = kind_of(address);
  // Clients recognize folders, whose children they may list, by this type.
  entry.mime_type = address.is_json                       ? "application/json"
                    : address.kind == resource_kind::tree ? "inode/directory"
                                                          : "text/markdown";
  if (address.kind == resource_kind::blob) entry.mime_type.clear();
  return entry;
}

std::vector<resource> listed_entries(const std::string& slug, bool has_work_tree, bool has_commits) {
  std::vector<resource> entries;
  for (const auto kind : {resource_kind::overview, resource_kind::branches, resource_kind::log, resource_kind::stashes,
                          resource_kind::tags, resource_kind::worktrees})
    entries.push_back(make_resource({.repo = slug, .kind = kind}));
  if (has_work_tree) entries.push_back(make_resource({.repo = slug, .kind = resource_kind::changes}));
  if (has_commits) entries.push_back(make_resource({.repo = slug, .kind = resource_kind::tree, .rev = "HEAD"}));
  std::sort(entries.begin(), entries.end(), precedes_by_segment);
  return entries;
}

result<list_result> child_entries(git_repository* repo, const address& folder, const visibility_filter& visibility,
                                  const child_page& selection) {
  HONDANA_TRY(const auto resolved, find_folder(repo, folder, visibility));
  HONDANA_TRY(const auto listing, tree_listing::open(repo, resolved.tree));
  cancellation_checker cancellation(selection.is_stopped);
  HONDANA_TRY(const auto order, listing_order(listing, cancellation));
  const auto is_before_page = [&](std::uint32_t index) {
    return std::is_lteq(compare_by_segment(uri_of(entry_address(folder, listing.at(index))), selection.after_key));
  };
  auto next = selection.after_key.empty() ? order.begin() : std::partition_point(order.begin(), order.end(), is_before_page);
  list_result page;
  for (; next != order.end(); ++next) {
    HONDANA_TRY(cancellation.step());
    const auto child = listing.at(*next);
    if (visibility_of(child, folder, visibility) != entry_visibility::visible) continue;
    if (page.entries.size() == selection.limit) {
      page.next_key = page.entries.empty() ? std::string(selection.after_key) : page.entries.back().uri;
      return page;
    }
    page.entries.push_back(make_child_resource(repo, folder, child));
  }
  return page;
}

}  // namespace hondana::git

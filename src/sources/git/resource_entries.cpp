/// Entries that a repository lists: names, titles, media types, and the children of a folder.
#include "sources/git/resource_entries.hpp"

#include <algorithm>
#include <array>
#include <compare>
#include <cstdint>
#include <string_view>
#include <utility>

#include <hondana/uri.hpp>

#include "base/ascii/ascii.hpp"
#include "base/bytes/media_type.hpp"
#include "base/uri/uri_syntax.hpp"
#include "sources/git/cancellation.hpp"
#include "sources/git/text_encoding.hpp"
#include "sources/git/tree_entries.hpp"

namespace hondana::git {
namespace {

constexpr std::array endings{
    std::pair<std::string_view, std::string_view>{".md", "text/markdown"},
    std::pair<std::string_view, std::string_view>{".markdown", "text/markdown"},
    std::pair<std::string_view, std::string_view>{".json", "application/json"},
    std::pair<std::string_view, std::string_view>{".toml", "application/toml"},
    std::pair<std::string_view, std::string_view>{".yaml", "application/yaml"},
    std::pair<std::string_view, std::string_view>{".yml", "application/yaml"},
    std::pair<std::string_view, std::string_view>{".xml", "application/xml"},
    std::pair<std::string_view, std::string_view>{".html", "text/html"},
    std::pair<std::string_view, std::string_view>{".htm", "text/html"},
    std::pair<std::string_view, std::string_view>{".css", "text/css"},
    std::pair<std::string_view, std::string_view>{".csv", "text/csv"},
    std::pair<std::string_view, std::string_view>{".js", "text/javascript"},
    std::pair<std::string_view, std::string_view>{".svg", "image/svg+xml"},
    std::pair<std::string_view, std::string_view>{".py", "text/x-python"},
    std::pair<std::string_view, std::string_view>{".c", "text/x-csrc"},
    std::pair<std::string_view, std::string_view>{".h", "text/x-chdr"},
    std::pair<std::string_view, std::string_view>{".cpp", "text/x-c++src"},
    std::pair<std::string_view, std::string_view>{".hpp", "text/x-c++hdr"},
    std::pair<std::string_view, std::string_view>{".rs", "text/x-rust"},
    std::pair<std::string_view, std::string_view>{".go", "text/x-go"},
    std::pair<std::string_view, std::string_view>{".java", "text/x-java"},
    std::pair<std::string_view, std::string_view>{".ts", "text/typescript"},
    std::pair<std::string_view, std::string_view>{".sh", "text/x-sh"},
    std::pair<std::string_view, std::string_view>{".tex", "text/x-tex"},
    std::pair<std::string_view, std::string_view>{".rst", "text/x-rst"},
};

}  // namespace

std::string_view media_type_of(std::string_view path, std::string_view bytes, bool is_text) noexcept {
  if (!is_text) {
    const auto told = bytes::type_of_signature(bytes.substr(0, bytes::front_bytes));
    return told.empty() ? "application/octet-stream" : told;
  }
  const auto known =
      std::find_if(endings.begin(), endings.end(), [&](const auto& one) { return ascii::ends_with(path, one.first); });
  return known == endings.end() ? "text/plain" : known->second;
}

namespace {

std::string last_name(const std::string& path) { return shown_path_of(std::string_view(path).substr(path.rfind('/') + 1)); }

std::string name_of_entry(const address& at) {
  switch (at.what) {
    case topic::commit:
      return shown_path_of(at.rev);
    case topic::diff:
      return shown_path_of(at.from + ".." + at.to);
    case topic::tree:
    case topic::blob:
    case topic::blame:
    case topic::history:
      return at.path.empty() ? at.repo : last_name(at.path);
    default:
      return at.repo + '/' + std::string(name_of(at.what));
  }
}

std::string title_of(const address& at) {
  switch (at.what) {
    case topic::overview:
      return at.repo + ": overview";
    case topic::commit:
      return at.repo + ": commit " + shown_path_of(at.rev);
    case topic::tree:
    case topic::blob:
      return at.repo + ": " + (at.path.empty() ? "files" : shown_path_of(at.path)) + " at " + shown_path_of(at.rev);
    case topic::blame:
    case topic::history:
      return at.repo + ": " + std::string(name_of(at.what)) + " of " + shown_path_of(at.path) + " at " + shown_path_of(at.rev);
    case topic::diff:
      return at.repo + ": from " + shown_path_of(at.from) + " to " + shown_path_of(at.to);
    default:
      return at.repo + ": " + std::string(name_of(at.what));
  }
}

std::string_view description_of(topic what) noexcept {
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
  return descriptions.at(static_cast<std::size_t>(what));
}

/// The order of bytes in URIs. Bytes that are escaped there begin with a percent sign, which is itself always escaped. So no
/// two bytes have the same rank.
constexpr auto written_ranks = [] {
  std::array<std::uint16_t, 256> ranks{};
  for (unsigned byte = 0; byte < ranks.size(); ++byte) {
    const auto raw = static_cast<char>(byte);
    ranks[byte] = static_cast<std::uint16_t>(uri::file_path_characters.has(raw) ? byte << 8U : (unsigned{'%'} << 8U) + byte);
  }
  return ranks;
}();

bool is_written_before(std::string_view a, std::string_view b) noexcept {
  const auto [x, y] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  if (x == a.end() || y == b.end()) return x == a.end() && y != b.end();
  return written_ranks[static_cast<unsigned char>(*x)] < written_ranks[static_cast<unsigned char>(*y)];
}

/// Indexes of all sound entries in segment order: files first, because blobs come before trees. Most trees already are in that
/// order.
result<std::vector<std::uint32_t>> listing_order(const tree_listing& all, stopping& when) {
  std::vector<std::uint32_t> files, folders;
  files.reserve(all.size());
  for (std::uint32_t place = 0; place < all.size(); ++place) {
    HONDANA_TRY(when.step());
    if (all.is_sound(place)) (all.is_folder(place) ? folders : files).push_back(place);
  }
  const auto is_sooner_listed = [&all](std::uint32_t a, std::uint32_t b) {
    return is_written_before(all.name(a), all.name(b));
  };
  for (auto* part : {&files, &folders}) {
    if (!std::is_sorted(part->begin(), part->end(), is_sooner_listed)) std::sort(part->begin(), part->end(), is_sooner_listed);
    HONDANA_TRY(when.ask());
  }
  files.insert(files.end(), folders.begin(), folders.end());
  return files;
}

resource child_entry(const address& folder, const tree_entry& one) {
  const auto at = address_of(folder, one);
  auto entry = entry_of(at);
  entry.kind = one.kind();
  entry.version = text_of(one.id);
  if (one.is_link() || one.is_submodule()) {
    entry.mimeType = "text/plain";
    if (one.is_submodule()) entry.version.clear();
  } else if (!one.is_folder()) {
    const auto type = media_type_of(at.path, {}, true);
    if (type != "text/plain") entry.mimeType = type;
  }
  return entry;
}

bool is_before(const resource& a, const resource& b) noexcept { return std::is_lt(compare_by_segment(a.uri, b.uri)); }

}  // namespace

std::string kind_of(const address& at) { return at.what == topic::overview ? "repository" : std::string(name_of(at.what)); }

resource entry_of(const address& at) {
  resource entry;
  entry.uri = uri_of(at);
  entry.name = name_of_entry(at);
  entry.title = title_of(at);
  entry.description = description_of(at.what);
  entry.kind = kind_of(at);
  // Clients recognize folders, whose children they may list, by this type.
  entry.mimeType = at.is_json ? "application/json" : at.what == topic::tree ? "inode/directory" : "text/markdown";
  if (at.what == topic::blob) entry.mimeType.clear();
  return entry;
}

std::vector<resource> listed_entries(const std::string& repo, bool has_work_tree, bool has_commits) {
  std::vector<resource> all;
  for (const auto what : {topic::overview, topic::branches, topic::log, topic::stashes, topic::tags, topic::worktrees})
    all.push_back(entry_of({.repo = repo, .what = what}));
  if (has_work_tree) all.push_back(entry_of({.repo = repo, .what = topic::changes}));
  if (has_commits) all.push_back(entry_of({.repo = repo, .what = topic::tree, .rev = "HEAD"}));
  std::sort(all.begin(), all.end(), is_before);
  return all;
}

result<list_result> child_entries(git_repository* in, const address& folder, const concealment& hides,
                                  const child_page& asked) {
  HONDANA_TRY(const auto found, find_folder(in, folder, hides));
  HONDANA_TRY(const auto listing, tree_listing::open(in, found.tree));
  stopping when(asked.is_stopped);
  HONDANA_TRY(const auto order, listing_order(listing, when));
  const auto is_passed = [&](std::uint32_t place) {
    return std::is_lteq(compare_by_segment(uri_of(address_of(folder, listing.at(place))), asked.after));
  };
  auto next = asked.after.empty() ? order.begin() : std::partition_point(order.begin(), order.end(), is_passed);
  list_result page;
  for (; next != order.end(); ++next) {
    HONDANA_TRY(when.step());
    const auto one = listing.at(*next);
    if (sight_of(one, folder, hides) != entry_sight::shown) continue;
    if (page.entries.size() == asked.limit) {
      page.resume = page.entries.empty() ? std::string(asked.after) : page.entries.back().uri;
      return page;
    }
    page.entries.push_back(child_entry(folder, one));
  }
  return page;
}

}  // namespace hondana::git

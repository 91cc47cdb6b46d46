/// Finds the commits that are checked out in submodules.
#include "sources/git/submodule_heads.hpp"

#include <cstddef>
#include <filesystem>
#include <string_view>

namespace hondana::git {
namespace {

constexpr std::size_t max_pointer_file_bytes = 4096;
constexpr std::size_t max_packed_refs_bytes = std::size_t{16} << 20;
constexpr std::size_t max_symbolic_references = 5;
constexpr std::string_view git_file_prefix = "gitdir: ", symbolic_prefix = "ref: ";

std::string_view strip_line_end(std::string_view text) noexcept {
  while (text.ends_with('\n') || text.ends_with('\r')) text.remove_suffix(1);
  return text;
}

std::optional<git_oid> parse_id(std::string_view text) {
  git_oid id{};
  if (text.size() != GIT_OID_HEXSZ || git_oid_fromstrn(&id, text.data(), text.size()) < 0) {
    git_error_clear();
    return std::nullopt;
  }
  return id;
}

/// The id of a reference in `packed-refs`.
std::optional<git_oid> find_packed(std::string_view text, const std::string& name) {
  const auto position = text.find(' ' + name + '\n');
  if (position == std::string_view::npos || position < GIT_OID_HEXSZ) return std::nullopt;
  return parse_id(text.substr(position - GIT_OID_HEXSZ, GIT_OID_HEXSZ));
}

}  // namespace

std::optional<git_oid> submodule_heads::checked_out_commit(const std::string& path) {
  const std::string work_tree = git_repository_workdir(repo_);
  if (!roots_) roots_.emplace(std::vector<std::string>{work_tree, git_repository_commondir(repo_)});
  const auto folder = work_tree + path;
  auto git_folder = folder + "/.git";
  if (const auto pointer = roots_->read(git_folder, max_pointer_file_bytes)) {
    const auto line = strip_line_end(*pointer);
    if (!line.starts_with(git_file_prefix)) return std::nullopt;
    git_folder = (std::filesystem::path(folder) / line.substr(git_file_prefix.size())).lexically_normal().string();
  }
  std::string name = "HEAD";
  for (std::size_t depth = 0; depth <= max_symbolic_references; ++depth) {
    const auto text = roots_->read(git_folder + '/' + name, max_pointer_file_bytes);
    if (!text && depth == 0) return std::nullopt;
    if (!text) {
      const auto packed = roots_->read(git_folder + "/packed-refs", max_packed_refs_bytes);
      return packed ? find_packed(*packed, name) : std::nullopt;
    }
    const auto line = strip_line_end(*text);
    if (!line.starts_with(symbolic_prefix)) return parse_id(line);
    name = line.substr(symbolic_prefix.size());
    if (!name.starts_with("refs/") || name.find("..") != std::string::npos) return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace hondana::git

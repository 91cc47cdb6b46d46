/// Reads the content of one side of a changed file, from a blob or from the work tree.
#include "sources/git/diff_content.hpp"

#include <fcntl.h>

#include <algorithm>
#include <cstddef>
#include <utility>

#include "os/disk/descriptor_limit.hpp"
#include "sources/git/object_parser.hpp"

namespace hondana::git {
namespace {

constexpr std::size_t binary_check_bytes = 8000;

bool has_nul_early(std::string_view bytes) noexcept {
  return bytes.substr(0, binary_check_bytes).find('\0') != std::string_view::npos;
}

std::string submodule_line(const git_oid& id) { return "Subproject commit " + to_hex(id) + '\n'; }

std::string unreadable_object(git_repository* repo, const diff_side& side, int code = 0) {
  return "The object " + to_hex(side.id) +
         (code == GIT_ENOTFOUND ? ' ' + std::string(missing_object_reason(repo)) + '.'
                                : " cannot be read: it is damaged. Run `git fsck` in the repository.");
}

}  // namespace

std::string_view side_content::bytes() const noexcept {
  if (const auto* text = std::get_if<std::string>(&data)) return *text;
  const auto* object = std::get_if<odb_object_pointer>(&data)->get();
  return {static_cast<const char*>(git_odb_object_data(const_cast<git_odb_object*>(object))),
          git_odb_object_size(const_cast<git_odb_object*>(object))};
}

result<git_odb*> side_contents::ensure_odb() {
  if (!odb_) {
    git_odb* raw = nullptr;
    if (const int code = git_repository_odb(&raw, repo_); code < 0) {
      return libgit2_failure("The objects of the repository cannot be read.");
    }
    odb_.reset(raw);
  }
  return odb_.get();
}

result<const work_tree*> side_contents::ensure_work_tree() {
  if (!work_tree_) {
    HONDANA_TRY(auto opened, work_tree::open(repo_));
    work_tree_ = std::move(opened);
  }
  return &*work_tree_;
}

result<std::uint64_t> side_contents::size_of(const diff_side& side) {
  if (!side.exists()) return std::uint64_t{0};
  if ((side.mode & kind_bits) == submodule_kind) return submodule_line(side.id).size();
  if (side.is_in_work_tree) {
    HONDANA_TRY(const auto tree, ensure_work_tree());
    return tree->inspect(side.path).transform([](const work_file& file) { return file.size; });
  }
  HONDANA_TRY(const auto odb, ensure_odb());
  std::size_t size = 0;
  git_object_t type{};
  if (const int code = git_odb_read_header(&size, &type, odb, &side.id); code < 0)
    return libgit2_failure(unreadable_object(repo_, side, code));
  if (type != GIT_OBJECT_BLOB) return fail(errc::source_unavailable, unreadable_object(repo_, side), "it is not a blob");
  return size;
}

bool side_contents::lacks(const diff_side& side) {
  if (!side.exists() || side.is_in_work_tree || (side.mode & kind_bits) == submodule_kind) return false;
  const auto odb = ensure_odb();
  if (!odb || git_odb_exists(*odb, &side.id) != 0) return false;
  // Packs that cannot be opened are skipped. Then it is unknown whether the object exists.
  return !disk::lacks_descriptors();
}

result<side_content> side_contents::read(const diff_side& side, std::uint64_t max_bytes) {
  side_content out;
  if (!side.exists()) return out;
  if ((side.mode & kind_bits) == submodule_kind) {
    out.data = submodule_line(side.id);
    return out;
  }
  HONDANA_TRY(const auto size, size_of(side));
  if (size > max_bytes) {
    out.is_complete = false;
    out.is_binary = true;
    return out;
  }
  if (side.is_in_work_tree) {
    HONDANA_TRY(const auto tree, ensure_work_tree());
    HONDANA_TRY(auto bytes, tree->read(side.path, max_bytes));
    if (is_regular(side.mode)) HONDANA_TRY(stored_form_.convert(*tree, side.path, bytes));
    out.data = std::move(bytes);
  } else {
    git_odb_object* raw = nullptr;
    if (const int code = git_odb_read(&raw, odb_.get(), &side.id); code < 0)
      return libgit2_failure(unreadable_object(repo_, side, code));
    out.data = odb_object_pointer(raw);
    if (git_odb_object_type(raw) != GIT_OBJECT_BLOB)
      return fail(errc::source_unavailable, unreadable_object(repo_, side), "it is not a blob");
  }
  out.is_binary = has_nul_early(out.bytes());
  return out;
}

}  // namespace hondana::git

/// Reads the content of one side of a changed file, from a blob or from the work tree.
#include "sources/git/diff_content.hpp"

#include <fcntl.h>

#include <algorithm>
#include <cstddef>
#include <utility>

#include "os/disk/descriptor_limit.hpp"

namespace hondana::git {
namespace {

constexpr std::size_t looked_at = 8000;

bool has_nul_early(std::string_view bytes) noexcept { return bytes.substr(0, looked_at).find('\0') != std::string_view::npos; }

std::string submodule_line(const git_oid& id) { return "Subproject commit " + text_of(id) + '\n'; }

std::string unreadable(const side& of) {
  return "The object " + text_of(of.id) +
         " cannot be read: it is missing, damaged, or was not fetched into a partial clone. Run `git fsck` in the repository.";
}

}  // namespace

std::string_view side_content::bytes() const noexcept {
  if (const auto* text = std::get_if<std::string>(&held)) return *text;
  const auto* object = std::get_if<odb_object_pointer>(&held)->get();
  return {static_cast<const char*>(git_odb_object_data(const_cast<git_odb_object*>(object))),
          git_odb_object_size(const_cast<git_odb_object*>(object))};
}

result<git_odb*> side_contents::objects() {
  if (!objects_) {
    git_odb* raw = nullptr;
    if (const int code = git_repository_odb(&raw, in_); code < 0) {
      return failed("The objects of the repository cannot be read.");
    }
    objects_.reset(raw);
  }
  return objects_.get();
}

result<const work_tree*> side_contents::files() {
  if (!files_) {
    HONDANA_TRY(auto opened, work_tree::open(in_));
    files_ = std::move(opened);
  }
  return &*files_;
}

result<std::uint64_t> side_contents::size_of(const side& of) {
  if (!of.is_there()) return std::uint64_t{0};
  if ((of.mode & kind_bits) == submodule_kind) return submodule_line(of.id).size();
  if (of.is_in_work_tree) {
    HONDANA_TRY(const auto tree, files());
    return tree->look(of.path).transform([](const work_file& found) { return found.size; });
  }
  HONDANA_TRY(const auto odb, objects());
  std::size_t size = 0;
  git_object_t type{};
  if (const int code = git_odb_read_header(&size, &type, odb, &of.id); code < 0) return failed(unreadable(of));
  if (type != GIT_OBJECT_BLOB) return fail(errc::source_unavailable, unreadable(of), "it is not a blob");
  return size;
}

bool side_contents::lacks(const side& of) {
  if (!of.is_there() || of.is_in_work_tree || (of.mode & kind_bits) == submodule_kind) return false;
  const auto odb = objects();
  if (!odb || git_odb_exists(*odb, &of.id) != 0) return false;
  // Packs that cannot be opened are skipped. Then it is unknown whether the object exists.
  return !disk::lacks_descriptors();
}

result<side_content> side_contents::read(const side& of, std::uint64_t most) {
  side_content out;
  if (!of.is_there()) return out;
  if ((of.mode & kind_bits) == submodule_kind) {
    out.held = submodule_line(of.id);
    return out;
  }
  HONDANA_TRY(const auto size, size_of(of));
  if (size > most) {
    out.is_whole = false;
    out.is_binary = true;
    return out;
  }
  if (of.is_in_work_tree) {
    HONDANA_TRY(auto bytes, (*files())->read(of.path, most));
    out.held = std::move(bytes);
  } else {
    git_odb_object* raw = nullptr;
    if (const int code = git_odb_read(&raw, objects_.get(), &of.id); code < 0) return failed(unreadable(of));
    out.held = odb_object_pointer(raw);
    if (git_odb_object_type(raw) != GIT_OBJECT_BLOB) return fail(errc::source_unavailable, unreadable(of), "it is not a blob");
  }
  out.is_binary = has_nul_early(out.bytes());
  return out;
}

}  // namespace hondana::git

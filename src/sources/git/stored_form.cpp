/// Converts files of a work tree to the form in which git stores them.
#include "sources/git/stored_form.hpp"

#include <git2/attr.h>
#include <git2/filter.h>
#include <sys/stat.h>

#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

#include "base/bytes/sha256.hpp"
#include "sources/git/diff_content.hpp"
#include "sources/git/text_encoding.hpp"

namespace hondana::git {
namespace {

constexpr std::uint64_t max_attribute_bytes = std::uint64_t{1} << 20;

using filter_list_pointer = std::unique_ptr<git_filter_list, libgit2_deleter<git_filter_list_free>>;

struct filtered_bytes {
  git_buf buffer = GIT_BUF_INIT;

  filtered_bytes() = default;
  filtered_bytes(const filtered_bytes&) = delete;
  filtered_bytes& operator=(const filtered_bytes&) = delete;
  ~filtered_bytes() { git_buf_dispose(&buffer); }
};

bool is_usable_file(git_repository* repo) {
  struct stat attributes{};
  const auto path = std::string(git_repository_commondir(repo)) + "info/attributes";
  if (::lstat(path.c_str(), &attributes) != 0) return true;
  return S_ISREG(attributes.st_mode) && static_cast<std::uint64_t>(attributes.st_size) <= max_attribute_bytes;
}

/// The text of an attribute; empty if it has none.
std::string attribute_text(git_repository* repo, const std::string& path, const char* name) {
  const char* value = nullptr;
  const int code = git_attr_get(&value, repo, GIT_ATTR_CHECK_FILE_THEN_INDEX | GIT_ATTR_CHECK_NO_SYSTEM, path.c_str(), name);
  git_error_clear();
  return code == 0 && git_attr_value(value) == GIT_ATTR_VALUE_STRING ? value : "";
}

/// Source: the specification of git-lfs, section "The Pointer".
std::string make_lfs_pointer(const std::string& content) {
  constexpr std::string_view version = "version https://git-lfs.github.com/spec/v1\n";
  if (content.starts_with(version)) return content;  // not downloaded
  return std::string(version) + "oid sha256:" + bytes::to_hex(bytes::sha256_of(content)) + "\nsize " +
         std::to_string(content.size()) + '\n';
}

}  // namespace

result<bool> stored_form::has_usable_attributes(const work_tree& tree, const std::string& folder) {
  if (const auto cached = usable_folders_.find(folder); cached != usable_folders_.end()) return cached->second;
  bool is_usable = true;
  if (folder.empty()) {
    is_usable = is_usable_file(repo_);
  } else {
    const auto parent_end = folder.rfind('/', folder.size() - 2);
    HONDANA_TRY(is_usable, has_usable_attributes(tree, parent_end == folder.npos ? "" : folder.substr(0, parent_end + 1)));
  }
  if (is_usable) {
    // libgit2 would follow a link, and wait for the writer of a FIFO.
    HONDANA_TRY(const auto file, tree.inspect(folder + ".gitattributes"));
    const bool is_missing = file.attributes.st_mode == 0 || S_ISDIR(file.attributes.st_mode);
    is_usable = is_missing || (is_regular(file.mode) && file.size <= max_attribute_bytes);
  }
  usable_folders_.emplace(folder, is_usable);
  return is_usable;
}

result<void> stored_form::convert(const work_tree& tree, const std::string& path, std::string& bytes) {
  HONDANA_TRY(const auto is_usable, has_usable_attributes(tree, path.substr(0, path.rfind('/') + 1)));
  if (!is_usable || bytes.empty()) return {};
  if (attribute_text(repo_, path, "filter") == "lfs") bytes = make_lfs_pointer(bytes);
  if (const auto encoding = attribute_text(repo_, path, "working-tree-encoding"); !encoding.empty())
    if (auto decoded = decode(bytes, encoding)) bytes = std::move(*decoded);
  git_filter_options options{};
  options.version = GIT_FILTER_OPTIONS_VERSION;
  options.flags = GIT_FILTER_ALLOW_UNSAFE | GIT_FILTER_NO_SYSTEM_ATTRIBUTES;
  git_filter_list* raw = nullptr;
  if (git_filter_list_load_ext(&raw, repo_, nullptr, path.c_str(), GIT_FILTER_TO_ODB, &options) < 0)
    return libgit2_failure("The attributes of a file in the work tree cannot be read.");
  const filter_list_pointer filters(raw);
  if (!filters) return {};
  filtered_bytes converted;
  if (git_filter_list_apply_to_buffer(&converted.buffer, raw, bytes.data(), bytes.size()) < 0)
    return libgit2_failure("The line ends of a file in the work tree cannot be converted.");
  bytes.assign(converted.buffer.ptr, converted.buffer.size);
  return {};
}

}  // namespace hondana::git

/// A list of changed files with their patches, as shown in views of commits, diffs and work trees.
#include "sources/git/change_list.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "base/json/utf8.hpp"
#include "sources/git/diff.hpp"
#include "sources/git/diff_content.hpp"
#include "sources/git/text_encoding.hpp"
#include "sources/git/text_escaping.hpp"

namespace hondana::git {
namespace {

constexpr std::uint64_t max_json_bytes = std::uint64_t{4} << 20;
constexpr std::uint64_t max_path_patch_bytes = std::uint64_t{16} << 20;
/// Patches that turn out too long, each of which costs as much as one that is shown.
constexpr std::size_t max_too_long = 16;
constexpr std::size_t max_measured = 1000;
constexpr std::size_t max_listed_changes = 3000;

std::string_view status_name(change::kind kind) noexcept {
  constexpr std::array<std::string_view, 5> words{"added", "deleted", "modified", "renamed", "type changed"};
  return words.at(static_cast<std::size_t>(kind));
}

std::string counts_of(const change& change) {
  if (change.is_binary) return "binary";
  return '+' + std::to_string(change.added_lines) + " -" + std::to_string(change.deleted_lines);
}

std::string octal_mode(std::uint32_t mode) {
  std::string digits;
  for (; mode > 0; mode >>= 3U) digits.insert(digits.begin(), static_cast<char>('0' + (mode & 7U)));
  return digits;
}

std::string too_large_reason() {
  return "Files of more than " + std::to_string(max_compared_file_bytes >> 20U) + " MiB, or of more than " +
         std::to_string(max_compared_lines) +
         " lines on both sides together, are not compared. Read them as blob/REV/PATH, or compare them with git.";
}

void write_side(json::writer& writer, const diff_side& side, std::string_view id_name, std::string_view mode_name) {
  if (!side.exists()) return;
  if (git_oid_is_zero(&side.id) == 0) writer.member(id_name, to_hex(side.id));
  writer.member(mode_name, octal_mode(side.mode));
}

}  // namespace

std::string secrets_line(std::size_t count) {
  return "- " + std::to_string(count) +
         " left out: files with names of credential files, the server's own files, or paths listed in .hondanaignore\n";
}

std::uint64_t change_list::space_left() const noexcept {
  const auto max_bytes = !request_.target.path.empty() ? max_path_patch_bytes
                         : request_.target.is_json     ? max_json_bytes
                                                       : max_patch_bytes;
  const auto limit = std::min(max_bytes, request_.max_bytes);
  return limit > patch_bytes_ ? limit - patch_bytes_ : 0;
}

patch_options change_list::make_patch_options(std::uint64_t max_bytes) {
  patch_options options;
  options.max_bytes = max_bytes;
  options.max_compared_bytes = max_compared_file_bytes;
  options.max_lines = max_compared_lines;
  options.mask = [this](std::string_view path, std::string& bytes) {
    masked_count_ += request_.visibility.mask_file(path, bytes);
  };
  options.is_stopped = request_.is_stopped;
  return options;
}

result<void> change_list::add(const std::vector<change>& changes) {
  for (const auto& item : changes) HONDANA_TRY(add(item));
  return {};
}

result<void> change_list::add(const change& item) {
  // A missing side is treated as being of the same kind as the other one.
  const auto old_visibility = visibility_of(item.old_side, item.old_side.exists() ? item.old_side.mode : item.new_side.mode);
  const auto new_visibility = visibility_of(item.new_side, item.new_side.exists() ? item.new_side.mode : item.old_side.mode);
  if (!old_visibility) return tl::unexpected(old_visibility.error());
  if (!new_visibility) return tl::unexpected(new_visibility.error());
  if (*old_visibility == side_visibility::secret || *new_visibility == side_visibility::secret) ++secret_count_;
  const bool shows_old = *old_visibility == side_visibility::visible, shows_new = *new_visibility == side_visibility::visible;
  listed_change listed{item, {}, false, false};
  if (!shows_old || !shows_new) {
    if (item.status != change::kind::renamed || shows_old == shows_new) return {};
    // As if nothing existed under the hidden name.
    listed.entry.status = shows_new ? change::kind::added : change::kind::deleted;
    listed.entry.similarity = 0;
    (shows_new ? listed.entry.old_side : listed.entry.new_side) =
        diff_side{shows_new ? item.new_side.path : item.old_side.path};
  }
  if (auto status = add_patch(listed); !status) {
    if (!is_missing_content(status.error(), listed.entry)) return status;
    listed.lacks_content = lacks_content_ = true;
    listed.is_patch_omitted = listed.is_measured = false;
  }
  listed_.push_back(std::move(listed));
  return {};
}

result<change_list::side_visibility> change_list::visibility_of(const diff_side& side, std::uint32_t mode) {
  const auto kind = mode & kind_bits;
  const bool is_submodule = kind == submodule_kind;
  if (!request_.visibility.allows_file(rev_, side.path, is_submodule ? "submodule" : kind == link_kind ? "link" : "blob"))
    return side_visibility::hidden;
  bool is_secret = !request_.visibility.hidden_reason(side.path, false).empty() ||
                   (is_submodule && !request_.visibility.hidden_reason(side.path, true).empty());
  if (!is_secret && side.is_in_work_tree) {
    HONDANA_TRY(const auto attributes, attributes_of(side));
    is_secret = !request_.visibility.hidden_inode_reason(attributes).empty();
  }
  if (!is_secret) return side_visibility::visible;
  return request_.is_requested_by_name(side.path) ? side_visibility::hidden : side_visibility::secret;
}

result<struct stat> change_list::attributes_of(const diff_side& side) {
  if (!work_tree_) {
    HONDANA_TRY(auto opened, work_tree::open(request_.repo));
    work_tree_.emplace(std::move(opened));
  }
  const auto file = work_tree_->inspect(side.path);
  if (!file) return tl::unexpected(file.error());
  return file->attributes;
}

result<void> change_list::add_patch(listed_change& listed) {
  std::string patch;
  const auto space = space_left();
  if (space > 0 && too_long_count_ < max_too_long) {
    HONDANA_TRY(const auto outcome, try_patch(patch, request_.repo, listed.entry, make_patch_options(space)));
    using enum patch_outcome::kind;
    if (outcome.status == too_long) ++too_long_count_;
    listed.is_too_large = outcome.status == not_compared;
    listed.is_measured = outcome.is_measured && !listed.is_too_large;
    listed.entry.is_binary = outcome.is_binary;
    listed.entry.added_lines = outcome.added_lines;
    listed.entry.deleted_lines = outcome.deleted_lines;
    if (outcome.status == written) {
      listed.patch = json::is_utf8(patch) ? std::move(patch) : to_utf8(patch).text;
      patch_bytes_ += listed.patch.size();
      return {};
    }
  }
  listed.is_patch_omitted = true;
  if (listed.is_measured || listed.is_too_large || listed_.size() >= max_measured) return {};
  auto measured = measure(listed.entry, request_.repo, make_patch_options(space));
  if (!measured && measured.error().code != errc::response_too_large) return measured;
  listed.is_measured = measured.has_value();
  listed.is_too_large = !listed.is_measured;
  return {};
}

bool change_list::is_missing_content(const failure& error, const change& change) const {
  if (error.code != errc::source_unavailable) return false;
  side_contents contents(request_.repo);
  return contents.lacks(change.old_side) || contents.lacks(change.new_side);
}

void change_list::append_markdown(std::string& text, std::string_view advice) const {
  std::uint64_t added = 0, deleted = 0;
  std::size_t omitted = 0, too_large = 0, listed_count = 0;
  bool is_all_measured = true;
  std::string patch, list;
  for (const auto& listed : listed_) {
    added += listed.entry.added_lines;
    deleted += listed.entry.deleted_lines;
    is_all_measured = is_all_measured && listed.is_measured;
    omitted += listed.is_patch_omitted && !listed.is_too_large ? 1 : 0;
    too_large += listed.is_too_large ? 1 : 0;
    patch += listed.patch;
    if (listed_count++ >= max_listed_changes) continue;
    list += "- " + code_span(display_path(listed.entry.new_side.path)) + ": " + std::string(status_name(listed.entry.status));
    if (listed.entry.status == change::kind::renamed)
      list += " from " + code_span(display_path(listed.entry.old_side.path)) + " (" + std::to_string(listed.entry.similarity) +
              " %)";
    if (listed.is_measured) list += ", " + counts_of(listed.entry);
    if (listed.is_patch_omitted) list += listed.is_too_large ? "; patch left out: too large to compare" : "; patch left out";
    if (listed.lacks_content) list += "; patch left out: its content was not fetched";
    list += '\n';
  }
  text += std::to_string(listed_.size()) + (listed_.size() == 1 ? " file" : " files") + " changed, " +
          (is_all_measured ? "+" : "at least +") + std::to_string(added) + " -" + std::to_string(deleted) + "\n\n" + list;
  if (listed_count > max_listed_changes) text += "- and " + std::to_string(listed_count - max_listed_changes) + " more\n";
  if (secret_count_ > 0) text += secrets_line(secret_count_);
  if (!patch.empty()) text += '\n' + code_block(patch, "diff");
  if (omitted > 0) text += "\nThe patches of " + std::to_string(omitted) + " files are left out. " + std::string(advice) + '\n';
  if (too_large > 0)
    text += "\nThe patches of " + std::to_string(too_large) + " files are left out because of their size. " +
            too_large_reason() + '\n';
}

void change_list::write(json::writer& writer) const {
  writer.begin_array();
  for (const auto& listed : listed_) {
    writer.begin_object()
        .member("status", status_name(listed.entry.status))
        .member("path", display_path(listed.entry.new_side.path));
    if (listed.entry.status == change::kind::renamed) {
      writer.member("pathBefore", display_path(listed.entry.old_side.path))
          .key("similarity")
          .unsigned_integer(listed.entry.similarity);
    }
    write_side(writer, listed.entry.old_side, "idBefore", "modeBefore");
    write_side(writer, listed.entry.new_side, "idAfter", "modeAfter");
    if (listed.is_measured) {
      writer.key("binary").boolean(listed.entry.is_binary);
      writer.key("added")
          .unsigned_integer(listed.entry.added_lines)
          .key("deleted")
          .unsigned_integer(listed.entry.deleted_lines);
    }
    if (listed.lacks_content) writer.key("notFetched").boolean(true);
    if (listed.is_patch_omitted || listed.lacks_content) {
      writer.key("patchLeftOut").boolean(true);
      if (listed.is_too_large) writer.member("reason", too_large_reason());
    } else {
      writer.member("patch", listed.patch);
    }
    writer.end_object();
  }
  writer.end_array();
}

void change_list::describe(rendering& rendered) const {
  if (lacks_content_) {
    // It may be fetched later.
    rendered.is_fixed = false;
    rendered.is_incomplete = true;
    set_version_by_text(rendered, request_);
  }
  if (masked_count_ > 0) rendered.metadata.emplace_back("dev.hondana/redacted", static_cast<std::int64_t>(masked_count_));
}

}  // namespace hondana::git

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

constexpr std::uint64_t most_json_bytes = std::uint64_t{4} << 20;
constexpr std::uint64_t most_bytes_of_path = std::uint64_t{16} << 20;
/// Patches that turn out too long, each of which costs as much as one that is shown.
constexpr std::size_t most_too_long = 16;
constexpr std::size_t most_measured = 1000;
constexpr std::size_t most_listed_changes = 3000;

std::string_view word_for(change::kind what) noexcept {
  constexpr std::array<std::string_view, 5> words{"added", "deleted", "modified", "renamed", "type changed"};
  return words.at(static_cast<std::size_t>(what));
}

std::string counts_of(const change& one) {
  if (one.is_binary) return "binary";
  return '+' + std::to_string(one.added_lines) + " -" + std::to_string(one.deleted_lines);
}

std::string octal_mode(std::uint32_t mode) {
  std::string digits;
  for (; mode > 0; mode >>= 3U) digits.insert(digits.begin(), static_cast<char>('0' + (mode & 7U)));
  return digits;
}

std::string too_large_reason() {
  return "Files of more than " + std::to_string(largest_compared_file >> 20U) + " MiB, or of more than " +
         std::to_string(most_compared_lines) +
         " lines on both sides together, are not compared. Read them as blob/REV/PATH, or compare them with git.";
}

void write_side(json::writer& to, const side& of, std::string_view id_name, std::string_view mode_name) {
  if (!of.is_there()) return;
  if (git_oid_is_zero(&of.id) == 0) to.member(id_name, text_of(of.id));
  to.member(mode_name, octal_mode(of.mode));
}

}  // namespace

std::string secrets_line(std::size_t count) {
  return "- " + std::to_string(count) +
         " left out: files with names of credential files, the server's own files, or paths listed in .hondanaignore\n";
}

std::uint64_t change_list::room() const noexcept {
  const auto most = !what_.at.path.empty() ? most_bytes_of_path : what_.at.is_json ? most_json_bytes : most_patch_bytes;
  const auto limit = std::min(most, what_.max_bytes);
  return limit > patch_bytes_ ? limit - patch_bytes_ : 0;
}

patch_options change_list::how(std::uint64_t most) {
  patch_options with;
  with.most_bytes = most;
  with.largest_compared = largest_compared_file;
  with.most_lines = most_compared_lines;
  with.mask = [this](std::string_view path, std::string& bytes) { masked_ += what_.hides.mask_file(path, bytes); };
  with.is_stopped = what_.is_stopped;
  return with;
}

result<void> change_list::add(const std::vector<change>& all) {
  for (const auto& one : all) HONDANA_TRY(add(one));
  return {};
}

result<void> change_list::add(const change& one) {
  // A missing side is treated as being of the same kind as the other one.
  const auto before = sight_of(one.before, one.before.is_there() ? one.before.mode : one.after.mode);
  const auto after = sight_of(one.after, one.after.is_there() ? one.after.mode : one.before.mode);
  if (!before) return tl::unexpected(before.error());
  if (!after) return tl::unexpected(after.error());
  if (*before == sight::secret || *after == sight::secret) ++secrets_;
  const bool shows_before = *before == sight::shown, shows_after = *after == sight::shown;
  shown made{one, {}, false, false};
  if (!shows_before || !shows_after) {
    if (one.what != change::kind::renamed || shows_before == shows_after) return {};
    // As if nothing existed under the hidden name.
    made.of.what = shows_after ? change::kind::added : change::kind::deleted;
    made.of.similarity = 0;
    (shows_after ? made.of.before : made.of.after) = side{shows_after ? one.after.path : one.before.path};
  }
  if (auto added = add_patch(made); !added) {
    if (!is_for_lack(added.error(), made.of)) return added;
    made.is_lacking = lacks_content_ = true;
    made.is_left_out = made.is_measured = false;
  }
  shown_.push_back(std::move(made));
  return {};
}

result<change_list::sight> change_list::sight_of(const side& of, std::uint32_t mode) {
  const auto kind = mode & kind_bits;
  const bool is_submodule = kind == submodule_kind;
  if (!what_.hides.allows_file(rev_, of.path, is_submodule ? "submodule" : kind == link_kind ? "link" : "blob"))
    return sight::hidden;
  bool is_secret =
      !what_.hides.secret_at(of.path, false).empty() || (is_submodule && !what_.hides.secret_at(of.path, true).empty());
  if (!is_secret && of.is_in_work_tree) {
    HONDANA_TRY(const auto there, facts_of(of));
    is_secret = !what_.hides.secret_in(there).empty();
  }
  if (!is_secret) return sight::shown;
  return what_.is_asked_by_name(of.path) ? sight::hidden : sight::secret;
}

result<struct stat> change_list::facts_of(const side& of) {
  if (!files_) {
    HONDANA_TRY(auto opened, work_tree::open(what_.in));
    files_.emplace(std::move(opened));
  }
  const auto found = files_->look(of.path);
  if (!found) return tl::unexpected(found.error());
  return found->facts;
}

result<void> change_list::add_patch(shown& into) {
  std::string patch;
  const auto left = room();
  if (left > 0 && too_long_ < most_too_long) {
    HONDANA_TRY(const auto outcome, try_patch(patch, what_.in, into.of, how(left)));
    using enum patch_outcome::kind;
    if (outcome.what == too_long) ++too_long_;
    into.is_too_large = outcome.what == not_compared;
    into.is_measured = outcome.is_measured && !into.is_too_large;
    into.of.is_binary = outcome.is_binary;
    into.of.added_lines = outcome.added_lines;
    into.of.deleted_lines = outcome.deleted_lines;
    if (outcome.what == written) {
      into.patch = json::is_utf8(patch) ? std::move(patch) : to_utf8(patch).text;
      patch_bytes_ += into.patch.size();
      return {};
    }
  }
  into.is_left_out = true;
  if (into.is_measured || into.is_too_large || shown_.size() >= most_measured) return {};
  auto measured = measure(into.of, what_.in, how(left));
  if (!measured && measured.error().code != errc::response_too_large) return measured;
  into.is_measured = measured.has_value();
  into.is_too_large = !into.is_measured;
  return {};
}

bool change_list::is_for_lack(const failure& why, const change& of) const {
  if (why.code != errc::source_unavailable) return false;
  side_contents contents(what_.in);
  return contents.lacks(of.before) || contents.lacks(of.after);
}

void change_list::append_markdown(std::string& to, std::string_view advice) const {
  std::uint64_t added = 0, deleted = 0;
  std::size_t left_out = 0, too_large = 0, listed = 0;
  bool is_all_measured = true;
  std::string patch, list;
  for (const auto& one : shown_) {
    added += one.of.added_lines;
    deleted += one.of.deleted_lines;
    is_all_measured = is_all_measured && one.is_measured;
    left_out += one.is_left_out && !one.is_too_large ? 1 : 0;
    too_large += one.is_too_large ? 1 : 0;
    patch += one.patch;
    if (listed++ >= most_listed_changes) continue;
    list += "- " + code(shown_path_of(one.of.after.path)) + ": " + std::string(word_for(one.of.what));
    if (one.of.what == change::kind::renamed)
      list += " from " + code(shown_path_of(one.of.before.path)) + " (" + std::to_string(one.of.similarity) + " %)";
    if (one.is_measured) list += ", " + counts_of(one.of);
    if (one.is_left_out) list += one.is_too_large ? "; patch left out: too large to compare" : "; patch left out";
    if (one.is_lacking) list += "; patch left out: its content was not fetched";
    list += '\n';
  }
  to += std::to_string(shown_.size()) + (shown_.size() == 1 ? " file" : " files") + " changed, " +
        (is_all_measured ? "+" : "at least +") + std::to_string(added) + " -" + std::to_string(deleted) + "\n\n" + list;
  if (listed > most_listed_changes) to += "- and " + std::to_string(listed - most_listed_changes) + " more\n";
  if (secrets_ > 0) to += secrets_line(secrets_);
  if (!patch.empty()) to += '\n' + fenced(patch, "diff");
  if (left_out > 0) to += "\nThe patches of " + std::to_string(left_out) + " files are left out. " + std::string(advice) + '\n';
  if (too_large > 0)
    to += "\nThe patches of " + std::to_string(too_large) + " files are left out because of their size. " + too_large_reason() +
          '\n';
}

void change_list::write(json::writer& to) const {
  to.begin_array();
  for (const auto& one : shown_) {
    to.begin_object().member("status", word_for(one.of.what)).member("path", shown_path_of(one.of.after.path));
    if (one.of.what == change::kind::renamed) {
      to.member("pathBefore", shown_path_of(one.of.before.path)).key("similarity").unsigned_integer(one.of.similarity);
    }
    write_side(to, one.of.before, "idBefore", "modeBefore");
    write_side(to, one.of.after, "idAfter", "modeAfter");
    if (one.is_measured) {
      to.key("binary").boolean(one.of.is_binary);
      to.key("added").unsigned_integer(one.of.added_lines).key("deleted").unsigned_integer(one.of.deleted_lines);
    }
    if (one.is_lacking) to.key("notFetched").boolean(true);
    if (one.is_left_out || one.is_lacking) {
      to.key("patchLeftOut").boolean(true);
      if (one.is_too_large) to.member("reason", too_large_reason());
    } else {
      to.member("patch", one.patch);
    }
    to.end_object();
  }
  to.end_array();
}

void change_list::describe(rendering& made) const {
  if (lacks_content_) {
    // It may be fetched later.
    made.is_fixed = false;
    made.is_lacking = true;
    version_by_text(made, what_);
  }
  if (masked_ > 0) made.facts.emplace_back("dev.hondana/redacted", static_cast<std::int64_t>(masked_));
}

}  // namespace hondana::git

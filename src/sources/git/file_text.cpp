/// Reads blobs, converts and masks them.
#include "sources/git/file_text.hpp"

#include <algorithm>
#include <utility>

#include "sources/git/quotation.hpp"
#include "sources/git/revision.hpp"
#include "sources/git/tag_object.hpp"
#include "sources/git/text.hpp"

namespace hondana::git {
namespace {

tl::unexpected<failure> unreadable(const git_oid& id) {
  return fail(errc::source_unavailable,
              "The blob " + text_of(id) +
                  " cannot be read: it is missing, damaged, or was not fetched into a partial clone. Run `git fsck` in the "
                  "repository, or `git fetch --refetch` in a partial clone.",
              last_words());
}

tl::unexpected<failure> too_large(const address& at, std::uint64_t size, std::uint64_t limit) {
  return fail(
      errc::response_too_large,
      in_quotes(at.path, 400) + " has " + std::to_string(size) + " bytes; the read limit is " + std::to_string(limit) +
          " bytes. Read it from a work tree, or ask the operator of the server to raise read_limit (at most 64 MiB for git).");
}

}  // namespace

result<found_file> find_file(const asking& what) {
  const auto& at = what.at;
  if (const auto why = what.hides.secret_at(at.path, false); !why.empty())
    return tl::unexpected(concealment::refusal_of(at.path, why));
  HONDANA_TRY(const auto rev, resolve(what.in, at.rev, "rev"));
  // Who wrote what of a file says what is in it.
  if (at.what == topic::blame && !what.hides.shows_file(at.rev, at.path)) return tl::unexpected(missing_file(at.path));
  HONDANA_TRY(auto entry, find_entry(what.in, rev.tree, at.path));
  if (entry.is_folder() && what.hides.shows_folder(at.rev, at.path))
    return fail(errc::invalid_argument, "path: " + in_quotes(at.path, 400) + " is a folder. Read it as tree/REV/PATH.");
  if (entry.is_folder() || (entry.is_submodule() && !what.hides.secret_at(at.path, true).empty()))
    return tl::unexpected(missing_file(at.path));
  return found_file{std::move(entry), rev.commit, rev.tree, rev.is_fixed};
}

result<file_text> read_file(const asking& what, const tree_entry& of, std::uint64_t most) {
  HONDANA_TRY(const auto objects, objects_of(what.in));
  std::size_t size = 0;
  git_object_t type{};
  if (git_odb_read_header(&size, &type, objects.get(), &of.id) < 0 || type != GIT_OBJECT_BLOB) return unreadable(of.id);
  most = std::min(most, largest_blob);
  if (size > most) return too_large(what.at, size, most);
  git_odb_object* raw = nullptr;
  if (git_odb_read(&raw, objects.get(), &of.id) < 0) return unreadable(of.id);
  const odb_object_pointer object(raw);
  if (git_odb_object_type(raw) != GIT_OBJECT_BLOB) return unreadable(of.id);
  const std::string_view bytes(static_cast<const char*>(git_odb_object_data(raw)), git_odb_object_size(raw));
  file_text read;
  if (auto text = text_of_file(bytes)) {
    read.is_text = true;
    read.bytes = std::move(text->text);
    read.encoding = std::move(text->from);
  } else {
    read.bytes = bytes;
  }
  read.masked = what.hides.mask_file(what.at.path, read.bytes);
  return read;
}

result<std::string_view> cut_lines(std::string_view text, const std::optional<line_range>& wanted) {
  if (!wanted) return text;
  std::size_t line = 1, begin = 0;
  const auto next = [&](std::size_t from) {
    const auto end = text.find('\n', from);
    return end == std::string_view::npos ? text.size() : end + 1;
  };
  for (; line < wanted->first && begin < text.size(); ++line) begin = next(begin);
  if (begin == text.size())
    return fail(errc::invalid_argument, "lines: the file has " + std::to_string(line - 1) + (line == 2 ? " line" : " lines") +
                                            ", and the range begins after them.");
  if (!wanted->last) return text.substr(begin);
  auto end = begin;
  for (; line <= *wanted->last && end < text.size(); ++line) end = next(end);
  return text.substr(begin, end - begin);
}

}  // namespace hondana::git

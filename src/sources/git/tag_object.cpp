/// Parsing tags, and peeling one off the other.
#include "sources/git/tag_object.hpp"

#include <algorithm>
#include <cstddef>
#include <string>

namespace hondana::git {
namespace {

constexpr std::size_t largest_tag = std::size_t{16} << 20;
constexpr std::size_t most_tags_of_tags = 100;

std::string_view taken_line(std::string_view& bytes) {
  const auto line = bytes.substr(0, bytes.find('\n'));
  bytes.remove_prefix(std::min(line.size() + 1, bytes.size()));
  return line;
}

std::optional<std::string_view> behind_keyword(std::string_view line, std::string_view keyword) {
  if (!line.starts_with(keyword)) return std::nullopt;
  return line.substr(keyword.size());
}

}  // namespace

std::optional<tag_parts> parse_tag(std::string_view bytes) {
  tag_parts parts;
  const auto target = behind_keyword(taken_line(bytes), "object ");
  if (!target || target->size() != GIT_OID_HEXSZ || git_oid_fromstrn(&parts.target, target->data(), target->size()) < 0)
    return std::nullopt;
  const auto kind = behind_keyword(taken_line(bytes), "type ");
  if (!kind) return std::nullopt;
  parts.kind = git_object_string2type(std::string(*kind).c_str());
  // Its name, its tagger and what others may have added; then, behind an empty line, what it says.
  for (auto line = taken_line(bytes); !line.empty(); line = taken_line(bytes))
    if (const auto who = behind_keyword(line, "tagger ")) parts.tagger = *who;
  parts.message = bytes.substr(0, bytes.find('\0'));
  return parts;
}

result<odb_object_pointer> read_tag(git_odb* from, const git_oid& id) {
  std::size_t size = 0;
  git_object_t kind = GIT_OBJECT_INVALID;
  if (const int code = git_odb_read_header(&size, &kind, from, &id); code < 0)
    return failed("the object " + text_of(id) + (code == GIT_ENOTFOUND ? " is missing" : " is corrupt") + " in the repository");
  if (size > largest_tag) return fail(errc::source_unavailable, "the tag " + text_of(id) + " has more than 16 MiB, the limit");
  git_odb_object* raw = nullptr;
  if (const int code = git_odb_read(&raw, from, &id); code < 0)
    return failed("the tag " + text_of(id) + " cannot be read; run `git fsck` for details");
  return odb_object_pointer(raw);
}

result<object_facts> behind_tags(git_odb* from, const git_oid& id) {
  object_facts at{id};
  for (std::size_t depth = 0; depth <= most_tags_of_tags; ++depth) {
    std::size_t size = 0;
    if (const int code = git_odb_read_header(&size, &at.kind, from, &at.id); code < 0)
      return failed("the object " + text_of(at.id) + (code == GIT_ENOTFOUND ? " is missing" : " is corrupt") +
                    " in the repository; run `git fsck` for details");
    if (at.kind != GIT_OBJECT_TAG) return at;
    HONDANA_TRY(const auto bytes, read_tag(from, at.id));
    const auto parts =
        parse_tag({static_cast<const char*>(git_odb_object_data(bytes.get())), git_odb_object_size(bytes.get())});
    if (!parts)
      return fail(errc::source_unavailable, "the tag " + text_of(at.id) + " is malformed; run `git fsck` for details");
    at.id = parts->target;
  }
  return fail(errc::source_unavailable, "the tag " + text_of(id) + " points through more than 100 other tags, the limit");
}

result<odb_pointer> objects_of(git_repository* in) {
  git_odb* raw = nullptr;
  if (const int code = git_repository_odb(&raw, in); code < 0) return failed("the repository's objects cannot be opened");
  return odb_pointer(raw);
}

}  // namespace hondana::git

/// Pages of tags.
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "sources/git/commit_object.hpp"
#include "sources/git/named_reference.hpp"
#include "sources/git/names_page.hpp"
#include "sources/git/references.hpp"
#include "sources/git/tag_object.hpp"
#include "sources/git/text.hpp"

namespace hondana::git {
namespace {

constexpr const char* tag_prefix = "refs/tags/";
/// Of what a tag says; nobody reads more in a list.
constexpr std::size_t largest_tag_text = std::size_t{64} << 10;

void add_annotation(tag& to, git_odb* objects, const git_oid& id) {
  const auto bytes = read_tag(objects, id);
  if (!bytes || git_odb_object_type(bytes->get()) != GIT_OBJECT_TAG) return;
  to.is_annotated = true;
  const auto parts =
      parse_tag({static_cast<const char*>(git_odb_object_data(bytes->get())), git_odb_object_size(bytes->get())});
  if (!parts) return;
  auto message = parts->message.substr(0, largest_tag_text);
  while (message.ends_with('\n')) message.remove_suffix(1);
  to.message = to_utf8(message).text;
  if (parts->tagger.empty()) return;
  const auto who = parse_identity(parts->tagger.substr(0, largest_tag_text));
  to.tagger = signature{to_utf8(who.name).text, to_utf8(who.email).text, who.time, who.offset};
}

std::optional<tag> tag_at(git_repository* in, git_odb* objects, const std::string& name) {
  const auto target = follow_reference(in, name);
  git_error_clear();
  if (!target || !target->id) return std::nullopt;
  tag one;
  one.full_name = name;
  one.name = name.substr(std::string_view(tag_prefix).size());
  one.target = *target->id;
  std::size_t size = 0;
  git_object_t kind = GIT_OBJECT_INVALID;
  if (git_odb_read_header(&size, &kind, objects, &*target->id) == 0 && kind == GIT_OBJECT_TAG)
    add_annotation(one, objects, *target->id);
  if (const auto end = behind_tags(objects, *target->id)) {
    one.target = end->id;
    one.kind = git_object_type2string(end->kind);
  }
  return one;
}

}  // namespace

result<reference_page<tag>> tags(git_repository* in, const std::string& after, std::size_t limit) {
  auto names = names_behind(in, {tag_prefix}, after, limit);
  if (!names) return tl::unexpected(std::move(names.error()));
  HONDANA_TRY(const auto objects, objects_of(in));
  reference_page<tag> page;
  for (const auto& name : names->names)
    if (auto one = tag_at(in, objects.get(), name)) page.items.push_back(std::move(*one));
  if (!names->is_last) page.next = names->names.empty() ? after : names->names.back();
  return page;
}

}  // namespace hondana::git

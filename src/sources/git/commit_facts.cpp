/// What people read of a commit, in UTF-8.
#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>

#include "sources/git/commit_object.hpp"
#include "sources/git/commit_store.hpp"
#include "sources/git/history.hpp"
#include "sources/git/text.hpp"

namespace hondana::git {
namespace {

/// At most `most` bytes from the front, cut behind a line or else between characters, so that the encoding can still be told.
std::string_view front_of(std::string_view text, std::size_t most) noexcept {
  if (text.size() <= most) return text;
  text = text.substr(0, most);
  if (const auto line = text.rfind('\n'); line != std::string_view::npos) return text.substr(0, line + 1);
  const auto is_inside = [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; };
  for (int last = 0; last < 3 && is_inside(text.back()); ++last) text.remove_suffix(1);
  if ((static_cast<unsigned char>(text.back()) & 0x80U) != 0) text.remove_suffix(1);
  return text;
}

signature signature_of(std::string_view line, std::string_view encoding) {
  const auto parts = parse_identity(line.substr(0, largest_subject));
  return {to_utf8(parts.name, encoding).text, to_utf8(parts.email, encoding).text, parts.time, parts.offset};
}

commit_facts facts_in(const git_oid& id, commit_parts parts) {
  commit_facts facts;
  facts.id = id;
  facts.tree = parts.tree;
  facts.parents = std::move(parts.parents);
  facts.author = signature_of(parts.author, parts.encoding);
  facts.committer = signature_of(parts.committer, parts.encoding);
  const auto message = parse_message(parts.message);
  const auto subject = front_of(message.subject, largest_subject);
  const auto body = front_of(message.body, largest_body);
  facts.cut_bytes = message.subject.size() - subject.size() + (message.body.size() - body.size());
  // As one text, since where nothing is said the encoding is guessed, and the subject alone may tell too little.
  const auto head = joined_subject(subject);
  auto all = to_utf8(head + '\n' + std::string(body), parts.encoding);
  const auto end = std::min(all.text.find('\n'), all.text.size());
  facts.body = all.text.substr(std::min(end + 1, all.text.size()));
  all.text.resize(end);
  facts.summary = std::move(all.text);
  facts.encoding = std::move(all.from);
  return facts;
}

}  // namespace

result<commit_facts> facts_of(const commit_store& from, const git_oid& id) {
  HONDANA_TRY(auto bytes, from.commit(id));
  auto parts = parse_commit(bytes.text());
  if (!parts) {
    return fail(errc::source_unavailable,
                "commit " + text_of(id) + " is malformed: its tree or a parent is not an id; run `git fsck` for details");
  }
  return facts_in(id, std::move(*parts));
}

result<commit_facts> facts_of(git_repository* in, const git_oid& id) {
  HONDANA_TRY(const auto store, commit_store::open(in));
  return facts_of(store, id);
}

result<commit_facts> facts_of(git_commit* commit) { return facts_of(git_commit_owner(commit), *git_commit_id(commit)); }

}  // namespace hondana::git

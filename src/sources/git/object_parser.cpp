/// Parses commits and annotated tags as they are stored in the object database.
#include "sources/git/object_parser.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <limits>
#include <string>
#include <system_error>

namespace hondana::git {
namespace {

/// White space as git defines it.
constexpr std::string_view blanks = " \t\r\n";

/// Removes the first line, with its end, and returns it without the end.
std::string_view take_line(std::string_view& text) noexcept {
  const auto end = text.find('\n');
  const auto line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return line;
}

std::string_view without_end(std::string_view line) noexcept {
  const auto last = line.find_last_not_of(blanks);
  return line.substr(0, last == std::string_view::npos ? 0 : last + 1);
}

/// Removes `keyword` and the id after it, which must end the line.
std::optional<git_oid> take_id(std::string_view& text, std::string_view keyword) {
  if (!text.starts_with(keyword)) return std::nullopt;
  auto rest = text;
  const auto digits = take_line(rest).substr(keyword.size());
  git_oid id{};
  if (digits.size() != GIT_OID_HEXSZ || git_oid_fromstrn(&id, digits.data(), digits.size()) != 0) return std::nullopt;
  text = rest;
  return id;
}

/// The number at the front; nothing if there is none. One that is too large becomes the largest number.
std::optional<std::uint64_t> number_at(std::string_view text) noexcept {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc::result_out_of_range) return std::numeric_limits<std::uint64_t>::max();
  return error == std::errc{} ? std::optional(number) : std::nullopt;
}

std::uint64_t sorting_time(std::string_view committer) noexcept {
  const auto mail_end = committer.find('>');
  if (mail_end == std::string_view::npos) return 0;
  auto text = committer.substr(mail_end + 1);
  text.remove_prefix(std::min(text.find_first_not_of(" \t\r\v\f"), text.size()));
  const bool is_negative = text.starts_with('-');
  if (is_negative || text.starts_with('+')) text.remove_prefix(1);
  const auto number = number_at(text).value_or(0);
  return std::min(is_negative ? 0 - number : number, latest_time);
}

int offset_of(std::string_view text) noexcept {
  if (text.size() < 2 || (text.front() != '+' && text.front() != '-')) return 0;
  const auto digits = number_at(text.substr(1));
  if (!digits || *digits > 9999) return 0;
  const auto minutes = static_cast<int>(*digits / 100 * 60 + *digits % 100);
  return text.front() == '-' ? -minutes : minutes;
}

}  // namespace

std::optional<commit_parts> parse_commit(std::string_view bytes) {
  commit_parts parts;
  const auto tree = take_id(bytes, "tree ");
  if (!tree) return std::nullopt;
  parts.tree = *tree;
  while (const auto parent = take_id(bytes, "parent ")) parts.parents.push_back(*parent);
  if (bytes.starts_with("parent ")) return std::nullopt;
  // Git sorts by the committer's time only if it directly follows the author's.
  bool follows_author = false;
  while (!bytes.empty() && bytes.front() != '\n') {
    const auto line = take_line(bytes);
    const bool is_first = parts.author.empty() && parts.committer.empty();
    if (line.starts_with("author ") && parts.author.empty()) {
      parts.author = line.substr(7);
      follows_author = is_first;
    } else if (line.starts_with("committer ") && parts.committer.empty()) {
      parts.committer = line.substr(10);
      if (follows_author) parts.time = sorting_time(parts.committer);
    } else {
      follows_author = false;
      if (line.starts_with("encoding ") && parts.encoding.empty()) parts.encoding = line.substr(9);
    }
  }
  if (!bytes.empty()) bytes.remove_prefix(1);
  parts.message = bytes.substr(0, bytes.find('\0'));
  return parts;
}

identity parse_identity(std::string_view line) {
  identity found;
  const auto last = line.rfind('>');
  found.who = last == std::string_view::npos ? line : line.substr(0, last + 1);
  const auto opens = line.find('<');
  if (opens == std::string_view::npos) return found;
  found.name = without_end(line.substr(0, opens));
  const auto closes = line.find('>', opens);
  if (closes == std::string_view::npos) return found;
  found.email = line.substr(opens + 1, closes - opens - 1);
  auto rest = line.substr(last + 1);
  rest.remove_prefix(std::min(rest.find_first_not_of(blanks), rest.size()));
  const auto seconds = number_at(rest);
  if (!seconds || *seconds > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) return found;
  found.time = static_cast<std::int64_t>(*seconds);
  rest.remove_prefix(std::min(rest.find_first_not_of("0123456789"), rest.size()));
  rest.remove_prefix(std::min(rest.find_first_not_of(blanks), rest.size()));
  found.offset = offset_of(rest);
  return found;
}

message_parts parse_message(std::string_view message) {
  const auto skip_blank_lines = [](std::string_view text) {
    while (!text.empty()) {
      auto rest = text;
      if (!without_end(take_line(rest)).empty()) break;
      text = rest;
    }
    return text;
  };
  message = skip_blank_lines(message);
  auto subject = message;
  auto rest = message;
  while (!rest.empty()) {
    const auto lines_before = message.size() - rest.size();
    if (!without_end(take_line(rest)).empty()) continue;
    subject = message.substr(0, lines_before);
    break;
  }
  return {subject, skip_blank_lines(rest)};
}

std::string joined_subject(std::string_view subject) {
  std::string out;
  while (!subject.empty()) {
    if (!out.empty()) out += ' ';
    out += without_end(take_line(subject));
  }
  return out;
}

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
  // The tag's name, its tagger, and perhaps other headers. The message follows an empty line.
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

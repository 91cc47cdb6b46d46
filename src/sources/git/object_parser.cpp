/// Parses commits and annotated tags as they are stored in the object database.
#include "sources/git/object_parser.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <limits>
#include <memory>
#include <string>
#include <system_error>

namespace hondana::git {
namespace {

/// White space as git defines it.
constexpr std::string_view whitespace = " \t\r\n";

/// Removes the first line, with its end, and returns it without the end.
std::string_view pop_line(std::string_view& text) noexcept {
  const auto end = text.find('\n');
  const auto line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return line;
}

std::string_view trim_line(std::string_view line) noexcept {
  const auto last = line.find_last_not_of(whitespace);
  return line.substr(0, last == std::string_view::npos ? 0 : last + 1);
}

/// Removes `keyword` and the id after it, which must end the line.
std::optional<git_oid> pop_id(std::string_view& text, std::string_view keyword) {
  if (!text.starts_with(keyword)) return std::nullopt;
  auto remaining = text;
  const auto hex = pop_line(remaining).substr(keyword.size());
  git_oid id{};
  if (hex.size() != GIT_OID_HEXSZ || git_oid_fromstrn(&id, hex.data(), hex.size()) != 0) return std::nullopt;
  text = remaining;
  return id;
}

/// The number at the front; nothing if there is none. One that is too large becomes the largest number.
std::optional<std::uint64_t> leading_number(std::string_view text) noexcept {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc::result_out_of_range) return std::numeric_limits<std::uint64_t>::max();
  return error == std::errc{} ? std::optional(number) : std::nullopt;
}

std::uint64_t commit_time(std::string_view committer) noexcept {
  const auto mail_end = committer.find('>');
  if (mail_end == std::string_view::npos) return 0;
  auto text = committer.substr(mail_end + 1);
  text.remove_prefix(std::min(text.find_first_not_of(" \t\r\v\f"), text.size()));
  const bool is_negative = text.starts_with('-');
  if (is_negative || text.starts_with('+')) text.remove_prefix(1);
  const auto number = leading_number(text).value_or(0);
  return std::min(is_negative ? 0 - number : number, max_time);
}

int parse_offset(std::string_view text) noexcept {
  if (text.size() < 2 || (text.front() != '+' && text.front() != '-')) return 0;
  const auto digits = leading_number(text.substr(1));
  if (!digits || *digits > 9999) return 0;
  const auto minutes = static_cast<int>(*digits / 100 * 60 + *digits % 100);
  return text.front() == '-' ? -minutes : minutes;
}

}  // namespace

std::optional<commit_parts> parse_commit(std::string_view bytes) {
  commit_parts parts;
  const auto tree = pop_id(bytes, "tree ");
  if (!tree) return std::nullopt;
  parts.tree = *tree;
  while (const auto parent = pop_id(bytes, "parent ")) parts.parents.push_back(*parent);
  if (bytes.starts_with("parent ")) return std::nullopt;
  // Git sorts by the committer's time only if it directly follows the author's.
  bool follows_author = false;
  while (!bytes.empty() && bytes.front() != '\n') {
    const auto line = pop_line(bytes);
    const bool is_first = parts.author.empty() && parts.committer.empty();
    if (line.starts_with("author ") && parts.author.empty()) {
      parts.author = line.substr(7);
      follows_author = is_first;
    } else if (line.starts_with("committer ") && parts.committer.empty()) {
      parts.committer = line.substr(10);
      if (follows_author) parts.time = commit_time(parts.committer);
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
  identity parsed;
  const auto last = line.rfind('>');
  parsed.name_and_email = last == std::string_view::npos ? line : line.substr(0, last + 1);
  const auto open_bracket = line.find('<');
  if (open_bracket == std::string_view::npos) return parsed;
  parsed.name = trim_line(line.substr(0, open_bracket));
  const auto close_bracket = line.find('>', open_bracket);
  if (close_bracket == std::string_view::npos) return parsed;
  parsed.email = line.substr(open_bracket + 1, close_bracket - open_bracket - 1);
  auto remaining = line.substr(last + 1);
  remaining.remove_prefix(std::min(remaining.find_first_not_of(whitespace), remaining.size()));
  const auto seconds = leading_number(remaining);
  if (!seconds || *seconds > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) return parsed;
  parsed.time = static_cast<std::int64_t>(*seconds);
  remaining.remove_prefix(std::min(remaining.find_first_not_of("0123456789"), remaining.size()));
  remaining.remove_prefix(std::min(remaining.find_first_not_of(whitespace), remaining.size()));
  parsed.offset = parse_offset(remaining);
  return parsed;
}

message_parts parse_message(std::string_view message) {
  const auto skip_blank_lines = [](std::string_view text) {
    while (!text.empty()) {
      auto remaining = text;
      if (!trim_line(pop_line(remaining)).empty()) break;
      text = remaining;
    }
    return text;
  };
  message = skip_blank_lines(message);
  auto subject = message;
  auto remaining = message;
  while (!remaining.empty()) {
    const auto subject_bytes = message.size() - remaining.size();
    if (!trim_line(pop_line(remaining)).empty()) continue;
    subject = message.substr(0, subject_bytes);
    break;
  }
  return {subject, skip_blank_lines(remaining)};
}

std::string join_subject(std::string_view subject) {
  std::string out;
  while (!subject.empty()) {
    if (!out.empty()) out += ' ';
    out += trim_line(pop_line(subject));
  }
  return out;
}

namespace {

constexpr std::size_t max_tag_bytes = std::size_t{16} << 20;
constexpr std::size_t max_tag_depth = 100;

std::string_view pop_header_line(std::string_view& bytes) {
  const auto line = bytes.substr(0, bytes.find('\n'));
  bytes.remove_prefix(std::min(line.size() + 1, bytes.size()));
  return line;
}

std::optional<std::string_view> strip_keyword(std::string_view line, std::string_view keyword) {
  if (!line.starts_with(keyword)) return std::nullopt;
  return line.substr(keyword.size());
}

}  // namespace

std::optional<tag_parts> parse_tag(std::string_view bytes) {
  tag_parts parts;
  const auto target = strip_keyword(pop_header_line(bytes), "object ");
  if (!target || target->size() != GIT_OID_HEXSZ || git_oid_fromstrn(&parts.target, target->data(), target->size()) < 0)
    return std::nullopt;
  const auto kind = strip_keyword(pop_header_line(bytes), "type ");
  if (!kind) return std::nullopt;
  parts.kind = git_object_string2type(std::string(*kind).c_str());
  // The tag's name, its tagger, and perhaps other headers. The message follows an empty line.
  for (auto line = pop_header_line(bytes); !line.empty(); line = pop_header_line(bytes))
    if (const auto tagger = strip_keyword(line, "tagger ")) parts.tagger = *tagger;
  parts.message = bytes.substr(0, bytes.find('\0'));
  return parts;
}

result<odb_object_pointer> read_tag(git_odb* odb, const git_oid& id) {
  std::size_t size = 0;
  git_object_t kind = GIT_OBJECT_INVALID;
  if (const int code = git_odb_read_header(&size, &kind, odb, &id); code < 0)
    return libgit2_failure("the object " + to_hex(id) + (code == GIT_ENOTFOUND ? " is missing" : " is corrupt") +
                           " in the repository");
  if (size > max_tag_bytes) return fail(errc::source_unavailable, "the tag " + to_hex(id) + " has more than 16 MiB, the limit");
  git_odb_object* raw = nullptr;
  if (const int code = git_odb_read(&raw, odb, &id); code < 0)
    return libgit2_failure("the tag " + to_hex(id) + " cannot be read; run `git fsck` for details");
  return odb_object_pointer(raw);
}

result<object_info> peel_tags(git_odb* odb, const git_oid& id) {
  object_info peeled{id};
  for (std::size_t depth = 0; depth <= max_tag_depth; ++depth) {
    std::size_t size = 0;
    if (const int code = git_odb_read_header(&size, &peeled.kind, odb, &peeled.id); code < 0)
      return libgit2_failure("the object " + to_hex(peeled.id) + (code == GIT_ENOTFOUND ? " is missing" : " is corrupt") +
                             " in the repository; run `git fsck` for details");
    if (peeled.kind != GIT_OBJECT_TAG) return peeled;
    HONDANA_TRY(const auto bytes, read_tag(odb, peeled.id));
    const auto parts =
        parse_tag({static_cast<const char*>(git_odb_object_data(bytes.get())), git_odb_object_size(bytes.get())});
    if (!parts)
      return fail(errc::source_unavailable, "the tag " + to_hex(peeled.id) + " is malformed; run `git fsck` for details");
    peeled.id = parts->target;
  }
  return fail(errc::source_unavailable, "the tag " + to_hex(id) + " points through more than 100 other tags, the limit");
}

bool is_partial_clone(git_repository* repo) {
  git_config* raw = nullptr;
  if (git_repository_config(&raw, repo) < 0) return false;
  const config_pointer config(raw);
  git_config_iterator* raw_iterator = nullptr;
  if (git_config_iterator_new(&raw_iterator, raw) < 0) return false;
  const std::unique_ptr<git_config_iterator, libgit2_deleter<git_config_iterator_free>> iterator(raw_iterator);
  git_config_entry* entry = nullptr;
  bool is_partial = false;
  while (!is_partial && git_config_next(&entry, raw_iterator) == 0) {
    const std::string_view name = entry->name;
    is_partial = name == "extensions.partialclone" || (name.starts_with("remote.") && name.ends_with(".promisor"));
  }
  git_error_clear();
  return is_partial;
}

std::string_view missing_object_reason(git_repository* repo) {
  return is_partial_clone(repo)
             ? "is missing: it was not fetched into this partial clone; run `git fetch --refetch` in the repository"
             : "is missing from this repository; run `git fsck` for details";
}

result<odb_pointer> open_odb(git_repository* repo) {
  git_odb* raw = nullptr;
  if (const int code = git_repository_odb(&raw, repo); code < 0)
    return libgit2_failure("the repository's objects cannot be opened");
  return odb_pointer(raw);
}

}  // namespace hondana::git

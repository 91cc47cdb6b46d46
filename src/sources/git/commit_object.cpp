/// Cuts by the rules that git log shows to follow with whole and with broken commits.
#include "sources/git/commit_object.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <system_error>

namespace hondana::git {
namespace {

/// What git takes for white space.
constexpr std::string_view blanks = " \t\r\n";

/// The front line, which is taken away with its end.
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

/// Takes `keyword` and the id behind it, which ends the line.
std::optional<git_oid> take_id(std::string_view& text, std::string_view keyword) {
  if (!text.starts_with(keyword)) return std::nullopt;
  auto rest = text;
  const auto digits = take_line(rest).substr(keyword.size());
  git_oid id{};
  if (digits.size() != GIT_OID_HEXSZ || git_oid_fromstrn(&id, digits.data(), digits.size()) != 0) return std::nullopt;
  text = rest;
  return id;
}

/// Digits at the front; nothing when there is none. What is too large is the largest.
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
  // Git sorts by the committer's time only where it stands right behind the author's.
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

}  // namespace hondana::git

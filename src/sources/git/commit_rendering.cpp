/// Writes commits, people and times in Markdown and JSON.
#include "sources/git/commit_rendering.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "sources/git/git_uri.hpp"
#include "sources/git/text_escaping.hpp"

namespace hondana::git {
namespace {

constexpr std::size_t short_id_digits = 10;

std::string padded(std::int64_t number, std::size_t width) {
  auto digits = std::to_string(number);
  if (digits.size() < width) digits.insert(0, width - digits.size(), '0');
  return digits;
}

}  // namespace

std::string full_message(const visibility_filter& visibility, const commit_metadata& commit) {
  return visibility.masked_message(commit.body.empty() ? commit.summary : commit.summary + "\n\n" + commit.body);
}

std::string format_time(const signature& person) {
  // From the year 1 to the year 9999.
  constexpr std::int64_t first_shown = -62'135'596'800 + 86'400, last_shown = 253'402'300'799 - 86'400;
  if (person.time < first_shown || person.time > last_shown) return std::to_string(person.time);
  using namespace std::chrono;
  constexpr int max_offset = 24 * 60 - 1;
  const int offset = std::abs(person.offset) > max_offset ? 0 : person.offset;
  const sys_seconds local{seconds(person.time) + minutes(offset)};
  const auto day = floor<days>(local);
  const year_month_day date(day);
  const hh_mm_ss time(local - day);
  auto text = padded(static_cast<int>(date.year()), 4) + '-' + padded(static_cast<unsigned>(date.month()), 2) + '-' +
              padded(static_cast<unsigned>(date.day()), 2) + 'T' + padded(time.hours().count(), 2) + ':' +
              padded(time.minutes().count(), 2) + ':' + padded(time.seconds().count(), 2);
  if (offset == 0) return text + 'Z';
  return text + (offset < 0 ? '-' : '+') + padded(std::abs(offset) / 60, 2) + ':' + padded(std::abs(offset) % 60, 2);
}

std::string format_time(std::int64_t seconds) { return format_time(signature{.name = {}, .email = {}, .time = seconds}); }

std::string short_id(const git_oid& id) { return to_hex(id).substr(0, short_id_digits); }

std::string commit_uri(std::string_view slug, const git_oid& id, bool is_json) {
  return uri_of({.repo = std::string(slug), .kind = resource_kind::commit, .rev = to_hex(id), .is_json = is_json});
}

std::string commit_link(std::string_view slug, const git_oid& id) {
  return markdown_link('`' + short_id(id) + '`', commit_uri(slug, id));
}

signature masked_person(const visibility_filter& visibility, signature person) {
  // As one text, because a search for authors matches it in that form.
  auto text = person.name + " <" + person.email + '>';
  if (visibility.mask_message(text) == 0) return person;
  const auto begin = person.name.size() + 2;
  person.email = text.substr(begin, person.email.size());
  text.resize(person.name.size());
  person.name = std::move(text);
  return person;
}

void write_person(json::writer& writer, const visibility_filter& visibility, const signature& person) {
  const auto masked = masked_person(visibility, person);
  writer.begin_object()
      .member("name", masked.name)
      .member("email", masked.email)
      .member("time", format_time(masked))
      .end_object();
}

std::string commit_line(const visibility_filter& visibility, std::string_view slug, const commit_metadata& commit) {
  const auto message = full_message(visibility, commit);
  return "- " + commit_link(slug, commit.id) + ' ' + format_time(commit.author) + ' ' +
         escape_markdown(masked_person(visibility, commit.author).name) + ": " +
         escape_markdown(std::string_view(message).substr(0, commit.summary.size())) + '\n';
}

void write_commit(json::writer& writer, const visibility_filter& visibility, std::string_view slug,
                  const commit_metadata& commit) {
  writer.member("id", to_hex(commit.id)).member("uri", commit_uri(slug, commit.id, true)).member("tree", to_hex(commit.tree));
  writer.key("parents").begin_array();
  for (const auto& parent : commit.parents) writer.string(to_hex(parent));
  writer.end_array();
  write_person(writer.key("author"), visibility, commit.author);
  write_person(writer.key("committer"), visibility, commit.committer);
  const auto message = full_message(visibility, commit);
  writer.member("subject", std::string_view(message).substr(0, commit.summary.size()));
  if (!commit.body.empty()) writer.member("body", std::string_view(message).substr(commit.summary.size() + 2));
  writer.member_if("encoding", commit.encoding);
  if (commit.omitted_bytes > 0) writer.key("omittedBytes").unsigned_integer(commit.omitted_bytes);
}

}  // namespace hondana::git

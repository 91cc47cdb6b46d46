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

std::string message_of(const concealment& hides, const commit_facts& of) {
  return hides.masked_message(of.body.empty() ? of.summary : of.summary + "\n\n" + of.body);
}

std::string time_of(const signature& who) {
  // From the year 1 to the year 9999.
  constexpr std::int64_t earliest_shown = -62'135'596'800 + 86'400, latest_shown = 253'402'300'799 - 86'400;
  if (who.time < earliest_shown || who.time > latest_shown) return std::to_string(who.time);
  using namespace std::chrono;
  constexpr int most_offset = 24 * 60 - 1;
  const int offset = std::abs(who.offset) > most_offset ? 0 : who.offset;
  const sys_seconds local{seconds(who.time) + minutes(offset)};
  const auto day = floor<days>(local);
  const year_month_day date(day);
  const hh_mm_ss time(local - day);
  auto text = padded(static_cast<int>(date.year()), 4) + '-' + padded(static_cast<unsigned>(date.month()), 2) + '-' +
              padded(static_cast<unsigned>(date.day()), 2) + 'T' + padded(time.hours().count(), 2) + ':' +
              padded(time.minutes().count(), 2) + ':' + padded(time.seconds().count(), 2);
  if (offset == 0) return text + 'Z';
  return text + (offset < 0 ? '-' : '+') + padded(std::abs(offset) / 60, 2) + ':' + padded(std::abs(offset) % 60, 2);
}

std::string time_of(std::int64_t seconds) { return time_of(signature{.name = {}, .email = {}, .time = seconds}); }

std::string short_id(const git_oid& id) { return text_of(id).substr(0, short_id_digits); }

std::string commit_uri(std::string_view repo, const git_oid& id, bool is_json) {
  return uri_of({.repo = std::string(repo), .what = topic::commit, .rev = text_of(id), .is_json = is_json});
}

std::string commit_link(std::string_view repo, const git_oid& id) {
  return link_to('`' + short_id(id) + '`', commit_uri(repo, id));
}

signature shown_person(const concealment& hides, signature who) {
  // As one text, because a search for authors matches it in that form.
  auto all = who.name + " <" + who.email + '>';
  if (hides.mask_message(all) == 0) return who;
  const auto begin = who.name.size() + 2;
  who.email = all.substr(begin, who.email.size());
  all.resize(who.name.size());
  who.name = std::move(all);
  return who;
}

void write_person(json::writer& to, const concealment& hides, const signature& from) {
  const auto who = shown_person(hides, from);
  to.begin_object().member("name", who.name).member("email", who.email).member("time", time_of(who)).end_object();
}

std::string commit_line(const concealment& hides, std::string_view repo, const commit_facts& of) {
  const auto message = message_of(hides, of);
  return "- " + commit_link(repo, of.id) + ' ' + time_of(of.author) + ' ' + escaped(shown_person(hides, of.author).name) +
         ": " + escaped(std::string_view(message).substr(0, of.summary.size())) + '\n';
}

void write_commit(json::writer& to, const concealment& hides, std::string_view repo, const commit_facts& of) {
  to.member("id", text_of(of.id)).member("uri", commit_uri(repo, of.id, true)).member("tree", text_of(of.tree));
  to.key("parents").begin_array();
  for (const auto& parent : of.parents) to.string(text_of(parent));
  to.end_array();
  write_person(to.key("author"), hides, of.author);
  write_person(to.key("committer"), hides, of.committer);
  const auto message = message_of(hides, of);
  to.member("subject", std::string_view(message).substr(0, of.summary.size()));
  if (!of.body.empty()) to.member("body", std::string_view(message).substr(of.summary.size() + 2));
  to.member_if("encoding", of.encoding);
  if (of.cut_bytes > 0) to.key("leftOutBytes").unsigned_integer(of.cut_bytes);
}

}  // namespace hondana::git

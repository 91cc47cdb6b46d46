/// Looking analyses up in Redis, and listening.
#include <algorithm>
#include <charconv>
#include <chrono>
#include <utility>

#include <hondana/clock.hpp>

#include "sources/analyses/cache/ids.hpp"
#include "sources/analyses/cache/redis/redis_state.hpp"

namespace hondana::analyses {
namespace {

constexpr milliseconds longest_block{100};
constexpr std::size_t most_in_page = 1000;
constexpr std::size_t most_looked_at = 10'000;
/// Between a version of a resource and the id of what is based on it.
constexpr char version_end = '\x1f';

instant time_in(const reply& what) { return instant(milliseconds(what.as_number())); }

template <class Enum>
Enum one_of(const reply& what) {
  return static_cast<Enum>(std::clamp<std::int64_t>(what.as_number(), 0, 2));
}

bool has_tag(std::string_view tags, std::string_view tag) {
  while (!tags.empty()) {
    const auto end = std::min(tags.find('\n'), tags.size());
    if (tags.substr(0, end) == tag) return true;
    tags.remove_prefix(std::min(end + 1, tags.size()));
  }
  return false;
}

}  // namespace

summary summary_in(const reply& id, const reply& fields) {
  summary out;
  out.id = id.text;
  out.of = {fields.at(0).text, fields.at(1).text};
  out.how = one_of<status>(fields.at(2));
  out.task = one_of<task_type>(fields.at(3));
  out.title = fields.at(4).text;
  out.session = fields.at(5).text;
  out.created = time_in(fields.at(6));
  out.changed = time_in(fields.at(7));
  out.expires = time_in(fields.at(8));
  out.gone = time_in(fields.at(9));
  out.confidence = fields.at(10).as_real();
  out.agreement = fields.at(11).as_real();
  out.cost = fields.at(12).as_real();
  out.took = milliseconds(fields.at(13).as_number());
  out.rounds = static_cast<std::uint32_t>(fields.at(14).as_number());
  out.providers = static_cast<std::uint32_t>(fields.at(15).as_number());
  out.bytes = static_cast<std::uint64_t>(fields.at(16).as_number());
  out.version = static_cast<std::uint64_t>(fields.at(17).as_number());
  return out;
}

std::optional<entry> entry_in(const reply& what, std::int64_t now) {
  if (what.is_null()) return std::nullopt;
  entry out;
  out.about = summary_in(what.at(0), what.at(1));
  out.body = what.at(2).text;
  out.is_stale = out.about.how == status::complete && out.about.expires <= instant(milliseconds(now));
  return out;
}

answer answer_in(const reply& what) {
  answer out;
  out.found = entry_in(what.at(1), what.at(0).as_number());
  const bool is_fresh = out.found && !out.found->is_stale;
  if (const auto& claim = what.at(2); !is_fresh && !claim.is_null())
    out.claim = answer::holder{claim.at(0).text, claim.at(1).text, time_in(claim.at(2))};
  const auto& failed = what.at(3);
  out.what = is_fresh            ? answer::kind::fresh
             : out.found         ? answer::kind::stale
             : out.claim         ? answer::kind::computing
             : !failed.is_null() ? answer::kind::failed
                                 : answer::kind::missing;
  if (!failed.is_null()) {
    out.why = failed.at(0).text;
    out.until = time_in(failed.at(1));
  }
  return out;
}

result<answer> redis_store::look(const key& of) const {
  HONDANA_TRY(const auto said, run(script::look, {of.all}, repeating::harmless));
  return answer_in(said);
}

result<std::optional<entry>> redis_store::get(std::string_view id) const {
  if (!is_id(id)) return std::nullopt;
  HONDANA_TRY(const auto said, run(script::get, {id, "1"}, repeating::harmless));
  return entry_in(said.at(1), said.at(0).as_number());
}

result<std::optional<summary>> redis_store::about(std::string_view id) const {
  if (!is_id(id)) return std::nullopt;
  HONDANA_TRY(const auto said, run(script::get, {id, "0"}, repeating::harmless));
  if (said.is_null()) return std::nullopt;
  return summary_in(said.at(1).at(0), said.at(1).at(1));
}

result<page> redis_store::list(const selection& which, std::string_view after, std::size_t most) const {
  page out;
  most = std::min(most, most_in_page);
  if (!after.empty() && !is_id(after))
    return hondana::fail(errc::invalid_argument, "a page of analyses starts after an id of 32 hexadecimal digits");
  std::string_view by, what;
  if (!which.of.empty()) {
    by = "k:";
    what = which.of;
  } else if (!which.prompt.empty()) {
    by = "p:";
    what = which.prompt;
  } else if (!which.tag.empty()) {
    by = "t:";
    what = which.tag;
  } else if (!which.session.empty()) {
    by = "s:";
    what = which.session;
  }
  out.next = after;
  const auto at_once = std::to_string(most + 1);
  for (std::size_t scanned = 0; scanned < most_looked_at;) {
    const auto behind = out.next;
    HONDANA_TRY(const auto said, run(script::list, {by, what, behind, at_once}, repeating::harmless));
    const auto now = time_in(said.at(0));
    const auto& rows = said.at(1).all;
    for (const auto& row : rows) {
      if (out.all.size() == most) {
        out.is_last = false;
        return out;
      }
      out.next = row.at(0).text;
      if (row.at(1).is_null()) continue;
      auto one = summary_in(row.at(0), row.at(1));
      const bool is_meant =
          one.gone > now && (!which.task || *which.task == one.task) &&
          (which.session.empty() || which.session == one.session) && (which.prompt.empty() || which.prompt == one.of.prompt) &&
          (which.of.empty() || which.of == one.of.all) && (which.tag.empty() || has_tag(row.at(2).text, which.tag));
      if (is_meant) out.all.push_back(std::move(one));
    }
    if (rows.size() <= most) return out;
    scanned += rows.size();
  }
  out.is_last = false;
  return out;
}

result<std::vector<std::string>> redis_store::names(naming which, std::string_view prefix, std::size_t most) const {
  const auto count = std::to_string(std::min(most, most_in_page));
  std::vector<std::string> out;
  if (which == naming::id) {
    const auto said = run(script::ids, {prefix, count}, repeating::harmless);
    if (!said) return tl::unexpected(said.error());
    for (const auto& one : said->all) out.push_back(one.text);
    return out;
  }
  const auto set = root_ + (which == naming::session ? "sessions" : which == naming::tag ? "tags" : "providers");
  const auto from = '[' + std::string(prefix);
  const auto said = ask({"ZRANGEBYLEX", set, from, "+", "LIMIT", "0", count}, repeating::harmless);
  if (!said) return tl::unexpected(said.error());
  if (said->is_error()) return refused_by(where_.name, *said);
  for (const auto& one : said->all) {
    if (!one.text.starts_with(prefix)) break;
    out.push_back(one.text);
  }
  return out;
}

result<std::vector<basis>> redis_store::bases(std::string_view after, std::size_t most) const {
  const auto count = std::to_string(std::min(most, most_in_page));
  const auto said = run(script::bases, {after, count}, repeating::harmless);
  if (!said) return tl::unexpected(said.error());
  std::vector<basis> out;
  for (const auto& one : said->all) {
    if (out.size() >= most) break;
    for (const auto& version : one.at(1).all) out.push_back({one.at(0).text, version.text});
  }
  return out;
}

result<store::based_page> redis_store::based_on(std::string_view uri, const place_in_based& after, std::size_t most) const {
  most = std::min(most, most_in_page);
  const auto at_once = std::to_string(most + 1);
  const auto behind = after.id.empty() ? std::string() : after.version + version_end + after.id;
  HONDANA_TRY(const auto said, run(script::based_on, {uri, behind, at_once}, repeating::harmless));
  based_page out;
  const auto& rows = said.at(1).all;
  out.is_last = rows.size() <= most;
  for (std::size_t i = 0; i < std::min(rows.size(), most); ++i) {
    const auto& row = rows[i];
    const auto& member = row.at(0).text;
    out.next = {member.substr(0, std::min(member.find(version_end), member.size())), row.at(1).text};
    if (!row.at(2).is_null()) out.all.push_back(summary_in(row.at(1), row.at(2)));
  }
  return out;
}

result<store_facts> redis_store::facts() const {
  HONDANA_TRY(const auto said, run(script::facts, {}, repeating::harmless));
  store_facts out;
  out.where = where_.name + ", " + options_.prefix;
  out.entries = static_cast<std::uint64_t>(said.at(0).as_number());
  out.bytes = static_cast<std::uint64_t>(said.at(1).as_number());
  out.claims = static_cast<std::uint64_t>(said.at(2).as_number());
  if (!said.at(3).is_null()) out.oldest = time_in(said.at(3));
  if (!said.at(4).is_null()) out.newest = time_in(said.at(4));
  return out;
}

result<changes> redis_store::changes_since(std::uint64_t after, milliseconds wait, const std::stop_token& stop) const {
  const auto until = monotonic_clock::now() + wait;
  const auto from = std::to_string(after);
  const auto news = root_ + "news";
  const auto behind = from + "-0";
  for (;;) {
    const auto said = run(script::changes, {from}, repeating::harmless);
    if (!said) return tl::unexpected(said.error());
    changes out;
    out.last = static_cast<std::uint64_t>(said->at(0).as_number());
    std::uint64_t oldest = 0;
    const auto& first = said->at(1).text;
    std::from_chars(first.data(), first.data() + first.size(), oldest);
    // A store that was begun anew counts from 1 again.
    out.is_complete = after == 0 || (after <= out.last && (after == out.last || after + 1 >= oldest));
    if (after == 0 || !out.is_complete) return out;
    for (const auto& one : said->at(2).all) {
      const auto& number = one.at(0).text;
      const auto& fields = one.at(1);
      change heard;
      std::from_chars(number.data(), number.data() + number.size(), heard.number);
      heard.what = static_cast<change::kind>(std::clamp<std::int64_t>(fields.at(1).as_number(), 0, 4));
      heard.id = fields.at(3).text;
      heard.of = fields.at(5).text;
      out.all.push_back(std::move(heard));
    }
    if (!out.all.empty()) {
      out.last = out.all.back().number;
      return out;
    }
    const auto left = std::chrono::duration_cast<milliseconds>(until - monotonic_clock::now());
    if (left <= milliseconds(0) || stop.stop_requested()) return out;
    const auto block = std::to_string(std::max<std::int64_t>(1, std::min(left, longest_block).count()));
    HONDANA_TRY(const auto heard,
                ask({"XREAD", "BLOCK", block, "COUNT", "1", "STREAMS", news, behind}, repeating::harmless, longest_block));
    if (heard.is_error()) return refused_by(where_.name, heard);
  }
}

}  // namespace hondana::analyses

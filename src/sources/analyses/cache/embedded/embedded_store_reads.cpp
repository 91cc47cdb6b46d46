/// The SQLite store of analyses: look-ups, lists and change events.

#include <algorithm>
#include <chrono>
#include <utility>

#include <hondana/clock.hpp>

#include "sources/analyses/cache/analysis_key.hpp"
#include "sources/analyses/cache/embedded/embedded_store_impl.hpp"

namespace hondana::analyses {
namespace {

/// Interval of checks for changes by other processes.
constexpr milliseconds between_looks{50};
constexpr std::int64_t most_scanned = 10'000;
constexpr std::size_t most_listed = 1000;
constexpr std::size_t most_versions = 64;

instant at(std::int64_t time) { return instant(milliseconds(time)); }

}  // namespace

result<std::optional<embedded_store::row>> embedded_store::row_at(opened_file& by, std::int64_t seq) {
  HONDANA_TRY(auto asking, by.ask("SELECT id, key, prompt, how, task, title, session, created, changed, expires, gone, "
                                  "confidence, agreement, cost, took, "
                                  "rounds, providers, bytes, version FROM entries WHERE seq=?1"));
  auto& from = asking;
  from->bind(1, seq);
  HONDANA_TRY(const auto more, from->step());
  if (!more) return std::nullopt;
  row out;
  out.seq = seq;
  auto& about = out.about;
  about.id = id_of_raw(from->bytes(0));
  about.of = {std::string(from->bytes(1)), std::string(from->bytes(2))};
  about.how = static_cast<status>(std::clamp<std::int64_t>(from->number(3), 0, 2));
  about.task = static_cast<task_type>(std::clamp<std::int64_t>(from->number(4), 0, 2));
  about.title = from->bytes(5);
  about.session = from->bytes(6);
  about.created = at(from->number(7));
  about.changed = at(from->number(8));
  about.expires = at(from->number(9));
  about.gone = at(from->number(10));
  about.confidence = from->real(11);
  about.agreement = from->real(12);
  about.cost = from->real(13);
  about.took = milliseconds(from->number(14));
  about.rounds = static_cast<std::uint32_t>(from->number(15));
  about.providers = static_cast<std::uint32_t>(from->number(16));
  about.bytes = static_cast<std::uint64_t>(from->number(17));
  about.version = static_cast<std::uint64_t>(from->number(18));
  return out;
}

result<std::optional<embedded_store::row>> embedded_store::row_of(opened_file& by, std::string_view id) {
  const auto raw = raw_id(id);
  if (raw.empty()) return std::nullopt;
  std::int64_t seq = 0;
  {
    HONDANA_TRY(auto asking, by.ask("SELECT seq FROM entries WHERE id=?1"));
    asking->bind(1, std::string_view(raw));
    HONDANA_TRY(const auto more, asking->step());
    if (!more) return std::nullopt;
    seq = asking->number(0);
  }
  return row_at(by, seq);
}

result<std::optional<entry>> embedded_store::entry_at(opened_file& by, std::int64_t seq, std::int64_t now) {
  HONDANA_TRY(auto found, row_at(by, seq));
  if (!found) return std::nullopt;
  HONDANA_TRY(auto asking, by.ask("SELECT body FROM bodies WHERE seq=?1"));
  asking->bind(1, seq);
  HONDANA_TRY(const auto more, asking->step());
  if (!more) return std::nullopt;
  entry out;
  out.about = std::move(found->about);
  out.body = asking->bytes(0);
  out.is_stale = out.about.how == status::complete && out.about.expires <= at(now);
  return out;
}

result<answer> embedded_store::answer_in(opened_file& by, std::string_view of, std::int64_t now) {
  answer out;
  std::int64_t seq = -1;
  {
    HONDANA_TRY(auto asking, by.ask("SELECT seq FROM entries WHERE key=?1 AND how=1 ORDER BY seq DESC LIMIT 1"));
    asking->bind(1, of);
    HONDANA_TRY(const auto more, asking->step());
    if (more) seq = asking->number(0);
  }
  if (seq >= 0) {
    HONDANA_TRY(auto found, entry_at(by, seq, now));
    if (found && found->about.gone > at(now)) out.found = std::move(*found);
  }
  const bool is_fresh = out.found && !out.found->is_stale;
  if (!is_fresh) {
    HONDANA_TRY(auto asking, by.ask("SELECT id, who, until FROM claims WHERE key=?1 AND until>?2"));
    asking->bind(1, of).bind(2, now);
    HONDANA_TRY(const auto more, asking->step());
    if (more) out.claim = answer::holder{id_of_raw(asking->bytes(0)), std::string(asking->bytes(1)), at(asking->number(2))};
  }
  out.what = is_fresh    ? answer::kind::fresh
             : out.found ? answer::kind::stale
             : out.claim ? answer::kind::computing
                         : answer::kind::missing;
  if (out.claim) return out;
  HONDANA_TRY(auto asking, by.ask("SELECT until, why FROM failures WHERE key=?1 AND until>?2"));
  asking->bind(1, of).bind(2, now);
  HONDANA_TRY(const auto more, asking->step());
  if (!more) return out;
  if (!out.found) out.what = answer::kind::failed;
  out.until = at(asking->number(0));
  out.why = asking->bytes(1);
  return out;
}

result<answer> embedded_store::look(const key& of) const {
  auto by = reader::take(*this);
  if (!by) return tl::unexpected(std::move(by.error()));
  const auto now = now_in(by->file());
  if (!now) return by->passed(now.error());
  auto out = answer_in(by->file(), of.all, *now);
  if (!out) return by->passed(std::move(out.error()));
  return out;
}

result<std::optional<entry>> embedded_store::get(std::string_view id) const {
  auto by = reader::take(*this);
  if (!by) return tl::unexpected(std::move(by.error()));
  const auto now = now_in(by->file());
  if (!now) return by->passed(now.error());
  const auto found = row_of(by->file(), id);
  if (!found) return by->passed(found.error());
  if (!*found || (*found)->about.gone <= at(*now)) return std::nullopt;
  auto out = entry_at(by->file(), (*found)->seq, *now);
  if (!out) return by->passed(std::move(out.error()));
  return out;
}

result<std::optional<summary>> embedded_store::about(std::string_view id) const {
  auto by = reader::take(*this);
  if (!by) return tl::unexpected(std::move(by.error()));
  const auto now = now_in(by->file());
  if (!now) return by->passed(now.error());
  auto found = row_of(by->file(), id);
  if (!found) return by->passed(std::move(found.error()));
  if (!*found || (*found)->about.gone <= at(*now)) return std::nullopt;
  return std::move((*found)->about);
}

result<page> embedded_store::list(const selection& which, std::string_view after, std::size_t most) const {
  page out;
  most = std::min(most, most_listed);
  const auto behind = raw_id(after);
  if (!after.empty() && behind.empty())
    return hondana::fail(errc::invalid_argument, "a page of analyses starts after an id of 32 hexadecimal digits");
  auto by = reader::take(*this);
  if (!by) return tl::unexpected(std::move(by.error()));
  const auto now = now_in(by->file());
  if (!now) return by->passed(now.error());
  const char* sql = "SELECT seq FROM entries WHERE id>?2 ORDER BY id LIMIT ?3";
  std::string_view by_what;
  if (!which.of.empty()) {
    sql = "SELECT seq FROM entries WHERE key=?1 AND id>?2 ORDER BY id LIMIT ?3";
    by_what = which.of;
  } else if (!which.prompt.empty()) {
    sql = "SELECT seq FROM entries WHERE prompt=?1 AND id>?2 ORDER BY id LIMIT ?3";
    by_what = which.prompt;
  } else if (!which.tag.empty()) {
    sql =
        "SELECT e.seq FROM tags t JOIN entries e ON e.id=t.id WHERE t.tag=CAST(?1 AS TEXT) AND t.id>?2 ORDER BY t.id LIMIT ?3";
    by_what = which.tag;
  } else if (!which.session.empty()) {
    sql = "SELECT seq FROM entries WHERE session=CAST(?1 AS TEXT) AND session<>'' AND id>?2 ORDER BY id LIMIT ?3";
    by_what = which.session;
  }
  auto asking = by->file().ask(sql);
  if (!asking) return by->passed(std::move(asking.error()));
  (*asking)->bind(1, by_what).bind(2, std::string_view(behind)).bind(3, most_scanned);
  for (std::int64_t scanned = 0;; ++scanned) {
    const auto more = (*asking)->step();
    if (!more) return by->passed(more.error());
    if (!*more) {
      out.is_last = scanned < most_scanned;
      return out;
    }
    if (out.all.size() == most) {
      out.is_last = false;
      return out;
    }
    const auto found = row_at(by->file(), (*asking)->number(0));
    if (!found) return by->passed(found.error());
    if (!*found) continue;
    const auto& one = (*found)->about;
    out.next = one.id;
    const bool is_meant = one.gone > at(*now) && (!which.task || *which.task == one.task) &&
                          (which.session.empty() || which.session == one.session) &&
                          (which.prompt.empty() || which.prompt == one.of.prompt) &&
                          (which.of.empty() || which.of == one.of.all);
    if (is_meant && !which.tag.empty() && by_what.data() != which.tag.data()) {
      auto tagged = by->file().ask("SELECT 1 FROM tags WHERE tag=CAST(?1 AS TEXT) AND id=?2");
      if (!tagged) return by->passed(std::move(tagged.error()));
      const auto id = raw_id(one.id);
      (*tagged)->bind(1, std::string_view(which.tag)).bind(2, std::string_view(id));
      const auto has = (*tagged)->step();
      if (!has) return by->passed(has.error());
      if (!*has) continue;
    }
    if (is_meant) out.all.push_back(one);
  }
}

result<std::vector<std::string>> embedded_store::seek(opened_file& by, const char* from, const char* behind,
                                                      std::string_view prefix, std::size_t most) {
  std::vector<std::string> out;
  std::string last(prefix);
  while (out.size() < most) {
    HONDANA_TRY(auto asking, by.ask(out.empty() ? from : behind));
    asking->bind_text(1, last);
    HONDANA_TRY(const auto more, asking->step());
    if (!more) break;
    const auto found = asking->bytes(0);
    if (!found.starts_with(prefix)) break;
    last = found;
    out.push_back(last);
  }
  return out;
}

result<std::vector<std::string>> embedded_store::names(naming which, std::string_view prefix, std::size_t most) const {
  most = std::min(most, most_listed);
  auto by = reader::take(*this);
  if (!by) return tl::unexpected(std::move(by.error()));
  result<std::vector<std::string>> out{};
  if (which == naming::provider) {
    out = seek(by->file(), "SELECT name FROM providers WHERE name>=?1 ORDER BY name LIMIT 1",
               "SELECT name FROM providers WHERE name>?1 ORDER BY name LIMIT 1", prefix, most);
  } else if (which == naming::tag) {
    out = seek(by->file(), "SELECT tag FROM tags WHERE tag>=?1 ORDER BY tag LIMIT 1",
               "SELECT tag FROM tags WHERE tag>?1 ORDER BY tag LIMIT 1", prefix, most);
  } else if (which == naming::session) {
    out = seek(by->file(), "SELECT session FROM entries WHERE session>=?1 AND session<>'' ORDER BY session LIMIT 1",
               "SELECT session FROM entries WHERE session>?1 AND session<>'' ORDER BY session LIMIT 1", prefix, most);
  } else {
    const auto now = now_in(by->file());
    if (!now) return by->passed(now.error());
    const auto filled = [&](char with) {
      std::string digits(prefix.substr(0, digits_of_id));
      digits.resize(digits_of_id, with);
      return raw_id(digits);
    };
    const auto least = filled('0'), greatest = filled('f');
    if (prefix.size() > digits_of_id || least.empty()) return std::vector<std::string>();
    auto asking = by->file().ask("SELECT id FROM entries WHERE id>=?1 AND id<=?2 AND gone>?3 ORDER BY id LIMIT ?4");
    if (!asking) return by->passed(std::move(asking.error()));
    (*asking)->bind(1, std::string_view(least)).bind(2, std::string_view(greatest)).bind(3, *now);
    (*asking)->bind(4, static_cast<std::int64_t>(most));
    for (;;) {
      const auto more = (*asking)->step();
      if (!more) return by->passed(more.error());
      if (!*more) break;
      out->push_back(id_of_raw((*asking)->bytes(0)));
    }
  }
  if (!out) return by->passed(std::move(out.error()));
  return out;
}

result<std::vector<basis>> embedded_store::bases(std::string_view after, std::size_t most) const {
  most = std::min(most, most_listed);
  std::vector<basis> out;
  auto by = reader::take(*this);
  if (!by) return tl::unexpected(std::move(by.error()));
  std::string uri(after);
  while (out.size() < most) {
    {
      auto asking = by->file().ask("SELECT uri FROM bases WHERE uri>?1 ORDER BY uri LIMIT 1");
      if (!asking) return by->passed(std::move(asking.error()));
      (*asking)->bind_text(1, uri);
      const auto more = (*asking)->step();
      if (!more) return by->passed(more.error());
      if (!*more) break;
      uri = (*asking)->bytes(0);
    }
    std::string version;
    for (std::size_t i = 0; i < most_versions; ++i) {
      auto asking = by->file().ask(i == 0 ? "SELECT version FROM bases WHERE uri=?1 AND version>=?2 ORDER BY version LIMIT 1"
                                          : "SELECT version FROM bases WHERE uri=?1 AND version>?2 ORDER BY version LIMIT 1");
      if (!asking) return by->passed(std::move(asking.error()));
      (*asking)->bind_text(1, uri).bind_text(2, version);
      const auto more = (*asking)->step();
      if (!more) return by->passed(more.error());
      if (!*more) break;
      version = (*asking)->bytes(0);
      out.push_back({uri, version});
    }
  }
  return out;
}

result<store::based_page> embedded_store::based_on(std::string_view uri, const place_in_based& after, std::size_t most) const {
  most = std::min(most, most_listed);
  based_page out;
  auto by = reader::take(*this);
  if (!by) return tl::unexpected(std::move(by.error()));
  std::vector<place_in_based> places;
  {
    auto asking =
        by->file().ask("SELECT version, id FROM bases WHERE uri=?1 AND (version, id)>(?2, ?3) ORDER BY version, id LIMIT ?4");
    if (!asking) return by->passed(std::move(asking.error()));
    const auto raw = raw_id(after.id);
    (*asking)->bind_text(1, uri).bind_text(2, after.version).bind(3, std::string_view(raw));
    (*asking)->bind(4, static_cast<std::int64_t>(most + 1));
    for (;;) {
      const auto more = (*asking)->step();
      if (!more) return by->passed(more.error());
      if (!*more) break;
      places.push_back({std::string((*asking)->bytes(0)), id_of_raw((*asking)->bytes(1))});
    }
  }
  out.is_last = places.size() <= most;
  if (!out.is_last) places.pop_back();
  for (const auto& one : places) {
    auto found = row_of(by->file(), one.id);
    if (!found) return by->passed(std::move(found.error()));
    if (*found) out.all.push_back(std::move((*found)->about));
  }
  if (!places.empty()) out.next = std::move(places.back());
  return out;
}

result<changes> embedded_store::changes_since(std::uint64_t after, milliseconds wait, const std::stop_token& stop) const {
  const auto until = monotonic_clock::now() + wait;
  for (;;) {
    std::uint64_t written = 0;
    {
      const std::lock_guard held(hearing_);
      written = written_;
    }
    {
      changes out;
      auto by = reader::take(*this);
      if (!by) return tl::unexpected(std::move(by.error()));
      {
        auto asking = by->file().ask("SELECT change, (SELECT min(number) FROM changes) FROM state");
        if (!asking) return by->passed(std::move(asking.error()));
        const auto more = (*asking)->step();
        if (!more) return by->passed(more.error());
        out.last = *more ? static_cast<std::uint64_t>((*asking)->number(0)) : 0;
        const auto oldest = *more ? static_cast<std::uint64_t>((*asking)->number(1)) : 0;
        // A store that was created again counts changes from 1.
        out.is_complete = after == 0 || (after <= out.last && (after == out.last || after + 1 >= oldest));
      }
      if (after == 0) return out;
      if (!out.is_complete) return out;
      if (after < out.last) {
        auto asking = by->file().ask("SELECT number, what, id, key FROM changes WHERE number>?1 ORDER BY number LIMIT 1000");
        if (!asking) return by->passed(std::move(asking.error()));
        (*asking)->bind(1, static_cast<std::int64_t>(after));
        for (;;) {
          const auto more = (*asking)->step();
          if (!more) return by->passed(more.error());
          if (!*more) break;
          out.all.push_back({static_cast<std::uint64_t>((*asking)->number(0)),
                             static_cast<change::kind>(std::clamp<std::int64_t>((*asking)->number(1), 0, 4)),
                             id_of_raw((*asking)->bytes(2)), std::string((*asking)->bytes(3))});
        }
        if (!out.all.empty()) out.last = out.all.back().number;
        return out;
      }
      if (monotonic_clock::now() >= until || stop.stop_requested()) return out;
    }
    const auto left = std::chrono::duration_cast<milliseconds>(until - monotonic_clock::now());
    std::unique_lock held(hearing_);
    monotonic_clock::wait_for(heard_, held, stop, std::min(left + milliseconds(1), between_looks),
                              [&] { return written_ != written; });
  }
}

}  // namespace hondana::analyses

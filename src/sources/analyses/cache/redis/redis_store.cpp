/// The store of analyses in Redis: the connection pool, look-ups, lists and change events.
#include "sources/analyses/cache/redis/redis_store.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <utility>

#include <hondana/clock.hpp>

#include "sources/analyses/cache/analysis_key.hpp"
#include "sources/analyses/cache/redis/redis_store_impl.hpp"

namespace hondana::analyses {
namespace {

constexpr std::size_t most_connections = 16;
constexpr std::size_t most_idle_connections = 8;

/// Whether a version such as "7.0.15" is 6.2 or newer.
bool is_new_enough(std::string_view info) {
  static constexpr std::string_view name = "redis_version:";
  const auto at = info.find(name);
  if (at == std::string_view::npos) return true;  // a server that only claims to be Redis
  int major = 0, minor = 0;
  const auto rest = info.substr(at + name.size());
  const auto* const end = rest.data() + rest.size();
  const auto dot = std::from_chars(rest.data(), end, major).ptr;
  if (dot != end && *dot == '.') std::from_chars(dot + 1, end, minor);
  return major > 6 || (major == 6 && minor >= 2);
}

}  // namespace

class redis_store::borrowed {
 public:
  explicit borrowed(const redis_store& from) noexcept : from_(&from) {}
  borrowed(borrowed&& other) noexcept : from_(std::exchange(other.from_, nullptr)), own_(std::move(other.own_)) {}
  borrowed& operator=(borrowed&&) = delete;
  ~borrowed() {
    if (from_ == nullptr) return;
    const std::lock_guard held(from_->taking_);
    --from_->taken_;
    if (own_ && from_->idle_.size() < most_idle_connections) from_->idle_.push_back(std::move(own_));
    from_->given_back_.notify_one();
  }
  void give(std::unique_ptr<redis_connection> one) { own_ = std::move(one); }
  void throw_away() { own_.reset(); }
  [[nodiscard]] redis_connection* get() const noexcept { return own_.get(); }

 private:
  const redis_store* from_;
  std::unique_ptr<redis_connection> own_{};
};

redis_store::redis_store(redis_options from, redis_address where, tls_context tls)
    : options_(std::move(from)), where_(std::move(where)), tls_(std::move(tls)), root_('{' + options_.prefix + "}:analyses:") {}

void redis_store::log(std::string_view line) const {
  if (options_.log) options_.log(line);
}

result<redis_store::borrowed> redis_store::take() const {
  std::unique_lock held(taking_);
  if (!monotonic_clock::wait_for(given_back_, held, options_.patience, [this] { return taken_ < most_connections; })) {
    return hondana::fail(errc::overloaded,
                         "all connections to " + where_.name + ", where analyses are stored, are busy; retry later");
  }
  ++taken_;
  borrowed out(*this);
  while (!idle_.empty() && out.get() == nullptr) {
    auto one = std::move(idle_.back());
    idle_.pop_back();
    if (one->is_quiet()) out.give(std::move(one));
  }
  held.unlock();
  if (out.get() != nullptr) return out;
  HONDANA_TRY(auto made, redis_connection::open(where_, options_, tls_.get()));
  out.give(std::make_unique<redis_connection>(std::move(made)));
  return out;
}

result<reply> redis_store::try_once(const words& what, milliseconds longer, bool& may_repeat) const {
  auto by = take();
  if (!by) {
    may_repeat = false;  // no connection is available
    return tl::unexpected(std::move(by.error()));
  }
  auto said = by->get()->ask(what, longer);
  if (said) return said;
  may_repeat = may_repeat || !by->get()->was_sent();
  if (said.error().code == errc::timed_out) may_repeat = false;
  by->throw_away();
  return said;
}

result<reply> redis_store::ask(const words& what, repeating how, milliseconds longer) const {
  bool may_repeat = how == repeating::harmless;
  auto said = try_once(what, longer, may_repeat);
  // The server may have been restarted since.
  if (!said && may_repeat) said = try_once(what, longer, may_repeat);
  return said;
}

result<reply> redis_store::run(script which, const words& with, repeating how) const {
  words all{"EVALSHA", digests_[static_cast<std::size_t>(which)], "1", root_};
  all.insert(all.end(), with.begin(), with.end());
  auto said = ask(all, how);
  if (said && said->is_error() && said->text.starts_with("NOSCRIPT")) {
    // The server was restarted, or its scripts were flushed. Nothing was executed.
    all[0] = "EVAL";
    all[1] = text_of(which);
    said = ask(all, how);
  }
  if (said && said->is_error()) return refused_by(where_.name, *said);
  return said;
}

result<std::string> redis_store::setting(const char* name) const {
  auto said = ask({"CONFIG", "GET", name}, repeating::harmless);
  if (!said) return tl::unexpected(std::move(said.error()));
  return said->at(1).text;
}

result<void> redis_store::look_at_server() {
  HONDANA_TRY(const auto info, ask({"INFO", "server"}, repeating::harmless));
  if (info.is_error() && !info.text.starts_with("NOPERM")) return refused_by(where_.name, info);
  if (!info.is_error() && !is_new_enough(info.text))
    return hondana::fail(errc::source_unavailable, where_.name + " is older than Redis 6.2; analyses require 6.2 or newer");
  for (std::size_t i = 0; i < digests_.size(); ++i) {
    HONDANA_TRY(const auto loaded, ask({"SCRIPT", "LOAD", text_of(static_cast<script>(i))}, repeating::harmless));
    if (loaded.is_error()) return refused_by(where_.name, loaded);
    digests_[i] = loaded.text;
  }
  // Only a claim writes the format. So a server without free memory can still be opened, to read and to delete.
  const auto form_key = root_ + "form";
  HONDANA_TRY(const auto form, ask({"GET", form_key}, repeating::harmless));
  if (form.is_error()) return refused_by(where_.name, form);
  if (!form.is_null() && form.text != form_of_keys)
    return hondana::fail(errc::source_unavailable,
                         "the analyses in " + where_.name + " with the prefix " + options_.prefix +
                             " were written by a newer version of hondana; upgrade hondana, or set another redis_prefix");
  // Needs no memory, so a full server accepts it.
  HONDANA_TRY(const auto written, ask({"DEL", root_ + "none"}, repeating::harmless));
  if (written.is_error()) log(where_.name + " rejects writes of this user, so analyses are read-only: " + written.text);
  const auto appended = setting("appendonly"), synced = setting("appendfsync"), evicted = setting("maxmemory-policy");
  if (!appended || !synced || !evicted) return tl::unexpected((!appended ? appended : !synced ? synced : evicted).error());
  if (appended->empty()) {
    log("cannot check whether " + where_.name + " persists acknowledged writes: this user may not read its configuration");
    return {};
  }
  if (*appended != "yes") {
    log(where_.name + " has no append-only file: analyses are lost when it stops; set appendonly yes and appendfsync always");
  } else if (*synced != "always") {
    log(where_.name + " acknowledges writes before it syncs them (appendfsync " + *synced +
        "): a crash loses the last seconds; set appendfsync always");
  }
  if (!evicted->empty() && *evicted != "noeviction")
    log(where_.name + " evicts keys by itself (maxmemory-policy " + *evicted + "), also parts of analyses; set noeviction");
  return {};
}

result<void> redis_store::open() {
  HONDANA_TRY(look_at_server());
  HONDANA_TRY(now());
  return {};
}

result<instant> redis_store::now() const {
  HONDANA_TRY(const auto said, ask({"TIME"}, repeating::harmless));
  if (said.is_error()) return refused_by(where_.name, said);
  return instant(milliseconds(said.at(0).as_number() * 1000 + said.at(1).as_number() / 1000));
}

result<std::shared_ptr<store>> open_redis(redis_options from) {
  HONDANA_TRY(check(from));
  HONDANA_TRY(auto where, redis_address_of(from.url));
  tls_context tls;
  if (where.is_tls) {
    HONDANA_TRY(auto made, make_client_context(from));
    tls = std::move(made);
  }
  auto made = std::make_shared<redis_store>(std::move(from), std::move(where), std::move(tls));
  HONDANA_TRY(made->open());
  return std::shared_ptr<store>(std::move(made));
}

namespace {

constexpr milliseconds longest_block{100};
constexpr std::size_t most_in_page = 1000;
constexpr std::size_t most_looked_at = 10'000;
/// Separates a version of a resource from the id of an analysis based on it.
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
    // A store that was created again counts changes from 1.
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

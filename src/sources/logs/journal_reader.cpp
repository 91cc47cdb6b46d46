/// Reads entries of a journal, masks them, and collects them into pages, newest first.
#include "sources/logs/journal_reader.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <utility>

#include <hondana/clock.hpp>

#include "base/bytes/digest.hpp"
#include "base/json/base64.hpp"
#include "base/json/utf8.hpp"
#include "protocol/model/caller_checks.hpp"
#include "sources/logs/journal_library.hpp"
#include "sources/logs/records/masking.hpp"
#include "sources/logs/records/severity.hpp"
#include "text/secrets/redactor.hpp"

namespace hondana::logs {
namespace {

/// The raw value of a field. Nothing if the entry does not have it, or it cannot be read.
std::optional<std::string_view> datum(const journal_library& by, sd_journal* from, const char* field) {
  const void* data = nullptr;
  std::size_t size = 0;
  if (by.get_data(from, field, &data, &size) < 0 || data == nullptr) return std::nullopt;
  std::string_view all(static_cast<const char*>(data), size);
  const auto sign = all.find('=');
  if (sign == std::string_view::npos) return std::nullopt;
  return all.substr(sign + 1);
}

/// Removes line ends at the end of the text.
std::string clean_text(std::string_view raw) {
  while (!raw.empty() && (raw.back() == '\n' || raw.back() == '\r')) raw.remove_suffix(1);
  return records::answerable(raw);
}

/// Extra bytes after the returned part, so that a secret that is cut there is recognized.
constexpr std::size_t deciding_bytes = 4u << 10;

void take_message(std::string_view raw, std::size_t record_bytes, entry_part part, journal_entry& into) {
  const auto front = std::max(record_bytes, tail_bytes) + deciding_bytes;
  if (raw.size() <= tail_bytes || part == entry_part::all) {
    auto kept = raw.substr(0, front);
    if (kept.size() < raw.size()) kept.remove_suffix(json::incomplete_tail(kept));
    into.cut = raw.size() - kept.size();
    into.message = into.cut == 0 ? clean_text(kept) : records::answerable(kept);
  }
  if (raw.size() > tail_bytes) into.tail = clean_text(raw.substr(raw.size() - tail_bytes));
}

template <class Each>
void each_line(std::string_view text, const Each& each) {
  for (std::size_t at = 0; at <= text.size();) {
    const auto end = std::min(text.find('\n', at), text.size());
    each(text.substr(at, end - at), at);
    at = end + 1;
  }
}

std::size_t stretches_of_asterisks(std::string_view before, std::string_view after) {
  std::size_t count = 0;
  bool was = false;
  for (std::size_t i = 0; i < after.size(); ++i) {
    const bool is = after[i] == '*' && before[i] != '*';
    if (is && !was) ++count;
    was = is || (was && after[i] == '*');
  }
  return count;
}

}  // namespace

bool is_journal_field(std::string_view name) noexcept {
  return !name.empty() && name.size() <= 64 && !(name.front() >= '0' && name.front() <= '9') &&
         std::all_of(name.begin(), name.end(),
                     [](char c) { return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; });
}

journal_entry read_entry(const journal_library& by, sd_journal* from, const journal_fields& asked, bool redact,
                         std::size_t record_bytes, entry_part part) {
  journal_entry out;
  std::uint64_t time = 0;
  if (by.get_realtime_usec(from, &time) >= 0) out.time = static_cast<records::instant>(time);
  // Data is valid until the next call only.
  if (const auto pid = datum(by, from, "_PID")) out.process = *pid;
  if (const auto priority = datum(by, from, "PRIORITY")) {
    int number = -1;
    const auto [end, problem] = std::from_chars(priority->data(), priority->data() + priority->size(), number);
    if (problem == std::errc() && end == priority->data() + priority->size()) out.level = records::severity_of_priority(number);
  }
  for (const auto* field : {"_SYSTEMD_UNIT", "SYSLOG_IDENTIFIER", "_COMM", "_TRANSPORT"}) {
    if (!out.source.empty()) break;
    if (const auto value = datum(by, from, field)) out.source = clean_text(*value);
  }
  // A message of systemd about a unit.
  if (out.source == "init.scope")
    if (const auto unit = datum(by, from, "UNIT")) out.source = clean_text(*unit);
  if (redact) out.source = secrets::redact_text(out.source);
  for (const auto& [name, wanted] : asked) {
    const auto raw = datum(by, from, name.c_str());
    auto value = raw ? name + '=' + clean_text(*raw) : std::string();
    if (redact) value = secrets::redact_text(value);
    out.has_fields = out.has_fields && value == name + '=' + wanted;
  }
  if (const auto message = datum(by, from, "MESSAGE")) take_message(*message, record_bytes, part, out);
  return out;
}

void add_fields(const journal_library& by, sd_journal* from, std::string_view name, bool redact, journal_fields& into) {
  constexpr int most_of_entry = 256;  // of one entry
  by.restart_data(from);
  const void* data = nullptr;
  std::size_t size = 0;
  for (int count = 0; count < most_of_entry && by.enumerate_data(from, &data, &size) > 0; ++count) {
    const std::string_view all(static_cast<const char*>(data), size);
    const auto sign = std::min(all.find('='), all.size());
    const auto called = all.substr(0, sign);
    if (!is_journal_field(called) || called == "MESSAGE" || (!name.empty() && called != name)) continue;
    std::string value;
    if (!name.empty()) {
      // In the form that filters compare.
      value = std::string(called) + '=' + clean_text(all.substr(std::min(sign + 1, all.size())));
      if (redact) value = secrets::redact_text(value);
      value.erase(0, std::min(value.size(), called.size() + 1));
    }
    into.emplace_back(called, std::move(value));
  }
}

std::string cursor_at(const journal_library& by, sd_journal* from) {
  char* raw = nullptr;
  if (by.get_cursor(from, &raw) < 0 || raw == nullptr) return {};
  std::string out(raw);
  std::free(raw);
  return out;
}

secrets::line_masker& entry_masker::lines_of(const std::string& process) {
  if (const auto found = recent_.find(process); found != recent_.end()) return found->second;
  if (recent_.size() >= most_processes) {
    former_ = std::move(recent_);
    recent_.clear();
  }
  const auto known = former_.find(process);
  return recent_.emplace(process, known == former_.end() ? secrets::line_masker() : known->second).first->second;
}

void entry_masker::pass(const journal_entry& one) {
  auto& lines = lines_of(one.process);
  each_line(one.tail.empty() ? one.message : one.tail,
            [&lines](std::string_view line, std::size_t) { static_cast<void>(lines.masked(line)); });
}

std::size_t entry_masker::mask(journal_entry& one) {
  auto whole = secrets::redact_text(one.message);
  auto lines = lines_of(one.process);
  each_line(one.message, [&](std::string_view line, std::size_t at) {
    const auto masked = lines.masked(line);
    for (std::size_t i = 0; i < masked.size() && at + i < whole.size(); ++i)
      if (masked[i] != line[i]) whole[at + i] = masked[i];
  });
  // A page that reads only the tail of this entry must get the same state.
  if (one.tail.empty())
    lines_of(one.process) = lines;
  else
    pass(one);
  const auto count = stretches_of_asterisks(one.message, whole);
  // Asterisks may have replaced part of a UTF-8 character.
  if (!json::is_utf8(whole)) {
    std::string sound;
    json::append_replacing(sound, whole);
    whole = std::move(sound);
  }
  one.message = std::move(whole);
  return count + (records::may_hide(one.message) ? records::mask_hidden(one.message, false) : 0);
}

namespace {

constexpr std::size_t longest_cursor = 1024;
/// Estimated size of an entry without its message.
constexpr std::uint64_t entry_cost = 512;
constexpr std::size_t entries_a_look = 64;
/// Of the messages in memory at the same time.
constexpr std::size_t most_held = std::size_t{8} << 20;
/// After this many consecutive entries before `since`, all older ones are assumed to be too.
constexpr std::size_t most_too_old = 64;

using steady = monotonic_clock;

std::string size_text(std::uint64_t bytes) {
  return bytes >= (1u << 20) ? std::to_string(bytes >> 20) + " MiB" : std::to_string(bytes >> 10) + " KiB";
}

/// Collects one page.
class paging {
 public:
  paging(const journal_library& by, sd_journal* in, const journal_query& of, bool redact, const records::budget& most,
         const call& call)
      : by_(by), in_(in), of_(of), redact_(redact), most_(most), call_(call) {}

  result<records::page> run() {
    HONDANA_TRY(seek());
    std::vector<journal_entry> block;
    HONDANA_TRY(fill(block, false));
    while (!block.empty() && !is_full_) {
      std::vector<journal_entry> older;
      // Older entries influence the masking, even if there is no time for more records.
      HONDANA_TRY(fill(older, true));
      take(block, older);
      if (!is_full_ && !out_.ended_early.empty()) {
        // The next page starts with the entries that only influenced the masking.
        return finish(true);
      }
      HONDANA_TRY(go_back_to_whole(older));
      block = std::move(older);
    }
    return finish(is_full_);
  }

 private:
  result<void> seek() {
    int code = 0;
    if (!of_.what.cursor.empty()) {
      HONDANA_TRY(auto cursor, cursor_in(of_, of_.what.cursor));
      if (by_.seek_cursor(in_, cursor.c_str()) < 0) return foreign();
      after_ = std::move(cursor);
      last_ = after_;
    } else {
      code = of_.what.until
                 ? by_.seek_realtime_usec(in_, static_cast<std::uint64_t>(std::max<records::instant>(*of_.what.until, 0)))
                 : by_.seek_tail(in_);
    }
    if (code < 0) return tl::unexpected(journal_failure("searched", code));
    return {};
  }
  static tl::unexpected<failure> foreign() {
    return fail(errc::invalid_argument, "cursor: not a cursor of this query. Leave it out to begin with the newest records.");
  }

  /// Reads up to `deciding_entries` older entries. If they take much memory or the time is up, stops. With `are_all`, reads the
  /// rest in part instead, since these entries may only influence the masking of others.
  result<void> fill(std::vector<journal_entry>& into, bool are_all) {
    std::size_t held = 0;
    whole_ = 0;
    while (into.size() < deciding_entries && !is_at_beginning_) {
      if (read_++ % entries_a_look == 0) HONDANA_TRY(still_wanted(call_));
      const bool is_much = held >= most_held || (!into.empty() && steady::now() >= most_.deadline);
      if (is_much && !are_all) return {};
      const int code = by_.previous(in_);
      if (code < 0) {
        out_.remarks.emplace_back("The journal is damaged: older records could not be read.");
        is_at_beginning_ = true;
      }
      if (code == 0) is_at_beginning_ = true;
      if (code <= 0) return {};
      if (!after_.empty() && by_.test_cursor(in_, after_.c_str()) > 0) {
        after_.clear();
        continue;
      }
      after_.clear();
      auto one = read_entry(by_, in_, of_.fields, redact_, most_.record_bytes, is_much ? entry_part::tail : entry_part::all);
      one.cursor = cursor_at(by_, in_);
      held += one.held_bytes() + entry_cost;
      if (!is_much) {
        scanned_ += one.message.size() + one.cut + entry_cost;
        whole_ = into.size() + 1;
      }
      into.push_back(std::move(one));
    }
    return {};
  }

  /// Drops entries that were read in part, and moves back so that they are read again.
  result<void> go_back_to_whole(std::vector<journal_entry>& all) {
    if (whole_ >= all.size()) return {};
    all.resize(whole_);
    after_ = all.back().cursor;
    is_at_beginning_ = false;
    if (const int code = by_.seek_cursor(in_, after_.c_str()); code < 0)
      return tl::unexpected(journal_failure("searched", code));
    return {};
  }

  /// Masks a block, for which the entries before it are needed, and adds the matching ones to the page.
  void take(std::vector<journal_entry>& block, const std::vector<journal_entry>& older) {
    if (redact_) mask(block, older);
    for (std::size_t i = 0; i < block.size() && !is_full_; ++i) {
      auto& one = block[i];
      last_ = one.cursor;
      if (of_.what.since && one.time < *of_.what.since) {
        if (++too_old_ >= most_too_old) return end_here();
        continue;
      }
      too_old_ = 0;
      take_one(std::move(one), redact_ ? counts_[i] : 0);
    }
    if (is_full_) return;
    if (scanned_ >= most_.scanned_bytes)
      out_.ended_early = size_text(most_.scanned_bytes) + " were searched, the limit of one answer";
    else if (steady::now() >= most_.deadline)
      out_.ended_early = "the time limit of one answer was reached";
  }

  void take_one(journal_entry one, std::size_t masked) {
    const bool has_fields = one.has_fields;
    auto record = record_of(std::move(one), most_.record_bytes);
    if (!has_fields || !of_.matches.accepts(record)) return;
    bytes_ += record.text.size();
    out_.masked += masked;
    out_.records.push_back(std::move(record));
    if (out_.records.size() >= of_.what.lines) is_full_ = true;
    if (!is_full_ && bytes_ >= most_.answer_bytes) {
      out_.ended_early = size_text(most_.answer_bytes) + " of records are the limit of one answer";
      is_full_ = true;
    }
  }

  void mask(std::vector<journal_entry>& block, const std::vector<journal_entry>& older) {
    entry_masker with;
    for (auto one = older.rbegin(); one != older.rend(); ++one) with.pass(*one);
    counts_.assign(block.size(), 0);
    for (std::size_t i = block.size(); i-- > 0;) counts_[i] = with.mask(block[i]);
  }

  void end_here() {
    is_full_ = true;
    is_over_ = true;
  }

  result<records::page> finish(bool has_more) {
    if (has_more && !is_over_ && !last_.empty()) out_.next = page_cursor(of_, last_);
    return std::move(out_);
  }

  const journal_library& by_;
  sd_journal* in_;
  const journal_query& of_;
  const bool redact_;
  const records::budget& most_;
  const call& call_;
  records::page out_;
  std::string after_;  // end of the previous page, until the journal has passed it
  std::string last_;   // the last entry that was checked
  std::vector<std::size_t> counts_;
  std::size_t whole_ = 0;  // of the entries that were read last: the number read completely
  std::size_t read_ = 0, too_old_ = 0, bytes_ = 0;
  std::uint64_t scanned_ = 0;
  bool is_at_beginning_ = false, is_full_ = false, is_over_ = false;
};

}  // namespace

result<journal_query> journal_query::of(const records::query& asked) {
  auto what = asked;
  journal_fields fields;
  std::erase_if(what.fields, [&fields](const auto& field) {
    if (!is_journal_field(field.first)) return false;
    fields.push_back(field);
    return true;
  });
  HONDANA_TRY(auto compiled, records::matcher::compile(what));
  bytes::digester all;
  const auto feed = [&all](std::string_view part) {
    all.feed(std::to_string(part.size()) + ':');
    all.feed(part);
  };
  feed(asked.since ? std::to_string(*asked.since) : "");
  feed(asked.until ? std::to_string(*asked.until) : "");
  feed(asked.at_least ? records::name_of(*asked.at_least) : "");
  feed(asked.grep);
  for (const auto& [path, value] : asked.fields) {
    feed(path);
    feed(value);
  }
  constexpr std::size_t mark_size = 16;
  return journal_query{std::move(what), std::move(fields), std::move(compiled),
                       bytes::to_hex(all.value()).substr(0, mark_size)};
}

std::string page_cursor(const journal_query& of, std::string_view cursor) { return of.mark + '.' + json::base64url(cursor); }

result<std::string> cursor_in(const journal_query& of, std::string_view text) {
  const auto point = text.find('.');
  auto raw = point == std::string_view::npos || text.size() > longest_cursor || text.substr(0, point) != of.mark
                 ? std::nullopt
                 : json::decode_base64url(text.substr(point + 1));
  if (!raw || raw->empty() || raw->find('\0') != std::string::npos)
    return fail(errc::invalid_argument,
                "cursor: not a cursor of this query. Leave it out to begin with the newest records, or repeat the query that "
                "returned it.");
  return std::move(*raw);
}

records::record record_of(journal_entry&& one, std::size_t most) {
  records::record out;
  out.time = one.time;
  out.has_own_time = true;
  out.level = one.level;
  out.source = std::move(one.source);
  out.text = std::move(one.message);
  out.cut = one.cut;
  if (out.text.size() > most) {
    const auto whole = out.text.size();
    out.text.resize(most);
    out.text.resize(most - json::incomplete_tail(out.text));
    out.cut += whole - out.text.size();
  }
  return out;
}

result<records::page> read_page(const journal_library& by, sd_journal* in, const journal_query& of, bool redact,
                                const records::budget& most, const call& call) {
  return paging(by, in, of, redact, most, call).run();
}

}  // namespace hondana::logs

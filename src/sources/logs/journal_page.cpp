/// Going back entry by entry, with as many older ones in mind as decide what is masked.
#include "sources/logs/journal_page.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include <hondana/clock.hpp>

#include "base/bytes/digest.hpp"
#include "base/json/base64.hpp"
#include "base/json/utf8.hpp"
#include "protocol/model/still_wanted.hpp"
#include "sources/logs/journal_opening.hpp"

namespace hondana::logs {
namespace {

constexpr std::size_t longest_cursor = 1024;
/// What an entry costs besides its message.
constexpr std::uint64_t entry_cost = 512;
constexpr std::size_t entries_a_look = 64;
/// Of messages that are held to be answered, at a time.
constexpr std::size_t most_held = std::size_t{8} << 20;
/// Entries that are too old, one after the other, until it is believed that all others are.
constexpr std::size_t most_too_old = 64;

using steady = monotonic_clock;

std::string size_text(std::uint64_t bytes) {
  return bytes >= (1u << 20) ? std::to_string(bytes >> 20) + " MiB" : std::to_string(bytes >> 10) + " KiB";
}

/// One page in the making.
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
      // What is older decides, whether or not there is time for more records.
      HONDANA_TRY(fill(older, true));
      take(block, older);
      if (!is_full_ && !out_.ended_early.empty()) {
        // What was only looked at comes first next time.
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

  /// Up to `deciding_entries` older ones. Once they hold much, those that only decide about others (`are_all`: as many as that
  /// takes) are read in part; else that ends it, as does a time that is up.
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

  /// Leaves those that were read in part to be read again.
  result<void> go_back_to_whole(std::vector<journal_entry>& all) {
    if (whole_ >= all.size()) return {};
    all.resize(whole_);
    after_ = all.back().cursor;
    is_at_beginning_ = false;
    if (const int code = by_.seek_cursor(in_, after_.c_str()); code < 0)
      return tl::unexpected(journal_failure("searched", code));
    return {};
  }

  /// Masks a block, for which the entries before it are needed, and takes what was asked for.
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
  std::string after_;  // where the page before ended, until that was passed
  std::string last_;   // the last entry that was looked at
  std::vector<std::size_t> counts_;
  std::size_t whole_ = 0;  // of those that were read last, not only in part
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

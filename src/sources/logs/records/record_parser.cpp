/// Finds the records in a block of a log file, and parses each: text, time, level and cut.
#include "sources/logs/records/record_parser.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/json/utf8.hpp"
#include "sources/logs/records/masking.hpp"
#include "sources/logs/records/severity.hpp"

namespace hondana::records {
namespace {

/// The first beginning of a line at or after `from`. The end of the block if there is none.
std::uint64_t line_at(const block& in, std::uint64_t from) noexcept {
  if (from == 0) return 0;
  if (from >= in.end) return in.end;
  const auto found = std::string_view(in.bytes).find('\n', static_cast<std::size_t>(from - 1 - in.base));
  if (found == std::string_view::npos) return in.end;
  return std::min(in.base + found + 1, in.end);
}

}  // namespace

bool begins_at(const block& in, std::uint64_t at, const framing& by) { return at == 0 || by.begins(in.from(at)); }

void record_starts(const block& in, const framing& by, std::vector<std::uint64_t>& into) {
  into.clear();
  for (auto at = line_at(in, in.begin); at < in.end; at = line_at(in, at + 1)) {
    if (begins_at(in, at, by)) into.push_back(at);
  }
}

std::optional<std::uint64_t> next_start(const block& in, const framing& by, std::uint64_t from) {
  for (auto at = line_at(in, std::max(from, in.begin)); at < in.end; at = line_at(in, at + 1)) {
    if (begins_at(in, at, by)) return at;
  }
  return std::nullopt;
}

std::optional<std::uint64_t> last_start(const block& in, const framing& by, std::uint64_t before) {
  const std::string_view bytes = in.bytes;
  for (auto limit = static_cast<std::size_t>(before - in.base); limit >= 2;) {
    const auto found = bytes.rfind('\n', limit - 2);
    if (found == std::string_view::npos) break;
    const auto at = in.base + found + 1;
    if (at < in.begin) return std::nullopt;
    if (begins_at(in, at, by)) return at;
    limit = found + 1;
  }
  return in.begin == 0 && before > 0 ? std::optional<std::uint64_t>(0) : std::nullopt;
}

result<record_maker::made> record_maker::make(const block& at_hand, std::uint64_t begin, std::uint64_t end) {
  const auto kept = std::min(end, begin + most_);
  // Text after the cut decides whether a secret ends before it.
  const auto seen = std::min(end, kept + looks_ahead_bytes);
  block loaded;
  if (!at_hand.holds(begin, seen)) {
    HONDANA_TRY(auto got, through_.load(begin, kept));
    loaded = std::move(got);
  }
  const auto& from = at_hand.holds(begin, seen) ? at_hand : loaded;
  const auto whole = from.from(begin).substr(0, static_cast<std::size_t>(seen - begin));
  auto text = whole.substr(0, static_cast<std::size_t>(kept - begin));
  made out;
  out.masked = from.secrets_in(begin, kept);
  if (kept < end) text.remove_suffix(json::incomplete_tail(text));
  out.what.cut = end - begin - text.size();
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r') && kept == end) text.remove_suffix(1);
  out.what.text = through_.cleaned(text);
  // Parts that an escape sequence had separated are now adjacent.
  const bool is_other = out.what.text != text;
  if (is_other || may_hide(text)) {
    const auto size = out.what.text.size();
    if (kept < end) out.what.text += through_.cleaned(whole.substr(text.size()));
    out.masked += through_.mask_again(out.what.text, is_other);
    out.what.text.resize(size);
  }
  if (out.what.text.size() > most_) {
    auto size = most_;
    while (size > 0 && (static_cast<unsigned char>(out.what.text[size]) & 0xC0) == 0x80) --size;
    out.what.cut += out.what.text.size() - size;
    out.what.text.resize(size);
  }
  if (const auto own = of_.times.of_line(out.what.text)) {
    out.what.time = own->time;
    out.what.has_own_time = true;
  }
  out.what.level = severity_of(out.what.text);
  out.what.source = of_.of.listed.name;
  return out;
}

bool record_maker::look_in(const block& in, std::uint64_t begin) {
  for (auto at = last_start(in, of_.frame, std::min(begin, in.end)); at; at = last_start(in, of_.frame, *at)) {
    if (*at >= known_from_ && *at < known_to_) {
      known_to_ = begin;
      return true;
    }
    if (const auto found = of_.times.of_line(in.from(*at))) {
      known_from_ = *at;
      known_to_ = begin;
      known_ = found->time;
      return true;
    }
    if (*at == 0) break;
  }
  return false;
}

result<std::optional<instant>> record_maker::time_before(const block& at_hand, std::uint64_t begin) {
  if (begin == 0 || !of_.frame.has_times()) return std::optional<instant>();
  if (begin > known_from_ && begin <= known_to_) return known_;
  if (begin > at_hand.begin && begin <= at_hand.end && look_in(at_hand, begin)) return known_;
  const auto from = begin - std::min(begin, looks_back_bytes);
  HONDANA_TRY(const auto older, through_.load(from, begin));
  if (!look_in(older, begin)) {
    // No time is near, so the result is also valid for records after `from`.
    known_from_ = from;
    known_to_ = begin;
    known_.reset();
  }
  return known_;
}

}  // namespace hondana::records

/// Cutting out, cleaning, and finding out what a record says of itself.
#include "sources/logs/records/record_maker.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/json/utf8.hpp"
#include "sources/logs/records/answerable.hpp"
#include "sources/logs/records/hidden_secrets.hpp"
#include "sources/logs/records/severity.hpp"

namespace hondana::records {

result<record_maker::made> record_maker::make(const block& at_hand, std::uint64_t begin, std::uint64_t end) {
  const auto kept = std::min(end, begin + most_);
  // What is behind a cut decides whether a secret ends before it.
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
  // What escapes stood between has come together.
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
    // Nothing near: so it is for all that follow from there.
    known_from_ = from;
    known_to_ = begin;
    known_.reset();
  }
  return known_;
}

}  // namespace hondana::records

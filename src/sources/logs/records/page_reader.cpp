/// Reads one page of a log in files, the newest record first.
#include "sources/logs/records/page_reader.hpp"

#include <re2/re2.h>

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include <hondana/clock.hpp>

#include "base/json/utf8.hpp"
#include "protocol/model/caller_checks.hpp"
#include "sources/logs/records/opened_files.hpp"
#include "sources/logs/records/record_parser.hpp"
#include "sources/logs/records/time_search.hpp"

namespace hondana::records {
namespace {

constexpr std::uint64_t first_block = 64u << 10;
constexpr std::uint64_t largest_block = 1u << 20;
constexpr instant clock_slack = 1'000'000;
constexpr std::uint64_t most_steps = 64u << 20;  // of matching, between two checks of the time
constexpr std::uint64_t least_searched = 512;
constexpr std::size_t most_disappointments = 16;  // matches in a block that were not in a single record
constexpr std::size_t most_remarks = 20;

/// Whether the text is returned unchanged, so that matches in the original text are also matches in the result.
bool is_as_answered(std::string_view text) noexcept {
  unsigned bad = 0;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    bad |= static_cast<unsigned>((byte < 0x20) & (byte != '\n') & (byte != '\t')) | static_cast<unsigned>(byte == 0x7F);
  }
  return bad == 0 && json::is_utf8(text);
}

class page_maker {
 public:
  page_maker(const listed_set& all, members& with, const page_request& request)
      : set_(all, with, request.by, request.redact), request_(request) {
    for (const auto& one : all.remarks) remark(one);
  }

  result<page> make();

 private:
  enum class step : std::uint8_t { on, ended };

  result<step> go_through(std::size_t which, std::uint64_t end, std::uint64_t scanned);
  result<step> go_backwards(std::size_t which, const member& in, std::uint64_t end, std::uint64_t scanned,
                            const stretch& where);
  /// Takes the records that begin in a block, newest first. `end` is the end of the last one, and is set to the beginning of
  /// the first.
  result<step> take_block(std::size_t which, const block& in, std::uint64_t& end);
  result<step> take_candidates(std::size_t which, const block& in, std::uint64_t& end);
  /// Finds the records in [begin, end) that may match, in order. Both ends are record boundaries.
  void find_candidates(const block& in, std::uint64_t begin, std::uint64_t end, std::uint64_t piece);
  /// Ends the page if the time is up. Everything from `end` on was taken.
  result<step> look_at_clock(std::size_t which, std::uint64_t end);
  result<step> take(std::size_t which, const block& in, std::uint64_t begin, std::uint64_t end);
  result<step> end_early(std::size_t which, const member& in, std::uint64_t end, std::uint64_t scanned, std::string why);
  result<void> point_to(std::size_t which, const member& in, std::uint64_t end, std::uint64_t scanned);

  [[nodiscard]] bool is_time_up() const {
    const auto now = monotonic_clock::now();
    return now > request_.most.deadline || now > request_.by.deadline;
  }
  void remark(std::string text) {
    if (out_.remarks.size() < most_remarks && std::find(out_.remarks.begin(), out_.remarks.end(), text) == out_.remarks.end()) {
      out_.remarks.push_back(std::move(text));
    }
  }
  [[nodiscard]] bool is_too_old(std::size_t which) const {
    return request_.what.since && set_.listed(which).facts.modified / 1000 + write_slack < *request_.what.since;
  }

  opened_set set_;
  const page_request& request_;
  page out_;
  std::uint64_t looked_through_ = 0;
  std::size_t text_bytes_ = 0;
  // Of the current file.
  const member* in_ = nullptr;
  window* through_ = nullptr;
  record_maker* maker_ = nullptr;
  std::optional<instant> newer_;
  std::vector<std::uint64_t> starts_;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> candidates_;
};

result<page> page_maker::make() {
  auto which = set_.size();
  std::shared_ptr<const member> newer;
  if (!request_.what.cursor.empty()) {
    const auto at = position_in(request_.what.cursor);
    if (!at) {
      return fail(errc::invalid_argument, "cursor: not a cursor of this log. Leave it out to begin with the newest records.");
    }
    std::string why;
    HONDANA_TRY(const auto found, set_.find(*at, why));
    if (!found) {
      remark(why);
      return std::move(out_);
    }
    which = found->which;
    newer = found->in;
    HONDANA_TRY(const auto done, go_through(which, at->end, at->scanned));
    if (done == step::ended) return std::move(out_);
  }
  std::optional<failure> refused;
  bool is_any = newer != nullptr;
  while (which-- > 0) {
    if (is_too_old(which)) continue;
    if (newer) {
      const auto is_twin = set_.is_copy(which, *newer);
      if (is_twin && *is_twin) continue;
    }
    auto in = set_.get(which);
    if (!in) {
      auto& why = in.error();
      const bool is_later = why.code == errc::content_changed || why.code == errc::timed_out;
      if (why.code == errc::cancelled) return tl::unexpected(std::move(why));
      if (is_later && newer) {
        HONDANA_TRY(end_early(which + 1, *newer, 0, 0,
                              why.code == errc::timed_out
                                  ? "The time limit was reached while " + set_.listed(which).name + " was being decompressed."
                                  : "The log files were rotated during the request."));
        return std::move(out_);
      }
      if (is_later) return tl::unexpected(std::move(why));
      remark(left_out(set_.listed(which).name, why));
      if (!refused) refused = why;
      continue;
    }
    is_any = true;
    HONDANA_TRY(const auto done, go_through(which, (*in)->end, (*in)->end));
    if (done == step::ended) return std::move(out_);
    newer = *in;
  }
  if (!is_any && refused) return tl::unexpected(std::move(*refused));
  return std::move(out_);
}

result<page_maker::step> page_maker::go_through(std::size_t which, std::uint64_t end, std::uint64_t scanned) {
  HONDANA_TRY(const auto held, set_.get(which));
  const auto& in = *held;
  if (!in.trouble.empty()) remark(read_in_part(in));
  const auto& since = request_.what.since;
  const auto& until = request_.what.until;
  if (until && begins_behind(in, *until)) return step::on;
  HONDANA_TRY(const auto where, stretch_of(in, since, until, request_.by));
  if (where.goes_back)
    remark("Timestamps go backwards in " + in.of.listed.name + "; records that are out of order may be missing.");
  auto window = set_.window_onto(which, in);
  record_maker maker(in, window, request_.most.record_bytes);
  in_ = &in;
  through_ = &window;
  maker_ = &maker;
  newer_.reset();
  return go_backwards(which, in, end, scanned, where);
}

result<page_maker::step> page_maker::go_backwards(std::size_t which, const member& in, std::uint64_t end, std::uint64_t scanned,
                                                  const stretch& where) {
  auto at = std::min(scanned, in.end);
  end = std::min(end, in.end);
  if (where.end < at) at = end = where.end;  // later records are not wanted, nor is one that is cut here
  bool is_cut = where.end < in.end && at == where.end;
  auto size = first_block;
  while (at > where.begin) {
    if (request_.by.stop.stop_requested()) return fail(errc::cancelled, "The request was cancelled.");
    if (is_time_up()) return end_early(which, in, end, at, "The time limit was reached");
    if (looked_through_ >= request_.most.scanned_bytes) {
      return end_early(which, in, end, at,
                       std::to_string(request_.most.scanned_bytes >> 20) + " MiB were searched, the limit of one answer");
    }
    const auto begin = at - std::min({at, size, std::max<std::uint64_t>(request_.most.scanned_bytes - looked_through_, 4096)});
    HONDANA_TRY(auto loaded, through_->load(begin, at));
    looked_through_ += at - begin;
    if (is_cut) {
      // The last record boundary below the cut ends the first whole record.
      const auto last = last_start(loaded, in.frame, at);
      if (last) {
        end = *last;
        is_cut = false;
      }
    }
    if (!is_cut) {
      auto done = take_block(which, loaded, end);
      if (!done || *done == step::ended) return done;
    }
    at = begin;
    size = std::min(size * 2, largest_block);
  }
  return step::on;
}

result<page_maker::step> page_maker::take_block(std::size_t which, const block& in, std::uint64_t& end) {
  if (request_.wanted.filter() != nullptr) return take_candidates(which, in, end);
  record_starts(in, in_->frame, starts_);
  while (!starts_.empty() && starts_.back() >= end) starts_.pop_back();
  for (auto one = starts_.rbegin(); one != starts_.rend(); ++one) {
    auto done = take(which, in, *one, end);
    if (done && *done == step::on) done = look_at_clock(which, *one);
    if (!done || *done == step::ended) return done;
    end = *one;
  }
  return step::on;
}

result<page_maker::step> page_maker::look_at_clock(std::size_t which, std::uint64_t end) {
  if (request_.by.stop.stop_requested()) return fail(errc::cancelled, "The request was cancelled.");
  if (!is_time_up() || (which == 0 && end == 0)) return step::on;
  return end_early(which, *in_, end, end, "The time limit was reached");
}

result<page_maker::step> page_maker::take_candidates(std::size_t which, const block& in, std::uint64_t& end) {
  const auto last = last_start(in, in_->frame, std::min(in.end, end));
  if (!last) return step::on;
  auto done = take(which, in, *last, end);
  if (!done || *done == step::ended) return done;
  end = *last;
  const auto first = next_start(in, in_->frame, in.begin);
  if (!first) return step::on;
  starts_.clear();
  const auto piece = std::max<std::uint64_t>(most_steps / static_cast<unsigned>(request_.wanted.filter()->ProgramSize()), 4096);
  while (end > *first) {
    if (auto goes = look_at_clock(which, end); !goes || *goes == step::ended) return goes;
    const auto begin = end - *first > piece ? last_start(in, in_->frame, end - piece).value_or(*first) : *first;
    find_candidates(in, begin, end, piece);
    for (auto one = candidates_.rbegin(); one != candidates_.rend(); ++one) {
      done = take(which, in, one->first, one->second);
      if (done && *done == step::on) done = look_at_clock(which, one->first);
      if (!done || *done == step::ended) return done;
    }
    end = begin;
  }
  return step::on;
}

void page_maker::find_candidates(const block& in, std::uint64_t begin, std::uint64_t end, std::uint64_t piece) {
  const auto part = [&](std::uint64_t from, std::uint64_t to) {
    return in.from(from).substr(0, static_cast<std::size_t>(to - from));
  };
  candidates_.clear();
  bool is_sure = end - begin <= 2 * piece && is_as_answered(part(begin, end));
  // Search from match to match. A record is a candidate if it also matches on its own. The searched part grows while nothing is
  // found, so that expressions that look far ahead read each byte only a few times.
  std::size_t disappointments = 0;
  auto size = least_searched;
  for (auto from = begin; is_sure && from < end;) {
    const auto to = end - from > size ? std::min(next_start(in, in_->frame, from + size).value_or(end), end) : end;
    const auto text = part(from, to);
    re2::StringPiece hit;
    const re2::StringPiece whole(text.data(), text.size());
    if (!request_.wanted.filter()->Match(whole, 0, text.size(), re2::RE2::UNANCHORED, &hit, 1)) {
      from = to;
      size = std::min(size * 2, piece);
      continue;
    }
    if (starts_.empty()) record_starts(in, in_->frame, starts_);
    const auto at = from + static_cast<std::uint64_t>(hit.data() - text.data());
    const auto behind = std::upper_bound(starts_.begin(), starts_.end(), std::min(at, to - 1));
    const auto next = behind == starts_.end() ? end : std::min(*behind, end);
    const auto one = part(*std::prev(behind), next);
    if (request_.wanted.accepts_text(one.substr(0, one.size() - static_cast<std::size_t>(one.ends_with('\n'))))) {
      candidates_.emplace_back(*std::prev(behind), next);
    } else {
      is_sure = ++disappointments <= most_disappointments;
    }
    from = next;
    size = least_searched;
  }
  if (is_sure) return;
  candidates_.clear();
  if (starts_.empty()) record_starts(in, in_->frame, starts_);
  for (auto one = std::lower_bound(starts_.begin(), starts_.end(), begin); one != starts_.end() && *one < end; ++one) {
    candidates_.emplace_back(*one, std::next(one) != starts_.end() ? std::min(*std::next(one), end) : end);
  }
}

result<page_maker::step> page_maker::take(std::size_t which, const block& in, std::uint64_t begin, std::uint64_t end) {
  HONDANA_TRY(auto made, maker_->make(in, begin, end));
  auto& one = made.what;
  if (one.has_own_time) {
    if (newer_ && *one.time > *newer_ + clock_slack) remark("Timestamps go backwards in " + one.source + ".");
    newer_ = one.time;
  }
  if (one.text.empty() || !request_.wanted.accepts_level(one.level)) return step::on;
  if (!one.has_own_time) {
    HONDANA_TRY(const auto time, maker_->time_before(in, begin));
    one.time = time;
  }
  if (!request_.wanted.accepts_time(one.time) || !request_.wanted.accepts_text(one.text)) return step::on;
  if (!out_.records.empty() && text_bytes_ + one.text.size() > request_.most.answer_bytes) {
    return end_early(which, *in_, end, end, "The answer has " + std::to_string(text_bytes_ >> 10) + " KiB");
  }
  text_bytes_ += one.text.size();
  out_.masked += made.masked;
  out_.records.push_back(std::move(one));
  if (out_.records.size() < std::max<std::size_t>(request_.what.lines, 1)) return step::on;
  HONDANA_TRY(point_to(which, *in_, begin, begin));
  return step::ended;
}

result<void> page_maker::point_to(std::size_t which, const member& in, std::uint64_t end, std::uint64_t scanned) {
  if (which == 0 && end == 0) return {};
  HONDANA_TRY(const auto at, position_at(in, end, scanned));
  out_.next = to_text(at);
  return {};
}

result<page_maker::step> page_maker::end_early(std::size_t which, const member& in, std::uint64_t end, std::uint64_t scanned,
                                               std::string why) {
  HONDANA_TRY(point_to(which, in, end, scanned));
  if (why.ends_with('.')) why.pop_back();
  out_.ended_early = why + ": continue with the cursor, or narrow the request with since, until, level, grep or field.";
  return step::ended;
}

}  // namespace

result<page> read_page(const listed_set& all, members& with, const page_request& request) {
  return page_maker(all, with, request).make();
}

std::string read_in_part(const member& of) {
  return of.of.listed.name + ": only its first " + std::to_string(of.bytes->size()) + " bytes could be read: " + of.trouble +
         ".";
}

std::string left_out(const std::string& name, const failure& why) {
  if (why.code == errc::access_denied) return name + " is left out: the server has no permission to read it.";
  return name + " is left out: it cannot be read now.";
}

}  // namespace hondana::records

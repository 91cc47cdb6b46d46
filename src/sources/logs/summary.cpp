/// From the newest slice back.
#include "sources/logs/summary.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <hondana/clock.hpp>

#include "protocol/model/still_wanted.hpp"
#include "sources/logs/moment.hpp"
#include "sources/logs/unusual.hpp"

namespace hondana::logs {
namespace {

using records::instant;

constexpr instant most_slices = 24;
constexpr std::size_t kept_messages = 300;
constexpr std::size_t told_templates = 20;
/// Until then something that was logged before may still be written.
constexpr instant writing_time = 10 * minute;
constexpr std::size_t untimed_records = 10'000;
/// A cautious guess, since the time that there is for a summary should do for several slices.
constexpr double bytes_gone_through_a_second = 16e6;
constexpr double least_slices = 6;
constexpr std::array<instant, 13> slice_widths{minute,   5 * minute, 15 * minute, 30 * minute, hour,     2 * hour, 3 * hour,
                                               6 * hour, 12 * hour,  day,         7 * day,     30 * day, 365 * day};

instant narrower(instant width) noexcept {
  const auto* const at = std::lower_bound(slice_widths.begin(), slice_widths.end(), width);
  return at == slice_widths.begin() ? minute : *(at - 1);
}

instant floored(instant at, instant width) noexcept {
  const auto rest = at % width;
  return at - (rest < 0 ? rest + width : rest);
}

/// What the newest records tell about all of them.
struct newest_records {
  bool is_there = false;
  std::vector<std::string> remarks{};
  std::optional<instant> time{};
  double bytes_a_second = 0;
};

result<newest_records> look_at_newest(records::log& in, const records::budget& most, const call& by) {
  constexpr std::size_t looked_at = 1000;
  records::query last;
  last.lines = looked_at;
  const auto page = in.read(last, most, by);
  if (!page) return tl::unexpected(page.error());
  newest_records out;
  out.remarks = page->remarks;
  if (page->records.empty()) return out;
  out.is_there = true;
  out.time = page->records.front().time;
  const auto oldest = page->records.back().time;
  if (!out.time || !oldest || page->records.size() < looked_at) return out;
  std::uint64_t bytes = 0;
  for (const auto& one : page->records) bytes += one.text.size() + one.cut + 1;
  out.bytes_a_second = static_cast<double>(bytes) / (static_cast<double>(std::max(*out.time - *oldest, millisecond)) / second);
  return out;
}

/// Goes through one log once.
class summarising {
 public:
  summarising(records::log& in, const summary_request& what, const call& by) : log_(in), what_(what), by_(by) {}

  result<summary> run() {
    const auto newest = look_at_newest(log_, what_.most, by_);
    if (!newest) return tl::unexpected(newest.error());
    for (const auto& one : newest->remarks) remark(one);
    choose_window(*newest);
    if (newest->is_there && !newest->time) {
      HONDANA_TRY(take_untimed());
    } else if (auto done = take_slices(); !done) {
      return tl::unexpected(std::move(done.error()));
    }
    add_up();
    find_unusual(out_, messages_, what_.now);
    if (out_.messages.size() > told_templates) out_.messages.resize(told_templates);
    return std::move(out_);
  }

 private:
  void remark(const std::string& text) {
    auto& all = out_.remarks;
    if (std::find(all.begin(), all.end(), text) == all.end()) all.push_back(text);
  }
  void choose_window(const newest_records& newest) {
    const auto look_back = std::max(what_.look_back, minute);
    out_.is_open = !what_.until;
    out_.end = what_.until.value_or(what_.now);
    if (out_.is_open && !what_.since && newest.time && *newest.time < what_.now - look_back) {
      out_.is_moved = true;
      out_.end = *newest.time + 1;
    }
    out_.begin = std::min(what_.since.value_or(out_.end - look_back), out_.end);
    width_ = slice_width(out_.end - out_.begin);
    // Of a log that says more than can be gone through, the newest part is to be whole.
    const auto time = std::chrono::duration<double>(what_.most.deadline - monotonic_clock::now()).count();
    const auto budget =
        std::min(static_cast<double>(what_.most.scanned_bytes), std::max(time, 0.0) * bytes_gone_through_a_second);
    while (width_ > minute && newest.bytes_a_second * (static_cast<double>(width_) / second) > budget / least_slices)
      width_ = narrower(width_);
    if (!what_.since) out_.begin = floored(out_.begin, width_);
    choose_recent(out_.begin);
  }

  /// An hour, or a quarter of what is known.
  void choose_recent(instant known_from) {
    const auto part = std::max<instant>(width_ / static_cast<instant>(slice::parts_count), 1);
    out_.recent_begin = floored(out_.end - std::min(hour, (out_.end - known_from) / 4), part);
  }

  result<void> take_slices() {
    const bool may_keep = what_.kept != nullptr && !what_.since && !what_.until;
    for (auto begin = floored(out_.end - 1, width_); begin + width_ > out_.begin; begin -= width_) {
      if (auto wanted = still_wanted(by_); !wanted && wanted.error().code == errc::cancelled) return wanted;
      const auto end = begin + width_;
      auto one = may_keep ? what_.kept->find(begin, end) : nullptr;
      if (!one) {
        HONDANA_TRY(auto counted, count(begin, end));
        one = std::move(counted);
        if (may_keep && one->is_whole && one->is_lasting && end + writing_time <= what_.now) what_.kept->keep(one);
      }
      out_.slices.insert(out_.slices.begin(), one);
      if (one->is_whole) continue;
      out_.is_whole = false;
      return {};
    }
    return {};
  }

  result<std::shared_ptr<const slice>> count(instant begin, instant end) {
    auto one = std::make_shared<slice>();
    one->begin = begin;
    one->end = end;
    if (scanned_ >= what_.most.scanned_bytes || monotonic_clock::now() >= what_.most.deadline) return one;
    auto most = what_.most;
    most.scanned_bytes -= scanned_;
    const bool is_last = end >= out_.end;
    const auto until = is_last && out_.is_open ? std::nullopt : std::optional(is_last ? out_.end : end);
    const auto gone_through =
        log_.walk(std::max(begin, out_.begin), until, most, by_, [this, &one](const records::record& record) {
          scanned_ += record.text.size() + record.cut + 1;
          one->add(record);
          return true;
        });
    if (!gone_through && gone_through.error().code != errc::timed_out) return tl::unexpected(gone_through.error());
    one->is_whole = gone_through && gone_through->is_whole;
    if (gone_through) {
      one->remarks = gone_through->remarks;
      one->is_lasting = gone_through->is_lasting;
    }
    one->messages.keep_most_frequent(is_last ? message_counter::usual_most : kept_messages);
    return one;
  }

  result<void> take_untimed() {
    out_.has_times = false;
    records::query last;
    last.lines = untimed_records;
    const auto page = log_.read(last, what_.most, by_);
    if (!page) return tl::unexpected(page.error());
    auto one = std::make_shared<slice>();
    for (auto record = page->records.rbegin(); record != page->records.rend(); ++record) one->add(*record);
    one->is_whole = !page->next;
    out_.is_whole = one->is_whole;
    out_.remarks.emplace_back("No timestamps were found in the newest records, so they are summarized without times.");
    out_.slices.push_back(std::move(one));
    return {};
  }

  void add_up() {
    if (!out_.is_whole && out_.has_times) cut_off();
    for (const auto& one : out_.slices) {
      for (const auto& what : one->remarks) remark(what);
      out_.total += one->total;
      out_.errors += one->errors;
      for (std::size_t i = 0; i < one->levels.size(); ++i) out_.levels[i] += one->levels[i];
      if (one->first && (!out_.first || *one->first < *out_.first)) out_.first = one->first;
      if (one->last && (!out_.last || *one->last > *out_.last)) out_.last = one->last;
      messages_.add(one->messages);
    }
    out_.messages = messages_.all();
    out_.count_error = messages_.error();
    // What is dated ahead of the clock is recent all the same.
    if (out_.is_open && out_.last && *out_.last >= out_.end) out_.end = *out_.last + 1;
  }

  /// Of the oldest slice only the front was gone through, which is of no use behind a gap.
  void cut_off() {
    if (out_.slices.size() > 1) {
      out_.slices.erase(out_.slices.begin());
      out_.begin = out_.slices.front()->begin;
      choose_recent(out_.begin);
      out_.remarks.push_back("The log has more records than the limits allow: this summary goes back to " +
                             text_of(out_.begin) + '.');
    } else {
      out_.has_newest = false;
      out_.remarks.emplace_back("The log has more records than the limits allow: the newest ones are not included.");
    }
  }

  records::log& log_;
  const summary_request& what_;
  const call& by_;
  summary out_;
  message_counter messages_{4 * message_counter::usual_most};
  instant width_ = hour;
  std::uint64_t scanned_ = 0;
};

}  // namespace

instant slice_width(instant window) noexcept {
  const auto* const found =
      std::find_if(slice_widths.begin(), slice_widths.end(), [&](instant width) { return window <= most_slices * width; });
  if (found != slice_widths.end()) return *found;
  return (window / most_slices / day + 1) * day;
}

std::shared_ptr<const slice> kept_slices::find(instant begin, instant end) const {
  const std::lock_guard lock(mutex_);
  const auto found = all_.find({begin, end});
  if (found == all_.end() || monotonic_clock::now() - found->second.since > longest) return nullptr;
  return found->second.what;
}

void kept_slices::keep(std::shared_ptr<const slice> one) {
  const std::lock_guard lock(mutex_);
  const std::pair key(one->begin, one->end);
  all_[key] = {std::move(one), monotonic_clock::now()};
  // Windows move on: the oldest goes first.
  if (all_.size() > most) all_.erase(all_.begin());
}

result<summary> summarise(records::log& of, const summary_request& what, const call& by) {
  return summarising(of, what, by).run();
}

}  // namespace hondana::logs

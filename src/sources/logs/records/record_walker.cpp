/// Visits the records of a log in files from the oldest on, across rotations.
#include "sources/logs/records/record_walker.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include <hondana/clock.hpp>

#include "sources/logs/records/opened_files.hpp"
#include "sources/logs/records/page_reader.hpp"
#include "sources/logs/records/record_parser.hpp"
#include "sources/logs/records/time_search.hpp"

namespace hondana::records {
namespace {

constexpr std::uint64_t walked_block = 1u << 20;
constexpr int most_listings = 100;
constexpr std::size_t most_walk_remarks = 20;

class walker {
 public:
  explicit walker(const walk_request& request) : request_(request) {}
  enum class step : std::uint8_t { on, enough, list_again };

  /// Visits the files of a listing after `done`, which is updated after each file.
  result<step> go(opened_set& in, std::optional<position>& done);
  [[nodiscard]] walk_end take_end() noexcept { return std::move(end_); }
  void remark(std::string text) {
    auto& all = end_.remarks;
    if (all.size() < most_walk_remarks && std::find(all.begin(), all.end(), text) == all.end()) all.push_back(std::move(text));
  }
  void lose(std::string why) {
    end_.is_whole = false;
    end_.is_lasting = false;
    remark(std::move(why));
  }

 private:
  result<step> go_through(opened_set& in, std::size_t which, const member& of);
  result<step> take(record_maker& maker, const block& at_hand, std::uint64_t begin, std::uint64_t end);
  [[nodiscard]] bool is_outside(const listed_file& one) const {
    return request_.since && one.facts.modified / 1000 + write_slack < *request_.since;
  }

  const walk_request& request_;
  std::uint64_t looked_through_ = 0;
  std::optional<instant> latest_;
  bool keeps_time_ = false;
  bool has_given_ = false;  // whether any record of the current file was visited
  walk_end end_;
};

result<walker::step> walker::go(opened_set& in, std::optional<position>& done) {
  std::size_t which = 0;
  if (done) {
    std::string why;
    HONDANA_TRY(const auto found, in.find(*done, why));
    if (!found) {
      lose(why);
      return step::enough;
    }
    which = found->which + 1;
  }
  std::optional<failure> refused;
  bool is_any = done.has_value();
  for (; which < in.size(); ++which) {
    if (is_outside(in.listed(which))) {
      is_any = true;
      continue;
    }
    const auto of = in.get(which);
    if (!of) {
      const auto& why = of.error();
      if (why.code == errc::content_changed) return step::list_again;
      if (why.code == errc::cancelled || why.code == errc::timed_out) return tl::unexpected(why);
      refused = why;
      end_.is_lasting = false;
      remark(left_out(in.listed(which).name, why));
      continue;
    }
    is_any = true;
    if (which + 1 < in.size()) {
      const auto newer = in.get(which + 1);
      const auto is_twin = newer ? in.is_copy(which, **newer) : result<bool>(false);
      if (is_twin && *is_twin) continue;
    }
    if (!request_.until || !begins_behind(**of, *request_.until)) {
      has_given_ = false;
      auto gone = go_through(in, which, **of);
      if (!gone && gone.error().code == errc::content_changed && !has_given_) return step::list_again;
      if (!gone || *gone != step::on) return gone;
    }
    HONDANA_TRY(auto at, position_at(**of, (*of)->end, (*of)->end));
    done = at;
  }
  if (!is_any && refused) return tl::unexpected(std::move(*refused));
  return step::enough;
}

result<walker::step> walker::go_through(opened_set& in, std::size_t which, const member& of) {
  if (!of.trouble.empty()) remark(read_in_part(of));
  const auto where = stretch_of(of, request_.since, request_.until, request_.by);
  if (!where) return tl::unexpected(where.error());
  auto window = in.window_onto(which, of);
  record_maker maker(of, window, request_.most.record_bytes);
  latest_.reset();
  keeps_time_ = of.frame.has_times();
  std::optional<std::uint64_t> pending;
  std::vector<std::uint64_t> starts;
  block loaded;
  for (auto at = where->begin; at < where->end;) {
    if (request_.by.stop.stop_requested()) return fail(errc::cancelled, "The request was cancelled.");
    const auto now = monotonic_clock::now();
    if (now > request_.most.deadline || now > request_.by.deadline || looked_through_ >= request_.most.scanned_bytes) {
      end_.is_whole = false;
      return step::enough;
    }
    const auto end = std::min(at + walked_block, where->end);
    HONDANA_TRY(auto got, window.load(at, end));
    loaded = std::move(got);
    looked_through_ += end - at;
    record_starts(loaded, of.frame, starts);
    for (const auto begin : starts) {
      if (pending) {
        const auto done = take(maker, loaded, *pending, begin);
        if (!done || *done != step::on) return done;
      }
      pending = begin;
    }
    at = end;
  }
  // A record that begins in the range and ends after it is too late, except at the end of the file.
  if (pending && where->end == of.end) return take(maker, loaded, *pending, of.end);
  return step::on;
}

result<walker::step> walker::take(record_maker& maker, const block& at_hand, std::uint64_t begin, std::uint64_t end) {
  HONDANA_TRY(auto made, maker.make(at_hand, begin, end));
  auto& one = made.what;
  if (one.has_own_time) {
    latest_ = one.time;
  } else if (keeps_time_) {
    one.time = latest_;
  }
  if (one.text.empty()) return step::on;
  if ((request_.since || request_.until) && !one.time) return step::on;
  if ((request_.since && *one.time < *request_.since) || (request_.until && *one.time >= *request_.until)) return step::on;
  has_given_ = true;
  if (request_.each(one)) return step::on;
  end_.is_whole = false;
  return step::enough;
}

}  // namespace

result<walk_end> walk_through(const std::function<result<listed_set>()>& again, members& with, const walk_request& request) {
  walker one(request);
  std::optional<position> done;
  for (int i = 0; i < most_listings; ++i) {
    auto all = again();
    if (!all && all.error().code == errc::content_changed) continue;
    if (!all) return tl::unexpected(std::move(all.error()));
    opened_set in(std::move(*all), with, request.by, request.redact);
    const auto gone = one.go(in, done);
    if (!gone) {
      // Records of this file were already visited, and a retry would visit them twice.
      if (gone.error().code != errc::content_changed) return tl::unexpected(gone.error());
      one.lose("A log file was truncated while it was read; its later records are missing.");
      return one.take_end();
    }
    if (*gone != walker::step::list_again) return one.take_end();
  }
  one.lose("The log files kept being rotated while they were read.");
  return one.take_end();
}

}  // namespace hondana::records

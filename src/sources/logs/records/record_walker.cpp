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

constexpr std::uint64_t walk_block_bytes = 1u << 20;
constexpr int max_listings = 100;
constexpr std::size_t max_walk_notes = 20;

class record_walker {
 public:
  explicit record_walker(const walk_request& request) : request_(request) {}
  enum class step : std::uint8_t { proceed, finish, relist };

  /// Visits the files of a listing after `last_position`, which is updated after each file.
  result<step> walk(opened_files& files, std::optional<log_position>& last_position);
  [[nodiscard]] walk_result take_result() noexcept { return std::move(result_); }
  void add_note(std::string text) {
    auto& notes = result_.notes;
    if (notes.size() < max_walk_notes && std::find(notes.begin(), notes.end(), text) == notes.end())
      notes.push_back(std::move(text));
  }
  void mark_incomplete(std::string reason) {
    result_.is_complete = false;
    result_.is_cacheable = false;
    add_note(std::move(reason));
  }

 private:
  result<step> walk_file(opened_files& files, std::size_t index, const log_file& file);
  result<step> visit_record(record_parser& parser, const masked_block& block, std::uint64_t begin, std::uint64_t end);
  [[nodiscard]] bool is_too_old(const listed_file& file) const {
    return request_.since && file.stamp.modified / 1000 + write_slack < *request_.since;
  }

  const walk_request& request_;
  std::uint64_t scanned_bytes_ = 0;
  std::optional<instant> latest_time_;
  bool inherits_time_ = false;
  bool has_visited_ = false;  // whether any record of the current file was visited
  walk_result result_;
};

result<record_walker::step> record_walker::walk(opened_files& files, std::optional<log_position>& last_position) {
  std::size_t index = 0;
  if (last_position) {
    std::string reason;
    HONDANA_TRY(const auto location, files.find(*last_position, reason));
    if (!location) {
      mark_incomplete(reason);
      return step::finish;
    }
    index = location->index + 1;
  }
  std::optional<failure> last_error;
  bool has_files = last_position.has_value();
  for (; index < files.size(); ++index) {
    if (is_too_old(files.listed(index))) {
      has_files = true;
      continue;
    }
    const auto file = files.get(index);
    if (!file) {
      const auto& error = file.error();
      if (error.code == errc::content_changed) return step::relist;
      if (error.code == errc::cancelled || error.code == errc::timed_out) return tl::unexpected(error);
      last_error = error;
      result_.is_cacheable = false;
      add_note(skipped_note(files.listed(index).name, error));
      continue;
    }
    has_files = true;
    if (index + 1 < files.size()) {
      const auto newer = files.get(index + 1);
      const auto is_duplicate = newer ? files.is_copy(index, **newer) : result<bool>(false);
      if (is_duplicate && *is_duplicate) continue;
    }
    if (!request_.until || !begins_after(**file, *request_.until)) {
      has_visited_ = false;
      auto outcome = walk_file(files, index, **file);
      if (!outcome && outcome.error().code == errc::content_changed && !has_visited_) return step::relist;
      if (!outcome || *outcome != step::proceed) return outcome;
    }
    HONDANA_TRY(auto position, make_position(**file, (*file)->end, (*file)->end));
    last_position = position;
  }
  if (!has_files && last_error) return tl::unexpected(std::move(*last_error));
  return step::finish;
}

result<record_walker::step> record_walker::walk_file(opened_files& files, std::size_t index, const log_file& file) {
  if (!file.error.empty()) add_note(partial_note(file));
  const auto range = find_time_range(file, request_.since, request_.until, request_.context);
  if (!range) return tl::unexpected(range.error());
  auto window = files.open_window(index, file);
  record_parser parser(file, window, request_.budget.max_record_bytes);
  latest_time_.reset();
  inherits_time_ = file.framing.has_times();
  std::optional<std::uint64_t> pending;
  std::vector<std::uint64_t> starts;
  masked_block loaded;
  for (auto offset = range->begin; offset < range->end;) {
    if (request_.context.stop.stop_requested()) return fail(errc::cancelled, "The request was cancelled.");
    const auto now = monotonic_clock::now();
    const bool is_over_time = now > request_.budget.deadline && scanned_bytes_ >= request_.budget.min_scanned_bytes;
    if (is_over_time || now > request_.context.deadline || scanned_bytes_ >= request_.budget.max_scanned_bytes) {
      result_.is_complete = false;
      return step::finish;
    }
    const auto end = std::min(offset + walk_block_bytes, range->end);
    HONDANA_TRY(auto fetched, window.load(offset, end));
    loaded = std::move(fetched);
    scanned_bytes_ += end - offset;
    find_record_starts(loaded, file.framing, starts);
    for (const auto begin : starts) {
      if (pending) {
        const auto outcome = visit_record(parser, loaded, *pending, begin);
        if (!outcome || *outcome != step::proceed) return outcome;
      }
      pending = begin;
    }
    offset = end;
  }
  // A record that begins in the range and ends after it is too late, except at the end of the file.
  if (pending && range->end == file.end) return visit_record(parser, loaded, *pending, file.end);
  return step::proceed;
}

result<record_walker::step> record_walker::visit_record(record_parser& parser, const masked_block& block, std::uint64_t begin,
                                                        std::uint64_t end) {
  HONDANA_TRY(auto parsed, parser.parse(block, begin, end));
  auto& record = parsed.record;
  if (record.has_own_time) {
    latest_time_ = record.time;
  } else if (inherits_time_) {
    record.time = latest_time_;
  }
  if (record.text.empty()) return step::proceed;
  if ((request_.since || request_.until) && !record.time) return step::proceed;
  if ((request_.since && *record.time < *request_.since) || (request_.until && *record.time >= *request_.until))
    return step::proceed;
  has_visited_ = true;
  if (request_.visit(record)) return step::proceed;
  result_.is_complete = false;
  return step::finish;
}

}  // namespace

result<walk_result> walk_records(const std::function<result<file_listing>()>& list, file_opener& opener,
                                 const walk_request& request) {
  record_walker walker(request);
  std::optional<log_position> last_position;
  for (int i = 0; i < max_listings; ++i) {
    auto listing = list();
    if (!listing && listing.error().code == errc::content_changed) continue;
    if (!listing) return tl::unexpected(std::move(listing.error()));
    opened_files files(std::move(*listing), opener, request.context, request.redact);
    const auto outcome = walker.walk(files, last_position);
    if (!outcome) {
      // Records of this file were already visited, and a retry would visit them twice.
      if (outcome.error().code != errc::content_changed) return tl::unexpected(outcome.error());
      walker.mark_incomplete("A log file was truncated while it was read; its later records are missing.");
      return walker.take_result();
    }
    if (*outcome != record_walker::step::relist) return walker.take_result();
  }
  walker.mark_incomplete("The log files kept being rotated while they were read.");
  return walker.take_result();
}

}  // namespace hondana::records

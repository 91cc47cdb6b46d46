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

constexpr std::uint64_t first_block_bytes = 64u << 10;
constexpr std::uint64_t max_block_bytes = 1u << 20;
constexpr instant clock_slack = 1'000'000;
constexpr std::uint64_t max_match_steps = 64u << 20;  // of matching, between two checks of the time
constexpr std::uint64_t min_searched_bytes = 512;
constexpr std::size_t max_false_matches = 16;  // matches in a block that were not in a single record
constexpr std::size_t max_notes = 20;

/// Whether the text is returned unchanged, so that matches in the original text are also matches in the result.
bool is_sanitized(std::string_view text) noexcept {
  unsigned control_bits = 0;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    control_bits |=
        static_cast<unsigned>((byte < 0x20) & (byte != '\n') & (byte != '\t')) | static_cast<unsigned>(byte == 0x7F);
  }
  return control_bits == 0 && json::is_utf8(text);
}

class page_reader {
 public:
  page_reader(const file_listing& listing, file_opener& opener, const page_request& request)
      : files_(listing, opener, request.context, request.redact), request_(request) {
    for (const auto& note : listing.notes) add_note(note);
  }

  result<log_page> read();

 private:
  enum class step : std::uint8_t { proceed, stop };

  result<step> read_file(std::size_t index, std::uint64_t end, std::uint64_t scanned);
  result<step> read_backwards(std::size_t index, const log_file& file, std::uint64_t end, std::uint64_t scanned,
                              const byte_range& range);
  /// Reads the records that begin in a block, newest first. `end` is the end of the last one, and is set to the beginning of
  /// the first.
  result<step> read_block(std::size_t index, const masked_block& block, std::uint64_t& end);
  result<step> read_candidates(std::size_t index, const masked_block& block, std::uint64_t& end);
  /// Finds the records in [begin, end) that may match, in order. Both ends are record boundaries.
  void find_candidates(const masked_block& block, std::uint64_t begin, std::uint64_t end, std::uint64_t chunk_bytes);
  /// Ends the page if the time is up. Everything from `end` on was read.
  result<step> check_deadline(std::size_t index, std::uint64_t end);
  result<step> add_record(std::size_t index, const masked_block& block, std::uint64_t begin, std::uint64_t end);
  result<step> end_early(std::size_t index, const log_file& file, std::uint64_t end, std::uint64_t scanned, std::string reason);
  result<void> set_next(std::size_t index, const log_file& file, std::uint64_t end, std::uint64_t scanned);

  [[nodiscard]] bool is_past_deadline() const {
    const auto now = monotonic_clock::now();
    return now > request_.budget.deadline || now > request_.context.deadline;
  }
  void add_note(std::string text) {
    if (page_.notes.size() < max_notes && std::find(page_.notes.begin(), page_.notes.end(), text) == page_.notes.end()) {
      page_.notes.push_back(std::move(text));
    }
  }
  [[nodiscard]] bool is_too_old(std::size_t index) const {
    return request_.query.since && files_.listed(index).stamp.modified / 1000 + write_slack < *request_.query.since;
  }

  opened_files files_;
  const page_request& request_;
  log_page page_;
  std::uint64_t scanned_bytes_ = 0;
  std::size_t text_bytes_ = 0;
  // Of the current file.
  const log_file* file_ = nullptr;
  masked_window* window_ = nullptr;
  record_parser* parser_ = nullptr;
  std::optional<instant> newer_time_;
  std::vector<std::uint64_t> starts_;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> candidates_;
};

result<log_page> page_reader::read() {
  auto index = files_.size();
  std::shared_ptr<const log_file> newer;
  if (!request_.query.cursor.empty()) {
    const auto position = parse_position(request_.query.cursor);
    if (!position) {
      return fail(errc::invalid_argument, "cursor: not a cursor of this log. Leave it out to begin with the newest records.");
    }
    std::string reason;
    HONDANA_TRY(const auto location, files_.find(*position, reason));
    if (!location) {
      add_note(reason);
      return std::move(page_);
    }
    index = location->index;
    newer = location->file;
    HONDANA_TRY(const auto cursor_outcome, read_file(index, position->end, position->scanned));
    if (cursor_outcome == step::stop) return std::move(page_);
  }
  std::optional<failure> first_error;
  bool has_files = newer != nullptr;
  while (index-- > 0) {
    if (is_too_old(index)) continue;
    if (newer) {
      const auto is_duplicate = files_.is_copy(index, *newer);
      if (is_duplicate && *is_duplicate) continue;
    }
    auto file = files_.get(index);
    if (!file) {
      auto& error = file.error();
      const bool is_retryable = error.code == errc::content_changed || error.code == errc::timed_out;
      if (error.code == errc::cancelled) return tl::unexpected(std::move(error));
      if (is_retryable && newer) {
        HONDANA_TRY(end_early(index + 1, *newer, 0, 0,
                              error.code == errc::timed_out
                                  ? "The time limit was reached while " + files_.listed(index).name + " was being decompressed."
                                  : "The log files were rotated during the request."));
        return std::move(page_);
      }
      if (is_retryable) return tl::unexpected(std::move(error));
      add_note(skipped_note(files_.listed(index).name, error));
      if (!first_error) first_error = error;
      continue;
    }
    has_files = true;
    HONDANA_TRY(const auto outcome, read_file(index, (*file)->end, (*file)->end));
    if (outcome == step::stop) return std::move(page_);
    newer = *file;
  }
  if (!has_files && first_error) return tl::unexpected(std::move(*first_error));
  return std::move(page_);
}

result<page_reader::step> page_reader::read_file(std::size_t index, std::uint64_t end, std::uint64_t scanned) {
  HONDANA_TRY(const auto shared_file, files_.get(index));
  const auto& file = *shared_file;
  if (!file.error.empty()) add_note(partial_note(file));
  const auto& since = request_.query.since;
  const auto& until = request_.query.until;
  if (until && begins_after(file, *until)) return step::proceed;
  HONDANA_TRY(const auto range, find_time_range(file, since, until, request_.context));
  if (range.has_backward_times)
    add_note("Timestamps go backwards in " + file.opened.listed.name + "; records that are out of order may be missing.");
  auto window = files_.open_window(index, file);
  record_parser parser(file, window, request_.budget.max_record_bytes);
  file_ = &file;
  window_ = &window;
  parser_ = &parser;
  newer_time_.reset();
  return read_backwards(index, file, end, scanned, range);
}

result<page_reader::step> page_reader::read_backwards(std::size_t index, const log_file& file, std::uint64_t end,
                                                      std::uint64_t scanned, const byte_range& range) {
  auto offset = std::min(scanned, file.end);
  end = std::min(end, file.end);
  if (range.end < offset) offset = end = range.end;  // later records are not wanted, nor is one that is cut here
  bool is_cut = range.end < file.end && offset == range.end;
  auto size = first_block_bytes;
  while (offset > range.begin) {
    if (request_.context.stop.stop_requested()) return fail(errc::cancelled, "The request was cancelled.");
    if (is_past_deadline()) return end_early(index, file, end, offset, "The time limit was reached");
    if (scanned_bytes_ >= request_.budget.max_scanned_bytes) {
      return end_early(index, file, end, offset,
                       std::to_string(request_.budget.max_scanned_bytes >> 20) + " MiB were searched, the limit of one answer");
    }
    const auto begin =
        offset - std::min({offset, size, std::max<std::uint64_t>(request_.budget.max_scanned_bytes - scanned_bytes_, 4096)});
    HONDANA_TRY(auto block, window_->load(begin, offset));
    scanned_bytes_ += offset - begin;
    if (is_cut) {
      // The last record boundary below the cut ends the first whole record.
      const auto last = find_last_start(block, file.framing, offset);
      if (last) {
        end = *last;
        is_cut = false;
      }
    }
    if (!is_cut) {
      auto outcome = read_block(index, block, end);
      if (!outcome || *outcome == step::stop) return outcome;
    }
    offset = begin;
    size = std::min(size * 2, max_block_bytes);
  }
  return step::proceed;
}

result<page_reader::step> page_reader::read_block(std::size_t index, const masked_block& block, std::uint64_t& end) {
  if (request_.matcher.prefilter() != nullptr) return read_candidates(index, block, end);
  find_record_starts(block, file_->framing, starts_);
  while (!starts_.empty() && starts_.back() >= end) starts_.pop_back();
  for (auto start = starts_.rbegin(); start != starts_.rend(); ++start) {
    auto outcome = add_record(index, block, *start, end);
    if (outcome && *outcome == step::proceed) outcome = check_deadline(index, *start);
    if (!outcome || *outcome == step::stop) return outcome;
    end = *start;
  }
  return step::proceed;
}

result<page_reader::step> page_reader::check_deadline(std::size_t index, std::uint64_t end) {
  if (request_.context.stop.stop_requested()) return fail(errc::cancelled, "The request was cancelled.");
  if (!is_past_deadline() || (index == 0 && end == 0)) return step::proceed;
  return end_early(index, *file_, end, end, "The time limit was reached");
}

result<page_reader::step> page_reader::read_candidates(std::size_t index, const masked_block& block, std::uint64_t& end) {
  const auto last_start = find_last_start(block, file_->framing, std::min(block.end, end));
  if (!last_start) return step::proceed;
  auto outcome = add_record(index, block, *last_start, end);
  if (!outcome || *outcome == step::stop) return outcome;
  end = *last_start;
  const auto first_start = find_next_start(block, file_->framing, block.begin);
  if (!first_start) return step::proceed;
  starts_.clear();
  const auto chunk_bytes =
      std::max<std::uint64_t>(max_match_steps / static_cast<unsigned>(request_.matcher.prefilter()->ProgramSize()), 4096);
  while (end > *first_start) {
    if (auto deadline_outcome = check_deadline(index, end); !deadline_outcome || *deadline_outcome == step::stop)
      return deadline_outcome;
    const auto begin = end - *first_start > chunk_bytes
                           ? find_last_start(block, file_->framing, end - chunk_bytes).value_or(*first_start)
                           : *first_start;
    find_candidates(block, begin, end, chunk_bytes);
    for (auto candidate = candidates_.rbegin(); candidate != candidates_.rend(); ++candidate) {
      outcome = add_record(index, block, candidate->first, candidate->second);
      if (outcome && *outcome == step::proceed) outcome = check_deadline(index, candidate->first);
      if (!outcome || *outcome == step::stop) return outcome;
    }
    end = begin;
  }
  return step::proceed;
}

void page_reader::find_candidates(const masked_block& block, std::uint64_t begin, std::uint64_t end,
                                  std::uint64_t chunk_bytes) {
  const auto slice = [&](std::uint64_t first, std::uint64_t last) {
    return block.text_from(first).substr(0, static_cast<std::size_t>(last - first));
  };
  candidates_.clear();
  bool is_reliable = end - begin <= 2 * chunk_bytes && is_sanitized(slice(begin, end)) &&
                     (!file_->framing.has_container_parts() || slice(begin, end).find(" P ") == std::string_view::npos);
  // Search from match to match. A record is a candidate if it also matches on its own. The searched part grows while nothing is
  // found, so that expressions that look far ahead read each byte only a few times.
  std::size_t false_matches = 0;
  auto size = min_searched_bytes;
  for (auto search_begin = begin; is_reliable && search_begin < end;) {
    const auto search_end = end - search_begin > size
                                ? std::min(find_next_start(block, file_->framing, search_begin + size).value_or(end), end)
                                : end;
    const auto text = slice(search_begin, search_end);
    re2::StringPiece match;
    const re2::StringPiece input(text.data(), text.size());
    if (!request_.matcher.prefilter()->Match(input, 0, text.size(), re2::RE2::UNANCHORED, &match, 1)) {
      search_begin = search_end;
      size = std::min(size * 2, chunk_bytes);
      continue;
    }
    if (starts_.empty()) find_record_starts(block, file_->framing, starts_);
    const auto match_offset = search_begin + static_cast<std::uint64_t>(match.data() - text.data());
    const auto next_start = std::upper_bound(starts_.begin(), starts_.end(), std::min(match_offset, search_end - 1));
    const auto next = next_start == starts_.end() ? end : std::min(*next_start, end);
    const auto record_text = slice(*std::prev(next_start), next);
    if (request_.matcher.accepts_text(
            record_text.substr(0, record_text.size() - static_cast<std::size_t>(record_text.ends_with('\n'))))) {
      candidates_.emplace_back(*std::prev(next_start), next);
    } else {
      is_reliable = ++false_matches <= max_false_matches;
    }
    search_begin = next;
    size = min_searched_bytes;
  }
  if (is_reliable) return;
  candidates_.clear();
  if (starts_.empty()) find_record_starts(block, file_->framing, starts_);
  for (auto start = std::lower_bound(starts_.begin(), starts_.end(), begin); start != starts_.end() && *start < end; ++start) {
    candidates_.emplace_back(*start, std::next(start) != starts_.end() ? std::min(*std::next(start), end) : end);
  }
}

result<page_reader::step> page_reader::add_record(std::size_t index, const masked_block& block, std::uint64_t begin,
                                                  std::uint64_t end) {
  HONDANA_TRY(auto parsed, parser_->parse(block, begin, end));
  auto& record = parsed.record;
  if (record.has_own_time) {
    if (newer_time_ && *record.time > *newer_time_ + clock_slack) add_note("Timestamps go backwards in " + record.source + ".");
    newer_time_ = record.time;
  }
  if (record.text.empty() || !request_.matcher.accepts_level(record.level)) return step::proceed;
  if (!record.has_own_time) {
    HONDANA_TRY(const auto time, parser_->previous_time(block, begin));
    record.time = time;
  }
  if (!request_.matcher.accepts_time(record.time) || !request_.matcher.accepts_text(record.text)) return step::proceed;
  if (!page_.records.empty() && text_bytes_ + record.text.size() > request_.budget.max_answer_bytes) {
    return end_early(index, *file_, end, end, "The answer has " + std::to_string(text_bytes_ >> 10) + " KiB");
  }
  text_bytes_ += record.text.size();
  page_.masked_count += parsed.masked_count;
  page_.records.push_back(std::move(record));
  if (page_.records.size() < std::max<std::size_t>(request_.query.lines, 1)) return step::proceed;
  HONDANA_TRY(set_next(index, *file_, begin, begin));
  return step::stop;
}

result<void> page_reader::set_next(std::size_t index, const log_file& file, std::uint64_t end, std::uint64_t scanned) {
  if (index == 0 && end == 0) return {};
  HONDANA_TRY(const auto position, make_position(file, end, scanned));
  page_.next = to_text(position);
  return {};
}

result<page_reader::step> page_reader::end_early(std::size_t index, const log_file& file, std::uint64_t end,
                                                 std::uint64_t scanned, std::string reason) {
  HONDANA_TRY(set_next(index, file, end, scanned));
  if (reason.ends_with('.')) reason.pop_back();
  page_.early_end_reason =
      reason + ": continue with the cursor, or narrow the request with since, until, level, grep or field.";
  return step::stop;
}

}  // namespace

result<log_page> read_page(const file_listing& listing, file_opener& opener, const page_request& request) {
  return page_reader(listing, opener, request).read();
}

std::string partial_note(const log_file& file) {
  return file.opened.listed.name + ": only its first " + std::to_string(file.bytes->size()) +
         " bytes could be read: " + file.error + ".";
}

std::string skipped_note(const std::string& name, const failure& error) {
  if (error.code == errc::access_denied) return name + " is left out: the server has no permission to read it.";
  return name + " is left out: it cannot be read now.";
}

}  // namespace hondana::records

/// Finds the records in a block of a log file, and parses each: text, time, level and cut.
#include "sources/logs/records/record_parser.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/json/utf8.hpp"
#include "sources/logs/records/fields.hpp"
#include "sources/logs/records/masking.hpp"
#include "sources/logs/records/severity.hpp"

namespace hondana::records {
namespace {

/// The first beginning of a line at or after `offset`. The end of the block if there is none.
std::uint64_t next_line(const masked_block& block, std::uint64_t offset) noexcept {
  if (offset == 0) return 0;
  if (offset >= block.end) return block.end;
  const auto newline = std::string_view(block.bytes).find('\n', static_cast<std::size_t>(offset - 1 - block.base));
  if (newline == std::string_view::npos) return block.end;
  return std::min(block.base + newline + 1, block.end);
}

}  // namespace

bool is_record_start(const masked_block& block, std::uint64_t offset, const record_framing& framing) {
  return offset == 0 || framing.is_record_start(block.text_from(offset), block.text_before(offset));
}

void find_record_starts(const masked_block& block, const record_framing& framing, std::vector<std::uint64_t>& starts) {
  starts.clear();
  for (auto offset = next_line(block, block.begin); offset < block.end; offset = next_line(block, offset + 1)) {
    if (is_record_start(block, offset, framing)) starts.push_back(offset);
  }
}

std::optional<std::uint64_t> find_next_start(const masked_block& block, const record_framing& framing, std::uint64_t offset) {
  for (auto line_begin = next_line(block, std::max(offset, block.begin)); line_begin < block.end;
       line_begin = next_line(block, line_begin + 1)) {
    if (is_record_start(block, line_begin, framing)) return line_begin;
  }
  return std::nullopt;
}

std::optional<std::uint64_t> find_last_start(const masked_block& block, const record_framing& framing, std::uint64_t end) {
  const std::string_view bytes = block.bytes;
  for (auto limit = static_cast<std::size_t>(end - block.base); limit >= 2;) {
    const auto newline = bytes.rfind('\n', limit - 2);
    if (newline == std::string_view::npos) break;
    const auto offset = block.base + newline + 1;
    if (offset < block.begin) return std::nullopt;
    if (is_record_start(block, offset, framing)) return offset;
    limit = newline + 1;
  }
  return block.begin == 0 && end > 0 ? std::optional<std::uint64_t>(0) : std::nullopt;
}

result<record_parser::parsed_record> record_parser::parse(const masked_block& block, std::uint64_t begin, std::uint64_t end) {
  const auto text_end = std::min(end, begin + max_bytes_);
  // Text after the cut decides whether a secret ends before it.
  const auto loaded_end = std::min(end, text_end + lookahead_bytes);
  masked_block loaded;
  if (!block.contains(begin, loaded_end)) {
    HONDANA_TRY(auto fetched, window_.load(begin, text_end));
    loaded = std::move(fetched);
  }
  const auto& source = block.contains(begin, loaded_end) ? block : loaded;
  const auto extended = source.text_from(begin).substr(0, static_cast<std::size_t>(loaded_end - begin));
  auto text = extended.substr(0, static_cast<std::size_t>(text_end - begin));
  parsed_record parsed;
  parsed.masked_count = source.count_secrets(begin, text_end);
  if (text_end < end) text.remove_suffix(json::incomplete_tail(text));
  parsed.record.cut_bytes = end - begin - text.size();
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r') && text_end == end) text.remove_suffix(1);
  const bool has_parts = file_.framing.has_container_parts() && text.find('\n') != std::string_view::npos;
  parsed.record.text = has_parts ? window_.sanitized(join_container_parts(text)) : window_.sanitized(text);
  // Parts that an escape sequence or a line end had separated are now adjacent.
  const bool is_changed = parsed.record.text != text;
  if (is_changed || may_hide_secrets(text)) {
    const auto size = parsed.record.text.size();
    if (text_end < end) parsed.record.text += window_.sanitized(extended.substr(text.size()));
    parsed.masked_count += window_.mask_again(parsed.record.text, is_changed);
    parsed.record.text.resize(size);
  }
  if (parsed.record.text.size() > max_bytes_) {
    auto size = max_bytes_;
    while (size > 0 && (static_cast<unsigned char>(parsed.record.text[size]) & 0xC0) == 0x80) --size;
    parsed.record.cut_bytes += parsed.record.text.size() - size;
    parsed.record.text.resize(size);
  }
  const auto timestamp = file_.timestamps.find_in_line(parsed.record.text);
  if (timestamp) {
    parsed.record.time = timestamp->time;
    parsed.record.has_own_time = true;
    parsed.record.time_begin = timestamp->begin;
    parsed.record.time_end = timestamp->end;
  }
  parsed.record.level = detect_severity(parsed.record.text, timestamp);
  parsed.record.source = file_.opened.listed.name;
  return parsed;
}

bool record_parser::find_time_in(const masked_block& block, std::uint64_t begin) {
  for (auto offset = find_last_start(block, file_.framing, std::min(begin, block.end)); offset;
       offset = find_last_start(block, file_.framing, *offset)) {
    if (*offset >= known_begin_ && *offset < known_end_) {
      known_end_ = begin;
      return true;
    }
    if (const auto timestamp = file_.timestamps.find_in_line(block.text_from(*offset))) {
      known_begin_ = *offset;
      known_end_ = begin;
      known_time_ = timestamp->time;
      return true;
    }
    if (*offset == 0) break;
  }
  return false;
}

result<std::optional<instant>> record_parser::previous_time(const masked_block& block, std::uint64_t begin) {
  if (begin == 0 || !file_.framing.has_times()) return std::optional<instant>();
  if (begin > known_begin_ && begin <= known_end_) return known_time_;
  if (begin > block.begin && begin <= block.end && find_time_in(block, begin)) return known_time_;
  const auto lookback_begin = begin - std::min(begin, lookback_bytes);
  HONDANA_TRY(const auto older, window_.load(lookback_begin, begin));
  if (!find_time_in(older, begin)) {
    // No time is near, so the result is also valid for records after `lookback_begin`.
    known_begin_ = lookback_begin;
    known_end_ = begin;
    known_time_.reset();
  }
  return known_time_;
}

}  // namespace hondana::records

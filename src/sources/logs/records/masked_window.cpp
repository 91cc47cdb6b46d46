/// Reads parts of a log file, with secrets masked in the same way as in the whole file.
#include "sources/logs/records/masked_window.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "sources/logs/records/masking.hpp"

namespace hondana::records {
namespace {

void overwrite_spans(std::string& text, const std::vector<secrets::span>& spans) {
  for (const auto& span : spans) {
    for (auto offset = span.begin; offset < span.end; ++offset) {
      if (text[offset] != '\n' && text[offset] != '\r') text[offset] = '*';
    }
  }
}

}  // namespace

std::size_t masked_block::count_secrets(std::uint64_t first, std::uint64_t last) const noexcept {
  // They are in order and do not overlap.
  const auto first_match =
      std::partition_point(secrets.begin(), secrets.end(), [&](const secrets::span& span) { return base + span.end <= first; });
  const auto matches_end =
      std::partition_point(first_match, secrets.end(), [&](const secrets::span& span) { return base + span.begin < last; });
  return static_cast<std::size_t>(matches_end - first_match);
}

masked_window::masked_window(std::shared_ptr<const content> bytes, std::uint64_t end, bool redact, std::string_view front,
                             context_readers readers, std::size_t lookbehind_bytes)
    : bytes_(std::move(bytes)),
      end_(end),
      redactor_(redact ? secrets::masking_policy::settings : secrets::masking_policy::none,
                front.substr(0, secrets::front_bytes)),
      widths_(secrets::detect_encodings(front.substr(0, secrets::front_bytes))),
      readers_(std::move(readers)),
      lookbehind_bytes_(lookbehind_bytes) {}

result<void> masked_window::fetch(context_text& text, const std::function<result<std::string>(std::size_t)>& reader,
                                  std::size_t max_bytes) {
  if (text) return {};
  HONDANA_TRY(auto loaded, reader ? reader(max_bytes) : std::string());
  text = std::make_unique<const std::string>(std::move(loaded));
  return {};
}

result<masked_block> masked_window::load(std::uint64_t begin, std::uint64_t end) {
  masked_block out;
  out.begin = begin;
  out.end = std::min(end, end_);
  out.base = begin - std::min(begin, lookbehind_bytes_);
  const auto last = std::min(out.end + lookahead_bytes, end_);
  const std::uint64_t margin = redactor_.is_enabled() ? redactor_.margin_bytes() : 0;
  // Start at a multiple of the unit size of UTF-16 and UTF-32.
  const auto context_begin = out.base - std::min(out.base, margin);
  const auto raw_begin = context_begin - context_begin % secrets::unit_bytes;
  const auto raw_end = std::min(last + margin, bytes_->size());
  std::string text;
  if (margin > out.base && !widths_.is_evident) {
    HONDANA_TRY(fetch(text_before_, readers_.read_before, redactor_.margin_bytes()));
    const auto context_bytes = static_cast<std::size_t>(margin - out.base);
    text = text_before_->substr(text_before_->size() - std::min(text_before_->size(), context_bytes));
    if (widths_.any()) text.erase(0, text.size() % secrets::unit_bytes);
  }
  const auto front = text.size();
  text.resize(front + static_cast<std::size_t>(raw_end - raw_begin));
  HONDANA_TRY(const auto count, bytes_->read(raw_begin, std::span(text).subspan(front)));
  if (count < text.size() - front) {
    return fail(errc::content_changed, "A log file was truncated while it was read. Retry.");
  }
  if (last + margin > raw_end) {
    HONDANA_TRY(fetch(text_after_, readers_.read_after, redactor_.margin_bytes()));
    text += std::string_view(*text_after_).substr(0, static_cast<std::size_t>(last + margin - raw_end));
  }
  const auto shift = front + static_cast<std::size_t>(out.base - raw_begin);
  const auto size = static_cast<std::size_t>(last - out.base);
  if (redactor_.is_enabled()) {
    std::vector<secrets::span> spans;
    redactor_.find(text, spans);
    std::vector<secrets::span> key_spans;
    if (!widths_.is_evident) find_key_lines(text, key_spans);
    if (widths_.any()) {
      redactor_.mask_part(text, 0, text.size(), true);
    } else {
      overwrite_spans(text, spans);
    }
    overwrite_spans(text, key_spans);
    if (!key_spans.empty()) {
      spans.insert(spans.end(), key_spans.begin(), key_spans.end());
      secrets::merge_spans(spans);
    }
    for (const auto& span : spans) {
      if (span.end <= shift || span.begin >= shift + size) continue;
      out.secrets.push_back({std::max(span.begin, shift) - shift, std::min(span.end, shift + size) - shift});
    }
  }
  text.resize(shift + size);
  text.erase(0, shift);
  out.bytes = std::move(text);
  return out;
}

std::string masked_window::sanitized(std::string_view text) const {
  if (!redactor_.is_enabled() || is_plain_ascii(text)) return sanitize(text);
  std::string out(text);
  extend_masks(out);
  return sanitize(out);
}
std::size_t masked_window::mask_again(std::string& text, bool masks_visible) const {
  return redactor_.is_enabled() ? mask_hidden_secrets(text, masks_visible) : 0;
}

}  // namespace hondana::records

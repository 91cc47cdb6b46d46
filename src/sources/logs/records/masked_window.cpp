/// Reads parts of a log file, with secrets masked in the same way as in the whole file.
#include "sources/logs/records/masked_window.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "sources/logs/records/masking.hpp"

namespace hondana::records {
namespace {

void blot_bytes(std::string& text, const std::vector<secrets::span>& where) {
  for (const auto& one : where) {
    for (auto at = one.begin; at < one.end; ++at) {
      if (text[at] != '\n' && text[at] != '\r') text[at] = '*';
    }
  }
}

}  // namespace

std::size_t block::secrets_in(std::uint64_t first, std::uint64_t last) const noexcept {
  return static_cast<std::size_t>(std::count_if(secrets.begin(), secrets.end(), [&](const secrets::span& one) {
    return base + one.begin < last && base + one.end > first;
  }));
}

window::window(std::shared_ptr<const content> of, std::uint64_t end, bool redact, std::string_view front, surroundings around)
    : of_(std::move(of)),
      end_(end),
      redactor_(redact ? secrets::policy::settings : secrets::policy::none, front.substr(0, secrets::front_bytes)),
      widths_(secrets::widths_of(front.substr(0, secrets::front_bytes))),
      around_(std::move(around)) {}

result<void> window::fetch(text_around& into, const std::function<result<std::string>(std::size_t)>& from, std::size_t most) {
  if (into) return {};
  HONDANA_TRY(auto got, from ? from(most) : std::string());
  into = std::make_unique<const std::string>(std::move(got));
  return {};
}

result<block> window::load(std::uint64_t begin, std::uint64_t end) {
  block out;
  out.begin = begin;
  out.end = std::min(end, end_);
  out.base = begin > 0 ? begin - 1 : 0;
  const auto last = std::min(out.end + ahead, end_);
  const std::uint64_t margin = redactor_.is_on() ? redactor_.around() : 0;
  // Start at a multiple of the unit size of UTF-16 and UTF-32.
  const auto wanted_begin = out.base - std::min(out.base, margin);
  const auto raw_begin = wanted_begin - wanted_begin % secrets::unit_bytes;
  const auto raw_end = std::min(last + margin, of_->size());
  std::string text;
  if (margin > out.base && !widths_.is_evident) {
    HONDANA_TRY(fetch(before_, around_.before, redactor_.around()));
    const auto wanted = static_cast<std::size_t>(margin - out.base);
    text = before_->substr(before_->size() - std::min(before_->size(), wanted));
    if (widths_.any()) text.erase(0, text.size() % secrets::unit_bytes);
  }
  const auto front = text.size();
  text.resize(front + static_cast<std::size_t>(raw_end - raw_begin));
  HONDANA_TRY(const auto got, of_->read(raw_begin, std::span(text).subspan(front)));
  if (got < text.size() - front) {
    return fail(errc::content_changed, "A log file was truncated while it was read. Retry.");
  }
  if (last + margin > raw_end) {
    HONDANA_TRY(fetch(behind_, around_.behind, redactor_.around()));
    text += std::string_view(*behind_).substr(0, static_cast<std::size_t>(last + margin - raw_end));
  }
  const auto shift = front + static_cast<std::size_t>(out.base - raw_begin);
  const auto size = static_cast<std::size_t>(last - out.base);
  if (redactor_.is_on()) {
    std::vector<secrets::span> found;
    redactor_.find(text, found);
    std::vector<secrets::span> of_keys;
    if (!widths_.is_evident) find_key_lines(text, of_keys);
    if (widths_.any()) {
      redactor_.mask_part(text, 0, text.size(), true);
    } else {
      blot_bytes(text, found);
    }
    blot_bytes(text, of_keys);
    if (!of_keys.empty()) {
      found.insert(found.end(), of_keys.begin(), of_keys.end());
      secrets::unite(found);
    }
    for (const auto& one : found) {
      if (one.end <= shift || one.begin >= shift + size) continue;
      out.secrets.push_back({std::max(one.begin, shift) - shift, std::min(one.end, shift + size) - shift});
    }
  }
  text.resize(shift + size);
  text.erase(0, shift);
  out.bytes = std::move(text);
  return out;
}

std::string window::cleaned(std::string_view text) const {
  if (!redactor_.is_on() || is_plain(text)) return answerable(text);
  std::string out(text);
  extend_masks(out);
  return answerable(out);
}
std::size_t window::mask_again(std::string& text, bool as_it_is) const {
  return redactor_.is_on() ? mask_hidden(text, as_it_is) : 0;
}
bool window::hides_something(std::string_view text) const {
  if (!redactor_.is_on() || !may_hide(text)) return false;
  std::string copy(text);
  return mask_hidden(copy, false) != 0;
}

}  // namespace hondana::records

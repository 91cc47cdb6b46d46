/// Reads a line with a sample.
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <utility>

#include "sources/metrics/exposition/lines.hpp"

namespace hondana::exposition {
namespace {

constexpr std::uint8_t begins_label = 1, is_in_label = 2, is_colon = 4;
constexpr std::array<std::uint8_t, 256> letters_of_names = [] {
  std::array<std::uint8_t, 256> out{};
  for (int c = 0; c < 256; ++c) {
    const bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    if (is_letter) out[static_cast<std::size_t>(c)] = begins_label | is_in_label;
    if (c >= '0' && c <= '9') out[static_cast<std::size_t>(c)] = is_in_label;
    if (c == ':') out[static_cast<std::size_t>(c)] = is_colon;
  }
  return out;
}();

/// Milliseconds that a double holds exactly, some 285 000 years.
constexpr std::int64_t latest = std::int64_t{1} << 53;

tl::unexpected<failure> too_much(std::string_view what, std::size_t most, std::string_view limit) {
  return fail(errc::response_too_large,
              std::string(what) + " more than " + std::to_string(most) + " (the limit \"" + std::string(limit) + "\")");
}

}  // namespace

tl::unexpected<failure> sample_line::expected(std::string_view what) const {
  return fail(errc::invalid_argument, "byte " + std::to_string(next_ - begin_ + 1) + ": expected " + std::string(what));
}

void sample_line::skip_blanks() noexcept {
  if (which_ == parser::format::open_metrics) return;
  while (next_ != end_ && (*next_ == ' ' || *next_ == '\t')) ++next_;
}

bool sample_line::take(char c) noexcept {
  if (next_ == end_ || *next_ != c) return false;
  ++next_;
  return true;
}

bool sample_line::take_separator() noexcept {
  if (which_ == parser::format::open_metrics) return take(' ');
  skip_blanks();
  return true;
}

std::string_view sample_line::take_word() noexcept {
  const char* const from = next_;
  while (next_ != end_ && *next_ != ' ' && *next_ != '\t') ++next_;
  return {from, static_cast<std::size_t>(next_ - from)};
}

std::string_view sample_line::take_name(bool has_colons) noexcept {
  const char* const from = next_;
  const unsigned colon = has_colons ? is_colon : 0;
  const auto letter = [this] { return letters_of_names[static_cast<unsigned char>(*next_)]; };
  if (next_ == end_ || (letter() & (begins_label | colon)) == 0) return {};
  while (next_ != end_ && (letter() & (is_in_label | colon)) != 0) ++next_;
  return {from, static_cast<std::size_t>(next_ - from)};
}

series::label& sample_line::next_label() {
  if (unused_.empty()) return of_.labels.emplace_back();
  of_.labels.push_back(std::move(unused_.back()));
  unused_.pop_back();
  return of_.labels.back();
}

void sample_line::drop_labels_from(std::size_t count) {
  while (of_.labels.size() > count) {
    unused_.push_back(std::move(of_.labels.back()));
    of_.labels.pop_back();
  }
}

result<void> sample_line::read(std::string_view line) {
  begin_ = next_ = line.data();
  end_ = begin_ + line.size();
  drop_labels_from(0);
  at_.reset();
  skip_blanks();
  const auto name = take_name(true);
  if (name.empty()) return expected("a metric's name");
  if (name.size() > most_.label_bytes) return too_much("bytes of a name:", most_.label_bytes, "label_bytes");
  of_.name.assign(name);
  skip_blanks();
  const bool has_labels = take('{');
  if (has_labels) {
    HONDANA_TRY(read_labels());
    HONDANA_TRY(put_in_order());
  }
  const char* const before = next_;
  if (!take_separator()) return expected(has_labels ? "one space" : "{ or one space");
  if (!has_labels && before == next_ && next_[-1] != ' ' && next_[-1] != '\t') return expected("{, a space or a tab");
  HONDANA_TRY(read_number(value_, "a value"));
  if (is_at_end()) return {};
  if (!take_separator()) return expected("one space");
  if (is_at_end() && which_ == parser::format::prometheus) return {};
  if (which_ == parser::format::open_metrics && take('#')) return skip_exemplar();
  HONDANA_TRY(read_time());
  if (is_at_end()) return {};
  if (!take_separator()) return expected("one space");
  if (which_ == parser::format::open_metrics && take('#')) return skip_exemplar();
  if (!is_at_end() || which_ == parser::format::open_metrics) return expected("the end of the line");
  return {};
}

result<void> sample_line::read_labels() {
  skip_blanks();
  if (take('}')) return {};
  for (;;) {
    if (of_.labels.size() == most_.labels) return too_much("labels:", most_.labels, "label_limit");
    const auto name = take_name(false);
    if (name.empty()) return expected("a label's name");
    if (name == "__name__") return expected("a label other than __name__");
    if (name.size() > most_.label_bytes) return too_much("bytes of a label's name:", most_.label_bytes, "label_bytes");
    auto& label = next_label();
    label.first.assign(name);
    skip_blanks();
    if (!take('=')) return expected("=");
    skip_blanks();
    HONDANA_TRY(read_label_value(label.second));
    skip_blanks();
    const bool goes_on = take(',');
    skip_blanks();
    if (goes_on && (which_ == parser::format::open_metrics || is_at_end() || *next_ != '}')) continue;
    if (take('}')) return {};
    return expected("a comma or }");
  }
}

result<void> sample_line::read_label_value(std::string& into) {
  if (!take('"')) return expected("a value in quotes");
  const char* at = next_;
  bool has_escapes = false;
  for (; at != end_ && *at != '"'; ++at) {
    if (*at != '\\') continue;
    has_escapes = true;
    if (++at == end_) break;
  }
  if (at == end_) return expected("a value that ends with a quote");
  const std::string_view text(next_, static_cast<std::size_t>(at - next_));
  if (text.size() > most_.label_bytes) return too_much("bytes of a label's value:", most_.label_bytes, "label_bytes");
  if (has_escapes)
    into = unescaped(text, true);
  else
    into.assign(text);
  next_ = at + 1;
  return {};
}

/// The same as `series::normalise`, and without it looking at names and values once more.
result<void> sample_line::put_in_order() {
  auto& labels = of_.labels;
  const auto by_name = [](const series::label& a, const series::label& b) { return a.first < b.first; };
  if (!std::is_sorted(labels.begin(), labels.end(), by_name)) std::sort(labels.begin(), labels.end(), by_name);
  for (std::size_t i = 1; i < labels.size(); ++i)
    if (labels[i - 1].first == labels[i].first)
      return fail(errc::invalid_argument, "the label " + labels[i].first + " occurs twice");
  std::size_t kept = 0;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (labels[i].second.empty()) continue;
    if (kept != i) labels[kept].swap(labels[i]);
    ++kept;
  }
  drop_labels_from(kept);
  return {};
}

result<void> sample_line::read_number(double& into, std::string_view what) {
  const char* const from = next_;
  const auto read = series::number_in(take_word());
  if (!read) {
    next_ = from;
    return expected(std::string(what) + ", a decimal number");
  }
  into = *read;
  return {};
}

result<void> sample_line::read_time() {
  const char* const from = next_;
  const auto word = take_word();
  const auto refused = [&](std::string_view what) {
    next_ = from;
    return expected(what);
  };
  if (which_ == parser::format::prometheus) {
    series::instant at = 0;
    const auto done = std::from_chars(word.data(), word.data() + word.size(), at);
    if (done.ec != std::errc{} || done.ptr != word.data() + word.size() || at > latest || at < -latest)
      return refused("a time in milliseconds");
    at_ = at;
    return {};
  }
  const auto seconds = series::number_in(word);
  if (!seconds || !(std::abs(*seconds) <= static_cast<double>(latest) / 1000)) return refused("a time in seconds");
  at_ = std::llround(*seconds * 1000);
  return {};
}

result<void> sample_line::skip_exemplar() {
  if (!take(' ') || !take('{')) return expected("an exemplar");
  // What the sample has must stay.
  auto labels = std::exchange(of_.labels, {});
  auto read = read_labels();
  drop_labels_from(0);
  of_.labels = std::move(labels);
  if (!read) return read;
  double value = 0;
  if (!take(' ')) return expected("one space");
  HONDANA_TRY(read_number(value, "an exemplar's value"));
  if (is_at_end()) return {};
  if (!take(' ')) return expected("one space");
  HONDANA_TRY(read_number(value, "an exemplar's time"));
  if (!is_at_end()) return expected("the end of the line");
  return {};
}

}  // namespace hondana::exposition

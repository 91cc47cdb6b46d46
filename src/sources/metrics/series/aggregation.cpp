/// Aggregations over time and across series: parsing, defaults by kind, durations, and translation to PromQL.
#include "sources/metrics/series/aggregation.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>
#include <string_view>
#include <utility>

namespace hondana::series {

struct name_over_time {
  over_time function;
  std::string_view name;
};
/// `raw` is another name of `last`.
inline constexpr std::array<name_over_time, 11> names_over_time{{{over_time::last, "last"},
                                                                 {over_time::last, "raw"},
                                                                 {over_time::rate, "rate"},
                                                                 {over_time::increase, "increase"},
                                                                 {over_time::irate, "irate"},
                                                                 {over_time::delta, "delta"},
                                                                 {over_time::avg, "avg_over_time"},
                                                                 {over_time::min, "min_over_time"},
                                                                 {over_time::max, "max_over_time"},
                                                                 {over_time::sum, "sum_over_time"},
                                                                 {over_time::count, "count_over_time"}}};

struct name_across {
  across op;
  std::string_view name;
};
inline constexpr std::array<name_across, 8> names_across{{{across::sum, "sum"},
                                                          {across::avg, "avg"},
                                                          {across::min, "min"},
                                                          {across::max, "max"},
                                                          {across::count, "count"},
                                                          {across::stddev, "stddev"},
                                                          {across::topk, "topk"},
                                                          {across::bottomk, "bottomk"}}};

[[nodiscard]] inline std::string_view name_of(over_time function) noexcept {
  for (const auto& entry : names_over_time)
    if (entry.function == function) return entry.name;
  return "last";
}
[[nodiscard]] inline std::string_view name_of(across op) noexcept {
  for (const auto& entry : names_across)
    if (entry.op == op) return entry.name;
  return "";
}

namespace {

struct time_unit {
  std::string_view name;
  duration length;
};
constexpr duration day = 86'400'000;
/// Longest first, as they must follow each other in a text.
constexpr std::array<time_unit, 7> time_units{
    {{"y", 365 * day}, {"w", 7 * day}, {"d", day}, {"h", 3'600'000}, {"m", 60'000}, {"s", 1000}, {"ms", 1}}};
constexpr duration century = 100 * 365 * day;

tl::unexpected<failure> invalid_duration(std::string_view reason) {
  return fail(errc::invalid_argument, "not a valid duration: " + std::string(reason) + "; write it as 90s, 5m, 1h30m or 7d");
}

/// Removes the leading digits and returns their number. Negative if there are none, or too many.
duration consume_number(std::string_view& text) noexcept {
  duration value = -1;
  const auto digits = std::min(text.find_first_not_of("0123456789"), text.size());
  if (digits == 0 || std::from_chars(text.data(), text.data() + digits, value).ec != std::errc{} || value > century) value = -1;
  text.remove_prefix(digits);
  return value;
}

/// Parses the decimals of seconds into milliseconds. Negative if they are invalid.
duration parse_fraction(std::string_view text) noexcept {
  if (text.empty() || text.size() > 3) return -1;
  duration value = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    const char c = i < text.size() ? text[i] : '0';
    if (c < '0' || c > '9') return -1;
    value = value * 10 + (c - '0');
  }
  return value;
}

}  // namespace

result<duration> parse_duration(std::string_view text) {
  if (text.empty()) return invalid_duration("the text is empty");
  duration sum = 0;
  std::size_t next_unit = 0;
  const bool is_bare = text.find_first_not_of("0123456789.") == std::string_view::npos;
  while (!text.empty()) {
    const auto number = consume_number(text);
    if (number < 0) return invalid_duration("expected a number, at most a century in milliseconds");
    if (is_bare) {
      duration milliseconds = 0;
      if (!text.empty()) milliseconds = parse_fraction(text.substr(1));
      if (milliseconds < 0) return invalid_duration("seconds have at most three decimals");
      if (number > century / 1000) return invalid_duration("it is longer than a century");
      sum = number * 1000 + milliseconds;
      break;
    }
    const auto name = text.substr(0, std::min(text.find_first_of("0123456789"), text.size()));
    const auto unit = std::find_if(time_units.begin() + static_cast<std::ptrdiff_t>(next_unit), time_units.end(),
                                   [name](const time_unit& candidate) { return candidate.name == name; });
    if (unit == time_units.end())
      return invalid_duration("units are y, w, d, h, m, s and ms, longest first, each at most once");
    if (number > century / unit->length) return invalid_duration("it is longer than a century");
    sum += number * unit->length;
    next_unit = static_cast<std::size_t>(unit - time_units.begin()) + 1;
    text.remove_prefix(name.size());
  }
  if (sum > century) return invalid_duration("it is longer than a century");
  if (sum == 0) return invalid_duration("it is zero");
  return sum;
}

std::string to_text(duration length) {
  std::string best = std::to_string(length) + "ms";
  // Try each combination of units. If two results have the same length, the one with fewer units wins.
  for (unsigned mask = 1; mask < 1u << time_units.size(); ++mask) {
    std::string text;
    duration remaining = length;
    for (std::size_t i = 0; i < time_units.size(); ++i) {
      if ((mask >> i & 1) == 0 || remaining < time_units[i].length) continue;
      text.append(std::to_string(remaining / time_units[i].length)).append(time_units[i].name);
      remaining %= time_units[i].length;
    }
    if (remaining == 0 && text.size() < best.size()) best = std::move(text);
  }
  return best;
}

namespace {

constexpr std::size_t max_text_bytes = 4096;

constexpr bool is_word_char(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
}

class aggregation_parser {
 public:
  explicit aggregation_parser(std::string_view text) : text_(text) {}

  result<aggregation> parse() {
    if (text_.size() > max_text_bytes)
      return fail(errc::invalid_argument, "longer than " + std::to_string(max_text_bytes) + " bytes");
    skip_blanks();
    if (is_at_end()) return std::move(out_);
    auto parsed = parse_all();
    if (!parsed) return tl::unexpected(std::move(parsed).error());
    skip_blanks();
    if (!is_at_end()) return expected("the end");
    return std::move(out_);
  }

 private:
  [[nodiscard]] bool is_at_end() const noexcept { return position_ == text_.size(); }
  void skip_blanks() {
    while (!is_at_end() && (text_[position_] == ' ' || text_[position_] == '\t')) ++position_;
  }
  [[nodiscard]] tl::unexpected<failure> expected(std::string_view description) const {
    return fail(errc::invalid_argument, "byte " + std::to_string(position_ + 1) + ": expected " + std::string(description) +
                                            (is_at_end() ? ", and the text ends" : ""));
  }
  /// Reads a word. Its start is stored in `word_start_`.
  std::string_view next_word() {
    skip_blanks();
    word_start_ = position_;
    while (!is_at_end() && is_word_char(text_[position_])) ++position_;
    return text_.substr(word_start_, position_ - word_start_);
  }
  tl::unexpected<failure> expected_at_word(std::string_view description) {
    position_ = word_start_;
    return expected(description);
  }
  bool consume(char c) {
    skip_blanks();
    if (is_at_end() || text_[position_] != c) return false;
    ++position_;
    return true;
  }

  result<void> parse_all() {
    const auto first = next_word();
    if (first == "auto") return {};
    const auto function =
        std::find_if(names_over_time.begin(), names_over_time.end(), [&](const auto& entry) { return entry.name == first; });
    if (function != names_over_time.end()) return parse_window(function->function);
    const auto op =
        std::find_if(names_across.begin(), names_across.end(), [&](const auto& entry) { return entry.name == first; });
    result<void> status;
    if (op != names_across.end()) {
      out_.across = op->op;
      if (out_.across == across::topk || out_.across == across::bottomk) status = parse_k();
    } else if (first == "quantile") {
      status = parse_quantiles();
    } else if (first.size() > 1 && first[0] == 'p') {
      status = parse_percentiles(first);
    } else {
      return expected_at_word(
          "last, rate, increase, irate, delta, avg_over_time, min_over_time, max_over_time, sum_over_time, count_over_time, "
          "sum, avg, "
          "min, max, count, stddev, topk(5), bottomk(5), p90 or quantile(0.9)");
    }
    if (!status) return status;
    if (status = parse_grouping(); !status) return status;
    if (!consume('(')) return {};
    const auto inner = next_word();
    const auto time =
        std::find_if(names_over_time.begin(), names_over_time.end(), [&](const auto& entry) { return entry.name == inner; });
    if (time == names_over_time.end()) return expected_at_word("a function over time, such as rate[5m]");
    if (status = parse_window(time->function); !status) return status;
    if (!consume(')')) return expected(")");
    const bool is_grouped = !out_.labels.empty() || out_.is_without;
    return is_grouped ? result<void>{} : parse_grouping();
  }

  result<void> parse_window(over_time function) {
    out_.time = function;
    const auto start = position_;
    if (!consume('[')) return {};
    if (function == over_time::last) {
      position_ = start;
      return expected("no window: last has none");
    }
    const auto begin = position_;
    const auto end = text_.find(']', begin);
    if (end == std::string_view::npos) {
      position_ = text_.size();
      return expected("]");
    }
    const auto length = parse_duration(text_.substr(begin, end - begin));
    if (!length) return fail(errc::invalid_argument, "byte " + std::to_string(begin + 1) + ": " + length.error().public_text);
    out_.window = *length;
    position_ = end + 1;
    return {};
  }

  result<void> parse_k() {
    if (!consume('(')) return expected("( and a count");
    const auto number = next_word();
    unsigned k = 0;
    const auto parsed = std::from_chars(number.data(), number.data() + number.size(), k);
    if (parsed.ec != std::errc{} || parsed.ptr != number.data() + number.size() || k == 0 || k > aggregation::max_k)
      return expected_at_word("a count from 1 to " + std::to_string(aggregation::max_k));
    out_.k = k;
    if (!consume(')')) return expected(")");
    return {};
  }

  /// `number`: the number as written. `exponent`: appended to it, "e-2" for percentiles.
  result<void> add_quantile(std::string_view number, std::string_view exponent) {
    const bool is_number = !number.empty() && number.find_first_not_of("0123456789.") == std::string_view::npos;
    // Appended as text, so that p99.9 is exactly 0.999.
    const double quantile = is_number ? parse_number(std::string(number).append(exponent)).value_or(-1) : -1;
    if (!(quantile >= 0 && quantile <= 1))
      return expected_at_word(exponent.empty() ? "a quantile from 0 to 1" : "a percentile from p0 to p100");
    if (out_.quantiles.size() == aggregation::max_quantiles)
      return expected_at_word("at most " + std::to_string(aggregation::max_quantiles) + " quantiles");
    if (std::find(out_.quantiles.begin(), out_.quantiles.end(), quantile) != out_.quantiles.end())
      return expected_at_word("each quantile once");
    out_.quantiles.push_back(quantile);
    return {};
  }

  result<void> parse_quantiles() {
    if (!consume('(')) return expected("( and a quantile from 0 to 1");
    do {
      HONDANA_TRY(add_quantile(next_word(), {}));
    } while (consume(','));
    if (!consume(')')) return expected(")");
    return {};
  }

  result<void> parse_percentiles(std::string_view first) {
    for (auto name = first;; name = next_word()) {
      const bool is_percentile = name.size() > 1 && name[0] == 'p';
      HONDANA_TRY(add_quantile(is_percentile ? name.substr(1) : std::string_view(), "e-2"));
      if (!consume(',')) return {};
    }
  }

  result<void> parse_grouping() {
    const auto start = position_;
    const auto clause = next_word();
    if (clause.empty()) {
      position_ = start;
      return {};
    }
    if (clause != "by" && clause != "without") return expected_at_word("by or without");
    out_.is_without = clause == "without";
    if (!consume('(')) return expected("( and labels");
    if (consume(')')) return {};
    do {
      const auto name = next_word();
      if (!is_label_name(name)) return expected_at_word("a label's name");
      if (!out_.quantiles.empty() && (name == "le" || name == "quantile"))
        return expected_at_word("a label other than le and quantile, which quantiles handle themselves");
      if (out_.labels.size() == aggregation::max_labels)
        return expected_at_word("at most " + std::to_string(aggregation::max_labels) + " labels");
      if (std::find(out_.labels.begin(), out_.labels.end(), name) == out_.labels.end()) out_.labels.emplace_back(name);
    } while (consume(','));
    if (!consume(')')) return expected(")");
    return {};
  }

  std::string_view text_;
  std::size_t position_ = 0;
  std::size_t word_start_ = 0;
  aggregation out_{};
};

}  // namespace

result<aggregation> parse_aggregation(std::string_view text) { return aggregation_parser(text).parse(); }

namespace {

std::string join_labels(const std::vector<std::string>& labels, std::string_view first = {}) {
  std::string out(first);
  for (const auto& name : labels) {
    if (!out.empty()) out += ',';
    out += name;
  }
  return out;
}

/// ` by (a,b)`. Empty if nothing is grouped. `first`: a label that every group keeps.
std::string grouping(const aggregation& aggregation, std::string_view first, bool is_short) {
  if (aggregation.labels.empty() && first.empty() && !aggregation.is_without) return {};
  std::string out = is_short ? "" : " ";
  out += aggregation.is_without ? "without" : "by";
  out += is_short ? "(" : " (";
  return out.append(join_labels(aggregation.labels, aggregation.is_without ? std::string_view() : first)).append(1, ')');
}

/// Without an exponent, which `agg` does not support.
std::string fixed_text(double value) {
  std::array<char, 512> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed);
  return {text.data(), end.ptr};
}

/// In the form pXX if this is exact for all.
std::string quantiles_text(const std::vector<double>& quantiles) {
  std::string out;
  for (const double quantile : quantiles) {
    const auto name = fixed_text(quantile * 100);
    const bool is_exact = parse_number(name + "e-2") == quantile;
    if (!is_exact) {
      std::string list;
      for (const double value : quantiles) list.append(list.empty() ? "" : ",").append(fixed_text(value));
      return "quantile(" + list + ")";
    }
    if (!out.empty()) out += ',';
    out.append(1, 'p').append(name);
  }
  return out;
}

std::string function_text(over_time function, duration window) {
  std::string out(name_of(function));
  if (window > 0 && function != over_time::last) out.append(1, '[').append(to_text(window)).append(1, ']');
  return out;
}

}  // namespace

aggregation aggregation::for_kind(kind metric_kind) const {
  aggregation out = *this;
  if (out.time) return out;
  const bool is_unaggregated = across == across::none && quantiles.empty();
  if (metric_kind == kind::histogram && is_unaggregated) out.quantiles = {0.5, 0.9, 0.99};
  const bool is_cumulative = metric_kind == kind::counter || metric_kind == kind::histogram || !out.quantiles.empty();
  out.time = is_cumulative ? over_time::rate : over_time::last;
  return out;
}

aggregation aggregation::for_step(duration step, duration scrape_interval) const {
  aggregation out = *this;
  if (out.window == 0 && out.time != over_time::last) out.window = std::max({step, 4 * scrape_interval, duration{1}});
  return out;
}

std::string aggregation::to_text() const {
  const bool is_across = across != across::none || !quantiles.empty();
  auto function = time ? function_text(*time, window) : std::string();
  if (!is_across) return function;
  std::string out(quantiles.empty() ? std::string(name_of(across)) : quantiles_text(quantiles));
  if (across == across::topk || across == across::bottomk) out.append(1, '(').append(std::to_string(k)).append(1, ')');
  out += grouping(*this, {}, false);
  if (time) out.append(" (").append(function).append(1, ')');
  return out;
}

std::string series_name_for(std::string_view metric_name, kind metric_kind, const aggregation& aggregation) {
  std::string out(metric_name);
  const auto has_suffix = [&](std::string_view suffix) { return metric_name.ends_with(suffix); };
  const bool is_family = metric_kind == kind::histogram || (metric_kind == kind::unknown && !aggregation.quantiles.empty());
  if (!is_family || has_suffix("_bucket") || has_suffix("_sum") || has_suffix("_count") || has_suffix("_created")) return out;
  return out += aggregation.quantiles.empty() ? "_count" : "_bucket";
}

std::vector<std::string> to_promql(const aggregation& aggregation, const selector& selector) {
  std::string expression = selector.to_text();
  const auto time = aggregation.time.value_or(over_time::last);
  if (time != over_time::last)
    expression =
        std::string(name_of(time)) + "(" + expression + "[" + to_text(std::max<duration>(aggregation.window, 1)) + "])";
  if (aggregation.quantiles.empty() && aggregation.across == across::none) return {std::move(expression)};
  if (aggregation.quantiles.empty()) {
    std::string out(name_of(aggregation.across));
    const auto group = grouping(aggregation, {}, true);
    if (!group.empty()) out.append(1, ' ').append(group);
    out += '(';
    if (aggregation.across == across::topk || aggregation.across == across::bottomk)
      out.append(std::to_string(aggregation.k)).append(1, ',');
    return {out.append(expression).append(1, ')')};
  }
  std::vector<std::string> out;
  out.reserve(aggregation.quantiles.size());
  for (const double quantile : aggregation.quantiles)
    out.push_back("histogram_quantile(" + format_number(quantile) + ",sum " + grouping(aggregation, "le", true) + "(" +
                  expression + "))");
  return out;
}

}  // namespace hondana::series

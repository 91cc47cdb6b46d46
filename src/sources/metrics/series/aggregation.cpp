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
  over_time what;
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
  across what;
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

[[nodiscard]] inline std::string_view name_of(over_time what) noexcept {
  for (const auto& one : names_over_time)
    if (one.what == what) return one.name;
  return "last";
}
[[nodiscard]] inline std::string_view name_of(across what) noexcept {
  for (const auto& one : names_across)
    if (one.what == what) return one.name;
  return "";
}

namespace {

struct unit_of_time {
  std::string_view name;
  duration length;
};
constexpr duration day = 86'400'000;
/// Longest first, as they must follow each other in a text.
constexpr std::array<unit_of_time, 7> units_of_time{
    {{"y", 365 * day}, {"w", 7 * day}, {"d", day}, {"h", 3'600'000}, {"m", 60'000}, {"s", 1000}, {"ms", 1}}};
constexpr duration century = 100 * 365 * day;

tl::unexpected<failure> no_duration(std::string_view why) {
  return fail(errc::invalid_argument, "not a valid duration: " + std::string(why) + "; write it as 90s, 5m, 1h30m or 7d");
}

/// Removes the leading digits and returns their number. Negative if there are none, or too many.
duration take_number(std::string_view& text) noexcept {
  duration value = -1;
  const auto digits = std::min(text.find_first_not_of("0123456789"), text.size());
  if (digits == 0 || std::from_chars(text.data(), text.data() + digits, value).ec != std::errc{} || value > century) value = -1;
  text.remove_prefix(digits);
  return value;
}

/// Parses the decimals of seconds into milliseconds. Negative if they are invalid.
duration fraction(std::string_view text) noexcept {
  if (text.empty() || text.size() > 3) return -1;
  duration value = 0;
  for (std::size_t at = 0; at < 3; ++at) {
    const char c = at < text.size() ? text[at] : '0';
    if (c < '0' || c > '9') return -1;
    value = value * 10 + (c - '0');
  }
  return value;
}

}  // namespace

result<duration> parse_duration(std::string_view text) {
  if (text.empty()) return no_duration("the text is empty");
  duration sum = 0;
  std::size_t next_unit = 0;
  const bool is_bare = text.find_first_not_of("0123456789.") == std::string_view::npos;
  while (!text.empty()) {
    const auto number = take_number(text);
    if (number < 0) return no_duration("expected a number, at most a century in milliseconds");
    if (is_bare) {
      duration thousandths = 0;
      if (!text.empty()) thousandths = fraction(text.substr(1));
      if (thousandths < 0) return no_duration("seconds have at most three decimals");
      if (number > century / 1000) return no_duration("it is longer than a century");
      sum = number * 1000 + thousandths;
      break;
    }
    const auto name = text.substr(0, std::min(text.find_first_of("0123456789"), text.size()));
    const auto unit = std::find_if(units_of_time.begin() + static_cast<std::ptrdiff_t>(next_unit), units_of_time.end(),
                                   [name](const unit_of_time& one) { return one.name == name; });
    if (unit == units_of_time.end()) return no_duration("units are y, w, d, h, m, s and ms, longest first, each at most once");
    if (number > century / unit->length) return no_duration("it is longer than a century");
    sum += number * unit->length;
    next_unit = static_cast<std::size_t>(unit - units_of_time.begin()) + 1;
    text.remove_prefix(name.size());
  }
  if (sum > century) return no_duration("it is longer than a century");
  if (sum == 0) return no_duration("it is zero");
  return sum;
}

std::string to_text(duration of) {
  std::string best = std::to_string(of) + "ms";
  // Try each combination of units. If two results have the same length, the one with fewer units wins.
  for (unsigned chosen = 1; chosen < 1u << units_of_time.size(); ++chosen) {
    std::string text;
    duration rest = of;
    for (std::size_t at = 0; at < units_of_time.size(); ++at) {
      if ((chosen >> at & 1) == 0 || rest < units_of_time[at].length) continue;
      text.append(std::to_string(rest / units_of_time[at].length)).append(units_of_time[at].name);
      rest %= units_of_time[at].length;
    }
    if (rest == 0 && text.size() < best.size()) best = std::move(text);
  }
  return best;
}

namespace {

constexpr std::size_t longest_text = 4096;

constexpr bool is_in_word(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
}

class words {
 public:
  explicit words(std::string_view text) : text_(text) {}

  result<aggregation> read() {
    if (text_.size() > longest_text)
      return fail(errc::invalid_argument, "longer than " + std::to_string(longest_text) + " bytes");
    skip_blanks();
    if (is_at_end()) return std::move(out_);
    auto done = read_whole();
    if (!done) return tl::unexpected(std::move(done).error());
    skip_blanks();
    if (!is_at_end()) return expected("the end");
    return std::move(out_);
  }

 private:
  [[nodiscard]] bool is_at_end() const noexcept { return at_ == text_.size(); }
  void skip_blanks() {
    while (!is_at_end() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
  }
  [[nodiscard]] tl::unexpected<failure> expected(std::string_view what) const {
    return fail(errc::invalid_argument, "byte " + std::to_string(at_ + 1) + ": expected " + std::string(what) +
                                            (is_at_end() ? ", and the text ends" : ""));
  }
  /// Reads a word. Its start is stored in `began_`.
  std::string_view word() {
    skip_blanks();
    began_ = at_;
    while (!is_at_end() && is_in_word(text_[at_])) ++at_;
    return text_.substr(began_, at_ - began_);
  }
  tl::unexpected<failure> expected_instead(std::string_view what) {
    at_ = began_;
    return expected(what);
  }
  bool take(char c) {
    skip_blanks();
    if (is_at_end() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  result<void> read_whole() {
    const auto first = word();
    if (first == "auto") return {};
    const auto over =
        std::find_if(names_over_time.begin(), names_over_time.end(), [&](const auto& one) { return one.name == first; });
    if (over != names_over_time.end()) return read_window(over->what);
    const auto across =
        std::find_if(names_across.begin(), names_across.end(), [&](const auto& one) { return one.name == first; });
    result<void> done;
    if (across != names_across.end()) {
      out_.across = across->what;
      if (out_.across == across::topk || out_.across == across::bottomk) done = read_k();
    } else if (first == "quantile") {
      done = read_quantiles();
    } else if (first.size() > 1 && first[0] == 'p') {
      done = read_percentiles(first);
    } else {
      return expected_instead(
          "last, rate, increase, irate, delta, avg_over_time, min_over_time, max_over_time, sum_over_time, count_over_time, "
          "sum, avg, "
          "min, max, count, stddev, topk(5), bottomk(5), p90 or quantile(0.9)");
    }
    if (!done) return done;
    if (done = read_grouping(); !done) return done;
    if (!take('(')) return {};
    const auto inner = word();
    const auto time =
        std::find_if(names_over_time.begin(), names_over_time.end(), [&](const auto& one) { return one.name == inner; });
    if (time == names_over_time.end()) return expected_instead("a function over time, such as rate[5m]");
    if (done = read_window(time->what); !done) return done;
    if (!take(')')) return expected(")");
    const bool is_grouped = !out_.labels.empty() || out_.is_without;
    return is_grouped ? result<void>{} : read_grouping();
  }

  result<void> read_window(over_time what) {
    out_.time = what;
    const auto opened = at_;
    if (!take('[')) return {};
    if (what == over_time::last) {
      at_ = opened;
      return expected("no window: last has none");
    }
    const auto begin = at_;
    const auto end = text_.find(']', begin);
    if (end == std::string_view::npos) {
      at_ = text_.size();
      return expected("]");
    }
    const auto length = parse_duration(text_.substr(begin, end - begin));
    if (!length) return fail(errc::invalid_argument, "byte " + std::to_string(begin + 1) + ": " + length.error().public_text);
    out_.window = *length;
    at_ = end + 1;
    return {};
  }

  result<void> read_k() {
    if (!take('(')) return expected("( and a count");
    const auto number = word();
    unsigned k = 0;
    const auto done = std::from_chars(number.data(), number.data() + number.size(), k);
    if (done.ec != std::errc{} || done.ptr != number.data() + number.size() || k == 0 || k > aggregation::most_k)
      return expected_instead("a count from 1 to " + std::to_string(aggregation::most_k));
    out_.k = k;
    if (!take(')')) return expected(")");
    return {};
  }

  /// `what`: the number as written. `exponent`: appended to it, "e-2" for percentiles.
  result<void> add_quantile(std::string_view what, std::string_view exponent) {
    const bool is_number = !what.empty() && what.find_first_not_of("0123456789.") == std::string_view::npos;
    // Appended as text, so that p99.9 is exactly 0.999.
    const double quantile = is_number ? number_in(std::string(what).append(exponent)).value_or(-1) : -1;
    if (!(quantile >= 0 && quantile <= 1))
      return expected_instead(exponent.empty() ? "a quantile from 0 to 1" : "a percentile from p0 to p100");
    if (out_.quantiles.size() == aggregation::most_quantiles)
      return expected_instead("at most " + std::to_string(aggregation::most_quantiles) + " quantiles");
    if (std::find(out_.quantiles.begin(), out_.quantiles.end(), quantile) != out_.quantiles.end())
      return expected_instead("each quantile once");
    out_.quantiles.push_back(quantile);
    return {};
  }

  result<void> read_quantiles() {
    if (!take('(')) return expected("( and a quantile from 0 to 1");
    do {
      HONDANA_TRY(add_quantile(word(), {}));
    } while (take(','));
    if (!take(')')) return expected(")");
    return {};
  }

  result<void> read_percentiles(std::string_view first) {
    for (auto name = first;; name = word()) {
      const bool is_percentile = name.size() > 1 && name[0] == 'p';
      HONDANA_TRY(add_quantile(is_percentile ? name.substr(1) : std::string_view(), "e-2"));
      if (!take(',')) return {};
    }
  }

  result<void> read_grouping() {
    const auto before = at_;
    const auto clause = word();
    if (clause.empty()) {
      at_ = before;
      return {};
    }
    if (clause != "by" && clause != "without") return expected_instead("by or without");
    out_.is_without = clause == "without";
    if (!take('(')) return expected("( and labels");
    if (take(')')) return {};
    do {
      const auto name = word();
      if (!is_label_name(name)) return expected_instead("a label's name");
      if (!out_.quantiles.empty() && (name == "le" || name == "quantile"))
        return expected_instead("a label other than le and quantile, which quantiles handle themselves");
      if (out_.labels.size() == aggregation::most_labels)
        return expected_instead("at most " + std::to_string(aggregation::most_labels) + " labels");
      if (std::find(out_.labels.begin(), out_.labels.end(), name) == out_.labels.end()) out_.labels.emplace_back(name);
    } while (take(','));
    if (!take(')')) return expected(")");
    return {};
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t began_ = 0;
  aggregation out_{};
};

}  // namespace

result<aggregation> parse_aggregation(std::string_view text) { return words(text).read(); }

namespace {

std::string joined(const std::vector<std::string>& labels, std::string_view first = {}) {
  std::string out(first);
  for (const auto& one : labels) {
    if (!out.empty()) out += ',';
    out += one;
  }
  return out;
}

/// ` by (a,b)`. Empty if nothing is grouped. `first`: a label that every group keeps.
std::string grouping(const aggregation& how, std::string_view first, bool is_short) {
  if (how.labels.empty() && first.empty() && !how.is_without) return {};
  std::string out = is_short ? "" : " ";
  out += how.is_without ? "without" : "by";
  out += is_short ? "(" : " (";
  return out.append(joined(how.labels, how.is_without ? std::string_view() : first)).append(1, ')');
}

/// Without an exponent, which `agg` does not support.
std::string fixed_text(double value) {
  std::array<char, 512> text{};
  const auto done = std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed);
  return {text.data(), done.ptr};
}

/// In the form pXX if this is exact for all.
std::string quantile_names(const std::vector<double>& quantiles) {
  std::string out;
  for (const double one : quantiles) {
    const auto name = fixed_text(one * 100);
    const bool is_plain = number_in(name + "e-2") == one;
    if (!is_plain) {
      std::string all;
      for (const double each : quantiles) all.append(all.empty() ? "" : ",").append(fixed_text(each));
      return "quantile(" + all + ")";
    }
    if (!out.empty()) out += ',';
    out.append(1, 'p').append(name);
  }
  return out;
}

std::string inner(over_time how, duration window) {
  std::string out(name_of(how));
  if (window > 0 && how != over_time::last) out.append(1, '[').append(to_text(window)).append(1, ']');
  return out;
}

}  // namespace

aggregation aggregation::for_kind(kind what) const {
  aggregation out = *this;
  if (out.time) return out;
  const bool is_whole = across == across::none && quantiles.empty();
  if (what == kind::histogram && is_whole) out.quantiles = {0.5, 0.9, 0.99};
  const bool is_counted = what == kind::counter || what == kind::histogram || !out.quantiles.empty();
  out.time = is_counted ? over_time::rate : over_time::last;
  return out;
}

aggregation aggregation::for_step(duration step, duration scrape_interval) const {
  aggregation out = *this;
  if (out.window == 0 && out.time != over_time::last) out.window = std::max({step, 4 * scrape_interval, duration{1}});
  return out;
}

std::string aggregation::to_text() const {
  const bool is_across = across != across::none || !quantiles.empty();
  auto of_time = time ? inner(*time, window) : std::string();
  if (!is_across) return of_time;
  std::string out(quantiles.empty() ? std::string(name_of(across)) : quantile_names(quantiles));
  if (across == across::topk || across == across::bottomk) out.append(1, '(').append(std::to_string(k)).append(1, ')');
  out += grouping(*this, {}, false);
  if (time) out.append(" (").append(of_time).append(1, ')');
  return out;
}

std::string series_read(std::string_view metric_name, kind what, const aggregation& how) {
  std::string out(metric_name);
  const auto ends_so = [&](std::string_view ending) { return metric_name.ends_with(ending); };
  const bool is_family = what == kind::histogram || (what == kind::unknown && !how.quantiles.empty());
  if (!is_family || ends_so("_bucket") || ends_so("_sum") || ends_so("_count") || ends_so("_created")) return out;
  return out += how.quantiles.empty() ? "_count" : "_bucket";
}

std::vector<std::string> to_promql(const aggregation& how, const selector& of) {
  std::string expression = of.to_text();
  const auto time = how.time.value_or(over_time::last);
  if (time != over_time::last)
    expression = std::string(name_of(time)) + "(" + expression + "[" + to_text(std::max<duration>(how.window, 1)) + "])";
  if (how.quantiles.empty() && how.across == across::none) return {std::move(expression)};
  if (how.quantiles.empty()) {
    std::string out(name_of(how.across));
    const auto group = grouping(how, {}, true);
    if (!group.empty()) out.append(1, ' ').append(group);
    out += '(';
    if (how.across == across::topk || how.across == across::bottomk) out.append(std::to_string(how.k)).append(1, ',');
    return {out.append(expression).append(1, ')')};
  }
  std::vector<std::string> out;
  out.reserve(how.quantiles.size());
  for (const double one : how.quantiles)
    out.push_back("histogram_quantile(" + number_text(one) + ",sum " + grouping(how, "le", true) + "(" + expression + "))");
  return out;
}

}  // namespace hondana::series

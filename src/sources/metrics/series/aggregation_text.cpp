/// Reads `agg`.
#include <algorithm>
#include <charconv>
#include <string>
#include <utility>

#include "sources/metrics/series/aggregation.hpp"
#include "sources/metrics/series/aggregation_names.hpp"

namespace hondana::series {
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
  /// The word that stands there, and where it began in `began_`.
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

  /// `what`: how it was written; `exponent` makes 1 of the whole, as "e-2" of percents.
  result<void> add_quantile(std::string_view what, std::string_view exponent) {
    const bool is_number = !what.empty() && what.find_first_not_of("0123456789.") == std::string_view::npos;
    // Put there as text, so that 99.9 is exactly 0.999.
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

}  // namespace hondana::series

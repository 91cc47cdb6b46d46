/// A streaming parser for the Prometheus text format and OpenMetrics.
#include "sources/metrics/exposition/parser.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include <hondana/error.hpp>

#include "base/ascii/ascii.hpp"
#include "sources/metrics/exposition/writer.hpp"
#include "sources/metrics/series/data_model.hpp"

namespace hondana::exposition {

/// Parses lines with samples. Reuses the memory of its strings for the next line.
class sample_line {
 public:
  sample_line(parser::format format, const parse_limits& limits) : format_(format), limits_(limits) {}

  /// `line`: UTF-8 without the line end. Errors: as `parser::parse`, without the line number.
  [[nodiscard]] result<void> parse(std::string_view line);
  [[nodiscard]] const series::identity& identity() const noexcept { return identity_; }
  [[nodiscard]] double value() const noexcept { return value_; }
  [[nodiscard]] std::optional<series::instant> timestamp() const noexcept { return timestamp_; }

 private:
  void skip_blanks() noexcept;
  [[nodiscard]] bool is_at_end() const noexcept { return next_ == end_; }
  [[nodiscard]] bool consume(char c) noexcept;
  /// Skips the blanks between two parts; OpenMetrics requires exactly one.
  [[nodiscard]] bool consume_separator() noexcept;
  [[nodiscard]] std::string_view consume_word() noexcept;
  [[nodiscard]] std::string_view consume_name(bool has_colons) noexcept;
  [[nodiscard]] tl::unexpected<failure> expected(std::string_view description) const;

  [[nodiscard]] result<void> parse_labels();
  [[nodiscard]] result<void> parse_label_value(std::string& output);
  [[nodiscard]] result<void> normalize_labels();
  [[nodiscard]] result<void> parse_number(double& output, std::string_view description);
  [[nodiscard]] result<void> parse_time();
  [[nodiscard]] result<void> skip_exemplar();
  [[nodiscard]] series::label& add_label();
  void truncate_labels(std::size_t count);

  parser::format format_;
  parse_limits limits_;
  const char* begin_ = nullptr;
  const char* next_ = nullptr;
  const char* end_ = nullptr;
  series::identity identity_{};
  std::vector<series::label> unused_{};  ///< Keep the memory of their strings for reuse.
  double value_ = 0;
  std::optional<series::instant> timestamp_{};
};

enum class comment : unsigned char { none, help, type, unit, end };
/// `# TYPE name text`. `text` is not unescaped.
struct comment_line {
  comment kind = comment::none;
  std::string_view name{}, text{};
};
/// `line` begins with `#`, possibly after blanks. Errors: invalid_argument, without the line number.
[[nodiscard]] result<comment_line> parse_comment(std::string_view line, parser::format format);

/// Resolves the escapes of a help text or, if `has_quotes`, a label value. Unknown escapes stay unchanged.
[[nodiscard]] std::string unescape(std::string_view text, bool has_quotes);

namespace {

constexpr std::string_view blanks = " \t";

void trim_start(std::string_view& text) { text.remove_prefix(std::min(text.find_first_not_of(blanks), text.size())); }

std::string_view consume_until_blank(std::string_view& text) {
  const auto word = text.substr(0, std::min(text.find_first_of(blanks), text.size()));
  text.remove_prefix(word.size());
  return word;
}

comment comment_kind(std::string_view word, bool has_units) {
  if (word == "HELP") return comment::help;
  if (word == "TYPE") return comment::type;
  if (has_units && word == "UNIT") return comment::unit;
  return comment::none;
}

result<comment_line> parse_strict_comment(std::string_view line) {
  comment_line out;
  if (line == "# EOF") {
    out.kind = comment::end;
    return out;
  }
  if (line.starts_with("# ")) out.kind = comment_kind(line.substr(2, 4), true);
  if (out.kind == comment::none || line.size() < 7 || line[6] != ' ')
    return fail(errc::invalid_argument, "unknown comment; OpenMetrics allows only # HELP, # TYPE, # UNIT and # EOF");
  line.remove_prefix(7);
  out.name = consume_until_blank(line);
  if (!series::is_metric_name(out.name) || !line.starts_with(' '))
    return fail(errc::invalid_argument, "expected a metric family's name and one space after # HELP, # TYPE or # UNIT");
  out.text = line.substr(1);
  return out;
}

}  // namespace

result<comment_line> parse_comment(std::string_view line, parser::format format) {
  if (format == parser::format::open_metrics) return parse_strict_comment(line);
  comment_line out;
  trim_start(line);
  line.remove_prefix(1);
  if (line.empty() || blanks.find(line[0]) == std::string_view::npos) return out;
  trim_start(line);
  out.kind = comment_kind(consume_until_blank(line), false);
  trim_start(line);
  out.name = consume_until_blank(line);
  // An ordinary comment that happens to begin with a keyword.
  if (!series::is_metric_name(out.name)) return comment_line{};
  trim_start(line);
  if (out.kind == comment::type) line = consume_until_blank(line);
  out.text = line;
  return out;
}

std::string unescape(std::string_view text, bool has_quotes) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char next = i + 1 < text.size() ? text[i + 1] : '\0';
    const bool is_escape = text[i] == '\\' && (next == '\\' || next == 'n' || (has_quotes && next == '"'));
    if (!is_escape) {
      out += text[i];
      continue;
    }
    out += next == 'n' ? '\n' : next;
    ++i;
  }
  return out;
}

namespace {

constexpr std::uint8_t label_start = 1, label_char = 2, colon_char = 4;
constexpr std::array<std::uint8_t, 256> name_char_classes = [] {
  std::array<std::uint8_t, 256> out{};
  for (int c = 0; c < 256; ++c) {
    const bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    if (is_letter) out[static_cast<std::size_t>(c)] = label_start | label_char;
    if (c >= '0' && c <= '9') out[static_cast<std::size_t>(c)] = label_char;
    if (c == ':') out[static_cast<std::size_t>(c)] = colon_char;
  }
  return out;
}();

/// The greatest number of milliseconds that a double represents exactly, about 285,000 years.
constexpr std::int64_t max_time = std::int64_t{1} << 53;

tl::unexpected<failure> over_limit(std::string_view subject, std::size_t maximum, std::string_view limit_name) {
  return fail(errc::response_too_large, std::string(subject) + " more than " + std::to_string(maximum) + " (the limit \"" +
                                            std::string(limit_name) + "\")");
}

}  // namespace

tl::unexpected<failure> sample_line::expected(std::string_view description) const {
  return fail(errc::invalid_argument, "byte " + std::to_string(next_ - begin_ + 1) + ": expected " + std::string(description));
}

void sample_line::skip_blanks() noexcept {
  if (format_ == parser::format::open_metrics) return;
  while (next_ != end_ && (*next_ == ' ' || *next_ == '\t')) ++next_;
}

bool sample_line::consume(char c) noexcept {
  if (next_ == end_ || *next_ != c) return false;
  ++next_;
  return true;
}

bool sample_line::consume_separator() noexcept {
  if (format_ == parser::format::open_metrics) return consume(' ');
  skip_blanks();
  return true;
}

std::string_view sample_line::consume_word() noexcept {
  const char* const start = next_;
  while (next_ != end_ && *next_ != ' ' && *next_ != '\t') ++next_;
  return {start, static_cast<std::size_t>(next_ - start)};
}

std::string_view sample_line::consume_name(bool has_colons) noexcept {
  const char* const start = next_;
  const unsigned colon = has_colons ? colon_char : 0;
  const auto char_class = [this] { return name_char_classes[static_cast<unsigned char>(*next_)]; };
  if (next_ == end_ || (char_class() & (label_start | colon)) == 0) return {};
  while (next_ != end_ && (char_class() & (label_char | colon)) != 0) ++next_;
  return {start, static_cast<std::size_t>(next_ - start)};
}

series::label& sample_line::add_label() {
  if (unused_.empty()) return identity_.labels.emplace_back();
  identity_.labels.push_back(std::move(unused_.back()));
  unused_.pop_back();
  return identity_.labels.back();
}

void sample_line::truncate_labels(std::size_t count) {
  while (identity_.labels.size() > count) {
    unused_.push_back(std::move(identity_.labels.back()));
    identity_.labels.pop_back();
  }
}

result<void> sample_line::parse(std::string_view line) {
  begin_ = next_ = line.data();
  end_ = begin_ + line.size();
  truncate_labels(0);
  timestamp_.reset();
  skip_blanks();
  const auto name = consume_name(true);
  if (name.empty()) return expected("a metric's name");
  if (name.size() > limits_.max_label_bytes) return over_limit("bytes of a name:", limits_.max_label_bytes, "label_bytes");
  identity_.name.assign(name);
  skip_blanks();
  const bool has_labels = consume('{');
  if (has_labels) {
    HONDANA_TRY(parse_labels());
    HONDANA_TRY(normalize_labels());
  }
  const char* const start = next_;
  if (!consume_separator()) return expected(has_labels ? "one space" : "{ or one space");
  if (!has_labels && start == next_ && next_[-1] != ' ' && next_[-1] != '\t') return expected("{, a space or a tab");
  HONDANA_TRY(parse_number(value_, "a value"));
  if (is_at_end()) return {};
  if (!consume_separator()) return expected("one space");
  if (is_at_end() && format_ == parser::format::prometheus) return {};
  if (format_ == parser::format::open_metrics && consume('#')) return skip_exemplar();
  HONDANA_TRY(parse_time());
  if (is_at_end()) return {};
  if (!consume_separator()) return expected("one space");
  if (format_ == parser::format::open_metrics && consume('#')) return skip_exemplar();
  if (!is_at_end() || format_ == parser::format::open_metrics) return expected("the end of the line");
  return {};
}

result<void> sample_line::parse_labels() {
  skip_blanks();
  if (consume('}')) return {};
  for (;;) {
    if (identity_.labels.size() == limits_.max_labels) return over_limit("labels:", limits_.max_labels, "label_limit");
    const auto name = consume_name(false);
    if (name.empty()) return expected("a label's name");
    if (name == "__name__") return expected("a label other than __name__");
    if (name.size() > limits_.max_label_bytes)
      return over_limit("bytes of a label's name:", limits_.max_label_bytes, "label_bytes");
    auto& label = add_label();
    label.first.assign(name);
    skip_blanks();
    if (!consume('=')) return expected("=");
    skip_blanks();
    HONDANA_TRY(parse_label_value(label.second));
    skip_blanks();
    const bool has_comma = consume(',');
    skip_blanks();
    if (has_comma && (format_ == parser::format::open_metrics || is_at_end() || *next_ != '}')) continue;
    if (consume('}')) return {};
    return expected("a comma or }");
  }
}

result<void> sample_line::parse_label_value(std::string& output) {
  if (!consume('"')) return expected("a value in quotes");
  const char* cursor = next_;
  bool has_escapes = false;
  for (; cursor != end_ && *cursor != '"'; ++cursor) {
    if (*cursor != '\\') continue;
    has_escapes = true;
    if (++cursor == end_) break;
  }
  if (cursor == end_) return expected("a value that ends with a quote");
  const std::string_view text(next_, static_cast<std::size_t>(cursor - next_));
  if (text.size() > limits_.max_label_bytes)
    return over_limit("bytes of a label's value:", limits_.max_label_bytes, "label_bytes");
  if (has_escapes)
    output = unescape(text, true);
  else
    output.assign(text);
  next_ = cursor + 1;
  return {};
}

/// The same as `series::normalize`, but without checking names and values again.
result<void> sample_line::normalize_labels() {
  auto& labels = identity_.labels;
  const auto by_name = [](const series::label& a, const series::label& b) { return a.first < b.first; };
  if (!std::is_sorted(labels.begin(), labels.end(), by_name)) std::sort(labels.begin(), labels.end(), by_name);
  for (std::size_t i = 1; i < labels.size(); ++i)
    if (labels[i - 1].first == labels[i].first)
      return fail(errc::invalid_argument, "the label " + labels[i].first + " occurs twice");
  std::size_t count = 0;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (labels[i].second.empty()) continue;
    if (count != i) labels[count].swap(labels[i]);
    ++count;
  }
  truncate_labels(count);
  return {};
}

result<void> sample_line::parse_number(double& output, std::string_view description) {
  const char* const start = next_;
  const auto number = series::parse_number(consume_word());
  if (!number) {
    next_ = start;
    return expected(std::string(description) + ", a decimal number");
  }
  output = *number;
  return {};
}

result<void> sample_line::parse_time() {
  const char* const start = next_;
  const auto word = consume_word();
  const auto reject = [&](std::string_view description) {
    next_ = start;
    return expected(description);
  };
  if (format_ == parser::format::prometheus) {
    series::instant time = 0;
    const auto parsed = std::from_chars(word.data(), word.data() + word.size(), time);
    if (parsed.ec != std::errc{} || parsed.ptr != word.data() + word.size() || time > max_time || time < -max_time)
      return reject("a time in milliseconds");
    timestamp_ = time;
    return {};
  }
  const auto seconds = series::parse_number(word);
  if (!seconds || !(std::abs(*seconds) <= static_cast<double>(max_time) / 1000)) return reject("a time in seconds");
  timestamp_ = std::llround(*seconds * 1000);
  return {};
}

result<void> sample_line::skip_exemplar() {
  if (!consume(' ') || !consume('{')) return expected("an exemplar");
  // Keep the labels of the sample: `parse_labels` overwrites them.
  auto labels = std::exchange(identity_.labels, {});
  auto parsed = parse_labels();
  truncate_labels(0);
  identity_.labels = std::move(labels);
  if (!parsed) return parsed;
  double value = 0;
  if (!consume(' ')) return expected("one space");
  HONDANA_TRY(parse_number(value, "an exemplar's value"));
  if (is_at_end()) return {};
  if (!consume(' ')) return expected("one space");
  HONDANA_TRY(parse_number(value, "an exemplar's time"));
  if (!is_at_end()) return expected("the end of the line");
  return {};
}

struct parser::state {
  format text_format;
  sample_handler& handler;
  parse_limits limits;
  sample_line line_parser;

  std::string partial_line{};  ///< An incomplete line.
  std::size_t bytes = 0, lines = 0, samples = 0;
  bool has_eof = false;     ///< `# EOF` was read.
  bool is_stopped = false;  ///< The handler wants no more.
  std::optional<failure> last_error{};

  std::string family{};  ///< The family whose metadata `metadata` collects. Empty: none.
  series::metadata metadata{};
  bool has_kind = false, has_help = false, has_unit = false;
  std::unordered_set<std::size_t> families{};  ///< Hashes of the names of families that were reported.

  state(format chosen_format, sample_handler& receiver, const parse_limits& chosen_limits)
      : text_format(chosen_format), handler(receiver), limits(chosen_limits), line_parser(chosen_format, chosen_limits) {}

  [[nodiscard]] tl::unexpected<failure> error_at_line(failure error) const {
    error.public_text = "exposition, line " + std::to_string(lines) + ": " + error.public_text;
    return tl::unexpected(std::move(error));
  }
  [[nodiscard]] tl::unexpected<failure> invalid(std::string_view reason) const {
    return error_at_line({errc::invalid_argument, std::string(reason), {}});
  }
  [[nodiscard]] tl::unexpected<failure> over_limit(std::string_view subject, std::size_t maximum,
                                                   std::string_view limit_name) const {
    return error_at_line(
        {errc::response_too_large,
         std::string(subject) + " more than " + std::to_string(maximum) + " (the limit \"" + std::string(limit_name) + "\")",
         {}});
  }

  result<void> parse(std::string_view piece);
  result<void> finish();
  result<void> parse_line(std::string_view line);
  result<void> parse_comment_line(std::string_view line);
  result<void> report_family();
};

result<void> parser::state::parse(std::string_view piece) {
  while (!piece.empty() && !is_stopped) {
    const auto* const newline = static_cast<const char*>(std::memchr(piece.data(), '\n', piece.size()));
    const auto length = newline == nullptr ? piece.size() : static_cast<std::size_t>(newline - piece.data());
    if (partial_line.size() + length > limits.max_line_bytes) {
      ++lines;
      return over_limit("bytes in one line:", limits.max_line_bytes, "line");
    }
    const auto total_length = length + (newline != nullptr ? 1 : 0);
    if (total_length > limits.max_bytes - bytes) {
      ++lines;
      return over_limit("bytes of the whole text:", limits.max_bytes, "body_size_limit");
    }
    bytes += total_length;
    if (newline == nullptr) {
      partial_line += piece;
      return {};
    }
    result<void> status;
    if (partial_line.empty()) {
      status = parse_line(piece.substr(0, length));
    } else {
      partial_line += piece.substr(0, length);
      status = parse_line(partial_line);
      partial_line.clear();
    }
    if (!status) return status;
    piece.remove_prefix(length + 1);
  }
  return {};
}

result<void> parser::state::finish() {
  if (!partial_line.empty() && !is_stopped) {
    const auto line = std::exchange(partial_line, {});
    HONDANA_TRY(parse_line(line));
  }
  if (is_stopped) return {};
  HONDANA_TRY(report_family());
  if (text_format == format::open_metrics && !has_eof) return invalid("the text does not end with # EOF");
  return {};
}

result<void> parser::state::parse_line(std::string_view line) {
  ++lines;
  if (has_eof) return invalid("there is text after # EOF");
  if (std::memchr(line.data(), 0, line.size()) != nullptr) return invalid("the line contains a NUL byte");
  if (line.ends_with('\r')) return invalid("the line ends with CR LF instead of LF");
  if (!series::is_utf8(line)) return invalid("the line is not valid UTF-8");
  const auto first = line.find_first_not_of(" \t");
  if (first == std::string_view::npos) return text_format == format::prometheus ? result<void>{} : invalid("an empty line");
  if (line[first] == '#') return parse_comment_line(line);
  HONDANA_TRY(report_family());
  if (auto parsed = line_parser.parse(line); !parsed) return error_at_line(std::move(parsed).error());
  if (samples == limits.max_samples) return over_limit("samples:", limits.max_samples, "sample_limit");
  ++samples;
  is_stopped = !handler.sample(line_parser.identity(), line_parser.value(), line_parser.timestamp());
  return {};
}

result<void> parser::state::parse_comment_line(std::string_view line) {
  const auto parsed = parse_comment(line, text_format);
  if (!parsed) return error_at_line(parsed.error());
  const auto& [kind, name, text] = *parsed;
  if (kind == comment::none) return {};
  if (kind == comment::end) {
    has_eof = true;
    return report_family();
  }
  if (name.size() > limits.max_label_bytes) return over_limit("bytes of a name:", limits.max_label_bytes, "label_bytes");
  if (name != family) {
    HONDANA_TRY(report_family());
    family = name;
  }
  const bool is_strict = text_format == format::open_metrics;
  auto& is_present = kind == comment::help ? has_help : kind == comment::type ? has_kind : has_unit;
  if (is_present && is_strict) return invalid("duplicate # HELP, # TYPE or # UNIT of a metric family");
  if (is_present) return {};
  is_present = true;
  if (kind == comment::help) {
    metadata.help = unescape(text, is_strict);
  } else if (kind == comment::unit) {
    metadata.unit = text;
  } else {
    metadata.kind = series::parse_kind(text);
    if (metadata.kind == series::kind::unknown && text != "unknown" && text != "untyped") return invalid("unknown metric type");
  }
  return {};
}

result<void> parser::state::report_family() {
  if (family.empty()) return {};
  const bool is_new = families.insert(std::hash<std::string_view>{}(family)).second;
  if (families.size() > limits.max_families) return over_limit("families:", limits.max_families, "families");
  if (is_new) {
    if (metadata.unit.empty()) metadata.unit = series::unit_from_name(family);
    handler.family(family, metadata);
  }
  family.clear();
  metadata = {};
  has_kind = has_help = has_unit = false;
  return {};
}

parser::parser(format text_format, sample_handler& handler, const parse_limits& limits)
    : state_(std::make_unique<state>(text_format, handler, limits)) {}
parser::~parser() = default;

result<void> parser::parse(std::string_view piece) {
  if (state_->last_error) return tl::unexpected(*state_->last_error);
  auto status = state_->parse(piece);
  if (!status) state_->last_error = status.error();
  return status;
}

result<void> parser::finish() {
  if (state_->last_error) return tl::unexpected(*state_->last_error);
  auto status = state_->finish();
  if (!status) state_->last_error = status.error();
  return status;
}

std::optional<parser::format> format_of(std::string_view content_type) {
  auto type = content_type.substr(0, std::min(content_type.find(';'), content_type.size()));
  constexpr std::string_view whitespace = " \t";
  type.remove_prefix(std::min(type.find_first_not_of(whitespace), type.size()));
  if (const auto last = type.find_last_not_of(whitespace); last != std::string_view::npos) type = type.substr(0, last + 1);
  if (ascii::equals_ignore_case(type, "application/openmetrics-text")) return parser::format::open_metrics;
  if (type.empty() || ascii::equals_ignore_case(type, "text/plain")) return parser::format::prometheus;
  return std::nullopt;
}

std::string_view accept_header() noexcept {
  return "application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,"
         "text/plain;version=0.0.4;q=0.5,*/*;q=0.1";
}

}  // namespace hondana::exposition

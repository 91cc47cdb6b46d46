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
  sample_line(parser::format which, const limits& most) : which_(which), most_(most) {}

  /// `line`: UTF-8 without the line end. Errors: as `parser::take`, without the line number.
  [[nodiscard]] result<void> read(std::string_view line);
  [[nodiscard]] const series::identity& of() const noexcept { return of_; }
  [[nodiscard]] double value() const noexcept { return value_; }
  [[nodiscard]] std::optional<series::instant> at() const noexcept { return at_; }

 private:
  void skip_blanks() noexcept;
  [[nodiscard]] bool is_at_end() const noexcept { return next_ == end_; }
  [[nodiscard]] bool take(char c) noexcept;
  /// Skips the blanks between two parts; OpenMetrics requires exactly one.
  [[nodiscard]] bool take_separator() noexcept;
  [[nodiscard]] std::string_view take_word() noexcept;
  [[nodiscard]] std::string_view take_name(bool has_colons) noexcept;
  [[nodiscard]] tl::unexpected<failure> expected(std::string_view what) const;

  [[nodiscard]] result<void> read_labels();
  [[nodiscard]] result<void> read_label_value(std::string& into);
  [[nodiscard]] result<void> put_in_order();
  [[nodiscard]] result<void> read_number(double& into, std::string_view what);
  [[nodiscard]] result<void> read_time();
  [[nodiscard]] result<void> skip_exemplar();
  [[nodiscard]] series::label& next_label();
  void drop_labels_from(std::size_t count);

  parser::format which_;
  limits most_;
  const char* begin_ = nullptr;
  const char* next_ = nullptr;
  const char* end_ = nullptr;
  series::identity of_{};
  std::vector<series::label> unused_{};  ///< Keep the memory of their strings for reuse.
  double value_ = 0;
  std::optional<series::instant> at_{};
};

enum class comment : unsigned char { none, help, type, unit, end };
/// `# TYPE name text`. `text` is not unescaped.
struct comment_line {
  comment what = comment::none;
  std::string_view name{}, text{};
};
/// `line` begins with `#`, possibly after blanks. Errors: invalid_argument, without the line number.
[[nodiscard]] result<comment_line> read_comment(std::string_view line, parser::format which);

/// Resolves the escapes of a help text or, if `has_quotes`, a label value. Unknown escapes stay unchanged.
[[nodiscard]] std::string unescaped(std::string_view text, bool has_quotes);

namespace {

constexpr std::string_view blanks = " \t";

void drop_blanks(std::string_view& text) { text.remove_prefix(std::min(text.find_first_not_of(blanks), text.size())); }

std::string_view take_until_blank(std::string_view& text) {
  const auto word = text.substr(0, std::min(text.find_first_of(blanks), text.size()));
  text.remove_prefix(word.size());
  return word;
}

comment keyword(std::string_view word, bool has_units) {
  if (word == "HELP") return comment::help;
  if (word == "TYPE") return comment::type;
  if (has_units && word == "UNIT") return comment::unit;
  return comment::none;
}

result<comment_line> read_strictly(std::string_view line) {
  comment_line out;
  if (line == "# EOF") {
    out.what = comment::end;
    return out;
  }
  if (line.starts_with("# ")) out.what = keyword(line.substr(2, 4), true);
  if (out.what == comment::none || line.size() < 7 || line[6] != ' ')
    return fail(errc::invalid_argument, "unknown comment; OpenMetrics allows only # HELP, # TYPE, # UNIT and # EOF");
  line.remove_prefix(7);
  out.name = take_until_blank(line);
  if (!series::is_metric_name(out.name) || !line.starts_with(' '))
    return fail(errc::invalid_argument, "expected a metric family's name and one space after # HELP, # TYPE or # UNIT");
  out.text = line.substr(1);
  return out;
}

}  // namespace

result<comment_line> read_comment(std::string_view line, parser::format which) {
  if (which == parser::format::open_metrics) return read_strictly(line);
  comment_line out;
  drop_blanks(line);
  line.remove_prefix(1);
  if (line.empty() || blanks.find(line[0]) == std::string_view::npos) return out;
  drop_blanks(line);
  out.what = keyword(take_until_blank(line), false);
  drop_blanks(line);
  out.name = take_until_blank(line);
  // An ordinary comment that happens to begin with a keyword.
  if (!series::is_metric_name(out.name)) return comment_line{};
  drop_blanks(line);
  if (out.what == comment::type) line = take_until_blank(line);
  out.text = line;
  return out;
}

std::string unescaped(std::string_view text, bool has_quotes) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char next = at + 1 < text.size() ? text[at + 1] : '\0';
    const bool is_escape = text[at] == '\\' && (next == '\\' || next == 'n' || (has_quotes && next == '"'));
    if (!is_escape) {
      out += text[at];
      continue;
    }
    out += next == 'n' ? '\n' : next;
    ++at;
  }
  return out;
}

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

/// The greatest number of milliseconds that a double represents exactly, about 285,000 years.
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

/// The same as `series::normalise`, but without checking names and values again.
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
  // Keep the labels of the sample: read_labels overwrites them.
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

struct parser::state {
  format which;
  hearer& to;
  limits most;
  sample_line reader;

  std::string begun{};  ///< An incomplete line.
  std::size_t bytes = 0, lines = 0, samples = 0;
  bool has_ended = false;  ///< `# EOF` was read.
  bool is_enough = false;  ///< The listener wants no more.
  std::optional<failure> broken{};

  std::string family{};  ///< The family whose metadata `told` collects. Empty: none.
  series::metadata told{};
  bool has_kind = false, has_help = false, has_unit = false;
  std::unordered_set<std::size_t> families{};  ///< Hashes of the names of families that were reported.

  state(format format_of_text, hearer& who, const limits& limits_of_text)
      : which(format_of_text), to(who), most(limits_of_text), reader(format_of_text, limits_of_text) {}

  [[nodiscard]] tl::unexpected<failure> at_line(failure why) const {
    why.public_text = "exposition, line " + std::to_string(lines) + ": " + why.public_text;
    return tl::unexpected(std::move(why));
  }
  [[nodiscard]] tl::unexpected<failure> wrong(std::string_view what) const {
    return at_line({errc::invalid_argument, std::string(what), {}});
  }
  [[nodiscard]] tl::unexpected<failure> too_much(std::string_view what, std::size_t limit, std::string_view name) const {
    return at_line({errc::response_too_large,
                    std::string(what) + " more than " + std::to_string(limit) + " (the limit \"" + std::string(name) + "\")",
                    {}});
  }

  result<void> take(std::string_view piece);
  result<void> end();
  result<void> read(std::string_view line);
  result<void> read_comment_line(std::string_view line);
  result<void> tell_family();
};

result<void> parser::state::take(std::string_view piece) {
  while (!piece.empty() && !is_enough) {
    const auto* const found = static_cast<const char*>(std::memchr(piece.data(), '\n', piece.size()));
    const auto length = found == nullptr ? piece.size() : static_cast<std::size_t>(found - piece.data());
    if (begun.size() + length > most.line) {
      ++lines;
      return too_much("bytes in one line:", most.line, "line");
    }
    const auto with_end = length + (found != nullptr ? 1 : 0);
    if (with_end > most.bytes - bytes) {
      ++lines;
      return too_much("bytes of the whole text:", most.bytes, "body_size_limit");
    }
    bytes += with_end;
    if (found == nullptr) {
      begun += piece;
      return {};
    }
    result<void> done;
    if (begun.empty()) {
      done = read(piece.substr(0, length));
    } else {
      begun += piece.substr(0, length);
      done = read(begun);
      begun.clear();
    }
    if (!done) return done;
    piece.remove_prefix(length + 1);
  }
  return {};
}

result<void> parser::state::end() {
  if (!begun.empty() && !is_enough) {
    const auto line = std::exchange(begun, {});
    HONDANA_TRY(read(line));
  }
  if (is_enough) return {};
  HONDANA_TRY(tell_family());
  if (which == format::open_metrics && !has_ended) return wrong("the text does not end with # EOF");
  return {};
}

result<void> parser::state::read(std::string_view line) {
  ++lines;
  if (has_ended) return wrong("there is text after # EOF");
  if (std::memchr(line.data(), 0, line.size()) != nullptr) return wrong("the line contains a NUL byte");
  if (line.ends_with('\r')) return wrong("the line ends with CR LF instead of LF");
  if (!series::is_utf8(line)) return wrong("the line is not valid UTF-8");
  const auto first = line.find_first_not_of(" \t");
  if (first == std::string_view::npos) return which == format::prometheus ? result<void>{} : wrong("an empty line");
  if (line[first] == '#') return read_comment_line(line);
  HONDANA_TRY(tell_family());
  if (auto done = reader.read(line); !done) return at_line(std::move(done).error());
  if (samples == most.samples) return too_much("samples:", most.samples, "sample_limit");
  ++samples;
  is_enough = !to.sample(reader.of(), reader.value(), reader.at());
  return {};
}

result<void> parser::state::read_comment_line(std::string_view line) {
  const auto comment_of = read_comment(line, which);
  if (!comment_of) return at_line(comment_of.error());
  const auto& [what, name, text] = *comment_of;
  if (what == comment::none) return {};
  if (what == comment::end) {
    has_ended = true;
    return tell_family();
  }
  if (name.size() > most.label_bytes) return too_much("bytes of a name:", most.label_bytes, "label_bytes");
  if (name != family) {
    HONDANA_TRY(tell_family());
    family = name;
  }
  const bool is_strict = which == format::open_metrics;
  auto& is_there = what == comment::help ? has_help : what == comment::type ? has_kind : has_unit;
  if (is_there && is_strict) return wrong("duplicate # HELP, # TYPE or # UNIT of a metric family");
  if (is_there) return {};
  is_there = true;
  if (what == comment::help) {
    told.help = unescaped(text, is_strict);
  } else if (what == comment::unit) {
    told.unit = text;
  } else {
    told.kind = series::kind_of(text);
    if (told.kind == series::kind::unknown && text != "unknown" && text != "untyped") return wrong("unknown metric type");
  }
  return {};
}

result<void> parser::state::tell_family() {
  if (family.empty()) return {};
  const bool is_new = families.insert(std::hash<std::string_view>{}(family)).second;
  if (families.size() > most.families) return too_much("families:", most.families, "families");
  if (is_new) {
    if (told.unit.empty()) told.unit = series::unit_in(family);
    to.family(family, told);
  }
  family.clear();
  told = {};
  has_kind = has_help = has_unit = false;
  return {};
}

parser::parser(format which, hearer& to, const limits& most) : state_(std::make_unique<state>(which, to, most)) {}
parser::~parser() = default;

result<void> parser::take(std::string_view piece) {
  if (state_->broken) return tl::unexpected(*state_->broken);
  auto done = state_->take(piece);
  if (!done) state_->broken = done.error();
  return done;
}

result<void> parser::finish() {
  if (state_->broken) return tl::unexpected(*state_->broken);
  auto done = state_->end();
  if (!done) state_->broken = done.error();
  return done;
}

std::optional<parser::format> format_of(std::string_view content_type) {
  auto type = content_type.substr(0, std::min(content_type.find(';'), content_type.size()));
  constexpr std::string_view around = " \t";
  type.remove_prefix(std::min(type.find_first_not_of(around), type.size()));
  if (const auto last = type.find_last_not_of(around); last != std::string_view::npos) type = type.substr(0, last + 1);
  if (ascii::is_same(type, "application/openmetrics-text")) return parser::format::open_metrics;
  if (type.empty() || ascii::is_same(type, "text/plain")) return parser::format::prometheus;
  return std::nullopt;
}

std::string_view accepted() noexcept {
  return "application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,"
         "text/plain;version=0.0.4;q=0.5,*/*;q=0.1";
}

}  // namespace hondana::exposition

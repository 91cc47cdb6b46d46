/// A compiled query, which decides whether a record matches.
#include "sources/logs/records/matcher.hpp"

#include <re2/re2.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>
#include <optional>
#include <system_error>
#include <utility>

#include "sources/logs/records/fields.hpp"

namespace hondana::records {
namespace {

constexpr std::size_t max_expression_bytes = 4096;
constexpr std::int64_t max_program_bytes = 2 << 20;
constexpr std::size_t max_fields = 16;
constexpr std::size_t max_path_bytes = 256;

/// Whether a match within some lines is still a match if other lines surround them. Anchors at the ends of the text and flags
/// prevent this; groups and "(?i)" do not.
bool is_local_expression(std::string_view expression) noexcept {
  for (std::size_t offset = 0; offset + 1 < expression.size(); ++offset) {
    if (expression[offset] == '\\') {
      const char letter = expression[offset + 1];
      if (letter == 'A' || letter == 'z' || letter == 'Z' || letter == 'Q' || letter == 'C') return false;
      ++offset;
    } else if (expression.substr(offset, 2) == "(?" && !expression.substr(offset).starts_with("(?:") &&
               !expression.substr(offset).starts_with("(?i)")) {
      return false;
    }
  }
  return true;
}

std::optional<double> parse_decimal(std::string_view text) noexcept {
  double out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(out)) return std::nullopt;
  return out;
}

/// Whether two texts are the same number, written differently: "10" and "10.0". Integers have one form only.
bool is_same_number(std::string_view a, std::string_view b) noexcept {
  constexpr std::string_view fraction_chars = ".eE";
  if (a.find_first_of(fraction_chars) == std::string_view::npos && b.find_first_of(fraction_chars) == std::string_view::npos)
    return false;
  const auto number = parse_decimal(a);
  return number && number == parse_decimal(b);
}

}  // namespace

result<std::shared_ptr<const re2::RE2>> compile_expression(std::string_view expression, std::string_view name) {
  const auto reject = [name](const std::string& reason) {
    return fail(errc::invalid_argument, std::string(name) + ": not a valid regular expression (" + reason +
                                            "). Use RE2 syntax, without look-around and back references.");
  };
  if (expression.size() > max_expression_bytes) return reject("it is longer than 4096 bytes");
  re2::RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(max_program_bytes);
  auto compiled = std::make_shared<const re2::RE2>("(?m)" + std::string(expression), options);
  if (compiled->ok() && std::max(compiled->ProgramSize(), compiled->ReverseProgramSize()) > max_instructions)
    return reject("it is too large; use fewer repetitions");
  if (compiled->ok()) return std::shared_ptr<const re2::RE2>(std::move(compiled));
  // The error text of RE2 can quote the expression. Compile it without the added flags, so that the quote is the caller's text.
  const re2::RE2 bare(re2::StringPiece(expression.data(), expression.size()), options);
  return reject(bare.ok() ? compiled->error() : bare.error());
}

result<record_matcher> record_matcher::compile(const log_query& query) {
  record_matcher matcher;
  matcher.since_ = query.since;
  matcher.until_ = query.until;
  matcher.min_level_ = query.min_level;
  matcher.fields_ = query.fields;
  if (query.since && query.until && *query.since >= *query.until) {
    return fail(errc::invalid_argument, "since and until: the range ends before it begins.");
  }
  if (query.fields.size() > max_fields) return fail(errc::invalid_argument, "field: more than 16 fields.");
  for (const auto& [path, value] : query.fields) {
    if (path.empty() || path.size() > max_path_bytes) {
      return fail(errc::invalid_argument, "field: a path must have from 1 to 256 bytes, such as \"request.status\".");
    }
  }
  if (query.grep.empty()) return matcher;
  HONDANA_TRY(auto grep, compile_expression(query.grep, "grep"));
  matcher.grep_ = std::move(grep);
  matcher.is_local_ = is_local_expression(query.grep);
  return matcher;
}

bool record_matcher::accepts(const log_record& record) const {
  return accepts_time(record.time) && accepts_level(record.level) && accepts_text(record.text);
}

bool record_matcher::accepts_time(const std::optional<instant>& time) const noexcept {
  if (!since_ && !until_) return true;
  return time && (!since_ || *time >= *since_) && (!until_ || *time < *until_);
}

bool record_matcher::accepts_level(const std::optional<severity>& level) const noexcept {
  return !min_level_ || (level && *level >= *min_level_);
}

bool record_matcher::accepts_text(std::string_view text) const {
  if (grep_ && !re2::RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), *grep_)) return false;
  return std::all_of(fields_.begin(), fields_.end(), [text](const auto& field) {
    bool is_match = false;
    const auto compare = [&](std::string_view raw) {
      is_match = decode_value(raw) == field.second || is_same_number(raw, field.second);
      return !is_match;
    };
    for_each_value(text, field.first, std::cref(compare));
    return is_match;
  });
}

}  // namespace hondana::records

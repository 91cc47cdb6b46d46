/// A compiled query, which decides whether a record matches.
#include "sources/logs/records/matcher.hpp"

#include <re2/re2.h>

#include <algorithm>
#include <utility>

#include "sources/logs/records/fields.hpp"

namespace hondana::records {
namespace {

constexpr std::size_t most_expression_bytes = 4096;
constexpr std::int64_t most_program_bytes = 2 << 20;
constexpr std::size_t most_fields = 16;
constexpr std::size_t most_path_bytes = 256;

/// Whether a match within some lines is still a match if other lines surround them. Anchors at the ends of the text and flags
/// prevent this; groups and "(?i)" do not.
bool is_local_expression(std::string_view expression) noexcept {
  for (std::size_t at = 0; at + 1 < expression.size(); ++at) {
    if (expression[at] == '\\') {
      const char what = expression[at + 1];
      if (what == 'A' || what == 'z' || what == 'Z' || what == 'Q' || what == 'C') return false;
      ++at;
    } else if (expression.substr(at, 2) == "(?" && !expression.substr(at).starts_with("(?:") &&
               !expression.substr(at).starts_with("(?i)")) {
      return false;
    }
  }
  return true;
}

}  // namespace

result<std::shared_ptr<const re2::RE2>> compile_expression(std::string_view expression, std::string_view what) {
  const auto refused = [what](const std::string& why) {
    return fail(errc::invalid_argument, std::string(what) + ": not a valid regular expression (" + why +
                                            "). Use RE2 syntax, without look-around and back references.");
  };
  if (expression.size() > most_expression_bytes) return refused("it is longer than 4096 bytes");
  re2::RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(most_program_bytes);
  auto made = std::make_shared<const re2::RE2>("(?m)" + std::string(expression), options);
  if (made->ok() && std::max(made->ProgramSize(), made->ReverseProgramSize()) > most_instructions)
    return refused("it is too large; use fewer repetitions");
  if (made->ok()) return std::shared_ptr<const re2::RE2>(std::move(made));
  // The error text of RE2 can quote the expression. Compile it without the added flags, so that the quote is the caller's text.
  const re2::RE2 alone(re2::StringPiece(expression.data(), expression.size()), options);
  return refused(alone.ok() ? made->error() : alone.error());
}

result<matcher> matcher::compile(const query& of) {
  matcher out;
  out.since_ = of.since;
  out.until_ = of.until;
  out.at_least_ = of.at_least;
  out.fields_ = of.fields;
  if (of.since && of.until && *of.since >= *of.until) {
    return fail(errc::invalid_argument, "since and until: the range ends before it begins.");
  }
  if (of.fields.size() > most_fields) return fail(errc::invalid_argument, "field: more than 16 fields.");
  for (const auto& [path, value] : of.fields) {
    if (path.empty() || path.size() > most_path_bytes) {
      return fail(errc::invalid_argument, "field: a path must have from 1 to 256 bytes, such as \"request.status\".");
    }
  }
  if (of.grep.empty()) return out;
  HONDANA_TRY(auto grep, compile_expression(of.grep, "grep"));
  out.grep_ = std::move(grep);
  out.is_local_ = is_local_expression(of.grep);
  return out;
}

bool matcher::accepts(const record& one) const {
  return accepts_time(one.time) && accepts_level(one.level) && accepts_text(one.text);
}

bool matcher::accepts_time(const std::optional<instant>& time) const noexcept {
  if (!since_ && !until_) return true;
  return time && (!since_ || *time >= *since_) && (!until_ || *time < *until_);
}

bool matcher::accepts_level(const std::optional<severity>& level) const noexcept {
  return !at_least_ || (level && *level >= *at_least_);
}

bool matcher::accepts_text(std::string_view text) const {
  if (grep_ && !re2::RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), *grep_)) return false;
  for (const auto& [path, value] : fields_) {
    const auto found = field_of(text, path);
    if (!found || *found != value) return false;
  }
  return true;
}

}  // namespace hondana::records

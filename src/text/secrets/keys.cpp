/// Private keys: PEM, OpenSSH, PGP, SSH2 and PuTTY, also those whose end is missing.
#include <algorithm>
#include <cstddef>
#include <optional>
#include <string_view>

#include "text/secrets/near.hpp"

namespace hondana::secrets {
namespace {

constexpr std::size_t most_headers = 16;
constexpr std::size_t least_run = 24;  // of base64, before it counts as part of a key

/// What stands between the base64 of a key in comments, quotations, string literals and escapes. A plus between blanks and
/// quotes joins literals; elsewhere it is base64.
bool is_trimming(std::string_view text, std::size_t at) noexcept {
  const auto is_apart = [text](std::size_t where) {
    return where >= text.size() || is(kind::blank, text[where]) || text[where] == '"' || text[where] == '\'';
  };
  if (text[at] == '+') return at > 0 && is_apart(at - 1) && is_apart(at + 1);
  return is(kind::blank, text[at]) || std::string_view("\"'`#>*|,;()\\").find(text[at]) != std::string_view::npos;
}

bool is_header(std::string_view line) noexcept {
  constexpr std::string_view names[] = {
      "Proc-Type:", "DEK-Info:", "Version:", "Comment:", "Hash:", "Charset:", "Subject:", "MessageID:"};
  return std::any_of(std::begin(names), std::end(names), [line](auto name) { return line.starts_with(name); });
}

/// Whether most of this is base64 in long runs.
bool is_mostly_base64(std::string_view body) noexcept {
  std::size_t in_runs = 0;
  std::size_t all = 0;
  for (std::size_t at = 0; at < body.size();) {
    const auto run = run_of(kind::base64, body.substr(at));
    if (run == 0) {
      if (!is(kind::blank, body[at])) ++all;
      ++at;
      continue;
    }
    all += run;
    if (run >= least_run) in_runs += run;
    at += run;
  }
  return in_runs >= least_run && in_runs * 10 >= all * 6;
}

/// Where the lines of a key end that has no end.
std::size_t end_of_lines(std::string_view text, std::size_t at) noexcept {
  auto end = at;
  bool has_run = false;
  for (std::size_t headers = 0;;) {
    at = skip_trimming(text, at);
    const auto rest = text.substr(at);
    if (headers < most_headers && is_header(rest)) {
      ++headers;
      const auto newline = rest.find('\n');
      at += newline == std::string_view::npos ? rest.size() : newline;
      end = has_run ? end : at;
      continue;
    }
    const auto run = run_of(kind::base64, rest);
    const bool is_at_end = run == rest.size();
    if (run == 0) return has_run ? end : std::string_view::npos;
    if (run >= least_run) {
      has_run = true;
      at += run;
      end = at;
      continue;
    }
    // The last line of a key is short; a word of prose has another after it.
    const bool is_alone = is_at_end || (rest[run] != ' ' && rest[run] != '.' && rest[run] != ':' && rest[run] != '_');
    if ((has_run && is_alone) || is_at_end) return at + run;
    return has_run ? end : std::string_view::npos;
  }
}

std::optional<span> trimmed(std::string_view text, std::size_t begin, std::size_t end) noexcept {
  begin = std::min(skip_trimming(text, begin), end);
  for (;;) {
    const bool is_escape = end >= begin + 2 && text[end - 2] == '\\' && (text[end - 1] == 'n' || text[end - 1] == 'r');
    if (!is_escape && (end == begin || !is_trimming(text, end - 1))) break;
    end -= is_escape ? 2 : 1;
  }
  if (end == begin) return std::nullopt;
  return span{begin, end};
}

/// Where the next armour begins or ends.
struct armour {
  std::size_t at = std::string_view::npos;
  bool is_end = false;
};

/// Whatever begins a key for `match_private_key` is one, so that no two keys look at the same text.
armour next_armour(std::string_view text, std::size_t at) noexcept {
  for (auto dashes = text.find("---", at); dashes != std::string_view::npos;) {
    const auto words = text.find_first_not_of('-', dashes);
    if (words == std::string_view::npos) break;
    const bool is_apart = text[words] == ' ';
    const auto label = text.substr(is_apart ? words + 1 : words);
    if (is_apart || words - dashes > 3) {
      if (label.starts_with("END ")) return {dashes, true};
      if (label.starts_with("BEGIN ")) return {dashes, false};
    }
    dashes = text.find("---", words);
  }
  return {};
}

}  // namespace

std::size_t skip_trimming(std::string_view text, std::size_t at) noexcept {
  while (at < text.size() && is_trimming(text, at)) {
    const bool is_escape = text[at] == '\\' && at + 1 < text.size() && (text[at + 1] == 'n' || text[at + 1] == 'r');
    at += is_escape ? 2 : 1;
  }
  return at;
}

std::optional<span> match_private_key(const place& near) {
  const auto text = near.text;
  const auto label_at = near.at + 1;  // behind a dash or a blank
  const auto before = near.at > 3 ? text.substr(near.at - 3, 3) : std::string_view();
  if (before != "---" || !near.from(label_at).starts_with("BEGIN ")) return std::nullopt;
  const auto dashes = text.substr(label_at, 80).find("----");
  if (dashes == std::string_view::npos) return std::nullopt;
  auto label = text.substr(label_at, dashes);
  if (label.ends_with(' ')) label.remove_suffix(1);
  if (!label.ends_with("PRIVATE KEY") && !label.ends_with("PRIVATE KEY BLOCK") && !label.ends_with("SECRET KEY BLOCK"))
    return std::nullopt;
  const auto begin = text.find_first_not_of('-', label_at + dashes);
  if (begin == std::string_view::npos) return std::nullopt;
  const auto next = next_armour(text, begin);
  // Each byte of the body is looked at for the next armour, for base64 and for lines.
  near.count(3 * (std::min(next.at, text.size()) - begin));
  if (next.is_end && is_mostly_base64(text.substr(begin, next.at - begin))) return trimmed(text, begin, next.at);
  const auto upto = text.substr(0, next.at);
  const auto end = end_of_lines(upto, begin);
  if (end == std::string_view::npos) return std::nullopt;
  return trimmed(text, begin, end);
}

std::optional<span> match_putty_key(const place& near) {
  constexpr std::string_view front = "Private-Lines:";
  constexpr std::size_t offset = 5;  // of "te-L"
  if (near.at < offset || !near.from(near.at - offset).starts_with(front)) return std::nullopt;
  const auto newline = near.text.substr(0, near.at + 40).find('\n', near.at);
  if (newline == std::string_view::npos) return std::nullopt;
  const auto end = end_of_lines(near.text, newline);
  near.count(2 * ((end == std::string_view::npos ? near.at + looked_at_most : end) - newline));
  if (end == std::string_view::npos) return std::nullopt;
  return trimmed(near.text, newline, end);
}

}  // namespace hondana::secrets

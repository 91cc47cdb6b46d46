/// Extracts templates from log messages, and counts how often each template occurs.
#include "sources/logs/message_templates.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <utility>

#include "base/ascii/ascii.hpp"
#include "base/json/utf8.hpp"

namespace hondana::logs {
namespace {

constexpr std::size_t looked_at_bytes = 1024;
constexpr std::string_view time_sign = "<time>";

bool is_hex_digit(char c) noexcept { return ascii::is_digit(c) || (ascii::lower(c) >= 'a' && ascii::lower(c) <= 'f'); }
bool is_all(std::string_view text, bool (*test)(char) noexcept) noexcept {
  return !text.empty() && std::all_of(text.begin(), text.end(), test);
}
std::size_t run_at(std::string_view text, std::size_t from, bool (*test)(char) noexcept) noexcept {
  auto at = from;
  while (at < text.size() && test(text[at])) ++at;
  return at - from;
}

/// Characters of words. All bytes that are not ASCII count.
bool is_in_word(char c) noexcept {
  return ascii::is_letter(c) || ascii::is_digit(c) || static_cast<unsigned char>(c) >= 0x80 ||
         std::string_view("_./:@%+-~*#&?$\\!^").find(c) != std::string_view::npos;
}

bool is_uuid(std::string_view word) noexcept {
  constexpr std::size_t size = 36;
  if (word.size() != size) return false;
  for (std::size_t i = 0; i < size; ++i) {
    const bool is_dash = i == 8 || i == 13 || i == 18 || i == 23;
    if (is_dash ? word[i] != '-' : !is_hex_digit(word[i])) return false;
  }
  return true;
}

/// Four numbers with points, optionally followed by a port or a prefix length.
bool is_ipv4(std::string_view word) noexcept {
  std::size_t at = 0;
  for (int part = 0; part < 4; ++part) {
    if (part != 0 && (at >= word.size() || word[at++] != '.')) return false;
    const auto digits = run_at(word, at, ascii::is_digit);
    if (digits == 0 || digits > 3) return false;
    at += digits;
  }
  return at == word.size() || ((word[at] == ':' || word[at] == '/') && is_all(word.substr(at + 1), ascii::is_digit));
}

bool is_ipv6(std::string_view word) noexcept {
  const auto colons = std::count(word.begin(), word.end(), ':');
  const bool is_short = word.find("::") != std::string_view::npos;
  return (colons == 7 || (is_short && colons >= 2 && word.size() > 2)) &&
         is_all(word, [](char c) noexcept { return is_hex_digit(c) || c == ':' || c == '.'; });
}

/// Digits with the separators of dates and times.
bool is_time(std::string_view word) noexcept {
  if (word.size() < 5 || !ascii::is_digit(word.front())) return false;
  std::size_t colons = 0, dashes = 0, figures = 0, letters_in_it = 0, slashes = 0;
  for (std::size_t i = 0; i < word.size(); ++i) {
    const char c = word[i];
    if (ascii::is_digit(c))
      ++figures;
    else if (c == ':')
      ++colons;
    else if (c == '-' || c == '+')
      ++dashes;
    else if (c == '/')
      ++slashes;
    else if (ascii::is_letter(c))
      ++letters_in_it;
    else if (c != '.')
      return false;
  }
  // 31/Jan/2026:08:00:00
  if (slashes == 2 && (letters_in_it == 0 || letters_in_it == 3) && figures >= 6) return true;
  if (slashes != 0 || figures < 4) return false;
  if (letters_in_it == 0) return colons >= 2 || dashes == 2;
  const auto t = word.find_first_of("Tt");
  return colons >= 1 && letters_in_it <= 2 && ((t != std::string_view::npos && t >= 8) || ascii::lower(word.back()) == 'z');
}

bool is_month(std::string_view word) noexcept {
  constexpr std::array<std::string_view, 12> months{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                    "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  return std::find(months.begin(), months.end(), word) != months.end();
}

/// Whether a word looks like a generated ID: long, with digits and letters alternating.
bool is_drawn(std::string_view word) noexcept {
  constexpr std::size_t least = 12, least_turns = 3;
  if (word.size() < least ||
      !is_all(word, [](char c) noexcept { return ascii::is_letter(c) || ascii::is_digit(c) || c == '_'; }))
    return false;
  std::size_t turns = 0;
  for (std::size_t i = 1; i < word.size(); ++i) turns += ascii::is_digit(word[i]) != ascii::is_digit(word[i - 1]) ? 1U : 0U;
  return turns >= least_turns;
}

bool is_drawn_hex(std::string_view word) noexcept {
  if (word.starts_with("0x") || word.starts_with("0X")) return is_all(word.substr(2), is_hex_digit);
  constexpr std::size_t least = 8;
  return word.size() >= least && is_all(word, is_hex_digit) && std::any_of(word.begin(), word.end(), ascii::is_digit) &&
         !is_all(word, ascii::is_digit);
}

/// The placeholder for a whole word. Empty if there is none.
std::string_view sign_of(std::string_view word) noexcept {
  if (is_all(word, [](char c) noexcept { return c == '*'; }) && word.size() >= 3) return "<masked>";
  if (const auto sign = word.find("://"); sign != std::string_view::npos && sign != 0) return "<url>";
  if (is_uuid(word)) return "<uuid>";
  if (is_ipv4(word) || is_ipv6(word)) return "<ip>";
  if (is_time(word)) return time_sign;
  if (is_drawn_hex(word)) return "<hex>";
  if (const auto sign = word.find('@'); sign != std::string_view::npos && sign != 0 && word.find('.', sign) != word.npos)
    return "<email>";
  if (word.size() > 1 && (word.front() == '/' || word.starts_with("~/") || word.starts_with("./"))) return "<path>";
  if (std::count(word.begin(), word.end(), '/') >= 2) return "<path>";
  if (word.find('*') != word.npos && word.find("***") != word.npos) return "<masked>";
  if (is_drawn(word)) return "<id>";
  return {};
}

/// Converts one line to a template.
class tokenizer {
 public:
  explicit tokenizer(std::string_view line) noexcept : line_(line) {}

  std::string run() {
    while (at_ < line_.size() && out_.size() < longest_template) step();
    return std::move(out_);
  }

 private:
  void step() {
    const char c = line_[at_];
    if (ascii::is_digit(c) && is_status_) {
      put_status();
    } else if (c == '"' || c == '`' || (c == '\'' && !is_after_letter())) {
      put_quoted(c);
    } else if (is_in_word(c)) {
      put_word();
    } else {
      if (c != ' ' && c != '"') is_status_ = false;
      // Consecutive blanks count as one.
      const bool is_blank = c == ' ' || c == '\t' || c == '\r';
      if (!is_blank)
        out_ += c;
      else if (!out_.empty() && out_.back() != ' ')
        out_ += ' ';
      ++at_;
    }
  }

  [[nodiscard]] bool is_after_letter() const noexcept { return at_ != 0 && ascii::is_letter(line_[at_ - 1]); }

  /// The status of a request stays, since it characterizes the record.
  void put_status() {
    is_status_ = false;
    constexpr std::size_t size = 3;
    const auto digits = run_at(line_, at_, ascii::is_digit);
    if (digits != size) return put_word();
    out_ += line_.substr(at_, size);
    at_ += size;
  }

  void put_quoted(char quote) {
    is_status_ = false;
    auto& last = quote == '"' ? last_double_ : quote == '`' ? last_back_ : last_single_;
    if (!last) last = line_.rfind(quote);
    if (*last <= at_) {
      out_ += quote;
      ++at_;
      return;
    }
    auto end = at_ + 1;
    while (end < line_.size() && line_[end] != quote) end += line_[end] == '\\' && end + 1 < line_.size() ? 2 : 1;
    end = std::min(end, line_.size());
    const auto inside = line_.substr(at_ + 1, end - at_ - 1);
    at_ = std::min(end + 1, line_.size());
    if (put_request(inside)) return;
    out_ += "<str>";
  }

  /// `GET /a?b HTTP/1.1`
  bool put_request(std::string_view text) {
    const auto blank = text.find(' ');
    const auto version = text.rfind(" HTTP/");
    if (blank == std::string_view::npos || version == std::string_view::npos || blank > 10) return false;
    if (!is_all(text.substr(0, blank), [](char c) noexcept { return c >= 'A' && c <= 'Z'; })) return false;
    out_ += '"' + std::string(text.substr(0, blank)) + " <path>\"";
    is_status_ = true;
    return true;
  }

  void put_word() {
    auto end = at_ + run_at(line_, at_, is_in_word);
    // A URL may continue with its query.
    while (end < line_.size() && line_[end] == '=' && line_.substr(at_, end - at_).find('?') != std::string_view::npos)
      end += 1 + run_at(line_, end + 1, is_in_word);
    // Punctuation at the end does not belong to the word.
    auto word = line_.substr(at_, end - at_);
    std::size_t tail = 0;
    while (tail + 1 < word.size() && std::string_view(".:!?").find(word[word.size() - 1 - tail]) != std::string_view::npos)
      ++tail;
    const auto signs = word.substr(word.size() - tail);
    word.remove_suffix(tail);
    at_ = end;
    is_status_ = false;
    if (is_month(word) && at_ + 1 < line_.size() && line_[at_] == ' ' &&
        (ascii::is_digit(line_[at_ + 1]) || line_[at_ + 1] == ' ')) {
      // Jan 31 08:00:00
      while (at_ < line_.size() && (line_[at_] == ' ' || ascii::is_digit(line_[at_]) || line_[at_] == ':' || line_[at_] == '.'))
        ++at_;
      if (at_ != 0 && line_[at_ - 1] == ' ') --at_;
      return put_time();
    }
    if (const auto sign = sign_of(word); sign == time_sign) {
      // Fractions of a second after a comma.
      if (at_ + 1 < line_.size() && line_[at_] == ',' && ascii::is_digit(line_[at_ + 1]))
        at_ += 1 + run_at(line_, at_ + 1, ascii::is_digit);
      put_time();
    } else if (!sign.empty()) {
      out_ += sign;
    } else {
      put_with_numbers(word);
    }
    out_ += signs;
  }

  void put_time() {
    if (out_.ends_with("<time> ")) return out_.pop_back();
    out_ += time_sign;
  }

  void put_with_numbers(std::string_view word) {
    for (std::size_t i = 0; i < word.size();) {
      const auto digits = run_at(word, i, ascii::is_digit);
      if (digits == 0) {
        out_ += word[i++];
        continue;
      }
      i += digits;
      // Include decimals.
      if (i + 1 < word.size() && word[i] == '.' && ascii::is_digit(word[i + 1])) i += 1 + run_at(word, i + 1, ascii::is_digit);
      if ((out_.ends_with('-') || out_.ends_with('+')) && (out_.size() == 1 || out_[out_.size() - 2] == ' ')) out_.pop_back();
      out_ += "<num>";
    }
  }

  std::string_view line_;
  std::size_t at_ = 0;
  std::string out_;
  bool is_status_ = false;  // directly after a request
  // The position of the last quote of each kind, once it was searched.
  std::optional<std::size_t> last_double_{}, last_back_{}, last_single_{};
};

/// The raw text of the message member of JSON. Nothing if there is none.
std::optional<std::string_view> json_message(std::string_view line) noexcept {
  constexpr std::array<std::string_view, 4> names{"\"msg\"", "\"message\"", "\"event\"", "\"error\""};
  for (const auto name : names) {
    const auto found = line.find(name);
    if (found == std::string_view::npos) continue;
    auto at = found + name.size();
    while (at < line.size() && (line[at] == ' ' || line[at] == ':')) ++at;
    if (at >= line.size() || line[at] != '"') continue;
    const auto begin = ++at;
    while (at < line.size() && line[at] != '"') at += line[at] == '\\' ? 2 : 1;
    return line.substr(begin, std::min(at, line.size()) - begin);
  }
  return std::nullopt;
}

std::optional<std::string_view> logfmt_message(std::string_view line) noexcept {
  constexpr std::array<std::string_view, 2> names{"msg=\"", "message=\""};
  for (const auto name : names) {
    const auto found = line.find(name);
    if (found == std::string_view::npos || (found != 0 && line[found - 1] != ' ')) continue;
    const auto begin = found + name.size();
    auto at = begin;
    while (at < line.size() && line[at] != '"') at += line[at] == '\\' ? 2 : 1;
    return line.substr(begin, std::min(at, line.size()) - begin);
  }
  return std::nullopt;
}

}  // namespace

std::string template_of(std::string_view text) {
  auto line = text.substr(0, std::min(text.find('\n'), looked_at_bytes));
  if (line.starts_with('{')) {
    if (const auto message = json_message(line)) line = *message;
  } else if (const auto message = logfmt_message(line)) {
    line = *message;
  }
  auto out = tokenizer(line).run();
  if (out.starts_with("[<time>] ")) out.erase(0, time_sign.size() + 3);
  if (out.starts_with("<time> ")) out.erase(0, time_sign.size() + 1);
  if (out.size() > longest_template) out.resize(longest_template);
  out.resize(out.size() - json::incomplete_tail(out));
  while (out.ends_with(' ')) out.pop_back();
  if (json::is_utf8(out)) return out;
  // The result may be cut within a character.
  std::string whole;
  json::append_replacing(whole, out);
  if (whole.size() > longest_template) whole.resize(longest_template);
  whole.resize(whole.size() - json::incomplete_tail(whole));
  return whole;
}

namespace {

constexpr std::size_t longest_example = 240;

template <class T>
void take_least(std::optional<T>& into, const std::optional<T>& other) {
  if (other && (!into || *other < *into)) into = other;
}
template <class T>
void take_greatest(std::optional<T>& into, const std::optional<T>& other) {
  if (other && (!into || *other > *into)) into = other;
}

}  // namespace

std::string_view first_line(std::string_view text, std::size_t most) noexcept {
  auto line = text.substr(0, text.find('\n'));
  if (line.size() <= most) return line;
  line = line.substr(0, most);
  line.remove_suffix(json::incomplete_tail(line));
  return line;
}

void message_counter::add(const records::record& one) {
  auto pattern = template_of(one.text);
  if (pattern.empty()) return;
  const auto [place, is_new] = known_.try_emplace(std::move(pattern));
  auto& what = place->second;
  if (is_new) {
    what.pattern = place->first;
    what.example = first_line(one.text, longest_example);
  }
  ++what.count;
  take_least(what.first, one.time);
  take_greatest(what.last, one.time);
  what.is_mixed = what.is_mixed || (!is_new && what.gravest != one.level);
  take_greatest(what.gravest, one.level);
  if (is_new) make_room();
}

void message_counter::add(const message_counter& other) {
  for (const auto& [pattern, from] : other.known_) {
    const auto [place, is_new] = known_.try_emplace(pattern, from);
    if (is_new) continue;
    auto& what = place->second;
    what.count += from.count;
    if (from.first && (!what.first || *from.first < *what.first)) what.example = from.example;
    take_least(what.first, from.first);
    take_greatest(what.last, from.last);
    what.is_mixed = what.is_mixed || from.is_mixed || what.gravest != from.gravest;
    take_greatest(what.gravest, from.gravest);
  }
  error_ += other.error_;
  make_room();
}

void message_counter::make_room() {
  if (known_.size() > 2 * most_) keep_most_frequent(most_);
}

void message_counter::keep_most_frequent(std::size_t count) {
  if (known_.size() <= count) return;
  std::vector<std::uint64_t> counts;
  counts.reserve(known_.size());
  for (const auto& [pattern, what] : known_) counts.push_back(what.count);
  const auto nth = counts.begin() + static_cast<std::ptrdiff_t>(count);
  std::nth_element(counts.begin(), nth, counts.end(), std::greater<>());
  const auto limit = *nth;  // higher counts stay, and of equal ones as many as fit
  auto room = count - static_cast<std::size_t>(std::count_if(counts.begin(), nth, [&](auto n) { return n > limit; }));
  std::erase_if(known_, [&](const auto& one) {
    if (one.second.count > limit) return false;
    if (one.second.count == limit && room != 0) {
      --room;
      return false;
    }
    return true;
  });
  error_ += limit;
}

const repeated* message_counter::find(const std::string& pattern) const {
  const auto found = known_.find(pattern);
  return found == known_.end() ? nullptr : &found->second;
}

std::vector<repeated> message_counter::all() const {
  std::vector<repeated> out;
  out.reserve(known_.size());
  for (const auto& [pattern, what] : known_) out.push_back(what);
  std::sort(out.begin(), out.end(), [](const repeated& a, const repeated& b) {
    return a.count != b.count ? a.count > b.count : a.pattern < b.pattern;
  });
  return out;
}

}  // namespace hondana::logs

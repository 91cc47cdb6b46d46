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

constexpr std::size_t max_line_bytes = 1024;
constexpr std::string_view time_placeholder = "<time>";

bool is_hex_digit(char c) noexcept { return ascii::is_digit(c) || (ascii::to_lower(c) >= 'a' && ascii::to_lower(c) <= 'f'); }
bool matches_all(std::string_view text, bool (*predicate)(char) noexcept) noexcept {
  return !text.empty() && std::all_of(text.begin(), text.end(), predicate);
}
std::size_t run_length(std::string_view text, std::size_t start, bool (*predicate)(char) noexcept) noexcept {
  auto offset = start;
  while (offset < text.size() && predicate(text[offset])) ++offset;
  return offset - start;
}

/// Characters of words. All bytes that are not ASCII count.
bool is_word_char(char c) noexcept {
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
  std::size_t offset = 0;
  for (int part = 0; part < 4; ++part) {
    if (part != 0 && (offset >= word.size() || word[offset++] != '.')) return false;
    const auto digits = run_length(word, offset, ascii::is_digit);
    if (digits == 0 || digits > 3) return false;
    offset += digits;
  }
  return offset == word.size() ||
         ((word[offset] == ':' || word[offset] == '/') && matches_all(word.substr(offset + 1), ascii::is_digit));
}

bool is_ipv6(std::string_view word) noexcept {
  const auto colons = std::count(word.begin(), word.end(), ':');
  const bool is_short = word.find("::") != std::string_view::npos;
  return (colons == 7 || (is_short && colons >= 2 && word.size() > 2)) &&
         matches_all(word, [](char c) noexcept { return is_hex_digit(c) || c == ':' || c == '.'; });
}

/// Digits with the separators of dates and times.
bool is_time(std::string_view word) noexcept {
  if (word.size() < 5 || !ascii::is_digit(word.front())) return false;
  std::size_t colons = 0, dashes = 0, digits = 0, letters = 0, slashes = 0;
  for (std::size_t i = 0; i < word.size(); ++i) {
    const char c = word[i];
    if (ascii::is_digit(c))
      ++digits;
    else if (c == ':')
      ++colons;
    else if (c == '-' || c == '+')
      ++dashes;
    else if (c == '/')
      ++slashes;
    else if (ascii::is_letter(c))
      ++letters;
    else if (c != '.')
      return false;
  }
  // 31/Jan/2026:08:00:00
  if (slashes == 2 && (letters == 0 || letters == 3) && digits >= 6) return true;
  if (slashes != 0 || digits < 4) return false;
  if (letters == 0) return colons >= 2 || dashes == 2;
  const auto t = word.find_first_of("Tt");
  return colons >= 1 && letters <= 2 && ((t != std::string_view::npos && t >= 8) || ascii::to_lower(word.back()) == 'z');
}

bool is_month(std::string_view word) noexcept {
  constexpr std::array<std::string_view, 12> months{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                    "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  return std::find(months.begin(), months.end(), word) != months.end();
}

bool is_weekday(std::string_view word) noexcept {
  constexpr std::array<std::string_view, 7> weekdays{"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"};
  return std::find(weekdays.begin(), weekdays.end(), word) != weekdays.end();
}

/// Whether a word looks like a generated ID: long, with digits and letters alternating.
bool is_random_id(std::string_view word) noexcept {
  constexpr std::size_t min_bytes = 12, min_switches = 3;
  if (word.size() < min_bytes ||
      !matches_all(word, [](char c) noexcept { return ascii::is_letter(c) || ascii::is_digit(c) || c == '_'; }))
    return false;
  std::size_t switches = 0;
  for (std::size_t i = 1; i < word.size(); ++i) switches += ascii::is_digit(word[i]) != ascii::is_digit(word[i - 1]) ? 1U : 0U;
  return switches >= min_switches;
}

bool is_random_hex(std::string_view word) noexcept {
  if (word.starts_with("0x") || word.starts_with("0X")) return matches_all(word.substr(2), is_hex_digit);
  constexpr std::size_t min_bytes = 8;
  return word.size() >= min_bytes && matches_all(word, is_hex_digit) &&
         std::any_of(word.begin(), word.end(), ascii::is_digit) && !matches_all(word, ascii::is_digit);
}

/// The placeholder for a whole word. Empty if there is none.
std::string_view placeholder_for(std::string_view word) noexcept {
  if (matches_all(word, [](char c) noexcept { return c == '*'; }) && word.size() >= 3) return "<masked>";
  if (const auto scheme_end = word.find("://"); scheme_end != std::string_view::npos && scheme_end != 0) return "<url>";
  if (is_uuid(word)) return "<uuid>";
  if (is_ipv4(word) || is_ipv6(word)) return "<ip>";
  if (is_time(word)) return time_placeholder;
  if (is_random_hex(word)) return "<hex>";
  if (const auto at_sign = word.find('@');
      at_sign != std::string_view::npos && at_sign != 0 && word.find('.', at_sign) != word.npos)
    return "<email>";
  if (word.size() > 1 && (word.front() == '/' || word.starts_with("~/") || word.starts_with("./"))) return "<path>";
  if (std::count(word.begin(), word.end(), '/') >= 2) return "<path>";
  if (word.find('*') != word.npos && word.find("***") != word.npos) return "<masked>";
  if (is_random_id(word)) return "<id>";
  return {};
}

/// Converts one line to a template.
class template_builder {
 public:
  /// `time_begin`, `time_end`: a part of the line that is a time. Both 0: unknown.
  explicit template_builder(std::string_view line, std::size_t time_begin = 0, std::size_t time_end = 0) noexcept
      : line_(line), time_begin_(time_begin), time_end_(time_end) {}

  std::string build() {
    while (offset_ < line_.size() && out_.size() < max_template_bytes) append_next();
    return std::move(out_);
  }

 private:
  void append_next() {
    if (offset_ == time_begin_ && time_end_ > time_begin_) {
      offset_ = time_end_;
      return append_time();
    }
    const char c = line_[offset_];
    if (ascii::is_digit(c) && expects_status_) {
      append_status();
    } else if (c == '"' || c == '`' || (c == '\'' && !is_after_letter())) {
      append_quoted(c);
    } else if (is_word_char(c)) {
      append_word();
    } else {
      if (c != ' ' && c != '"') expects_status_ = false;
      // Consecutive blanks count as one.
      const bool is_blank = c == ' ' || c == '\t' || c == '\r';
      if (!is_blank)
        out_ += c;
      else if (!out_.empty() && out_.back() != ' ')
        out_ += ' ';
      ++offset_;
    }
  }

  [[nodiscard]] bool is_after_letter() const noexcept { return offset_ != 0 && ascii::is_letter(line_[offset_ - 1]); }

  /// The status of a request stays, since it characterizes the record.
  void append_status() {
    expects_status_ = false;
    constexpr std::size_t size = 3;
    const auto digits = run_length(line_, offset_, ascii::is_digit);
    if (digits != size) return append_word();
    out_ += line_.substr(offset_, size);
    offset_ += size;
  }

  void append_quoted(char quote) {
    expects_status_ = false;
    auto& last_quote = quote == '"' ? last_double_ : quote == '`' ? last_back_ : last_single_;
    if (!last_quote) last_quote = line_.rfind(quote);
    if (*last_quote <= offset_) {
      out_ += quote;
      ++offset_;
      return;
    }
    auto end = offset_ + 1;
    while (end < line_.size() && line_[end] != quote) end += line_[end] == '\\' && end + 1 < line_.size() ? 2 : 1;
    end = std::min(end, line_.size());
    const auto inside = line_.substr(offset_ + 1, end - offset_ - 1);
    offset_ = std::min(end + 1, line_.size());
    if (append_request(inside)) return;
    out_ += "<str>";
  }

  /// `GET /a?b HTTP/1.1`
  bool append_request(std::string_view text) {
    const auto blank = text.find(' ');
    const auto version = text.rfind(" HTTP/");
    if (blank == std::string_view::npos || version == std::string_view::npos || blank > 10) return false;
    if (!matches_all(text.substr(0, blank), [](char c) noexcept { return c >= 'A' && c <= 'Z'; })) return false;
    out_ += '"' + std::string(text.substr(0, blank)) + " <path>\"";
    expects_status_ = true;
    return true;
  }

  void append_word() {
    auto end = offset_ + run_length(line_, offset_, is_word_char);
    // A URL may continue with its query.
    while (end < line_.size() && line_[end] == '=' && line_.substr(offset_, end - offset_).find('?') != std::string_view::npos)
      end += 1 + run_length(line_, end + 1, is_word_char);
    // Punctuation at the end does not belong to the word.
    auto word = line_.substr(offset_, end - offset_);
    std::size_t tail_size = 0;
    while (tail_size + 1 < word.size() &&
           std::string_view(".:!?").find(word[word.size() - 1 - tail_size]) != std::string_view::npos)
      ++tail_size;
    const auto punctuation = word.substr(word.size() - tail_size);
    word.remove_suffix(tail_size);
    offset_ = end;
    expects_status_ = false;
    if (is_weekday(word) && is_before_date()) return;
    if (is_month(word) && offset_ + 1 < line_.size() && line_[offset_] == ' ' &&
        (ascii::is_digit(line_[offset_ + 1]) || line_[offset_ + 1] == ' ')) {
      // Jan 31 08:00:00
      while (offset_ < line_.size() &&
             (line_[offset_] == ' ' || ascii::is_digit(line_[offset_]) || line_[offset_] == ':' || line_[offset_] == '.'))
        ++offset_;
      if (offset_ != 0 && line_[offset_ - 1] == ' ') --offset_;
      return append_time();
    }
    if (const auto placeholder = placeholder_for(word); placeholder == time_placeholder) {
      // Fractions of a second after a comma.
      if (offset_ + 1 < line_.size() && line_[offset_] == ',' && ascii::is_digit(line_[offset_ + 1]))
        offset_ += 1 + run_length(line_, offset_ + 1, ascii::is_digit);
      append_time();
    } else if (!placeholder.empty()) {
      out_ += placeholder;
    } else {
      append_numbered(word);
    }
    out_ += punctuation;
  }

  /// Whether a month or a day of the month follows a weekday. Skips the blank before it.
  bool is_before_date() noexcept {
    const auto begin = offset_ + (line_.substr(offset_).starts_with(", ") ? 2 : 1);
    if (begin >= line_.size() || line_[begin - 1] != ' ') return false;
    if (!ascii::is_digit(line_[begin]) && !is_month(line_.substr(begin, 3))) return false;
    offset_ = begin;
    return true;
  }

  void append_time() {
    if (out_.ends_with("<time> ")) return out_.pop_back();
    out_ += time_placeholder;
  }

  void append_numbered(std::string_view word) {
    for (std::size_t i = 0; i < word.size();) {
      const auto digits = run_length(word, i, ascii::is_digit);
      if (digits == 0) {
        out_ += word[i++];
        continue;
      }
      i += digits;
      // Include decimals.
      if (i + 1 < word.size() && word[i] == '.' && ascii::is_digit(word[i + 1]))
        i += 1 + run_length(word, i + 1, ascii::is_digit);
      if ((out_.ends_with('-') || out_.ends_with('+')) && (out_.size() == 1 || is_before_sign(out_[out_.size() - 2])))
        out_.pop_back();
      out_ += "<num>";
    }
  }

  /// Whether '-' or '+' after a character is the sign of a number, not a hyphen or a dash.
  static bool is_before_sign(char c) noexcept {
    return !ascii::is_alphanumeric(c) && static_cast<unsigned char>(c) < 0x80 && c != '>' && c != ')' && c != ']';
  }

  std::string_view line_;
  std::size_t time_begin_, time_end_;
  std::size_t offset_ = 0;
  std::string out_;
  bool expects_status_ = false;  // directly after a request
  // The position of the last quote of each kind, once it was searched.
  std::optional<std::size_t> last_double_{}, last_back_{}, last_single_{};
};

/// The raw text of the message member of JSON. Nothing if there is none.
std::optional<std::string_view> json_message(std::string_view line) noexcept {
  constexpr std::array<std::string_view, 10> names{"\"msg\"", "\"message\"", "\"event\"",         "\"error\"", "\"@mt\"",
                                                   "\"@m\"",  "\"MESSAGE\"", "\"short_message\"", "\"body\"",  "\"log\""};
  for (const auto name : names) {
    const auto position = line.find(name);
    if (position == std::string_view::npos) continue;
    auto offset = position + name.size();
    while (offset < line.size() && (line[offset] == ' ' || line[offset] == ':')) ++offset;
    if (offset >= line.size() || line[offset] != '"') continue;
    const auto begin = ++offset;
    while (offset < line.size() && line[offset] != '"') offset += line[offset] == '\\' ? 2 : 1;
    return line.substr(begin, std::min(offset, line.size()) - begin);
  }
  return std::nullopt;
}

std::optional<std::string_view> logfmt_message(std::string_view line) noexcept {
  constexpr std::array<std::string_view, 2> names{"msg=\"", "message=\""};
  for (const auto name : names) {
    const auto position = line.find(name);
    if (position == std::string_view::npos || (position != 0 && line[position - 1] != ' ')) continue;
    const auto begin = position + name.size();
    auto offset = begin;
    while (offset < line.size() && line[offset] != '"') offset += line[offset] == '\\' ? 2 : 1;
    return line.substr(begin, std::min(offset, line.size()) - begin);
  }
  return std::nullopt;
}

}  // namespace

std::string make_template(std::string_view text, std::size_t time_begin, std::size_t time_end) {
  auto line = text.substr(0, std::min(text.find('\n'), max_line_bytes));
  const auto message = line.starts_with('{') ? json_message(line) : logfmt_message(line);
  if (message) line = *message;
  const bool has_time = !message && time_end > time_begin && time_end <= line.size();
  auto out = has_time ? template_builder(line, time_begin, time_end).build() : template_builder(line).build();
  if (out.starts_with("[<time>] ")) out.erase(0, time_placeholder.size() + 3);
  if (out.starts_with("<time> ")) out.erase(0, time_placeholder.size() + 1);
  if (out.size() > max_template_bytes) out.resize(max_template_bytes);
  out.resize(out.size() - json::incomplete_tail(out));
  while (out.ends_with(' ')) out.pop_back();
  if (json::is_utf8(out)) return out;
  // The result may be cut within a character.
  std::string valid;
  json::append_replacing(valid, out);
  if (valid.size() > max_template_bytes) valid.resize(max_template_bytes);
  valid.resize(valid.size() - json::incomplete_tail(valid));
  return valid;
}

namespace {

constexpr std::size_t max_example_bytes = 240;

template <class T>
void update_min(std::optional<T>& value, const std::optional<T>& other) {
  if (other && (!value || *other < *value)) value = other;
}
template <class T>
void update_max(std::optional<T>& value, const std::optional<T>& other) {
  if (other && (!value || *other > *value)) value = other;
}

}  // namespace

std::string_view first_line(std::string_view text, std::size_t max_bytes) noexcept {
  auto line = text.substr(0, text.find('\n'));
  if (line.size() <= max_bytes) return line;
  line = line.substr(0, max_bytes);
  line.remove_suffix(json::incomplete_tail(line));
  return line;
}

void message_counter::add(const records::log_record& record) {
  auto pattern = make_template(record.text, record.time_begin, record.time_end);
  if (pattern.empty()) return;
  const auto [it, is_new] = messages_.try_emplace(std::move(pattern));
  auto& message = it->second;
  if (is_new) {
    message.pattern = it->first;
    message.example = first_line(record.text, max_example_bytes);
  }
  ++message.count;
  update_min(message.first, record.time);
  update_max(message.last, record.time);
  message.is_mixed = message.is_mixed || (!is_new && message.max_level != record.level);
  update_max(message.max_level, record.level);
  if (is_new) evict_rare();
}

void message_counter::add(const message_counter& other) {
  for (const auto& [pattern, other_message] : other.messages_) {
    const auto [it, is_new] = messages_.try_emplace(pattern, other_message);
    if (is_new) continue;
    auto& message = it->second;
    message.count += other_message.count;
    if (other_message.first && (!message.first || *other_message.first < *message.first))
      message.example = other_message.example;
    update_min(message.first, other_message.first);
    update_max(message.last, other_message.last);
    message.is_mixed = message.is_mixed || other_message.is_mixed || message.max_level != other_message.max_level;
    update_max(message.max_level, other_message.max_level);
  }
  count_error_ += other.count_error_;
  evict_rare();
}

void message_counter::evict_rare() {
  if (messages_.size() > 2 * max_templates_) retain_most_frequent(max_templates_);
}

void message_counter::retain_most_frequent(std::size_t count) {
  if (messages_.size() <= count) return;
  std::vector<std::uint64_t> counts;
  counts.reserve(messages_.size());
  for (const auto& [pattern, message] : messages_) counts.push_back(message.count);
  const auto nth = counts.begin() + static_cast<std::ptrdiff_t>(count);
  std::nth_element(counts.begin(), nth, counts.end(), std::greater<>());
  const auto limit = *nth;  // higher counts stay, and of equal ones as many as fit
  auto places_left = count - static_cast<std::size_t>(std::count_if(counts.begin(), nth, [&](auto n) { return n > limit; }));
  std::erase_if(messages_, [&](const auto& entry) {
    if (entry.second.count > limit) return false;
    if (entry.second.count == limit && places_left != 0) {
      --places_left;
      return false;
    }
    return true;
  });
  count_error_ += limit;
}

const repeated_message* message_counter::find(const std::string& pattern) const {
  const auto match = messages_.find(pattern);
  return match == messages_.end() ? nullptr : &match->second;
}

std::vector<repeated_message> message_counter::sorted() const {
  std::vector<repeated_message> out;
  out.reserve(messages_.size());
  for (const auto& [pattern, message] : messages_) out.push_back(message);
  std::sort(out.begin(), out.end(), [](const repeated_message& a, const repeated_message& b) {
    return a.count != b.count ? a.count > b.count : a.pattern < b.pattern;
  });
  return out;
}

}  // namespace hondana::logs

/// Line by line, from the first line of a key to its last.
#include "sources/logs/records/key_lines.hpp"

#include <algorithm>
#include <optional>

#include "text/secrets/near.hpp"

namespace hondana::records {
namespace {

using secrets::span;

constexpr std::size_t least_piece = 24;         // of base64 that a line of a key has
constexpr std::size_t most_foreign_lines = 16;  // of others, between two lines of a key
constexpr std::size_t longest_label = 64;

/// Where a label such as `BEGIN RSA PRIVATE KEY` stands from `from` on; `word` is its first with the blank.
std::size_t label_from(std::string_view text, std::string_view word, std::size_t from) noexcept {
  for (auto at = text.find(word, from); at != std::string_view::npos; at = text.find(word, at + 1)) {
    const auto label = text.substr(at, longest_label);
    const auto line = label.substr(0, label.find('\n'));
    const bool is_of_key =
        line.find("PRIVATE KEY") != std::string_view::npos || line.find("SECRET KEY") != std::string_view::npos;
    if (is_of_key && at >= 3 && text.substr(at - 3, 2) == "--") return at;
  }
  return std::string_view::npos;
}

constexpr bool is_of_piece(char c) noexcept { return c != '=' && secrets::is(secrets::kind::base64, c); }

/// Base64 with its padding; an equals sign before it is none of it, nor is the end of a colour.
struct piece {
  span where{};
  std::size_t number = 0;  // of its line's

  [[nodiscard]] bool is_there() const noexcept { return where.end > where.begin; }
};

/// Goes from piece to piece.
class pieces {
 public:
  explicit pieces(std::string_view line) noexcept : line_(line) {}

  [[nodiscard]] piece next() noexcept {
    while (at_ < line_.size() && !is_of_piece(line_[at_])) ++at_;
    piece out{{at_, at_}, number_++};
    while (at_ < line_.size() && is_of_piece(line_[at_])) ++at_;
    out.where.end = at_;
    for (int i = 0; i < 2 && out.where.end < line_.size() && line_[out.where.end] == '='; ++i) ++out.where.end;
    if (out.where.begin > 0 && line_[out.where.begin - 1] == '[') {
      auto colour = out.where.begin;
      while (colour < at_ && line_[colour] >= '0' && line_[colour] <= '9') ++colour;
      if (colour < at_ && line_[colour] == 'm') out.where.begin = colour + 1;
    }
    return out;
  }

 private:
  std::string_view line_;
  std::size_t at_ = 0, number_ = 0;
};

/// Numbers of traces, paths and words are written in one case.
bool is_of_key(std::string_view piece) noexcept {
  if (piece.size() < least_piece) return false;
  const auto is_small = [](char c) { return c >= 'a' && c <= 'z'; };
  const auto is_capital = [](char c) { return c >= 'A' && c <= 'Z'; };
  return std::any_of(piece.begin(), piece.end(), is_small) && std::any_of(piece.begin(), piece.end(), is_capital);
}

char at_or_nul(std::string_view line, std::size_t at) noexcept {
  return at < line.size() && line[at] != '\r' && line[at] != '\n' ? line[at] : '\0';
}

/// What stands around a part of a line.
struct frame_of_part {
  char before = '\0';
  char behind = '\0';

  static frame_of_part of(std::string_view line, const span& part) noexcept {
    return {part.begin == 0 ? '\0' : at_or_nul(line, part.begin - 1), at_or_nul(line, part.end)};
  }
  bool operator==(const frame_of_part&) const = default;
};

/// Around the dashes of a label; nothing where that is not known.
std::optional<frame_of_part> frame_of_label(std::string_view text, std::size_t label) noexcept {
  auto begin = label;
  while (begin > 0 && label - begin < longest_label && (text[begin - 1] == '-' || (begin == label && text[begin - 1] == ' ')))
    --begin;
  const auto dashes = text.substr(label, longest_label + 16).find("---");
  if (dashes == std::string_view::npos) return std::nullopt;
  const auto end = std::min(text.find_first_not_of('-', label + dashes), text.size());
  const auto out = frame_of_part::of(text, {begin, end});
  if (out.behind == '*') return std::nullopt;
  return out;
}

/// The lines behind the first one of a key.
class lines_of_key {
 public:
  lines_of_key(std::string_view text, std::size_t offset, std::optional<frame_of_part> frame, std::vector<span>& into) noexcept
      : text_(text), offset_(offset), frame_(frame), into_(into) {}

  void take(std::size_t at) {
    while (at < text_.size() && foreign_ <= most_foreign_lines) {
      const auto end = std::min(text_.find('\n', at), text_.size());
      const auto line = text_.substr(at, end - at);
      const auto last = label_from(line, "END ", 0);
      if (!take_line(line.substr(0, last), at) && !take_short(line.substr(0, last), at)) ++foreign_;
      if (last != std::string_view::npos) return;
      at = end + 1;
    }
  }

 private:
  void mask(const span& where, std::size_t at) { into_.push_back({offset_ + at + where.begin, offset_ + at + where.end}); }

  bool take_line(std::string_view line, std::size_t at) {
    pieces in(line);
    bool is_any = false;
    for (auto one = in.next(); one.is_there() || one.where.begin < line.size(); one = in.next()) {
      const auto frame = frame_of_part::of(line, one.where);
      if (!is_of_key(line.substr(one.where.begin, one.where.end - one.where.begin)) || (frame_ && *frame_ != frame)) continue;
      mask(one.where, at);
      is_any = true;
      number_ = one.number;
      last_ = frame;
    }
    if (is_any) foreign_ = 0;
    return is_any;
  }
  /// A key's last line is as short as it comes; it stands where the others do.
  bool take_short(std::string_view line, std::size_t at) {
    if (!number_) return false;
    pieces in(line);
    for (auto one = in.next(); one.is_there() || one.where.begin < line.size(); one = in.next()) {
      if (one.number < *number_) continue;
      if (one.is_there() && frame_of_part::of(line, one.where) == last_) mask(one.where, at);
      break;
    }
    return false;
  }

  std::string_view text_;
  std::size_t offset_;
  std::optional<frame_of_part> frame_;
  std::vector<span>& into_;
  std::size_t foreign_ = 0;
  std::optional<std::size_t> number_{};
  frame_of_part last_{};
};

}  // namespace

void find_key_lines(std::string_view text, std::vector<span>& into) {
  const auto known = into.size();
  for (auto begin = label_from(text, "BEGIN ", 0); begin != std::string_view::npos;) {
    const auto next = label_from(text, "BEGIN ", begin + 1);
    // A key ends where another begins, so nothing is looked at twice.
    const auto end = std::min({next, text.size(), begin + secrets::reach_ahead});
    const auto first = text.substr(0, end).find('\n', begin);
    const bool is_of_one_line = label_from(text.substr(0, std::min(first, end)), "END ", begin) != std::string_view::npos;
    if (first < end && !is_of_one_line)
      lines_of_key(text.substr(begin, end - begin), begin, frame_of_label(text, begin), into).take(first + 1 - begin);
    begin = next;
  }
  if (into.size() != known) secrets::unite(into);
}

}  // namespace hondana::records

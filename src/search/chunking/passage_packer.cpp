/// Packs paragraphs, sentences, lines and rows into passages, and splits those that are too long.
#include "search/chunking/passage_packer.hpp"

#include <algorithm>
#include <utility>

#include "text/markup/characters.hpp"

namespace hondana::chunking {
namespace {

using ascii::is_space;
using markup::character_at;

bool closes(char32_t point) noexcept {
  constexpr std::u32string_view marks = U"\"')]」』）】〕》〉”’»＂";
  return marks.find(point) != std::u32string_view::npos;
}
bool ends_japanese(char32_t point) noexcept { return point == U'。' || point == U'！' || point == U'？' || point == U'｡'; }

/// In bytes.
constexpr std::size_t longest_character = 4;

/// The end of a run of closing marks, such as `」`, and whether the last mark itself ends a Japanese sentence.
struct closing_row {
  std::size_t end;
  bool is_end_last;
};

closing_row behind_closing(std::string_view text, std::size_t at, bool is_end) noexcept {
  closing_row out{at, is_end};
  while (out.end < text.size()) {
    const auto one = character_at(text, out.end);
    const bool ends = ends_japanese(one.point);
    if (!ends && !closes(one.point)) break;
    out.end += one.bytes;
    out.is_end_last = ends;
  }
  return out;
}

/// The result of looking for a sentence end at one character.
struct ending {
  std::size_t end = 0;   ///< The position after the sentence; 0: no sentence ends here.
  std::size_t next = 0;  ///< The position to continue at. Each run of marks is scanned only once.
};

ending ends_at(std::string_view text, std::size_t at) noexcept {
  const auto byte = static_cast<unsigned char>(text[at]);
  if (byte == '.' || byte == '!' || byte == '?') {
    const auto end = behind_closing(text, at + 1, false).end;
    const bool is_set_off = end >= text.size() || is_space(text[end]);
    // "1." begins a list item, and the second full stop of "i.e." ends an abbreviation.
    const bool is_number =
        byte == '.' && at < 3 &&
        std::all_of(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), [](char c) { return ascii::is_digit(c); });
    const bool is_letter = byte == '.' && at >= 2 && text[at - 2] == '.';
    return {is_set_off && !is_number && !is_letter ? end : 0, at + 1};
  }
  if (byte != 0xE3 && byte != 0xEF) return {0, at + 1};
  const auto one = character_at(text, at);
  if (!ends_japanese(one.point)) return {0, at + 1};
  const auto behind = behind_closing(text, at + one.bytes, true);
  // In 「…。」と言った the sentence continues after the quotation.
  if (!behind.is_end_last && behind.end < text.size()) {
    const auto next = character_at(text, behind.end).point;
    if (next >= U'ぁ' && next <= U'ん') return {0, behind.end};
  }
  return {behind.end, behind.end};
}

std::size_t whole_characters(std::string_view text, std::size_t from, std::size_t end) noexcept {
  const auto limit = end;
  end = markup::boundary_before(text, end);
  // Do not cut before combining marks, but after 16 attempts, cut anyway: a longer run of marks is not readable text.
  for (int tries = 0; tries < 16 && end > from && end < text.size(); ++tries) {
    if (!markup::is_mark(character_at(text, end).point)) break;
    end = markup::boundary_before(text, end - 1);
  }
  if (end > from) return end;
  end = markup::boundary_before(text, limit);
  return end > from ? end : std::min(text.size(), from + character_at(text, from).bytes);
}

}  // namespace

std::size_t sentence_end(std::string_view text, std::size_t from, std::size_t most) noexcept {
  const auto limit = std::min(text.size(), from + most);
  const auto seen = text.substr(from, limit - from + longest_character);
  for (std::size_t at = 0; at < limit - from;) {
    const auto byte = static_cast<unsigned char>(seen[at]);
    if (byte != '.' && byte != '!' && byte != '?' && byte != 0xE3 && byte != 0xEF) {
      ++at;
      continue;
    }
    const auto [end, next] = ends_at(seen, at);
    if (end != 0 && from + end <= limit) return from + end;
    at = next;
  }
  return limit == text.size() ? limit : whole_characters(text, from, limit);
}

std::size_t best_cut(std::string_view text, std::size_t from, std::size_t most) noexcept {
  if (text.size() - from <= most) return text.size();
  const auto limit = from + most;
  const auto lowest = from + most / 4;
  std::size_t sentence = 0;
  std::size_t line = 0;
  std::size_t word = 0;
  std::size_t clause = 0;
  std::size_t next = 0;
  for (auto at = lowest; at < limit; at = next) {
    next = at + 1;
    const auto byte = static_cast<unsigned char>(text[at]);
    if (byte == '\n') {
      line = at + 1;
    } else if (is_space(text[at])) {
      word = at + 1;
    } else if (byte == ',' || byte == ';' || text.substr(at, 3) == "、") {
      const auto behind = at + (byte < 0x80 ? 1 : 3);
      if (behind <= limit) clause = behind;
    } else if (byte == '.' || byte == '!' || byte == '?' || byte == 0xE3 || byte == 0xEF) {
      const auto ended = ends_at(text.substr(0, limit + 1), at);
      if (ended.end != 0 && ended.end <= limit) sentence = ended.end;
      next = ended.next;
    }
  }
  for (const auto cut : {sentence, line, word, clause})
    if (cut > from) return cut;
  return whole_characters(text, from, limit);
}

namespace {

constexpr std::size_t most_names = 5;
constexpr std::size_t longest_list = 120;

std::size_t length_of(glue one) noexcept { return one == glue::none ? 0 : one == glue::paragraph ? 2 : 1; }

void append(std::string& out, glue one) {
  if (one == glue::space) out += ' ';
  if (one == glue::line) out += '\n';
  if (one == glue::paragraph) out += "\n\n";
}

/// Appends the text with CR LF and CR replaced by LF.
void append_text(std::string& out, std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const auto found = std::min(text.find('\r', at), text.size());
    out.append(text.substr(at, found - at));
    if (found < text.size() && (found + 1 == text.size() || text[found + 1] != '\n')) out += '\n';
    at = found + 1;
  }
}

cutting sensible(cutting how) noexcept {
  how.most = std::max<std::size_t>(how.most, 16);
  how.wanted = std::clamp<std::size_t>(how.wanted, 8, how.most);
  how.overlap = std::min(how.overlap, how.wanted / 2);
  return how;
}

std::size_t newlines_in(std::string_view text) noexcept {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

}  // namespace

std::shared_ptr<const std::string> header_of(std::string_view line, const cutting& how) {
  line = markup::trimmed(line);
  if (line.empty() || line.size() > how.most / 4) return nullptr;
  return std::make_shared<const std::string>(line);
}

packer::packer(const cutting& how, bool has_names) : how_(sensible(how)), has_names_(has_names) {}

std::size_t packer::cost_of(const unit& one, bool is_first) const noexcept {
  if (!is_first) return length_of(one.before) + one.text().size();
  return one.text().size() + (one.header == nullptr ? 0 : one.header->size() + 1);
}

std::size_t packer::fresh() const noexcept {
  return static_cast<std::size_t>(std::count_if(units_.begin(), units_.end(), [](const unit& one) { return !one.is_overlap; }));
}

void packer::add(unit one) {
  if (is_full_ || one.text().empty()) return;
  const auto most = how_.most - (one.header == nullptr ? 0 : one.header->size() + 1);
  if (one.text().size() > most) return add_divided(one, std::min(how_.wanted, most));
  if (!units_.empty() && units_.back().page != one.page) flush();
  // If a large section follows a small one, the small section becomes its own passage, so that the large one has its own
  // heading.
  if (section_ > 0 && section_ < units_.size() && size_ + one.text().size() > 2 * small_section) {
    const bool has_body = std::any_of(units_.begin(), units_.begin() + static_cast<std::ptrdiff_t>(section_),
                                      [](const unit& each) { return !each.is_heading; });
    if (has_body) {
      emit(section_);
      drop_front(section_);
    }
    section_ = 0;
  }
  make_room(one, cost_of(one, units_.empty()));
  if (is_full_) return;
  size_ += cost_of(one, units_.empty());
  units_.push_back(std::move(one));
}

void packer::make_room(const unit& next, std::size_t bytes) {
  if (units_.empty() || size_ + bytes <= how_.wanted) return;
  if (size_ < how_.wanted / 3 && size_ + bytes <= how_.most) return;
  const bool has_only_headings = std::all_of(units_.begin(), units_.end(), [](const unit& one) { return one.is_heading; });
  if (has_only_headings && size_ + bytes <= how_.most) return;
  if (fresh() > 0) {
    std::size_t best = units_.size();
    int best_rank = next.rank;
    std::size_t sum = 0;
    for (std::size_t at = 0; at < units_.size(); ++at) {
      if (at > 0 && sum >= how_.wanted / 2 && units_[at].rank < best_rank && !units_[at - 1].is_overlap &&
          !units_[at - 1].is_heading) {
        best = at;
        best_rank = units_[at].rank;
      }
      sum += cost_of(units_[at], at == 0);
    }
    // Headings at the end belong to the next passage.
    if (best == units_.size())
      while (best > 1 && units_[best - 1].is_heading && !units_[best - 2].is_overlap) --best;
    emit(best);
    if (is_full_) return;
    const bool has_more = best < units_.size();
    const auto& follows = has_more ? units_[best] : next;
    const auto& last = units_[best - 1];
    const bool is_same = follows.where == last.where && follows.page == last.page && !follows.is_row && !last.is_row &&
                         !follows.is_heading && !last.is_heading;
    std::vector<unit> before(std::make_move_iterator(units_.begin()),
                             std::make_move_iterator(units_.begin() + static_cast<std::ptrdiff_t>(best)));
    drop_front(best);
    if (is_same) overlap_with(before);
  }
  // Drop repeated units to make space for new ones.
  while (!units_.empty() && size_ + cost_of(next, false) > how_.most && units_.front().is_overlap) drop_front(1);
  if (!units_.empty() && size_ + cost_of(next, false) > how_.most) {
    emit(units_.size());
    drop_front(units_.size());
  }
}

void packer::overlap_with(const std::vector<unit>& before) {
  std::size_t room = how_.overlap;
  for (const auto& one : units_) room = std::min(room, how_.most - std::min(how_.most, cost_of(one, false) + size_));
  std::vector<unit> taken;
  // Never repeat the first unit as a whole. Otherwise passages would not advance.
  for (auto at = before.size(); at-- > 0 && !before[at].is_heading && !before[at].is_row;) {
    const auto& one = before[at];
    const auto cost = one.text().size() + 2;
    if (at > 0 && cost <= room) {
      taken.push_back(one);
      room -= cost;
      continue;
    }
    if (!taken.empty() || !one.own.empty()) break;
    // Take the last sentences of a long unit.
    auto from = one.seen.size();
    for (std::size_t start = 0; start < one.seen.size();) {
      if (start > 0 && one.seen.size() - start <= room) {
        from = start;
        break;
      }
      start = sentence_end(one.seen, start, one.seen.size());
      while (start < one.seen.size() && ascii::is_space(one.seen[start])) ++start;
    }
    if (from >= one.seen.size()) break;
    unit tail = one;
    tail.begin += from;
    tail.first_line += newlines_in(one.seen.substr(0, from));
    tail.seen.remove_prefix(from);
    taken.push_back(std::move(tail));
    break;
  }
  if (taken.empty()) return;
  for (auto& one : taken) one.is_overlap = true;
  std::reverse(taken.begin(), taken.end());
  units_.insert(units_.begin(), std::make_move_iterator(taken.begin()), std::make_move_iterator(taken.end()));
  drop_front(0);
}

/// Removes the first `count` units and recomputes the size.
void packer::drop_front(std::size_t count) {
  units_.erase(units_.begin(), units_.begin() + static_cast<std::ptrdiff_t>(count));
  section_ = section_ > count ? section_ - count : 0;
  size_ = 0;
  for (std::size_t at = 0; at < units_.size(); ++at) size_ += cost_of(units_[at], at == 0);
}

void packer::add_divided(const unit& one, std::size_t most) {
  const auto text = one.text();
  const bool is_source = one.own.empty();
  std::size_t line = one.first_line;
  std::size_t counted = 0;
  for (std::size_t at = 0; at < text.size() && !is_full_;) {
    const auto end = best_cut(text, at, most);
    auto part = text.substr(at, end - at);
    unit made = one;
    while (!part.empty() && ascii::is_space(part.back())) part.remove_suffix(1);
    line += newlines_in(text.substr(counted, at - counted));
    counted = at;
    if (is_source) {
      made.seen = part;
      made.begin = one.begin + at;
      made.end = made.begin + part.size();
      made.first_line = line;
      made.last_line = line + newlines_in(part);
    } else {
      made.own = part;
    }
    if (at > 0) {
      made.rank = ranks::part;
      made.before = !ascii::is_space(text[at - 1]) ? glue::none : text[at - 1] == '\n' ? glue::line : glue::space;
    }
    at = end;
    if (!part.empty()) add(std::move(made));
  }
}

void packer::add_sentences(std::string_view text, const unit& like) {
  std::size_t line = like.first_line;
  std::size_t counted = 0;
  bool is_first = true;
  for (std::size_t at = 0; at < text.size() && !is_full_;) {
    const auto end = sentence_end(text, at, how_.most);
    unit made = like;
    made.seen = text.substr(at, end - at);
    line += newlines_in(text.substr(counted, at - counted));
    counted = at;
    made.begin = like.begin + at;
    made.end = like.begin + end;
    made.first_line = line;
    made.last_line = line + newlines_in(made.seen);
    if (!is_first) {
      made.rank = ranks::sentence;
      made.before = !ascii::is_space(text[at - 1]) ? glue::none : text[at - 1] == '\n' ? glue::line : glue::space;
    }
    is_first = false;
    add(std::move(made));
    at = end;
    while (at < text.size() && ascii::is_space(text[at])) ++at;
  }
}

void packer::begin_section(std::size_t least) {
  if (size_ >= least || fresh() == 0) return flush();
  section_ = units_.size();
}

void packer::flush() {
  if (fresh() > 0) emit(units_.size());
  units_.clear();
  size_ = section_ = 0;
}

std::string packer::heading_of(std::size_t count) const {
  const path* common = nullptr;
  std::size_t depth = 0;
  bool has_body = std::any_of(units_.begin(), units_.begin() + static_cast<std::ptrdiff_t>(count),
                              [](const unit& one) { return !one.is_heading; });
  for (std::size_t at = 0; at < count; ++at) {
    const auto& one = units_[at];
    if (one.where == nullptr || (has_names_ && one.where->empty())) continue;
    if (one.is_heading && (has_body || at + 1 < count)) continue;
    if (common == nullptr) {
      common = one.where.get();
      depth = common->size();
      continue;
    }
    depth = std::min(depth, one.where->size());
    std::size_t same = 0;
    while (same < depth && (*common)[same] == (*one.where)[same]) ++same;
    depth = same;
  }
  std::string out;
  if (common == nullptr) return out;
  for (std::size_t at = 0; at < depth; ++at) out.append(at == 0 ? "" : " › ").append((*common)[at]);
  if (!has_names_) return out;
  std::vector<std::string_view> names;
  for (std::size_t at = 0; at < count && names.size() <= most_names; ++at) {
    const auto& one = units_[at];
    if (one.where == nullptr || one.where->size() <= depth) continue;
    const std::string_view name = (*one.where)[depth];
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  for (std::size_t at = 0; at < names.size(); ++at) {
    if (at == most_names || out.size() > longest_list) return out.append(", …");
    out.append(at > 0 ? ", " : out.empty() ? "" : " › ").append(names[at]);
  }
  return out;
}

void packer::emit(std::size_t count) {
  if (made_.passages.size() >= how_.most_passages) {
    made_.is_whole = false;
    is_full_ = true;
    return;
  }
  passage one;
  one.heading = heading_of(count);
  std::size_t bytes = 0;
  for (std::size_t at = 0; at < count; ++at) bytes += cost_of(units_[at], at == 0);
  one.text.reserve(bytes);
  if (units_.front().header != nullptr) one.text.append(*units_.front().header).append(1, '\n');
  for (std::size_t at = 0; at < count; ++at) {
    if (at > 0) append(one.text, units_[at].before);
    append_text(one.text, units_[at].text());
  }
  one.first_line = units_.front().first_line;
  one.begin = units_.front().begin;
  one.page = units_.front().page;
  one.last_line = units_[count - 1].last_line;
  one.end = units_[count - 1].end;
  made_.passages.push_back(std::move(one));
}

cut packer::finish(const std::string& title) {
  flush();
  for (auto& one : made_.passages) one.title = title;
  return std::move(made_);
}

}  // namespace hondana::chunking

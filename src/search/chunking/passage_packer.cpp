/// Packs paragraphs, sentences, lines and rows into passages, and splits those that are too long.
#include "search/chunking/passage_packer.hpp"

#include <algorithm>
#include <utility>

#include "text/markup/characters.hpp"

namespace hondana::chunking {
namespace {

using ascii::is_space;
using markup::character_at;

bool is_closing_mark(char32_t point) noexcept {
  constexpr std::u32string_view marks = U"\"')]」』）】〕》〉”’»＂";
  return marks.find(point) != std::u32string_view::npos;
}
bool is_japanese_terminator(char32_t point) noexcept {
  return point == U'。' || point == U'！' || point == U'？' || point == U'｡';
}

/// In bytes.
constexpr std::size_t max_character_bytes = 4;

/// The end of a run of closing marks, such as `」`, and whether the last mark itself ends a Japanese sentence.
struct closing_run {
  std::size_t end;
  bool is_last_terminator;
};

closing_run skip_closing_marks(std::string_view text, std::size_t position, bool is_terminator) noexcept {
  closing_run out{position, is_terminator};
  while (out.end < text.size()) {
    const auto character = character_at(text, out.end);
    const bool is_end_mark = is_japanese_terminator(character.point);
    if (!is_end_mark && !is_closing_mark(character.point)) break;
    out.end += character.bytes;
    out.is_last_terminator = is_end_mark;
  }
  return out;
}

/// The result of looking for a sentence end at one character.
struct ending {
  std::size_t end = 0;   ///< The position after the sentence; 0: no sentence ends here.
  std::size_t next = 0;  ///< The position to continue at. Each run of marks is scanned only once.
};

ending ending_at(std::string_view text, std::size_t position) noexcept {
  const auto byte = static_cast<unsigned char>(text[position]);
  if (byte == '.' || byte == '!' || byte == '?') {
    const auto end = skip_closing_marks(text, position + 1, false).end;
    const bool is_followed_by_space = end >= text.size() || is_space(text[end]);
    // "1." begins a list item, and the second full stop of "i.e." ends an abbreviation.
    const bool is_number =
        byte == '.' && position < 3 &&
        std::all_of(
            text.begin(), text.begin() + static_cast<std::ptrdiff_t>(position), [](char c) { return ascii::is_digit(c); });
    const bool is_letter = byte == '.' && position >= 2 && text[position - 2] == '.';
    return {is_followed_by_space && !is_number && !is_letter ? end : 0, position + 1};
  }
  if (byte != 0xE3 && byte != 0xEF) return {0, position + 1};
  const auto character = character_at(text, position);
  if (!is_japanese_terminator(character.point)) return {0, position + 1};
  const auto closing = skip_closing_marks(text, position + character.bytes, true);
  // In 「…。」と言った the sentence continues after the quotation.
  if (!closing.is_last_terminator && closing.end < text.size()) {
    const auto next = character_at(text, closing.end).point;
    if (next >= U'ぁ' && next <= U'ん') return {0, closing.end};
  }
  return {closing.end, closing.end};
}

std::size_t snap_to_character(std::string_view text, std::size_t begin, std::size_t end) noexcept {
  const auto limit = end;
  end = markup::boundary_before(text, end);
  // Do not cut before combining marks, but after 16 attempts, cut anyway: a longer run of marks is not readable text.
  for (int attempt = 0; attempt < 16 && end > begin && end < text.size(); ++attempt) {
    if (!markup::is_combining_mark(character_at(text, end).point)) break;
    end = markup::boundary_before(text, end - 1);
  }
  if (end > begin) return end;
  end = markup::boundary_before(text, limit);
  return end > begin ? end : std::min(text.size(), begin + character_at(text, begin).bytes);
}

}  // namespace

std::size_t sentence_end(std::string_view text, std::size_t begin, std::size_t max_bytes) noexcept {
  const auto limit = std::min(text.size(), begin + max_bytes);
  const auto window = text.substr(begin, limit - begin + max_character_bytes);
  for (std::size_t position = 0; position < limit - begin;) {
    const auto byte = static_cast<unsigned char>(window[position]);
    if (byte != '.' && byte != '!' && byte != '?' && byte != 0xE3 && byte != 0xEF) {
      ++position;
      continue;
    }
    const auto [end, next] = ending_at(window, position);
    if (end != 0 && begin + end <= limit) return begin + end;
    position = next;
  }
  return limit == text.size() ? limit : snap_to_character(text, begin, limit);
}

std::size_t best_cut(std::string_view text, std::size_t begin, std::size_t max_bytes) noexcept {
  if (text.size() - begin <= max_bytes) return text.size();
  const auto limit = begin + max_bytes;
  const auto min_position = begin + max_bytes / 4;
  std::size_t sentence = 0;
  std::size_t line = 0;
  std::size_t word = 0;
  std::size_t clause = 0;
  std::size_t next = 0;
  for (auto position = min_position; position < limit; position = next) {
    next = position + 1;
    const auto byte = static_cast<unsigned char>(text[position]);
    if (byte == '\n') {
      line = position + 1;
    } else if (is_space(text[position])) {
      word = position + 1;
    } else if (byte == ',' || byte == ';' || text.substr(position, 3) == "、") {
      const auto clause_end = position + (byte < 0x80 ? 1 : 3);
      if (clause_end <= limit) clause = clause_end;
    } else if (byte == '.' || byte == '!' || byte == '?' || byte == 0xE3 || byte == 0xEF) {
      const auto ending = ending_at(text.substr(0, limit + 1), position);
      if (ending.end != 0 && ending.end <= limit) sentence = ending.end;
      next = ending.next;
    }
  }
  for (const auto cut : {sentence, line, word, clause})
    if (cut > begin) return cut;
  return snap_to_character(text, begin, limit);
}

namespace {

constexpr std::size_t max_names = 5;
constexpr std::size_t max_list_bytes = 120;

std::size_t length_of(glue separator) noexcept { return separator == glue::none ? 0 : separator == glue::paragraph ? 2 : 1; }

void append_glue(std::string& out, glue separator) {
  if (separator == glue::space) out += ' ';
  if (separator == glue::line) out += '\n';
  if (separator == glue::paragraph) out += "\n\n";
}

/// Appends the text with CR LF and CR replaced by LF.
void append_text(std::string& out, std::string_view text) {
  for (std::size_t begin = 0; begin < text.size();) {
    const auto end = std::min(text.find('\r', begin), text.size());
    out.append(text.substr(begin, end - begin));
    if (end < text.size() && (end + 1 == text.size() || text[end + 1] != '\n')) out += '\n';
    begin = end + 1;
  }
}

chunking_options clamp_options(chunking_options options) noexcept {
  options.max_bytes = std::max<std::size_t>(options.max_bytes, 16);
  options.target_bytes = std::clamp<std::size_t>(options.target_bytes, 8, options.max_bytes);
  options.overlap = std::min(options.overlap, options.target_bytes / 2);
  return options;
}

std::size_t count_newlines(std::string_view text) noexcept {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

}  // namespace

std::shared_ptr<const std::string> header_of(std::string_view line, const chunking_options& options) {
  line = markup::trim(line);
  if (line.empty() || line.size() > options.max_bytes / 4) return nullptr;
  return std::make_shared<const std::string>(line);
}

packer::packer(const chunking_options& options, bool has_names) : options_(clamp_options(options)), has_names_(has_names) {}

std::size_t packer::cost_of(const unit& item, bool is_first) const noexcept {
  if (!is_first) return length_of(item.leading_glue) + item.text().size();
  return item.text().size() + (item.header == nullptr ? 0 : item.header->size() + 1);
}

std::size_t packer::new_unit_count() const noexcept {
  return static_cast<std::size_t>(
      std::count_if(units_.begin(), units_.end(), [](const unit& item) { return !item.is_overlap; }));
}

void packer::add(unit next) {
  if (is_full_ || next.text().empty()) return;
  const auto max_bytes = options_.max_bytes - (next.header == nullptr ? 0 : next.header->size() + 1);
  if (next.text().size() > max_bytes) return add_divided(next, std::min(options_.target_bytes, max_bytes));
  if (!units_.empty() && units_.back().page != next.page) flush();
  // If a large section follows a small one, the small section becomes its own passage, so that the large one has its own
  // heading.
  if (section_ > 0 && section_ < units_.size() && size_ + next.text().size() > 2 * small_section) {
    const bool has_body = std::any_of(units_.begin(), units_.begin() + static_cast<std::ptrdiff_t>(section_),
                                      [](const unit& item) { return !item.is_heading; });
    if (has_body) {
      emit(section_);
      drop_front(section_);
    }
    section_ = 0;
  }
  make_space(next, cost_of(next, units_.empty()));
  if (is_full_) return;
  size_ += cost_of(next, units_.empty());
  units_.push_back(std::move(next));
}

void packer::make_space(const unit& next, std::size_t bytes) {
  if (units_.empty() || size_ + bytes <= options_.target_bytes) return;
  if (size_ < options_.target_bytes / 3 && size_ + bytes <= options_.max_bytes) return;
  const bool has_only_headings = std::all_of(units_.begin(), units_.end(), [](const unit& item) { return item.is_heading; });
  if (has_only_headings && size_ + bytes <= options_.max_bytes) return;
  if (new_unit_count() > 0) {
    std::size_t best = units_.size();
    int best_rank = next.rank;
    std::size_t sum = 0;
    for (std::size_t i = 0; i < units_.size(); ++i) {
      if (i > 0 && sum >= options_.target_bytes / 2 && units_[i].rank < best_rank && !units_[i - 1].is_overlap &&
          !units_[i - 1].is_heading) {
        best = i;
        best_rank = units_[i].rank;
      }
      sum += cost_of(units_[i], i == 0);
    }
    // Headings at the end belong to the next passage.
    if (best == units_.size())
      while (best > 1 && units_[best - 1].is_heading && !units_[best - 2].is_overlap) --best;
    emit(best);
    if (is_full_) return;
    const bool has_more = best < units_.size();
    const auto& following = has_more ? units_[best] : next;
    const auto& last = units_[best - 1];
    const bool is_same = following.breadcrumbs == last.breadcrumbs && following.page == last.page && !following.is_row &&
                         !last.is_row && !following.is_heading && !last.is_heading;
    std::vector<unit> previous(std::make_move_iterator(units_.begin()),
                               std::make_move_iterator(units_.begin() + static_cast<std::ptrdiff_t>(best)));
    drop_front(best);
    if (is_same) overlap_with(previous);
  }
  // Drop repeated units to make space for new ones.
  while (!units_.empty() && size_ + cost_of(next, false) > options_.max_bytes && units_.front().is_overlap) drop_front(1);
  if (!units_.empty() && size_ + cost_of(next, false) > options_.max_bytes) {
    emit(units_.size());
    drop_front(units_.size());
  }
}

void packer::overlap_with(const std::vector<unit>& previous) {
  std::size_t space_left = options_.overlap;
  for (const auto& current : units_)
    space_left = std::min(space_left, options_.max_bytes - std::min(options_.max_bytes, cost_of(current, false) + size_));
  std::vector<unit> repeated;
  // Never repeat the first unit as a whole. Otherwise passages would not advance.
  for (auto i = previous.size(); i-- > 0 && !previous[i].is_heading && !previous[i].is_row;) {
    const auto& item = previous[i];
    const auto cost = item.text().size() + 2;
    if (i > 0 && cost <= space_left) {
      repeated.push_back(item);
      space_left -= cost;
      continue;
    }
    if (!repeated.empty() || !item.replacement.empty()) break;
    // Take the last sentences of a long unit.
    auto tail_begin = item.source.size();
    for (std::size_t start = 0; start < item.source.size();) {
      if (start > 0 && item.source.size() - start <= space_left) {
        tail_begin = start;
        break;
      }
      start = sentence_end(item.source, start, item.source.size());
      while (start < item.source.size() && ascii::is_space(item.source[start])) ++start;
    }
    if (tail_begin >= item.source.size()) break;
    unit tail = item;
    tail.begin += tail_begin;
    tail.first_line += count_newlines(item.source.substr(0, tail_begin));
    tail.source.remove_prefix(tail_begin);
    repeated.push_back(std::move(tail));
    break;
  }
  if (repeated.empty()) return;
  for (auto& item : repeated) item.is_overlap = true;
  std::reverse(repeated.begin(), repeated.end());
  units_.insert(units_.begin(), std::make_move_iterator(repeated.begin()), std::make_move_iterator(repeated.end()));
  drop_front(0);
}

/// Removes the first `count` units and recomputes the size.
void packer::drop_front(std::size_t count) {
  units_.erase(units_.begin(), units_.begin() + static_cast<std::ptrdiff_t>(count));
  section_ = section_ > count ? section_ - count : 0;
  size_ = 0;
  for (std::size_t i = 0; i < units_.size(); ++i) size_ += cost_of(units_[i], i == 0);
}

void packer::add_divided(const unit& oversized, std::size_t max_bytes) {
  const auto text = oversized.text();
  const bool is_source = oversized.replacement.empty();
  std::size_t line = oversized.first_line;
  std::size_t counted = 0;
  for (std::size_t position = 0; position < text.size() && !is_full_;) {
    const auto end = best_cut(text, position, max_bytes);
    auto part = text.substr(position, end - position);
    unit part_unit = oversized;
    while (!part.empty() && ascii::is_space(part.back())) part.remove_suffix(1);
    line += count_newlines(text.substr(counted, position - counted));
    counted = position;
    if (is_source) {
      part_unit.source = part;
      part_unit.begin = oversized.begin + position;
      part_unit.end = part_unit.begin + part.size();
      part_unit.first_line = line;
      part_unit.last_line = line + count_newlines(part);
    } else {
      part_unit.replacement = part;
    }
    if (position > 0) {
      part_unit.rank = ranks::part;
      part_unit.leading_glue = !ascii::is_space(text[position - 1]) ? glue::none
                               : text[position - 1] == '\n'         ? glue::line
                                                                    : glue::space;
    }
    position = end;
    if (!part.empty()) add(std::move(part_unit));
  }
}

void packer::add_sentences(std::string_view text, const unit& prototype) {
  std::size_t line = prototype.first_line;
  std::size_t counted = 0;
  bool is_first = true;
  for (std::size_t position = 0; position < text.size() && !is_full_;) {
    const auto end = sentence_end(text, position, options_.max_bytes);
    unit sentence = prototype;
    sentence.source = text.substr(position, end - position);
    line += count_newlines(text.substr(counted, position - counted));
    counted = position;
    sentence.begin = prototype.begin + position;
    sentence.end = prototype.begin + end;
    sentence.first_line = line;
    sentence.last_line = line + count_newlines(sentence.source);
    if (!is_first) {
      sentence.rank = ranks::sentence;
      sentence.leading_glue = !ascii::is_space(text[position - 1]) ? glue::none
                              : text[position - 1] == '\n'         ? glue::line
                                                                   : glue::space;
    }
    is_first = false;
    add(std::move(sentence));
    position = end;
    while (position < text.size() && ascii::is_space(text[position])) ++position;
  }
}

void packer::begin_section(std::size_t min_bytes) {
  if (size_ >= min_bytes || new_unit_count() == 0) return flush();
  section_ = units_.size();
}

void packer::flush() {
  if (new_unit_count() > 0) emit(units_.size());
  units_.clear();
  size_ = section_ = 0;
}

std::string packer::heading_of(std::size_t count) const {
  const path* common = nullptr;
  std::size_t depth = 0;
  bool has_body = std::any_of(units_.begin(), units_.begin() + static_cast<std::ptrdiff_t>(count),
                              [](const unit& item) { return !item.is_heading; });
  for (std::size_t i = 0; i < count; ++i) {
    const auto& item = units_[i];
    if (item.breadcrumbs == nullptr || (has_names_ && item.breadcrumbs->empty())) continue;
    if (item.is_heading && (has_body || i + 1 < count)) continue;
    if (common == nullptr) {
      common = item.breadcrumbs.get();
      depth = common->size();
      continue;
    }
    depth = std::min(depth, item.breadcrumbs->size());
    std::size_t matching = 0;
    while (matching < depth && (*common)[matching] == (*item.breadcrumbs)[matching]) ++matching;
    depth = matching;
  }
  std::string out;
  if (common == nullptr) return out;
  for (std::size_t level = 0; level < depth; ++level) out.append(level == 0 ? "" : " › ").append((*common)[level]);
  if (!has_names_) return out;
  std::vector<std::string_view> names;
  for (std::size_t unit_index = 0; unit_index < count && names.size() <= max_names; ++unit_index) {
    const auto& item = units_[unit_index];
    if (item.breadcrumbs == nullptr || item.breadcrumbs->size() <= depth) continue;
    const std::string_view name = (*item.breadcrumbs)[depth];
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  for (std::size_t name_index = 0; name_index < names.size(); ++name_index) {
    if (name_index == max_names || out.size() > max_list_bytes) return out.append(", …");
    out.append(name_index > 0 ? ", " : out.empty() ? "" : " › ").append(names[name_index]);
  }
  return out;
}

void packer::emit(std::size_t count) {
  if (chunked_.passages.size() >= options_.max_passages) {
    chunked_.is_complete = false;
    is_full_ = true;
    return;
  }
  passage emitted;
  emitted.heading = heading_of(count);
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < count; ++i) bytes += cost_of(units_[i], i == 0);
  emitted.text.reserve(bytes);
  if (units_.front().header != nullptr) emitted.text.append(*units_.front().header).append(1, '\n');
  for (std::size_t index = 0; index < count; ++index) {
    if (index > 0) append_glue(emitted.text, units_[index].leading_glue);
    append_text(emitted.text, units_[index].text());
  }
  emitted.first_line = units_.front().first_line;
  emitted.begin = units_.front().begin;
  emitted.page = units_.front().page;
  emitted.last_line = units_[count - 1].last_line;
  emitted.end = units_[count - 1].end;
  chunked_.passages.push_back(std::move(emitted));
}

chunked_text packer::finish(const std::string& title) {
  flush();
  for (auto& passage : chunked_.passages) passage.title = title;
  return std::move(chunked_);
}

}  // namespace hondana::chunking

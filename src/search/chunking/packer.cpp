/// Packs units greedily, and looks back for the best place to cut.
#include "search/chunking/packer.hpp"

#include <algorithm>
#include <utility>

#include "search/chunking/splitting.hpp"
#include "text/markup/lines.hpp"

namespace hondana::chunking {
namespace {

constexpr std::size_t most_names = 5;
constexpr std::size_t longest_list = 120;

std::size_t length_of(glue one) noexcept { return one == glue::none ? 0 : one == glue::paragraph ? 2 : 1; }

void append(std::string& out, glue one) {
  if (one == glue::space) out += ' ';
  if (one == glue::line) out += '\n';
  if (one == glue::paragraph) out += "\n\n";
}

/// Lines end in LF alone.
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
  // A small section with a large one behind it stays by itself, so that the large one has its own heading.
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
    // Headings at the end belong to what follows.
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
  // What is repeated gives way to what is new.
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
  // The first unit is not repeated as a whole: passages would not move on.
  for (auto at = before.size(); at-- > 0 && !before[at].is_heading && !before[at].is_row;) {
    const auto& one = before[at];
    const auto cost = one.text().size() + 2;
    if (at > 0 && cost <= room) {
      taken.push_back(one);
      room -= cost;
      continue;
    }
    if (!taken.empty() || !one.own.empty()) break;
    // The last sentences of a long unit.
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

/// And counts again what stays.
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

/// Masks secrets in configuration trees.
#include "text/located/masking.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/ascii/ascii.hpp"
#include "text/located/secret_keys.hpp"
#include "text/secrets/embedded_secrets.hpp"
#include "text/secrets/json_web_key.hpp"
#include "text/secrets/matcher.hpp"
#include "text/secrets/redactor.hpp"
#include "text/secrets/scanner.hpp"

namespace hondana::located {

/// Masks the bytes of `text` that `spans` (sorted, disjoint) cover in the source. `written`: the source of the value, with its
/// quotes; it begins at `begin`. Masks all of `text` if text and source differ in more than white space, quotes and the header
/// of a block. Keeps line endings if only a part is masked. Returns whether anything was masked.
bool mask_as_written(std::string& text, std::string_view written, std::size_t begin, std::span<const secrets::span> spans);

/// Appends the source ranges that correspond to asterisks in `masked`, line by line, without indentation. `text`: the value
/// before masking.
/// If text and source differ in more than the above, or `masked` has only asterisks, appends the whole value. Leaves out
/// quotes, the header of a block and backslashes at line ends, so that the source keeps its structure.
void append_places(std::string_view text, std::string_view masked, std::string_view written, std::size_t begin,
                   std::vector<secrets::span>& into);

/// Appends a source range line by line, without line endings and indentation.
void append_lines(std::string_view source, secrets::span at, std::vector<secrets::span>& into);

namespace {

constexpr auto nowhere = static_cast<std::size_t>(-1);

/// The index of the span that contains a position; `nowhere`: none.
std::size_t covering(std::span<const secrets::span> spans, std::size_t at) noexcept {
  const auto after = std::upper_bound(spans.begin(), spans.end(), at,
                                      [](std::size_t place, const secrets::span& one) { return place < one.begin; });
  if (after == spans.begin() || at >= std::prev(after)->end) return nowhere;
  return static_cast<std::size_t>(std::prev(after) - spans.begin());
}

/// The position in `written` of each byte of `text`; `nowhere` for white space. Comparison begins at `from` and ignores white
/// space. Empty if they differ.
std::vector<std::size_t> places_of(std::string_view text, std::string_view written, std::size_t from) {
  std::vector<std::size_t> found(text.size(), nowhere);
  auto at = from;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (ascii::is_json_space(text[i])) continue;
    while (at < written.size() && ascii::is_json_space(written[at])) ++at;
    if (at >= written.size() || written[at] != text[i]) return {};
    found[i] = at++;
  }
  return found;
}

/// Masks the bytes that spans cover, and white space between two covered bytes of the same span.
bool mask_covered(std::string& text, const std::vector<std::size_t>& places, std::size_t begin,
                  std::span<const secrets::span> spans) {
  auto before = nowhere;  // the span of the last byte
  std::size_t behind = 0;
  bool is_any = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (places[i] == nowhere) continue;
    const auto which = covering(spans, begin + places[i]);
    for (auto blank = behind; which != nowhere && which == before && blank < i; ++blank) {
      if (text[blank] != '\n' && text[blank] != '\r') text[blank] = '*';
    }
    if (which != nowhere) {
      text[i] = '*';
      is_any = true;
    }
    before = which;
    behind = i + 1;
  }
  return is_any;
}

/// Positions in the source where a value may begin: at once, after quotes, after the header of a block.
std::vector<std::size_t> beginnings(std::string_view written) {
  std::vector<std::size_t> all{0};
  if (written.empty()) return all;
  const char first = written.front();
  if (first == '"' || first == '\'' || first == '`') {
    all.push_back(1);
    if (written.substr(1).starts_with(std::string(2, first))) all.push_back(3);
  }
  if (first == '|' || first == '>') all.push_back(std::min(written.find('\n'), written.size()));
  return all;
}

}  // namespace

bool mask_as_written(std::string& text, std::string_view written, std::size_t begin, std::span<const secrets::span> spans) {
  const auto first =
      std::partition_point(spans.begin(), spans.end(), [begin](const secrets::span& one) { return one.end <= begin; });
  const auto last = std::partition_point(first, spans.end(),
                                         [end = begin + written.size()](const secrets::span& one) { return one.begin < end; });
  const std::span<const secrets::span> near(first, last);
  if (near.empty() || text.empty()) return false;
  for (const auto from : beginnings(written)) {
    const auto places = places_of(text, written, from);
    if (!places.empty()) return mask_covered(text, places, begin, near);
  }
  text.assign(text.size(), '*');
  return true;
}

void append_lines(std::string_view source, secrets::span at, std::vector<secrets::span>& into) {
  const auto stop = std::min(at.end, source.size());
  const auto is_end_of_line = [source](std::size_t i) { return source[i] == '\n' || source[i] == '\r'; };
  for (auto begin = at.begin; begin < stop;) {
    if (begin == 0 || is_end_of_line(begin - 1)) {
      while (begin < stop && (source[begin] == ' ' || source[begin] == '\t')) ++begin;
    }
    auto end = begin;
    while (end < stop && !is_end_of_line(end)) ++end;
    // Keep a backslash that continues the line.
    const bool goes_on = end < stop && end > begin && source[end - 1] == '\\';
    if (end - (goes_on ? 1 : 0) > begin) into.push_back({begin, end - (goes_on ? 1 : 0)});
    begin = end;
    while (begin < stop && is_end_of_line(begin)) ++begin;
  }
}

namespace {

/// The range of a value in its source, without quotes and without the header of a block.
secrets::span content_of(std::string_view written) noexcept {
  if (written.empty()) return {};
  const char first = written.front();
  if ((first == '|' || first == '>') && written.find('\n') != std::string_view::npos) {
    const auto header = written.substr(0, written.find('\n'));
    const auto mark = header.find_first_not_of("|>+-0123456789 \t\r");
    if (mark == std::string_view::npos || (header[mark] == '#' && header[mark - 1] == ' '))
      return {header.size(), written.size()};
  }
  if (first != '"' && first != '\'' && first != '`') return {0, written.size()};
  std::size_t count = 1;
  if (written.size() >= 6 && written.substr(1, 2) == std::string(2, first)) count = 3;
  const bool is_closed = written.size() >= 2 * count && written.ends_with(std::string(count, first));
  return {count, written.size() - (is_closed ? count : 0)};
}

}  // namespace

void append_places(std::string_view text, std::string_view masked, std::string_view written, std::size_t begin,
                   std::vector<secrets::span>& into) {
  std::vector<secrets::span> parts;
  const bool is_part = masked.size() == text.size() && masked.find_first_not_of("*\r\n") != std::string_view::npos;
  std::vector<std::size_t> places;
  for (const auto from : beginnings(written)) {
    if (is_part && places.empty()) places = places_of(text, written, from);
  }
  if (places.empty()) parts.push_back(content_of(written));
  for (std::size_t i = 0; i < places.size();) {
    std::optional<secrets::span> run;
    for (; i < places.size() && masked[i] == '*'; ++i) {
      if (places[i] == nowhere) continue;
      if (!run) run = secrets::span{places[i], 0};
      run->end = places[i] + 1;
    }
    if (run) parts.push_back(*run);
    if (!run) ++i;
  }
  std::vector<secrets::span> lines;
  for (const auto& one : parts) append_lines(written, one, lines);
  for (const auto& one : lines) into.push_back({begin + one.begin, begin + one.end});
}

namespace {

constexpr auto for_settings = secrets::policy::settings;

/// Keys that do not describe their value; the key above does.
constexpr std::array<std::string_view, 7> plain_keys{"value", "default", "data", "content", "current", "previous", "text"};

bool is_plain_key(std::string_view key) noexcept {
  return std::any_of(plain_keys.begin(), plain_keys.end(), [key](std::string_view one) { return ascii::is_same(key, one); });
}

/// Masks `text` as a line of its own, after `name: ` if there is a name. Returns whether anything changed.
bool mask_behind(std::string_view name, std::string& text) {
  std::string line(name);
  if (!name.empty()) line += ": ";
  const auto front = line.size();
  line += text;
  if (secrets::redactor(for_settings, {}).mask(line) == 0) return false;
  const auto masked = std::string_view(line).substr(front);
  if (masked == text) return false;
  // The name applies to all lines of its value.
  const bool goes_on = !name.empty() && text.find('\n') != std::string::npos;
  text = goes_on ? std::string(text.size(), '*') : std::string(masked);
  return true;
}

class tree_masker {
 public:
  tree_masker(std::string_view text, std::vector<secrets::span>& spans) : text_(text), spans_(spans) {
    secrets::redactor(for_settings, {}).find(text, spans_);
    found_in_text_ = spans_.size();
  }

  std::size_t mask(document& of) {
    walk(of.root, {});
    secrets::unite(spans_);
    // An alias may repeat a value that was masked because of its key.
    if (!hidden_.empty()) mask_again(of.root);
    keep_layout();
    for (auto& remark : of.remarks) remark = secrets::redact_text(remark);
    return count_;
  }

 private:
  /// The key of a value, the key above it, and the name that a sibling gives it.
  struct names {
    std::string_view key{};
    std::string_view above{};
    std::string_view neighbour{};
    bool is_secret = false;  ///< Always mask.
    sureness is_told = sureness::none;
  };

  [[nodiscard]] std::string_view written_at(const place& at) const noexcept {
    const auto begin = std::min(at.begin, text_.size());
    return text_.substr(begin, std::max(at.end, begin) - begin);
  }

  void walk(node& what, const names& below) {
    if (what.is == kind::text || what.is == kind::integer || what.is == kind::real) {
      mask_leaf(what, below);
    } else if (what.is == kind::list) {
      walk_list(what, below);
    } else if (what.is == kind::table) {
      walk_table(what, below);
    }
  }

  /// A list may be a command line, with one argument per item.
  void walk_list(node& what, const names& below) {
    const bool is_curl = std::any_of(what.items.begin(), what.items.end(), [](const node& one) {
      return one.is == kind::text && (one.text == "curl" || one.text.ends_with("/curl"));
    });
    bool is_behind_switch = false;
    bool is_behind_user = false;
    for (auto& item : what.items) {
      const bool is_argument = item.is == kind::text && !item.text.starts_with('-');
      auto next = below;
      if (is_behind_switch && is_argument) next.is_told = sureness::certain;
      const bool is_user = is_behind_user && is_argument;
      is_behind_switch = item.is == kind::text && secrets::is_telling_switch(item.text);
      is_behind_user = is_curl && item.is == kind::text && secrets::is_user_switch(item.text);
      if (is_user) {
        mask_password(item);
      } else {
        walk(item, next);
      }
    }
  }

  /// Masks the password in `user:password`.
  void mask_password(node& what) {
    const auto begin = secrets::behind_user(what.text);
    if (begin == std::string::npos) return;
    const auto before = what.text;
    std::fill(what.text.begin() + static_cast<std::ptrdiff_t>(begin), what.text.end(), '*');
    ++count_;
    note(before, what.text, what.at);
    hide_at(what);
  }

  void walk_table(node& what, const names& below) {
    const auto neighbour = named_by_neighbour(what);
    const bool is_kubernetes = is_kubernetes_secret(what);
    const auto* const web_key = what.find("kty");
    const std::string type = web_key != nullptr && web_key->is == kind::text ? web_key->text : "";
    // Before keys are masked, because the checks look up keys.
    const auto itself = nature_of(what);
    const auto walk_member = [&](member& one) {
      names next{one.key, below.key, {}, below.is_secret, told_to(one, itself, {below.key, below.is_told})};
      if (ascii::is_same(one.key, "value") && !neighbour.empty()) {
        next.neighbour = neighbour;
        const member named{neighbour, {}, {}};
        next.is_told = std::max(next.is_told, told_to(named, {}, {}));
      }
      if (is_kubernetes && (one.key == "data" || one.key == "stringData")) next.is_secret = true;
      if (!type.empty() && secrets::is_private_member(type, one.key)) next.is_secret = true;
      walk(one.value, next);
    };
    std::for_each(what.members.begin(), what.members.end(), walk_member);
    std::for_each(what.replaced.begin(), what.replaced.end(), walk_member);
    mask_keys(what);
  }

  /// The name in `{name: DB_PASSWORD, value: …}`.
  static std::string named_by_neighbour(const node& what) {
    for (const auto& one : what.members) {
      if (one.value.is == kind::text && (ascii::is_same(one.key, "name") || ascii::is_same(one.key, "key"))) {
        return one.value.text;
      }
    }
    return {};
  }

  static bool is_kubernetes_secret(const node& what) {
    const auto* named = what.find("kind");
    return named != nullptr && named->is == kind::text && named->text == "Secret" && what.find("apiVersion") != nullptr;
  }

  /// The tag before a value, without the characters that begin it in `text_`.
  [[nodiscard]] std::string_view tag_before(const place& at) const noexcept {
    constexpr std::size_t longest_tag = 64;
    auto end = std::min(at.begin, text_.size());
    const auto least = end - std::min(end, longest_tag);
    while (end > least && text_[end - 1] == ' ') --end;
    if (end == at.begin) return {};
    auto begin = end;
    while (begin > least && static_cast<unsigned char>(text_[begin - 1]) > ' ') --begin;
    return text_.substr(begin, end - begin);
  }

  void mask_leaf(node& what, const names& below) {
    const std::span<const secrets::span> in_text(spans_.data(), found_in_text_);
    const auto before = what.text;
    const bool is_told = is_secret_by_key(what, below.neighbour.empty() ? below.key : below.neighbour, below.is_told);
    const bool is_reference = secrets::is_tagged_reference(tag_before(what.at), before) ||
                              (below.is_told != sureness::inherited && names_secret(below.key, before));
    const bool is_whole = !before.empty() && (below.is_secret || (is_told && !is_reference));
    bool is_masked = mask_as_written(what.text, written_at(what.at), what.at.begin, in_text);
    const auto by_text = what.text;
    if (is_whole) {
      what.text.assign(what.text.size(), '*');
      is_masked = true;
    }
    is_masked = mask_behind({}, what.text) || is_masked;
    if (!below.key.empty() && !is_reference) is_masked = mask_behind(below.key, what.text) || is_masked;
    if (!below.neighbour.empty()) is_masked = mask_behind(below.neighbour, what.text) || is_masked;
    if (!below.above.empty() && is_plain_key(below.key)) is_masked = mask_behind(below.above, what.text) || is_masked;
    if (!is_whole) is_masked = mask_inner(what.text, before, below.key) || is_masked;
    if (!is_masked) return;
    what.is = kind::text;
    ++count_;
    if (what.text == by_text) return;
    note(before, what.text, what.at);
    hide_at(what);
  }

  /// Masks secrets in command lines, connection strings and assignments. In values of environments, masks the whole assigned
  /// value.
  static bool mask_inner(std::string& text, const std::string& before, std::string_view key) {
    if (text.size() != before.size()) return false;
    std::vector<secrets::span> found;
    secrets::find_inner(before, found, secrets::inner::setting);
    if (key == "environment" || key == "env") find_assigned(before, 0, before.size(), found);
    if (key == "Environment") {
      for (auto open = before.find('"'); open != std::string::npos;) {
        const auto close = std::min(before.find('"', open + 1), before.size());
        find_assigned(before, open + 1, close, found);
        open = close < before.size() ? before.find('"', close + 1) : std::string::npos;
      }
    }
    bool is_any = false;
    for (const auto& one : found) {
      for (auto at = one.begin; at < one.end; ++at) {
        if (text[at] == '*' || text[at] == '\n' || text[at] == '\r') continue;
        text[at] = '*';
        is_any = true;
      }
    }
    return is_any;
  }

  /// Finds the value of `NAME=value`, if the name says that it is secret.
  static void find_assigned(const std::string& text, std::size_t begin, std::size_t end, std::vector<secrets::span>& into) {
    const auto equals = text.find('=', begin);
    if (equals == std::string::npos || equals + 1 >= end) return;
    const member named{text.substr(begin, equals - begin), {}, {}};
    node value;
    value.is = kind::text;
    value.text = text.substr(equals + 1, end - equals - 1);
    if (is_secret_by_key(value, named.key, told_to(named, {}, {}))) into.push_back({equals + 1, end});
  }

  void mask_keys(node& table) {
    bool is_any = false;
    for (auto& one : table.members) {
      const std::span<const secrets::span> in_text(spans_.data(), found_in_text_);
      bool is_masked = mask_as_written(one.key, written_at(one.key_at), one.key_at.begin, in_text);
      const auto by_text = one.key;
      is_masked = mask_behind({}, one.key) || is_masked;
      if (!is_masked) continue;
      is_any = true;
      ++count_;
      if (one.key != by_text) note(by_text, one.key, one.key_at);
    }
    if (is_any) keep_apart(table);
  }

  /// Appends numbers to keys that masking made equal.
  static void keep_apart(node& table) {
    std::unordered_set<std::string> known;
    std::size_t number = 1;
    for (auto& one : table.members) {
      auto key = one.key;
      while (!known.insert(key).second) key = one.key + '#' + std::to_string(++number);
      one.key = std::move(key);
    }
  }

  /// Adds the source range of a part that was masked in the tree.
  void note(std::string_view before, std::string_view masked, const place& at) {
    if (at.begin < at.end && at.begin < text_.size()) append_places(before, masked, written_at(at), at.begin, spans_);
  }

  /// Remembers a masked text for other values at the same position.
  void hide_at(const node& what) {
    if (what.at.begin >= what.at.end) return;
    auto& hidden = hidden_[what.at.begin];
    if (hidden.size() != what.text.size()) {
      hidden = what.text;
    } else {
      add_asterisks(hidden, what.text);
    }
  }

  static bool add_asterisks(std::string& to, std::string_view from) {
    bool is_any = false;
    for (std::size_t i = 0; i < std::min(to.size(), from.size()); ++i) {
      is_any = is_any || (from[i] == '*' && to[i] != '*');
      if (from[i] == '*') to[i] = '*';
    }
    return is_any;
  }

  /// Splits spans at lines, so that indentation stays.
  void keep_layout() {
    std::vector<secrets::span> lines;
    lines.reserve(spans_.size());
    for (const auto& one : spans_) append_lines(text_, one, lines);
    spans_ = std::move(lines);
  }

  void mask_again(node& what) {
    const bool is_leaf = what.is == kind::text || what.is == kind::integer || what.is == kind::real;
    const auto hidden = is_leaf ? hidden_.find(what.at.begin) : hidden_.end();
    if (hidden != hidden_.end() && add_asterisks(what.text, hidden->second)) {
      what.is = kind::text;
      ++count_;
    }
    for (auto& item : what.items) mask_again(item);
    for (auto& one : what.members) mask_again(one.value);
  }

  std::string_view text_;
  std::vector<secrets::span>& spans_;  // those found in the text first, then those of the tree
  std::size_t found_in_text_ = 0;
  std::size_t count_ = 0;
  std::unordered_map<std::size_t, std::string> hidden_;  // texts masked because of their keys, by position
};

}  // namespace

std::size_t mask_secrets(document& of, std::string_view text, std::vector<secrets::span>& in_text) {
  in_text.clear();
  return tree_masker(text, in_text).mask(of);
}

std::size_t mask_secrets(document& of, std::string_view text) {
  std::vector<secrets::span> in_text;
  return mask_secrets(of, text, in_text);
}

}  // namespace hondana::located

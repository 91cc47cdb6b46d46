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

/// Masks the bytes of `text` that `spans` (sorted, disjoint) cover in the source. `raw`: the source of the value, with its
/// quotes; it begins at `begin`. Masks all of `text` if text and source differ in more than white space, quotes and the header
/// of a block. Keeps line endings if only a part is masked. Returns whether anything was masked.
bool mask_from_source(std::string& text, std::string_view raw, std::size_t begin, std::span<const secrets::span> spans);

/// Appends the source ranges that correspond to asterisks in `masked`, line by line, without indentation. `text`: the value
/// before masking.
/// If text and source differ in more than the above, or `masked` has only asterisks, appends the whole value. Leaves out
/// quotes, the header of a block and backslashes at line ends, so that the source keeps its structure.
void append_source_spans(std::string_view text, std::string_view masked, std::string_view raw, std::size_t begin,
                         std::vector<secrets::span>& out);

/// Appends a source range line by line, without line endings and indentation.
void append_line_spans(std::string_view source, secrets::span span, std::vector<secrets::span>& out);

namespace {

constexpr auto no_position = static_cast<std::size_t>(-1);

/// The index of the span that contains a position; `no_position`: none.
std::size_t find_covering_span(std::span<const secrets::span> spans, std::size_t position) noexcept {
  const auto next = std::upper_bound(spans.begin(), spans.end(), position,
                                     [](std::size_t value, const secrets::span& span) { return value < span.begin; });
  if (next == spans.begin() || position >= std::prev(next)->end) return no_position;
  return static_cast<std::size_t>(std::prev(next) - spans.begin());
}

/// The position in `raw` of each byte of `text`; `no_position` for white space. Comparison begins at `begin` and ignores white
/// space. Empty if they differ.
std::vector<std::size_t> map_positions(std::string_view text, std::string_view raw, std::size_t begin) {
  std::vector<std::size_t> positions(text.size(), no_position);
  auto position = begin;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (ascii::is_json_space(text[i])) continue;
    while (position < raw.size() && ascii::is_json_space(raw[position])) ++position;
    if (position >= raw.size() || raw[position] != text[i]) return {};
    positions[i] = position++;
  }
  return positions;
}

/// Masks the bytes that spans cover, and white space between two covered bytes of the same span.
bool mask_covered(std::string& text, const std::vector<std::size_t>& positions, std::size_t begin,
                  std::span<const secrets::span> spans) {
  auto previous_span = no_position;  // the span of the last byte
  std::size_t blank_begin = 0;
  bool is_masked = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (positions[i] == no_position) continue;
    const auto current_span = find_covering_span(spans, begin + positions[i]);
    for (auto blank = blank_begin; current_span != no_position && current_span == previous_span && blank < i; ++blank) {
      if (text[blank] != '\n' && text[blank] != '\r') text[blank] = '*';
    }
    if (current_span != no_position) {
      text[i] = '*';
      is_masked = true;
    }
    previous_span = current_span;
    blank_begin = i + 1;
  }
  return is_masked;
}

/// Positions in the source where a value may begin: at once, after quotes, after the header of a block.
std::vector<std::size_t> possible_begins(std::string_view raw) {
  std::vector<std::size_t> begins{0};
  if (raw.empty()) return begins;
  const char first = raw.front();
  if (first == '"' || first == '\'' || first == '`') {
    begins.push_back(1);
    if (raw.substr(1).starts_with(std::string(2, first))) begins.push_back(3);
  }
  if (first == '|' || first == '>') begins.push_back(std::min(raw.find('\n'), raw.size()));
  return begins;
}

}  // namespace

bool mask_from_source(std::string& text, std::string_view raw, std::size_t begin, std::span<const secrets::span> spans) {
  const auto first =
      std::partition_point(spans.begin(), spans.end(), [begin](const secrets::span& span) { return span.end <= begin; });
  const auto last = std::partition_point(first, spans.end(),
                                         [end = begin + raw.size()](const secrets::span& span) { return span.begin < end; });
  const std::span<const secrets::span> nearby(first, last);
  if (nearby.empty() || text.empty()) return false;
  for (const auto content_begin : possible_begins(raw)) {
    const auto positions = map_positions(text, raw, content_begin);
    if (!positions.empty()) return mask_covered(text, positions, begin, nearby);
  }
  text.assign(text.size(), '*');
  return true;
}

void append_line_spans(std::string_view source, secrets::span span, std::vector<secrets::span>& out) {
  const auto limit = std::min(span.end, source.size());
  const auto is_end_of_line = [source](std::size_t i) { return source[i] == '\n' || source[i] == '\r'; };
  for (auto begin = span.begin; begin < limit;) {
    if (begin == 0 || is_end_of_line(begin - 1)) {
      while (begin < limit && (source[begin] == ' ' || source[begin] == '\t')) ++begin;
    }
    auto end = begin;
    while (end < limit && !is_end_of_line(end)) ++end;
    // Keep a backslash that continues the line.
    const bool is_continued = end < limit && end > begin && source[end - 1] == '\\';
    if (end - (is_continued ? 1 : 0) > begin) out.push_back({begin, end - (is_continued ? 1 : 0)});
    begin = end;
    while (begin < limit && is_end_of_line(begin)) ++begin;
  }
}

namespace {

/// The range of a value in its source, without quotes and without the header of a block.
secrets::span content_span(std::string_view raw) noexcept {
  if (raw.empty()) return {};
  const char first = raw.front();
  if ((first == '|' || first == '>') && raw.find('\n') != std::string_view::npos) {
    const auto header = raw.substr(0, raw.find('\n'));
    const auto mark = header.find_first_not_of("|>+-0123456789 \t\r");
    if (mark == std::string_view::npos || (header[mark] == '#' && header[mark - 1] == ' ')) return {header.size(), raw.size()};
  }
  if (first != '"' && first != '\'' && first != '`') return {0, raw.size()};
  std::size_t count = 1;
  if (raw.size() >= 6 && raw.substr(1, 2) == std::string(2, first)) count = 3;
  const bool is_closed = raw.size() >= 2 * count && raw.ends_with(std::string(count, first));
  return {count, raw.size() - (is_closed ? count : 0)};
}

}  // namespace

void append_source_spans(std::string_view text, std::string_view masked, std::string_view raw, std::size_t begin,
                         std::vector<secrets::span>& out) {
  std::vector<secrets::span> parts;
  const bool is_partial = masked.size() == text.size() && masked.find_first_not_of("*\r\n") != std::string_view::npos;
  std::vector<std::size_t> positions;
  for (const auto content_begin : possible_begins(raw)) {
    if (is_partial && positions.empty()) positions = map_positions(text, raw, content_begin);
  }
  if (positions.empty()) parts.push_back(content_span(raw));
  for (std::size_t i = 0; i < positions.size();) {
    std::optional<secrets::span> run;
    for (; i < positions.size() && masked[i] == '*'; ++i) {
      if (positions[i] == no_position) continue;
      if (!run) run = secrets::span{positions[i], 0};
      run->end = positions[i] + 1;
    }
    if (run) parts.push_back(*run);
    if (!run) ++i;
  }
  std::vector<secrets::span> lines;
  for (const auto& part : parts) append_line_spans(raw, part, lines);
  for (const auto& line : lines) out.push_back({begin + line.begin, begin + line.end});
}

namespace {

constexpr auto settings_policy = secrets::masking_policy::settings;

/// Keys that do not describe their value; the key above does.
constexpr std::array<std::string_view, 7> generic_keys{"value", "default", "data", "content", "current", "previous", "text"};

bool is_generic_key(std::string_view key) noexcept {
  return std::any_of(generic_keys.begin(), generic_keys.end(),
                     [key](std::string_view candidate) { return ascii::equals_ignore_case(key, candidate); });
}

/// Masks `text` as a line of its own, after `name: ` if there is a name. Returns whether anything changed.
bool mask_after_name(std::string_view name, std::string& text) {
  std::string line(name);
  if (!name.empty()) line += ": ";
  const auto prefix_bytes = line.size();
  line += text;
  if (secrets::redactor(settings_policy, {}).mask(line) == 0) return false;
  const auto masked = std::string_view(line).substr(prefix_bytes);
  if (masked == text) return false;
  // The name applies to all lines of its value.
  const bool is_multiline = !name.empty() && text.find('\n') != std::string::npos;
  text = is_multiline ? std::string(text.size(), '*') : std::string(masked);
  return true;
}

class tree_masker {
 public:
  tree_masker(std::string_view text, std::vector<secrets::span>& spans) : text_(text), spans_(spans) {
    secrets::redactor(settings_policy, {}).find(text, spans_);
    source_span_count_ = spans_.size();
  }

  std::size_t mask(document& document) {
    walk(document.root, {});
    secrets::merge_spans(spans_);
    // An alias may repeat a value that was masked because of its key.
    if (!masked_texts_.empty()) mask_again(document.root);
    split_spans_at_lines();
    for (auto& warning : document.warnings) warning = secrets::redact_text(warning);
    return count_;
  }

 private:
  /// The key of a value, the key above it, and the name that a sibling gives it.
  struct key_context {
    std::string_view key{};
    std::string_view parent_key{};
    std::string_view sibling_name{};
    bool is_secret = false;  ///< Always mask.
    secret_confidence confidence = secret_confidence::none;
  };

  [[nodiscard]] std::string_view raw_text(const source_range& range) const noexcept {
    const auto begin = std::min(range.begin, text_.size());
    return text_.substr(begin, std::max(range.end, begin) - begin);
  }

  void walk(node& tree, const key_context& context) {
    if (tree.kind == node_kind::text || tree.kind == node_kind::integer || tree.kind == node_kind::real) {
      mask_leaf(tree, context);
    } else if (tree.kind == node_kind::list) {
      walk_list(tree, context);
    } else if (tree.kind == node_kind::table) {
      walk_table(tree, context);
    }
  }

  /// A list may be a command line, with one argument per item.
  void walk_list(node& list, const key_context& context) {
    const bool is_curl = std::any_of(list.items.begin(), list.items.end(), [](const node& item) {
      return item.kind == node_kind::text && (item.text == "curl" || item.text.ends_with("/curl"));
    });
    bool is_after_switch = false;
    bool is_after_user_switch = false;
    for (auto& item : list.items) {
      const bool is_argument = item.kind == node_kind::text && !item.text.starts_with('-');
      auto item_context = context;
      if (is_after_switch && is_argument) item_context.confidence = secret_confidence::certain;
      const bool is_user = is_after_user_switch && is_argument;
      is_after_switch = item.kind == node_kind::text && secrets::is_sensitive_switch(item.text);
      is_after_user_switch = is_curl && item.kind == node_kind::text && secrets::is_user_switch(item.text);
      if (is_user) {
        mask_password(item);
      } else {
        walk(item, item_context);
      }
    }
  }

  /// Masks the password in `user:password`.
  void mask_password(node& leaf) {
    const auto begin = secrets::find_curl_password(leaf.text);
    if (begin == std::string::npos) return;
    const auto original = leaf.text;
    std::fill(leaf.text.begin() + static_cast<std::ptrdiff_t>(begin), leaf.text.end(), '*');
    ++count_;
    record_span(original, leaf.text, leaf.range);
    remember_masked(leaf);
  }

  void walk_table(node& table, const key_context& context) {
    const auto sibling_name = find_sibling_name(table);
    const bool is_kubernetes = is_kubernetes_secret(table);
    const auto* const web_key = table.find("kty");
    const std::string type = web_key != nullptr && web_key->kind == node_kind::text ? web_key->text : "";
    // Before keys are masked, because the checks look up keys.
    const auto traits = traits_of(table);
    const auto walk_member = [&](member& entry) {
      key_context entry_context{
          entry.key, context.key, {}, context.is_secret, assess_member(entry, traits, {context.key, context.confidence})};
      if (ascii::equals_ignore_case(entry.key, "value") && !sibling_name.empty()) {
        entry_context.sibling_name = sibling_name;
        const member sibling{sibling_name, {}, {}};
        entry_context.confidence = std::max(entry_context.confidence, assess_member(sibling, {}, {}));
      }
      if (is_kubernetes && (entry.key == "data" || entry.key == "stringData")) entry_context.is_secret = true;
      if (!type.empty() && secrets::is_private_member(type, entry.key)) entry_context.is_secret = true;
      walk(entry.value, entry_context);
    };
    std::for_each(table.members.begin(), table.members.end(), walk_member);
    std::for_each(table.replaced.begin(), table.replaced.end(), walk_member);
    mask_keys(table);
  }

  /// The name in `{name: DB_PASSWORD, value: …}`.
  static std::string find_sibling_name(const node& table) {
    for (const auto& entry : table.members) {
      if (entry.value.kind == node_kind::text &&
          (ascii::equals_ignore_case(entry.key, "name") || ascii::equals_ignore_case(entry.key, "key"))) {
        return entry.value.text;
      }
    }
    return {};
  }

  static bool is_kubernetes_secret(const node& table) {
    const auto* type = table.find("kind");
    return type != nullptr && type->kind == node_kind::text && type->text == "Secret" && table.find("apiVersion") != nullptr;
  }

  /// The tag before a value, without the characters that begin it in `text_`.
  [[nodiscard]] std::string_view tag_before(const source_range& range) const noexcept {
    constexpr std::size_t max_tag_bytes = 64;
    auto end = std::min(range.begin, text_.size());
    const auto min_begin = end - std::min(end, max_tag_bytes);
    while (end > min_begin && text_[end - 1] == ' ') --end;
    if (end == range.begin) return {};
    auto begin = end;
    while (begin > min_begin && static_cast<unsigned char>(text_[begin - 1]) > ' ') --begin;
    return text_.substr(begin, end - begin);
  }

  void mask_leaf(node& leaf, const key_context& context) {
    const std::span<const secrets::span> source_spans(spans_.data(), source_span_count_);
    const auto original = leaf.text;
    const bool has_secret_key =
        is_secret_by_key(leaf, context.sibling_name.empty() ? context.key : context.sibling_name, context.confidence);
    const bool is_reference = secrets::is_tagged_reference(tag_before(leaf.range), original) ||
                              (context.confidence != secret_confidence::inherited && names_secret(context.key, original));
    const bool masks_whole = !original.empty() && (context.is_secret || (has_secret_key && !is_reference));
    bool is_masked = mask_from_source(leaf.text, raw_text(leaf.range), leaf.range.begin, source_spans);
    const auto masked_by_source = leaf.text;
    if (masks_whole) {
      leaf.text.assign(leaf.text.size(), '*');
      is_masked = true;
    }
    is_masked = mask_after_name({}, leaf.text) || is_masked;
    if (!context.key.empty() && !is_reference) is_masked = mask_after_name(context.key, leaf.text) || is_masked;
    if (!context.sibling_name.empty()) is_masked = mask_after_name(context.sibling_name, leaf.text) || is_masked;
    if (!context.parent_key.empty() && is_generic_key(context.key))
      is_masked = mask_after_name(context.parent_key, leaf.text) || is_masked;
    if (!masks_whole) is_masked = mask_inner(leaf.text, original, context.key) || is_masked;
    if (!is_masked) return;
    leaf.kind = node_kind::text;
    ++count_;
    if (leaf.text == masked_by_source) return;
    record_span(original, leaf.text, leaf.range);
    remember_masked(leaf);
  }

  /// Masks secrets in command lines, connection strings and assignments. In values of environments, masks the whole assigned
  /// value.
  static bool mask_inner(std::string& text, const std::string& original, std::string_view key) {
    if (text.size() != original.size()) return false;
    std::vector<secrets::span> spans;
    secrets::find_embedded(original, spans, secrets::value_kind::setting);
    if (key == "environment" || key == "env") find_assigned(original, 0, original.size(), spans);
    if (key == "Environment") {
      for (auto open = original.find('"'); open != std::string::npos;) {
        const auto close = std::min(original.find('"', open + 1), original.size());
        find_assigned(original, open + 1, close, spans);
        open = close < original.size() ? original.find('"', close + 1) : std::string::npos;
      }
    }
    bool is_masked = false;
    for (const auto& span : spans) {
      for (auto position = span.begin; position < span.end; ++position) {
        if (text[position] == '*' || text[position] == '\n' || text[position] == '\r') continue;
        text[position] = '*';
        is_masked = true;
      }
    }
    return is_masked;
  }

  /// Finds the value of `NAME=value`, if the name says that it is secret.
  static void find_assigned(const std::string& text, std::size_t begin, std::size_t end, std::vector<secrets::span>& out) {
    const auto equals = text.find('=', begin);
    if (equals == std::string::npos || equals + 1 >= end) return;
    const member entry{text.substr(begin, equals - begin), {}, {}};
    node value;
    value.kind = node_kind::text;
    value.text = text.substr(equals + 1, end - equals - 1);
    if (is_secret_by_key(value, entry.key, assess_member(entry, {}, {}))) out.push_back({equals + 1, end});
  }

  void mask_keys(node& table) {
    bool is_changed = false;
    for (auto& entry : table.members) {
      const std::span<const secrets::span> source_spans(spans_.data(), source_span_count_);
      bool is_masked = mask_from_source(entry.key, raw_text(entry.key_range), entry.key_range.begin, source_spans);
      const auto masked_by_source = entry.key;
      is_masked = mask_after_name({}, entry.key) || is_masked;
      if (!is_masked) continue;
      is_changed = true;
      ++count_;
      if (entry.key != masked_by_source) record_span(masked_by_source, entry.key, entry.key_range);
    }
    if (is_changed) make_keys_unique(table);
  }

  /// Appends numbers to keys that masking made equal.
  static void make_keys_unique(node& table) {
    std::unordered_set<std::string> seen;
    std::size_t number = 1;
    for (auto& entry : table.members) {
      auto key = entry.key;
      while (!seen.insert(key).second) key = entry.key + '#' + std::to_string(++number);
      entry.key = std::move(key);
    }
  }

  /// Adds the source range of a part that was masked in the tree.
  void record_span(std::string_view original, std::string_view masked, const source_range& range) {
    if (range.begin < range.end && range.begin < text_.size())
      append_source_spans(original, masked, raw_text(range), range.begin, spans_);
  }

  /// Remembers a masked text for other values at the same position.
  void remember_masked(const node& leaf) {
    if (leaf.range.begin >= leaf.range.end) return;
    auto& masked = masked_texts_[leaf.range.begin];
    if (masked.size() != leaf.text.size()) {
      masked = leaf.text;
    } else {
      add_asterisks(masked, leaf.text);
    }
  }

  static bool add_asterisks(std::string& target, std::string_view mask) {
    bool is_changed = false;
    for (std::size_t i = 0; i < std::min(target.size(), mask.size()); ++i) {
      is_changed = is_changed || (mask[i] == '*' && target[i] != '*');
      if (mask[i] == '*') target[i] = '*';
    }
    return is_changed;
  }

  /// Splits spans at lines, so that indentation stays.
  void split_spans_at_lines() {
    std::vector<secrets::span> lines;
    lines.reserve(spans_.size());
    for (const auto& span : spans_) append_line_spans(text_, span, lines);
    spans_ = std::move(lines);
  }

  void mask_again(node& tree) {
    const bool is_leaf = tree.kind == node_kind::text || tree.kind == node_kind::integer || tree.kind == node_kind::real;
    const auto masked = is_leaf ? masked_texts_.find(tree.range.begin) : masked_texts_.end();
    if (masked != masked_texts_.end() && add_asterisks(tree.text, masked->second)) {
      tree.kind = node_kind::text;
      ++count_;
    }
    for (auto& item : tree.items) mask_again(item);
    for (auto& entry : tree.members) mask_again(entry.value);
  }

  std::string_view text_;
  std::vector<secrets::span>& spans_;  // those found in the text first, then those of the tree
  std::size_t source_span_count_ = 0;
  std::size_t count_ = 0;
  std::unordered_map<std::size_t, std::string> masked_texts_;  // texts masked because of their keys, by position
};

}  // namespace

std::size_t mask_secrets(document& document, std::string_view text, std::vector<secrets::span>& source_spans) {
  source_spans.clear();
  return tree_masker(text, source_spans).mask(document);
}

std::size_t mask_secrets(document& document, std::string_view text) {
  std::vector<secrets::span> source_spans;
  return mask_secrets(document, text, source_spans);
}

}  // namespace hondana::located

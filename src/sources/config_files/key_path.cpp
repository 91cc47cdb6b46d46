/// Keys within configuration as users write them, such as server.tls.port.
#include "sources/config_files/key_path.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/ascii/ascii.hpp"

namespace hondana::config_files {
namespace {

constexpr std::size_t max_compared_bytes = 64;
constexpr std::size_t max_compared_names = 1000;
constexpr std::size_t max_suggestions = 5;
constexpr std::size_t max_parts = 256;

tl::unexpected<failure> invalid_key_error(std::size_t offset, std::string_view reason) {
  return fail(errc::invalid_argument,
              "The key is invalid at byte " + std::to_string(offset + 1) + ": " + std::string(reason) +
                  ". Separate names by dots, such as server.port, and write names that contain dots as [\"app.name\"].");
}

/// Parses one key from left to right.
class key_parser {
 public:
  explicit key_parser(std::string_view text) noexcept : text_(text) {}

  result<key_path> parse() {
    key_path parts;
    while (position_ < text_.size()) {
      if (text_[position_] == '[') {
        ++position_;
        HONDANA_TRY(auto part, parse_bracket());
        parts.push_back(std::move(part));
      } else {
        if (!parts.empty()) ++position_;  // the dot
        auto name = parse_plain();
        if (name.empty()) return invalid_key_error(position_, "a name is missing");
        parts.push_back({std::move(name), false});
      }
      if (parts.size() > max_parts) return invalid_key_error(position_, "it has more than 256 names");
      if (position_ < text_.size() && text_[position_] != '.' && text_[position_] != '[')
        return invalid_key_error(position_, "a dot is missing");
      if (position_ + 1 == text_.size() && text_[position_] == '.')
        return invalid_key_error(position_ + 1, "a name is missing");
      if (position_ + 1 < text_.size() && text_[position_] == '.' && text_[position_ + 1] == '[')
        return invalid_key_error(position_ + 1, "a name is missing");
    }
    return parts;
  }

 private:
  std::string parse_plain() {
    std::string name;
    while (position_ < text_.size() && text_[position_] != '.' && text_[position_] != '[') {
      if (text_[position_] == '\\' && position_ + 1 < text_.size()) ++position_;
      name += text_[position_++];
    }
    return name;
  }

  result<key_part> parse_bracket() {
    key_part part{{}, true};
    if (position_ < text_.size() && text_[position_] == '"') {
      ++position_;
      while (position_ < text_.size() && text_[position_] != '"') {
        if (text_[position_] == '\\' && position_ + 1 < text_.size()) ++position_;
        part.name += text_[position_++];
      }
      if (position_ == text_.size()) return invalid_key_error(position_, "a double quote is not closed");
      ++position_;
    } else {
      while (position_ < text_.size() && text_[position_] >= '0' && text_[position_] <= '9') part.name += text_[position_++];
      if (part.name.empty()) return invalid_key_error(position_, "brackets must contain a number or a name in double quotes");
    }
    if (position_ == text_.size() || text_[position_] != ']') return invalid_key_error(position_, "a bracket is not closed");
    ++position_;
    return part;
  }

  std::string_view text_;
  std::size_t position_ = 0;
};

bool needs_brackets(std::string_view name) noexcept {
  return name.empty() || name.find_first_of(".[]\"\\") != std::string_view::npos;
}

/// The edit distance of two names, ignoring case.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t i = 0; i <= b.size(); ++i) row[i] = i;
  for (std::size_t i = 0; i < a.size(); ++i) {
    auto corner = std::exchange(row[0], i + 1);
    for (std::size_t k = 0; k < b.size(); ++k) {
      const auto cost = corner + (ascii::to_lower(a[i]) == ascii::to_lower(b[k]) ? 0 : 1);
      corner = std::exchange(row[k + 1], std::min({cost, row[k] + 1, row[k + 1] + 1}));
    }
  }
  return row[b.size()];
}

}  // namespace

result<key_path> parse_key(std::string_view text) { return key_parser(text).parse(); }

void append_part(std::string& key, std::string_view name) {
  if (!needs_brackets(name)) {
    if (!key.empty()) key += '.';
    key += name;
    return;
  }
  key += "[\"";
  for (const char c : name) {
    if (c == '"' || c == '\\') key += '\\';
    key += c;
  }
  key += "\"]";
}

void append_part(std::string& key, std::size_t index) { append_part(key, std::to_string(index)); }

std::size_t parse_index(std::string_view part, std::size_t count) noexcept {
  std::size_t index = count;
  const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), index);
  return error == std::errc() && end == part.data() + part.size() ? std::min(index, count) : count;
}

key_match find_key(const located::node& root, const key_path& path, std::size_t first_part, std::string key) {
  key_match match{&root, std::move(key), first_part};
  while (match.matched_parts < path.size()) {
    if (match.node->kind == located::node_kind::list) {
      const auto index = parse_index(path[match.matched_parts].name, match.node->items.size());
      if (index == match.node->items.size()) return match;
      append_part(match.key, index);
      match.node = &match.node->items[index];
      ++match.matched_parts;
      continue;
    }
    const auto& members = match.node->members;
    const auto* member = follow_part(path, match.matched_parts, [&members](std::string_view name) {
      const auto position =
          std::find_if(members.begin(), members.end(), [name](const auto& candidate) { return candidate.key == name; });
      return position == members.end() ? nullptr : &*position;
    });
    if (member == nullptr) return match;
    append_part(match.key, member->key);
    match.node = &member->value;
  }
  return match;
}

std::vector<std::string> list_names(const located::node& node, std::size_t max_names) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < std::min(node.items.size(), max_names); ++i) names.push_back(std::to_string(i));
  for (std::size_t i = 0; i < std::min(node.members.size(), max_names); ++i) names.push_back(node.members[i].key);
  return names;
}

std::vector<std::string> find_similar_names(std::string_view name, std::vector<std::string> names) {
  if (names.size() > max_compared_names) names.resize(max_compared_names);
  name = name.substr(0, max_compared_bytes);
  std::vector<std::pair<std::size_t, std::size_t>> ranked;  // distance and index
  ranked.reserve(names.size());
  for (std::size_t i = 0; i < names.size(); ++i) {
    ranked.emplace_back(edit_distance(name, std::string_view(names[i]).substr(0, max_compared_bytes)), i);
  }
  std::sort(ranked.begin(), ranked.end());
  std::vector<std::string> similar;
  for (const auto& [distance, index] : ranked) {
    if (similar.size() == max_suggestions) break;
    similar.push_back(std::move(names[index]));
  }
  return similar;
}

}  // namespace hondana::config_files

/// Keys within configuration as users write them, such as server.tls.port.
#include "sources/config_files/key_path.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/ascii/ascii.hpp"

namespace hondana::config_files {
namespace {

constexpr std::size_t longest_compared = 64;
constexpr std::size_t most_compared = 1000;
constexpr std::size_t most_named = 5;
constexpr std::size_t most_parts_read = 256;

tl::unexpected<failure> bad_key(std::size_t at, std::string_view why) {
  return fail(errc::invalid_argument,
              "The key is invalid at byte " + std::to_string(at + 1) + ": " + std::string(why) +
                  ". Separate names by dots, such as server.port, and write names that contain dots as [\"app.name\"].");
}

/// Parses one key from left to right.
class key_reader {
 public:
  explicit key_reader(std::string_view text) noexcept : text_(text) {}

  result<key_path> read() {
    key_path parts;
    while (at_ < text_.size()) {
      if (text_[at_] == '[') {
        ++at_;
        HONDANA_TRY(auto part, read_bracket());
        parts.push_back(std::move(part));
      } else {
        if (!parts.empty()) ++at_;  // the dot
        auto name = read_plain();
        if (name.empty()) return bad_key(at_, "a name is missing");
        parts.push_back({std::move(name), false});
      }
      if (parts.size() > most_parts_read) return bad_key(at_, "it has more than 256 names");
      if (at_ < text_.size() && text_[at_] != '.' && text_[at_] != '[') return bad_key(at_, "a dot is missing");
      if (at_ + 1 == text_.size() && text_[at_] == '.') return bad_key(at_ + 1, "a name is missing");
      if (at_ + 1 < text_.size() && text_[at_] == '.' && text_[at_ + 1] == '[') return bad_key(at_ + 1, "a name is missing");
    }
    return parts;
  }

 private:
  std::string read_plain() {
    std::string name;
    while (at_ < text_.size() && text_[at_] != '.' && text_[at_] != '[') {
      if (text_[at_] == '\\' && at_ + 1 < text_.size()) ++at_;
      name += text_[at_++];
    }
    return name;
  }

  result<key_part> read_bracket() {
    key_part part{{}, true};
    if (at_ < text_.size() && text_[at_] == '"') {
      ++at_;
      while (at_ < text_.size() && text_[at_] != '"') {
        if (text_[at_] == '\\' && at_ + 1 < text_.size()) ++at_;
        part.name += text_[at_++];
      }
      if (at_ == text_.size()) return bad_key(at_, "a double quote is not closed");
      ++at_;
    } else {
      while (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9') part.name += text_[at_++];
      if (part.name.empty()) return bad_key(at_, "brackets must contain a number or a name in double quotes");
    }
    if (at_ == text_.size() || text_[at_] != ']') return bad_key(at_, "a bracket is not closed");
    ++at_;
    return part;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

bool needs_brackets(std::string_view name) noexcept {
  return name.empty() || name.find_first_of(".[]\"\\") != std::string_view::npos;
}

/// The edit distance of two names, ignoring case.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t i = 0; i <= b.size(); ++i) row[i] = i;
  for (std::size_t i = 0; i < a.size(); ++i) {
    auto corner = std::exchange(row[0], i + 1);
    for (std::size_t k = 0; k < b.size(); ++k) {
      const auto other = corner + (ascii::lower(a[i]) == ascii::lower(b[k]) ? 0 : 1);
      corner = std::exchange(row[k + 1], std::min({other, row[k] + 1, row[k + 1] + 1}));
    }
  }
  return row[b.size()];
}

}  // namespace

result<key_path> parse_key(std::string_view written) { return key_reader(written).read(); }

void append_part(std::string& to, std::string_view name) {
  if (!needs_brackets(name)) {
    if (!to.empty()) to += '.';
    to += name;
    return;
  }
  to += "[\"";
  for (const char c : name) {
    if (c == '"' || c == '\\') to += '\\';
    to += c;
  }
  to += "\"]";
}

void append_part(std::string& to, std::size_t index) { append_part(to, std::to_string(index)); }

std::size_t index_of(std::string_view part, std::size_t count) noexcept {
  std::size_t index = count;
  const auto [end, problem] = std::from_chars(part.data(), part.data() + part.size(), index);
  return problem == std::errc() && end == part.data() + part.size() ? std::min(index, count) : count;
}

sought seek(const located::node& from, const key_path& along, std::size_t used, std::string key) {
  sought now{&from, std::move(key), used};
  while (now.used < along.size()) {
    if (now.at->is == located::kind::list) {
      const auto index = index_of(along[now.used].name, now.at->items.size());
      if (index == now.at->items.size()) return now;
      append_part(now.key, index);
      now.at = &now.at->items[index];
      ++now.used;
      continue;
    }
    const auto& members = now.at->members;
    const auto* found = step(along, now.used, [&members](std::string_view name) {
      const auto place = std::find_if(members.begin(), members.end(), [name](const auto& one) { return one.key == name; });
      return place == members.end() ? nullptr : &*place;
    });
    if (found == nullptr) return now;
    append_part(now.key, found->key);
    now.at = &found->value;
  }
  return now;
}

std::vector<std::string> names_in(const located::node& of, std::size_t most) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < std::min(of.items.size(), most); ++i) names.push_back(std::to_string(i));
  for (std::size_t i = 0; i < std::min(of.members.size(), most); ++i) names.push_back(of.members[i].key);
  return names;
}

std::vector<std::string> nearest(std::string_view asked, std::vector<std::string> names) {
  if (names.size() > most_compared) names.resize(most_compared);
  asked = asked.substr(0, longest_compared);
  std::vector<std::pair<std::size_t, std::size_t>> ranked;  // distance and index
  ranked.reserve(names.size());
  for (std::size_t i = 0; i < names.size(); ++i) {
    ranked.emplace_back(distance(asked, std::string_view(names[i]).substr(0, longest_compared)), i);
  }
  std::sort(ranked.begin(), ranked.end());
  std::vector<std::string> best;
  for (const auto& [how, which] : ranked) {
    if (best.size() == most_named) break;
    best.push_back(std::move(names[which]));
  }
  return best;
}

}  // namespace hondana::config_files

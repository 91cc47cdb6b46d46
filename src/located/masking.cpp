/// Going through a tree with what was found in its text.
#include "located/masking.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <unordered_set>
#include <utility>

#include "letters/lower_case.hpp"
#include "located/written_text.hpp"
#include "secrets/redactor.hpp"

namespace hondana::located {
namespace {

constexpr auto how = secrets::policy::settings;

/// Keys that say nothing of what they hold: what they stand below does.
constexpr std::array<std::string_view, 7> plain_keys{"value", "default", "data", "content", "current", "previous", "text"};

bool is_plain_key(std::string_view key) noexcept {
  return std::any_of(plain_keys.begin(), plain_keys.end(), [key](std::string_view one) { return letters::is_same(key, one); });
}

/// What masks by itself changed of it, in a line of its own behind a name where there is one.
bool mask_behind(std::string_view name, std::string& text) {
  std::string line(name);
  if (!name.empty()) line += ": ";
  const auto front = line.size();
  line += text;
  if (secrets::redactor(how, {}).mask(line) == 0) return false;
  const auto masked = std::string_view(line).substr(front);
  if (masked == text) return false;
  // A name says the same of all lines of its value.
  const bool goes_on = !name.empty() && text.find('\n') != std::string::npos;
  text = goes_on ? std::string(text.size(), '*') : std::string(masked);
  return true;
}

class tree_masker {
 public:
  tree_masker(std::string_view text, std::vector<secrets::span>& spans) : text_(text), spans_(spans) {
    secrets::redactor(how, {}).find(text, spans_);
    found_in_text_ = spans_.size();
  }

  std::size_t mask(document& of) {
    walk(of.root, {});
    secrets::unite(spans_);
    // What was hidden for its key may be said once more by an alias.
    if (is_any_beyond_) mask_again(of.root);
    for (auto& remark : of.remarks) remark = secrets::redact_text(remark);
    return count_;
  }

 private:
  /// The key a value stands below, the one above that, and what a neighbour says it is the value of.
  struct names {
    std::string_view key{};
    std::string_view above{};
    std::string_view neighbour{};
    bool is_secret = false;  ///< Whatever it is.
  };

  [[nodiscard]] std::string_view written_at(const place& at) const noexcept {
    const auto begin = std::min(at.begin, text_.size());
    return text_.substr(begin, std::max(at.end, begin) - begin);
  }

  void walk(node& what, const names& below) {
    if (what.is == kind::text || what.is == kind::integer || what.is == kind::real) {
      mask_leaf(what, below);
    } else if (what.is == kind::list) {
      for (auto& item : what.items) walk(item, below);
    } else if (what.is == kind::table) {
      walk_table(what, below);
    }
  }

  void walk_table(node& what, const names& below) {
    const auto neighbour = named_by_neighbour(what);
    const bool is_kubernetes = is_kubernetes_secret(what);
    // Before keys are masked, which names are looked up in.
    for (auto& one : what.members) {
      names next{one.key, below.key, {}, below.is_secret};
      if (letters::is_same(one.key, "value")) next.neighbour = neighbour;
      if (is_kubernetes && (one.key == "data" || one.key == "stringData")) next.is_secret = true;
      walk(one.value, next);
    }
    mask_keys(what);
  }

  /// `{name: DB_PASSWORD, value: …}`.
  static std::string named_by_neighbour(const node& what) {
    for (const auto& one : what.members) {
      if (one.value.is == kind::text && (letters::is_same(one.key, "name") || letters::is_same(one.key, "key"))) {
        return one.value.text;
      }
    }
    return {};
  }

  static bool is_kubernetes_secret(const node& what) {
    const auto* named = what.find("kind");
    return named != nullptr && named->is == kind::text && named->text == "Secret" && what.find("apiVersion") != nullptr;
  }

  void mask_leaf(node& what, const names& below) {
    const std::span<const secrets::span> in_text(spans_.data(), found_in_text_);
    bool is_masked = mask_as_written(what.text, written_at(what.at), what.at.begin, in_text);
    const auto by_text = what.text;
    if (below.is_secret && !what.text.empty()) {
      what.text.assign(what.text.size(), '*');
      is_masked = true;
    }
    is_masked = mask_behind({}, what.text) || is_masked;
    if (!below.key.empty()) is_masked = mask_behind(below.key, what.text) || is_masked;
    if (!below.neighbour.empty()) is_masked = mask_behind(below.neighbour, what.text) || is_masked;
    if (!below.above.empty() && is_plain_key(below.key)) is_masked = mask_behind(below.above, what.text) || is_masked;
    if (!is_masked) return;
    what.is = kind::text;
    ++count_;
    if (what.text != by_text) note(what.at);
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
      if (one.key != by_text) note(one.key_at);
    }
    if (is_any) keep_apart(table);
  }

  /// Keys that became the same by asterisks get numbers.
  static void keep_apart(node& table) {
    std::unordered_set<std::string> known;
    std::size_t number = 1;
    for (auto& one : table.members) {
      auto key = one.key;
      while (!known.insert(key).second) key = one.key + '#' + std::to_string(++number);
      one.key = std::move(key);
    }
  }

  void note(const place& at) {
    if (at.begin >= at.end) return;
    spans_.push_back({at.begin, at.end});
    is_any_beyond_ = true;
  }

  void mask_again(node& what) {
    const bool is_leaf = what.is == kind::text || what.is == kind::integer || what.is == kind::real;
    const auto before = what.text;
    if (is_leaf && mask_as_written(what.text, written_at(what.at), what.at.begin, spans_) && what.text != before) {
      what.is = kind::text;
      ++count_;
    }
    for (auto& item : what.items) mask_again(item);
    for (auto& one : what.members) mask_again(one.value);
  }

  std::string_view text_;
  std::vector<secrets::span>& spans_;  // those found in the text, then those of the tree
  std::size_t found_in_text_ = 0;
  std::size_t count_ = 0;
  bool is_any_beyond_ = false;  // the text
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

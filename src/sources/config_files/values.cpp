/// Masking, and comparing.
#include "sources/config_files/values.hpp"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "text/located/masking.hpp"
#include "text/secrets/redactor.hpp"
#include "text/secrets/scanner.hpp"

namespace hondana::config_files {
namespace {

std::size_t weight_of(const located::node& of) {
  std::size_t bytes = sizeof(located::node) + of.text.capacity();
  for (const auto& one : of.items) bytes += weight_of(one);
  for (const auto& one : of.members) bytes += sizeof(located::member) + one.key.capacity() + weight_of(one.value);
  return bytes;
}

/// Writes asterisks over a place; says whether there was anything else.
bool blot(std::string& text, const secrets::span& at) {
  bool is_new = false;
  for (auto i = at.begin; i < std::min(at.end, text.size()); ++i) {
    if (text[i] == '*' || text[i] == '\n' || text[i] == '\r') continue;
    text[i] = '*';
    is_new = true;
  }
  return is_new;
}

/// A text with what its escapes stand for, what stands in double quotes in lines of its own, and where each of its bytes stood:
/// so texts are looked at by themselves that could not be read, such as a key over several lines that is written in one.
struct unescaped {
  std::string bytes;
  std::vector<std::uint32_t> places;

  explicit unescaped(std::string_view text) {
    bytes.reserve(text.size());
    places.reserve(text.size() + 1);
    for (std::size_t i = 0; i < text.size(); ++i) {
      const bool is_escape = text[i] == '\\' && i + 1 < text.size();
      places.push_back(static_cast<std::uint32_t>(i));
      bytes += is_escape ? meant_by(text[i + 1]) : text[i] == '"' ? '\n' : text[i];
      if (is_escape) ++i;
    }
    places.push_back(static_cast<std::uint32_t>(text.size()));
  }

 private:
  static char meant_by(char letter) noexcept {
    switch (letter) {
      case 'n':
        return '\n';
      case 'r':
        return '\r';
      case 't':
        return '\t';
      default:
        return letter;
    }
  }
};

/// The places of secrets that show only once escapes have been read.
std::vector<secrets::span> escaped_secrets(std::string_view text) {
  if (text.find('\\') == std::string_view::npos) return {};
  const unescaped plain(text);
  std::vector<secrets::span> found;
  secrets::find(plain.bytes, secrets::policy::settings, found);
  std::vector<secrets::span> all;
  all.reserve(found.size());
  for (const auto& one : found) all.push_back({plain.places[one.begin], plain.places[one.end]});
  return all;
}

bool is_scalar(const located::node& of) noexcept { return of.is != located::kind::list && of.is != located::kind::table; }

std::string_view written(const located::node& of) noexcept {
  if (of.is == located::kind::boolean) return of.truth ? "true" : "false";
  return of.is == located::kind::null ? "null" : std::string_view(of.text);
}

}  // namespace

shared_values values_of(located::document raw, located::document shown) {
  auto made = std::make_shared<values>();
  made->raw = std::move(raw);
  made->shown = std::move(shown);
  made->bytes = weight_of(made->raw.root) + weight_of(made->shown.root);
  return made;
}

shared_values values_of(located::document raw, std::string_view text, bool masks) {
  auto made = std::make_shared<values>();
  made->shown = raw;
  made->raw = std::move(raw);
  if (masks) located::mask_secrets(made->shown, text, made->in_text);
  made->bytes = weight_of(made->raw.root) + weight_of(made->shown.root);
  return made;
}

std::size_t mask_text(std::string& text, const values* known) {
  const auto escaped = escaped_secrets(text);
  auto count = secrets::redactor(secrets::policy::settings, text).mask(text);
  for (const auto& one : escaped) count += blot(text, one) ? 1 : 0;
  for (std::size_t i = 0; known != nullptr && i < known->in_text.size(); ++i) count += blot(text, known->in_text[i]) ? 1 : 0;
  return count;
}

bool says_the_same(const located::node& a, const located::node& b, bool as_texts) {
  if (as_texts && is_scalar(a) && is_scalar(b)) return written(a) == written(b);
  if (a.is != b.is || a.truth != b.truth || a.text != b.text || a.items.size() != b.items.size() ||
      a.members.size() != b.members.size()) {
    return false;
  }
  for (std::size_t i = 0; i < a.items.size(); ++i) {
    if (!says_the_same(a.items[i], b.items[i], as_texts)) return false;
  }
  if (a.members.empty()) return true;
  std::unordered_map<std::string_view, const located::node*> others;
  for (const auto& one : b.members) others.emplace(one.key, &one.value);
  return std::all_of(a.members.begin(), a.members.end(), [&](const located::member& one) {
    const auto other = others.find(one.key);
    return other != others.end() && says_the_same(one.value, *other->second, as_texts);
  });
}

}  // namespace hondana::config_files

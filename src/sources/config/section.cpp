/// Reading tables strictly.
#include "sources/config/section.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <utility>

#include "base/ascii/characters.hpp"

namespace hondana::config {
namespace {

bool same(const value& a, const value& b);

bool same(const list& a, const list& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const value& x, const value& y) { return same(x, y); });
}

bool same(const table& a, const table& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const auto& x, const auto& y) { return x.first == y.first && same(x.second, y.second); });
}

/// Equal but for the lines they stand on.
bool same(const value& a, const value& b) {
  if (a.data.index() != b.data.index()) return false;
  return std::visit(
      [&b](const auto& mine) {
        const auto& theirs = std::get<std::decay_t<decltype(mine)>>(b.data);
        if constexpr (std::is_same_v<decltype(mine), const list&> || std::is_same_v<decltype(mine), const table&>) {
          return same(mine, theirs);
        } else {
          return mine == theirs;
        }
      },
      a.data);
}

/// Whether a key of the configuration names a file of the server's own.
bool names_own_file(std::string_view key) {
  constexpr std::array<std::string_view, 6> whole{"key", "redis_key", "tokens", "credentials", "client", "store"};
  return key.ends_with("_file") || std::find(whole.begin(), whole.end(), key) != whole.end();
}

/// Whether a file of certificates is one of the server's own: where no key is named beside it, it contains the key.
bool contains_key(const table& whole, std::string_view key) {
  return (key == "certificate" || key == "cert") && !whole.contains("key");
}

/// Whether a variable of a child has the path of such a file: other values may be secrets themselves, and paths are told in
/// errors.
bool has_own_file(std::string_view variable, std::string_view content) {
  const auto name = ascii::in_lower_case(variable);
  return content.starts_with('/') && (name.ends_with("_file") || name.ends_with("_credentials"));
}

template <class Add>
void add_own_files(const table& whole, const Add& add, bool are_variables = false) {
  for (const auto& [key, member] : whole) {
    if (key == "headers") continue;  // texts under names of the user's choice
    if (const auto* text = std::get_if<std::string>(&member.data)) {
      if (!text->empty() && (are_variables ? has_own_file(key, *text) : names_own_file(key) || contains_key(whole, key)))
        add(*text);
    } else if (const auto* inner = std::get_if<table>(&member.data)) {
      add_own_files(*inner, add, key == "environment");
    } else if (const auto* items = std::get_if<list>(&member.data)) {
      for (const auto& item : *items)
        if (const auto* in_list = std::get_if<table>(&item.data)) add_own_files(*in_list, add);
    }
  }
}

}  // namespace

section::section(std::string file, std::string name, std::size_t line, table members)
    : file_(std::move(file)), name_(std::move(name)), line_(line), members_(std::move(members)) {}

const value* section::ask(std::string_view key) {
  asked_.emplace(key);
  const auto member = members_.find(key);
  return member == members_.end() ? nullptr : &member->second;
}

failure section::wrong(std::string_view key, std::string_view what) const {
  const auto member = members_.find(key);
  const auto line = member == members_.end() ? line_ : member->second.line;
  return {errc::invalid_argument, file_ + ':' + std::to_string(line) + ": " + below(key) + ": " + std::string(what), {}};
}

failure section::wrong_inside(std::string_view path, std::string_view what) const {
  auto line = line_;
  const auto* members = &members_;
  for (auto rest = path; members != nullptr && !rest.empty();) {
    const auto key = rest.substr(0, rest.find('.'));
    rest.remove_prefix(std::min(key.size() + 1, rest.size()));
    const auto member = members->find(key);
    if (member == members->end()) break;
    line = member->second.line;
    members = std::get_if<table>(&member->second.data);
  }
  return {errc::invalid_argument, file_ + ':' + std::to_string(line) + ": " + below(path) + ": " + std::string(what), {}};
}

std::string section::below(std::string_view key) const { return (name_.empty() ? "" : name_ + '.') + std::string(key); }

result<std::optional<std::string>> section::string(std::string_view key) {
  const auto* member = ask(key);
  if (member == nullptr) return std::optional<std::string>{};
  if (const auto* text = std::get_if<std::string>(&member->data)) return *text;
  return tl::unexpected(wrong(key, "expected a string in quotes"));
}

result<std::optional<bool>> section::boolean(std::string_view key) {
  const auto* member = ask(key);
  if (member == nullptr) return std::optional<bool>{};
  if (const auto* flag = std::get_if<bool>(&member->data)) return *flag;
  return tl::unexpected(wrong(key, "expected true or false"));
}

result<std::optional<std::int64_t>> section::integer(std::string_view key, std::int64_t low, std::int64_t high) {
  const auto* member = ask(key);
  if (member == nullptr) return std::optional<std::int64_t>{};
  const auto* number = std::get_if<std::int64_t>(&member->data);
  if (number != nullptr && *number >= low && *number <= high) return *number;
  return tl::unexpected(wrong(key, "expected an integer from " + std::to_string(low) + " to " + std::to_string(high)));
}

result<std::optional<double>> section::number(std::string_view key, double low, double high) {
  const auto* member = ask(key);
  if (member == nullptr) return std::optional<double>{};
  std::optional<double> number;
  if (const auto* real = std::get_if<double>(&member->data)) number = *real;
  if (const auto* whole = std::get_if<std::int64_t>(&member->data)) number = static_cast<double>(*whole);
  if (number && *number >= low && *number <= high) return number;
  std::array<char, 96> text{};
  const int length = std::snprintf(text.data(), text.size(), "expected a number from %g to %g", low, high);
  return tl::unexpected(wrong(key, std::string_view(text.data(), static_cast<std::size_t>(length))));
}

result<std::optional<std::uint64_t>> section::bytes(std::string_view key) {
  const auto* member = ask(key);
  if (member == nullptr) return std::optional<std::uint64_t>{};
  if (const auto* number = std::get_if<std::int64_t>(&member->data); number != nullptr && *number >= 0) {
    return static_cast<std::uint64_t>(*number);
  }
  if (const auto* text = std::get_if<std::string>(&member->data)) {
    if (const auto size = parse_size(*text)) return size;
  }
  return tl::unexpected(wrong(key, "expected bytes, such as 65536, \"64KiB\", \"64MiB\" or \"1GiB\""));
}

result<std::vector<std::string>> section::strings(std::string_view key) {
  const auto* member = ask(key);
  std::vector<std::string> all;
  if (member == nullptr) return all;
  const auto* items = std::get_if<list>(&member->data);
  if (items == nullptr) return tl::unexpected(wrong(key, "expected an array of strings, such as [\"a\", \"b\"]"));
  for (const auto& item : *items) {
    const auto* text = std::get_if<std::string>(&item.data);
    if (text == nullptr) return tl::unexpected(wrong(key, "expected an array of strings, such as [\"a\", \"b\"]"));
    all.push_back(*text);
  }
  return all;
}

result<std::vector<std::string>> section::string_or_strings(std::string_view key) {
  const auto* member = ask(key);
  if (member == nullptr || !std::holds_alternative<std::string>(member->data)) return strings(key);
  return std::vector<std::string>{std::get<std::string>(member->data)};
}

result<std::vector<std::pair<std::string, std::string>>> section::strings_by_name(std::string_view key) {
  const auto* member = ask(key);
  std::vector<std::pair<std::string, std::string>> all;
  if (member == nullptr) return all;
  const auto* members = std::get_if<table>(&member->data);
  if (members == nullptr) return tl::unexpected(wrong(key, "expected a table of strings, such as { name = \"text\" }"));
  for (const auto& [name, item] : *members) {
    const auto* text = std::get_if<std::string>(&item.data);
    if (text == nullptr) return tl::unexpected(wrong(key, "expected a string in quotes for \"" + name + '"'));
    all.emplace_back(name, *text);
  }
  return all;
}

result<std::vector<std::pair<std::string, std::vector<std::string>>>> section::string_lists_by_name() {
  std::vector<std::pair<std::string, std::vector<std::string>>> all;
  for (const auto& [name, item] : members_) {
    HONDANA_TRY(auto words, strings(name));
    all.emplace_back(name, std::move(words));
  }
  return all;
}

result<std::vector<std::pair<std::string, std::int64_t>>> section::integers_by_name(std::int64_t low, std::int64_t high) {
  std::vector<std::pair<std::string, std::int64_t>> all;
  for (const auto& [name, item] : members_) {
    HONDANA_TRY(auto number, integer(name, low, high));
    all.emplace_back(name, *number);
  }
  return all;
}

result<std::vector<section>> section::sections(std::string_view key) {
  const auto* member = ask(key);
  std::vector<section> all;
  if (member == nullptr) return all;
  const auto expected = "expected tables: write [[" + below(key) + "]] above each";
  const auto* items = std::get_if<list>(&member->data);
  if (items == nullptr) return tl::unexpected(wrong(key, expected));
  for (const auto& item : *items) {
    const auto* members = std::get_if<table>(&item.data);
    if (members == nullptr) return tl::unexpected(wrong(key, expected));
    all.emplace_back(file_, below(key), item.line, *members);
  }
  return all;
}

result<std::optional<section>> section::subsection(std::string_view key) {
  const auto* member = ask(key);
  if (member == nullptr) return std::optional<section>{};
  const auto* members = std::get_if<table>(&member->data);
  if (members == nullptr) return tl::unexpected(wrong(key, "expected a table: write [" + below(key) + "] above it"));
  return section(file_, below(key), member->line, *members);
}

result<void> section::finish() const {
  for (const auto& [key, member] : members_) {
    if (asked_.contains(key)) continue;
    std::string known;
    for (const auto& one : asked_) known += (known.empty() ? "" : ", ") + one;
    return tl::unexpected(wrong(key, "unknown key; known here: " + known));
  }
  return {};
}

std::string section::path_from(const std::string& written) const {
  if (written.starts_with('/')) return written;
  const auto slash = file_.rfind('/');
  return slash == std::string::npos ? written : file_.substr(0, slash + 1) + written;
}

std::vector<std::string> section::own_files() const {
  std::vector<std::string> all;
  add_own_files(members_, [&](const std::string& written) { all.push_back(path_from(written)); });
  return all;
}

bool section::says_the_same_as(const section& other) const {
  return kept_back_ == other.kept_back_ && same(members_, other.members_);
}

std::optional<std::uint64_t> parse_size(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{}) return {};
  auto unit = text.substr(static_cast<std::size_t>(end - text.data()));
  while (unit.starts_with(' ')) unit.remove_prefix(1);
  constexpr std::array<std::pair<std::string_view, unsigned>, 5> units{
      {{"", 0}, {"B", 0}, {"KiB", 10}, {"MiB", 20}, {"GiB", 30}}};
  for (const auto& [name, shift] : units) {
    if (unit != name) continue;
    if (number > std::numeric_limits<std::uint64_t>::max() >> shift) return {};
    return number << shift;
  }
  return {};
}

}  // namespace hondana::config

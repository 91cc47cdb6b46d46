/// Matching and ranking names.
#include "providers/files/completion.hpp"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <hondana/uri.hpp>

#include "json/utf8.hpp"
#include "providers/files/folder.hpp"
#include "providers/files/window.hpp"

namespace hondana::files {
namespace {

constexpr std::size_t value_limit = 100;
constexpr std::size_t name_limit = 1'000'000;
constexpr std::size_t look_limit = 1'000;  // names after the last value that are looked at for one more

char folded(char c) noexcept { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c; }

/// How well a name fits, the smaller the better; nothing when it does not.
std::optional<std::uint32_t> rank(std::string_view name, std::string_view typed) {
  if (name.starts_with(typed)) return 0;
  const auto same = [](char a, char b) { return folded(a) == folded(b); };
  if (name.size() >= typed.size() && std::equal(typed.begin(), typed.end(), name.begin(), same)) return 1;
  // Letters in order; the closer together they stand and the earlier they begin, the better.
  std::size_t at = 0;
  std::size_t first = 0;
  for (std::size_t i = 0; i < typed.size(); ++i, ++at) {
    while (at < name.size() && !same(name[at], typed[i])) ++at;
    if (at == name.size()) return std::nullopt;
    if (i == 0) first = at;
  }
  const auto gaps = at - first - typed.size();
  return static_cast<std::uint32_t>(2 + gaps * 256 + std::min<std::size_t>(first, 255));
}

/// A name that fits.
struct candidate {
  std::uint32_t rank;
  std::string name;
};

bool is_better(const candidate& a, const candidate& b) noexcept {
  if (a.rank != b.rank) return a.rank < b.rank;
  // Names that begin alike stay in the order of the listing; among loose matches the shorter says more.
  if (a.rank > 1 && a.name.size() != b.name.size()) return a.name.size() < b.name.size();
  return a.name < b.name;
}

}  // namespace

std::string template_value(std::string_view path) {
  const auto is_escape = [path](std::size_t at) {
    return path.size() - at > 2 && std::isxdigit(static_cast<unsigned char>(path[at + 1])) != 0 &&
           std::isxdigit(static_cast<unsigned char>(path[at + 2])) != 0;
  };
  std::string value;
  for (std::size_t i = 0; i < path.size();) {
    const auto byte = static_cast<unsigned char>(path[i]);
    std::size_t size = byte < 0x80 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
    const auto point = path.substr(i, size);
    const bool is_special = byte < 0x20 || byte == 0x7F || std::string_view("?#[]").find(path[i]) != std::string_view::npos ||
                            (path[i] == '%' && is_escape(i));
    if (!is_special && json::is_utf8(point)) {
      value += point;
    } else {
      size = 1;
      value += percent_encode(path.substr(i, 1));
    }
    i += size;
  }
  return value;
}

result<complete_result> complete_path(const root& of, std::string_view typed, const call& by) {
  // What is typed may have come from an earlier value, and then has escapes; what is no escape is a character of a name.
  const auto decoded = percent_decode(typed);
  const std::string wanted = decoded ? *decoded : std::string(typed);
  const auto slash = wanted.rfind('/');
  const auto folder_path = slash == std::string::npos ? std::string() : wanted.substr(0, slash);
  const auto last = std::string_view(wanted).substr(slash == std::string::npos ? 0 : slash + 1);

  complete_result found;
  found.total = 0;
  const auto folder = of.find(folder_path, &by);
  if (!folder || !of.is_visible(folder_path, *folder, by.who)) return found;
  const auto open = of.below().open_folder(*folder);
  if (!open) return found;
  const auto ignored_by = of.stack_at(folder->path);
  const auto names = folder_names::read(open->get(), name_limit);
  if (!ignored_by || !names) return found;

  std::vector<candidate> candidates;
  for (std::size_t i = 0; i < names->size(); ++i) {
    auto name = names->at(i);
    if (const auto fits = rank(name, last)) candidates.push_back({*fits, std::move(name)});
  }
  std::sort(candidates.begin(), candidates.end(), is_better);

  const std::string real = folder->path.empty() ? std::string() : folder->path + '/';
  const std::string shown = folder_path.empty() ? std::string() : folder_path + '/';
  std::size_t looked_further = 0;
  for (const auto& one : candidates) {
    if (auto still = still_wanted(by); !still) return tl::unexpected(std::move(still.error()));
    const auto path = real + one.name;
    const auto about = examine(of, open->get(), path, one.name.c_str(), *ignored_by, &by);
    const bool is_full = found.values.size() == value_limit;
    if (is_full && (about.is_served || ++looked_further == look_limit)) {
      found.total.reset();  // how many of the rest are served is not worth finding out
      found.has_more = true;
      return found;
    }
    if (!about.is_served) continue;
    const auto leads_on = [&] {
      if (!S_ISLNK(about.facts.st_mode)) return S_ISDIR(about.facts.st_mode);
      const auto target = of.find(path, &by);
      return target && S_ISDIR(target->facts.st_mode);
    };
    found.values.push_back(template_value(shown + one.name) + (leads_on() ? "/" : ""));
  }
  if (names->is_cut()) {
    found.total.reset();
    found.has_more = true;
  } else {
    found.total = found.values.size();
  }
  return found;
}

}  // namespace hondana::files

/// tree: entries by the segments of their URIs.
#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <hondana/uri.hpp>

#include "app/cli/exit_codes.hpp"
#include "app/cli/flags/client_flags.hpp"
#include "app/cli/output.hpp"
#include "app/cli/verbs/asked_entries.hpp"
#include "app/cli/verbs/entries.hpp"
#include "app/cli/verbs/verbs.hpp"
#include "app/cli/visible.hpp"

namespace hondana::cli {
namespace {

/// Deeper folders are shown as one name: a drawing is for people, and servers name what they like.
constexpr std::size_t deepest = 64;

struct branch {
  std::map<std::string, std::unique_ptr<branch>> below;
  const resource* entry = nullptr;
};

/// Segments of a URI behind its scheme and authority, which stay together as the first.
std::vector<std::string> segments_of(const std::string& uri) {
  const auto colon = uri.find("://");
  auto from = colon == std::string::npos ? std::string::npos : uri.find('/', colon + 3);
  std::vector<std::string> out{uri.substr(0, from)};
  while (from != std::string::npos) {
    const auto to = out.size() < deepest ? uri.find('/', from + 1) : std::string::npos;
    out.push_back(uri.substr(from + 1, to == std::string::npos ? to : to - from - 1));
    from = to;
  }
  return out;
}

branch tree_of(const std::vector<resource>& entries) {
  branch root;
  for (const auto& one : entries) {
    auto* at = &root;
    for (auto& segment : segments_of(one.uri)) {
      auto& next = at->below[std::move(segment)];
      if (!next) next = std::make_unique<branch>();
      at = next.get();
    }
    at->entry = &one;
  }
  return root;
}

/// Escapes decoded, unless that would make a slash that is none.
std::string decoded_name(const std::string& label) {
  auto decoded = percent_decode(label);
  const bool is_same =
      decoded && std::count(decoded->begin(), decoded->end(), '/') == std::count(label.begin(), label.end(), '/');
  if (!is_same) return label;
  return std::move(*decoded);
}

/// Calls `each(name, branch, is_last)` for what is right below. Folders with nothing but one folder in them share a name.
template <class Each>
void for_each_below(const branch& of, const Each& each) {
  std::size_t left = of.below.size();
  for (const auto& [name, one] : of.below) {
    auto label = name;
    const branch* at = one.get();
    while (at->entry == nullptr && at->below.size() == 1) {
      label += '/' + at->below.begin()->first;
      at = at->below.begin()->second.get();
    }
    each(decoded_name(label), *at, --left == 0);
  }
}

void draw(const branch& of, const std::string& before, std::string& into) {
  for_each_below(of, [&](const std::string& name, const branch& one, bool is_last) {
    into += before + (is_last ? "└── " : "├── ") + visible(name);
    if (!one.below.empty()) into += '/';
    if (one.entry != nullptr && !one.entry->title.empty() && one.entry->title != one.entry->name)
      into += "  " + visible(one.entry->title);
    into += '\n';
    draw(one, before + (is_last ? "    " : "│   "), into);
  });
}

void write(json::writer& to, const branch& of) {
  to.begin_array();
  for_each_below(of, [&](const std::string& name, const branch& one, bool) {
    to.begin_object().member("name", name);
    if (one.entry != nullptr) to.member("uri", one.entry->uri).member_if("title", one.entry->title);
    to.key("children");
    write(to, one);
    to.end_object();
  });
  to.end_array();
}

}  // namespace

int show_tree(const task& what) {
  const auto entries = all_entries(what, true);
  if (!entries) return what.with.explain(entries.error());
  const auto root = tree_of(*entries);
  std::string text;
  if (what.line.has(json_flag)) {
    json::writer to(text);
    to.begin_object().key("tree");
    write(to, root);
    to.end_object();
    print_json(text);
    return exit_ok;
  }
  if (entries->empty()) tell_none(what, "nothing is listed");
  for_each_below(root, [&text](const std::string& name, const branch& one, bool) {
    text += visible(name) + '\n';
    draw(one, "", text);
  });
  print(text);
  return exit_ok;
}

}  // namespace hondana::cli

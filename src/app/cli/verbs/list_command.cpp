/// `hondana ls`, `hondana tree` and `hondana templates`.

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <hondana/client.hpp>
#include <hondana/uri.hpp>

#include "app/cli/exit_codes.hpp"
#include "app/cli/flags/client_flags.hpp"
#include "app/cli/output.hpp"
#include "app/cli/terminal/columns.hpp"
#include "app/cli/terminal/screen.hpp"
#include "app/cli/verbs/commands.hpp"
#include "app/cli/verbs/entry_output.hpp"
#include "app/cli/verbs/typed_words.hpp"

namespace hondana::cli {

/// Receives an entry; returns false to stop.
using taker = std::function<bool(resource)>;

/// Calls `take` for every entry that the command line selects. With a URI: the children if it is a folder and not `all_below`;
/// otherwise all entries at or below it. Errors: those of the lists; resource_not_found if there is no entry, before filters.
[[nodiscard]] result<void> each_entry(const task& what, bool all_below, const taker& take);

/// Collects the entries of `each_entry` with a progress line, for output that needs all of them. Errors: also
/// response_too_large.
[[nodiscard]] result<std::vector<resource>> all_entries(const task& what, bool all_below);

namespace {

constexpr std::size_t most_entries = 1'000'000;

bool is_no_folder(const failure& why) {
  return why.code == errc::unsupported || why.code == errc::resource_not_found || why.code == errc::invalid_argument ||
         why.code == errc::refused;
}

/// Calls `take` for each entry of one list until it returns false. Errors: those of the list.
result<void> each(paged<resource> list, const taker& take) {
  for (const auto& one : list) {
    if (!one) return tl::unexpected(one.error());
    if (!take(*one)) return {};
  }
  return {};
}

/// The filter from the flags `--audience`, `--min-priority` and `--filter`.
entry_filter wanted_by(const command_line& line) {
  entry_filter out;
  if (const auto text = line.text(audience_flag); !text.empty()) out.audience = text == "user" ? role::user : role::assistant;
  out.min_priority = line.number(min_priority_flag);
  const auto text = line.text(filter_flag);
  if (text.find_first_of("*?[") == std::string::npos) {
    out.text = text;
  } else {
    out.uri_pattern = text.find("://") == std::string::npos ? "**/" + text : text;
  }
  return out;
}

}  // namespace

result<void> each_entry(const task& what, bool all_below, const taker& take) {
  auto& server = what.with.server();
  const auto wanted = wanted_by(what.line);
  auto below = what.with.file_uri();
  if (!what.line.word(0).empty()) {
    const auto word = what.line.word(0);
    if ((word.starts_with("http://") || word.starts_with("https://")) && !what.line.has(on_flag) && what.line.server().empty())
      return fail(errc::invalid_argument, "Name a server with --on. Did you mean 'hondana " +
                                              std::string(what.line.entry().name) + " --on " + word + "'?");
    auto uri = what.with.uri_of(word);
    if (uri) uri = as_listed(server.server(), *uri);
    if (!uri) return tl::unexpected(std::move(uri.error()));
    below = std::move(*uri);
    if (!all_below && server.server().has_folders) {
      bool has_begun = false;
      auto done = each(server.children(below, what.with.how()), [&](resource one) {
        has_begun = true;
        return !fits(one, wanted) || take(std::move(one));
      });
      if (done || has_begun || !is_no_folder(done.error())) return done;
    }
  }
  auto asked = wanted;
  // Only servers with the versioned-resources extension filter by prefix and list canonical URIs.
  if (server.server().has_versions) asked.uri_prefix = below;
  const auto canonical = canonical_uri(below).value_or(below);
  bool is_any = below.empty();
  auto done = each(server.resources(asked, what.with.how()), [&](resource one) {
    // A prefix of characters also matches URIs that do not lie below it.
    if (!below.empty() && !covers(below, one.uri) && !covers(canonical, one.uri)) return true;
    is_any = true;
    return take(std::move(one));
  });
  if (done && !is_any && wanted == entry_filter{})
    return tl::unexpected(
        blamed_on(below, {errc::resource_not_found, "the server lists no resources at or below " + below, {}}));
  return done;
}

result<std::vector<resource>> all_entries(const task& what, bool all_below) {
  progress_line shown(what.shown.shows_errors && !what.line.has(quiet_flag), progress_line::unit::entries, what.shown.width);
  std::vector<resource> out;
  auto done = each_entry(what, all_below, [&](resource one) {
    out.push_back(std::move(one));
    shown.advance(1);
    return out.size() < most_entries;
  });
  if (!done) return tl::unexpected(std::move(done.error()));
  if (out.size() == most_entries)
    return fail(errc::response_too_large, "the list has a million entries or more; narrow it with a URI or --filter");
  return out;
}

namespace {

entry_order order_of(const command_line& line) {
  const auto text = line.text(sort_flag);
  if (text == "name") return entry_order::name;
  if (text == "priority") return entry_order::priority;
  return text == "recency" ? entry_order::recency : entry_order::as_listed;
}

}  // namespace

int list_resources(const task& what) {
  const bool is_long = what.line.has(long_flag);
  const bool is_table = what.shown.shows_output;
  const auto order = order_of(what.line);
  const bool as_json = what.line.has(json_flag);
  if (!is_table && !as_json && order == entry_order::as_listed) {
    auto done = each_entry(what, false, [is_long](const resource& one) {
      print(line_of(one, is_long));
      return !output_is_gone();
    });
    return done ? exit_ok : what.with.explain(done.error());
  }
  auto entries = all_entries(what, false);
  if (!entries) return what.with.explain(entries.error());
  sort_entries(*entries, order);
  if (as_json) {
    print_list("resources", *entries, [](json::writer& to, const resource& one) { write_entry(to, one); });
  } else if (entries->empty()) {
    tell_none(what, "nothing is listed");
  } else if (is_table) {
    print(table_of(*entries, is_long, what.shown));
  } else {
    for (const auto& one : *entries) print(line_of(one, is_long));
  }
  return exit_ok;
}

int list_templates(const task& what) {
  auto all = what.with.server().templates(what.with.how()).all();
  if (!all) return what.with.explain(all.error());
  if (what.line.has(json_flag)) {
    print_list("resourceTemplates", *all, [](json::writer& to, const resource_template& one) { write_entry(to, one); });
    return exit_ok;
  }
  if (all->empty()) {
    tell_none(what, "the server has no templates");
    return exit_ok;
  }
  if (!what.shown.shows_output) {
    for (const auto& one : *all)
      print(visible(one.uriTemplate) + '\t' + visible_in_line(one.name) + '\t' + visible_in_line(one.description) + '\n');
    return exit_ok;
  }
  std::vector<std::vector<std::string>> rows;
  for (const auto& one : *all)
    rows.push_back({visible(one.uriTemplate), visible(one.name),
                    visible_in_line(one.title == one.name ? std::string() : one.title), visible_in_line(one.description)});
  using enum column::alignment;
  using enum column::cutting;
  print(fit_table({{"TEMPLATE"}, {"NAME"}, {"TITLE", left, at_end}, {"DESCRIPTION", left, at_end}}, rows, what.shown.width,
                  what.shown.in_colour)
            .text);
  return exit_ok;
}

namespace {

/// Deeper folders are printed as one name. Drawing is recursive, and servers choose the URIs.
constexpr std::size_t deepest = 64;

struct branch {
  std::map<std::string, std::unique_ptr<branch>> below;
  const resource* entry = nullptr;
};

/// The path segments of a URI. The scheme and authority together are the first one.
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

/// Decodes percent escapes, unless that would create an additional slash.
std::string decoded_name(const std::string& label) {
  auto decoded = percent_decode(label);
  const bool is_same =
      decoded && std::count(decoded->begin(), decoded->end(), '/') == std::count(label.begin(), label.end(), '/');
  if (!is_same) return label;
  return std::move(*decoded);
}

/// Calls `each(name, branch, is_last)` for each direct child. Folders whose only content is one folder are joined into one
/// name.
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

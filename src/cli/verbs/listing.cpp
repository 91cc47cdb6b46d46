/// ls, tree and templates.
#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include <hondana/uri.hpp>

#include "cli/exit_codes.hpp"
#include "cli/flags/client_flags.hpp"
#include "cli/output.hpp"
#include "cli/terminal/columns.hpp"
#include "cli/terminal/progress.hpp"
#include "cli/terminal/width.hpp"
#include "cli/verbs/entries.hpp"
#include "cli/verbs/verbs.hpp"
#include "cli/visible.hpp"

namespace hondana::cli {
namespace {

constexpr std::size_t most_entries = 1'000'000;

/// What one list gives, entry by entry, to `take`, until that says no more. Errors: those of the list.
using taker = std::function<bool(resource)>;

bool is_no_folder(const failure& why) {
  return why.code == errc::unsupported || why.code == errc::resource_not_found || why.code == errc::invalid_argument ||
         why.code == errc::refused;
}

result<void> each(paged<resource> list, const taker& take) {
  for (const auto& one : list) {
    if (!one) return tl::unexpected(one.error());
    if (!take(*one)) return {};
  }
  return {};
}

/// Everything that the line asks for. With a URI: its children where it is a folder, else what lies at or below it.
result<void> each_wanted(const task& what, bool all_below, const taker& take) {
  auto& server = what.with.server();
  const auto wanted = wanted_by(what.line);
  auto below = what.with.file_uri();
  if (!what.line.word(0).empty()) {
    const auto word = what.line.word(0);
    if ((word.starts_with("http://") || word.starts_with("https://")) && !what.line.has(on_flag) && what.line.server().empty())
      return fail(errc::invalid_argument, "A server is named with --on; perhaps 'hondana " +
                                              std::string(what.line.entry().name) + " --on " + word + "' is meant.");
    auto uri = what.with.uri_of(word);
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
  asked.uri_prefix = below;
  bool is_any = below.empty();
  auto done = each(server.resources(asked, what.with.how()), [&](resource one) {
    // A prefix of characters holds more than what lies below it.
    if (!below.empty() && !covers(below, one.uri)) return true;
    is_any = true;
    return take(std::move(one));
  });
  if (done && !is_any && wanted == entry_filter{})
    return fail(errc::resource_not_found, "the server lists nothing at or below " + below);
  return done;
}

entry_order order_of(const command_line& line) {
  const auto text = line.text(sort_flag);
  if (text == "name") return entry_order::name;
  if (text == "priority") return entry_order::priority;
  return text == "recency" ? entry_order::recency : entry_order::as_listed;
}

/// All at once, for what cannot be shown one by one.
result<std::vector<resource>> all_wanted(const task& what, bool all_below) {
  progress_line shown(what.shown.shows_errors && !what.line.has(quiet_flag), progress_line::unit::entries, what.shown.width);
  std::vector<resource> out;
  auto done = each_wanted(what, all_below, [&](resource one) {
    out.push_back(std::move(one));
    shown.advance(1);
    return out.size() < most_entries;
  });
  if (!done) return tl::unexpected(std::move(done.error()));
  if (out.size() == most_entries)
    return fail(errc::response_too_large, "there are a million entries or more; ask for less with a URI or --filter");
  return out;
}

int print_as_json(const std::vector<resource>& entries) {
  std::string text;
  json::writer to(text);
  to.begin_object().key("resources").begin_array();
  for (const auto& one : entries) write_entry(to, one);
  to.end_array().end_object();
  print(visible_json(text) + '\n');
  return exit_ok;
}

/// Deeper folders are shown as one name: a drawing is for people, and servers name what they like.
constexpr std::size_t deepest = 64;

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

struct branch {
  std::map<std::string, std::unique_ptr<branch>> below;
  const resource* entry = nullptr;
};

/// Escapes decoded, unless that would make a slash that is none.
std::string shown_name(const std::string& label) {
  auto decoded = percent_decode(label);
  const bool is_same =
      decoded && std::count(decoded->begin(), decoded->end(), '/') == std::count(label.begin(), label.end(), '/');
  return visible(is_same ? *decoded : label);
}

void draw(const branch& of, const std::string& before, std::string& into) {
  std::size_t left = of.below.size();
  for (const auto& [name, one] : of.below) {
    const bool is_last = --left == 0;
    auto label = name;
    const branch* at = one.get();
    // Folders with nothing but one folder in them share a line.
    while (at->entry == nullptr && at->below.size() == 1) {
      label += '/' + at->below.begin()->first;
      at = at->below.begin()->second.get();
    }
    into += before + (is_last ? "└── " : "├── ") + shown_name(label);
    if (!at->below.empty()) into += '/';
    if (at->entry != nullptr && !at->entry->title.empty() && at->entry->title != at->entry->name)
      into += "  " + visible(at->entry->title);
    into += '\n';
    draw(*at, before + (is_last ? "    " : "│   "), into);
  }
}

}  // namespace

int list_resources(const task& what) {
  const bool is_long = what.line.has(long_flag);
  const bool is_table = what.shown.shows_output;
  const auto order = order_of(what.line);
  const bool as_json = what.line.has(json_flag);
  if (!is_table && !as_json && order == entry_order::as_listed) {
    auto done = each_wanted(what, false, [is_long](const resource& one) {
      print(line_of(one, is_long));
      return !output_is_gone();
    });
    return done ? exit_ok : what.with.explain(done.error());
  }
  auto entries = all_wanted(what, false);
  if (!entries) return what.with.explain(entries.error());
  sort_entries(*entries, order);
  if (as_json) return print_as_json(*entries);
  if (is_table) {
    print(table_of(*entries, is_long, what.shown));
  } else {
    for (const auto& one : *entries) print(line_of(one, is_long));
  }
  return exit_ok;
}

int show_tree(const task& what) {
  auto entries = all_wanted(what, true);
  if (!entries) return what.with.explain(entries.error());
  if (what.line.has(json_flag)) return print_as_json(*entries);
  branch root;
  for (const auto& one : *entries) {
    auto* at = &root;
    for (auto& segment : segments_of(one.uri)) {
      auto& next = at->below[std::move(segment)];
      if (!next) next = std::make_unique<branch>();
      at = next.get();
    }
    at->entry = &one;
  }
  std::string text;
  for (const auto& [name, one] : root.below) {
    auto label = name;
    const branch* at = one.get();
    while (at->entry == nullptr && at->below.size() == 1) {
      label += '/' + at->below.begin()->first;
      at = at->below.begin()->second.get();
    }
    text += shown_name(label) + '\n';
    draw(*at, "", text);
  }
  print(text);
  return exit_ok;
}

int list_templates(const task& what) {
  auto all = what.with.server().templates(what.with.how()).all();
  if (!all) return what.with.explain(all.error());
  if (what.line.has(json_flag)) {
    std::string text;
    json::writer to(text);
    to.begin_object().key("resourceTemplates").begin_array();
    for (const auto& one : *all) write_entry(to, one);
    to.end_array().end_object();
    print(visible_json(text) + '\n');
    return exit_ok;
  }
  if (!what.shown.shows_output) {
    for (const auto& one : *all)
      print(visible(one.uriTemplate) + '\t' + visible(one.name) + '\t' + visible(one.description) + '\n');
    return exit_ok;
  }
  std::vector<std::vector<std::string>> rows;
  for (const auto& one : *all)
    rows.push_back({visible(one.uriTemplate), visible(one.title.empty() ? one.name : one.title), visible(one.description)});
  print(fit_table({{"TEMPLATE"}, {"NAME"}, {"DESCRIPTION", column::alignment::left, column::cutting::at_end}}, rows,
                  what.shown.width, what.shown.in_colour)
            .text);
  return exit_ok;
}

}  // namespace hondana::cli

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
#include "app/cli/terminal/terminal_info.hpp"
#include "app/cli/verbs/commands.hpp"
#include "app/cli/verbs/entry_output.hpp"
#include "app/cli/verbs/typed_words.hpp"

namespace hondana::cli {

/// Receives an entry; returns false to stop.
using entry_visitor = std::function<bool(resource)>;

/// Calls `visitor` for every entry that the command line selects. With a URI: the children if it is a folder and not
/// `is_recursive`; otherwise all entries at or below it. Errors: those of the lists; resource_not_found if there is no entry,
/// before filters.
[[nodiscard]] result<void> visit_entries(const command_context& context, bool is_recursive, const entry_visitor& visitor);

/// Collects the entries of `visit_entries` with a progress line, for output that needs all of them. Errors: also
/// response_too_large.
[[nodiscard]] result<std::vector<resource>> collect_entries(const command_context& context, bool is_recursive);

namespace {

constexpr std::size_t max_entries = 1'000'000;

bool is_not_folder_error(const failure& error) {
  return error.code == errc::unsupported || error.code == errc::resource_not_found || error.code == errc::invalid_argument ||
         error.code == errc::server_error;
}

/// Calls `visitor` for each entry of one list until it returns false. Errors: those of the list.
result<void> visit_list(paged_range<resource> list, const entry_visitor& visitor) {
  for (const auto& entry : list) {
    if (!entry) return tl::unexpected(entry.error());
    if (!visitor(*entry)) return {};
  }
  return {};
}

/// The filter from the flags `--audience`, `--min-priority` and `--filter`.
entry_filter parse_filter(const command_line& line) {
  entry_filter out;
  if (const auto text = line.text(audience_flag); !text.empty())
    out.audience = text == "user" ? chat_role::user : chat_role::assistant;
  out.min_priority = line.number(min_priority_flag);
  const auto text = line.text(filter_flag);
  if (text.find_first_of("*?[") == std::string::npos) {
    if (!text.empty()) out.text = text;
  } else {
    out.uri_pattern = text.find("://") == std::string::npos ? "**/" + text : text;
  }
  return out;
}

}  // namespace

result<void> visit_entries(const command_context& context, bool is_recursive, const entry_visitor& visitor) {
  auto& client = context.connection.mcp_client();
  const auto filter = parse_filter(context.line);
  auto below = context.connection.file_uri();
  if (!context.line.word(0).empty()) {
    const auto word = context.line.word(0);
    if ((word.starts_with("http://") || word.starts_with("https://")) && !context.line.has(on_flag) &&
        context.line.server_command().empty())
      return fail(errc::invalid_argument, "Name a server with --on. Did you mean 'hondana " +
                                              std::string(context.line.entry().name) + " --on " + word + "'?");
    auto uri = context.connection.resolve_uri(word);
    if (uri) uri = to_listed_uri(client.server(), *uri);
    if (!uri) return tl::unexpected(std::move(uri.error()));
    below = std::move(*uri);
    if (!is_recursive && client.server().has_folders) {
      bool has_entries = false;
      auto status = visit_list(client.children(below, context.connection.make_call_options()), [&](resource entry) {
        has_entries = true;
        return !matches_filter(entry, filter) || visitor(std::move(entry));
      });
      if (status || has_entries || !is_not_folder_error(status.error())) return status;
    }
  }
  auto request_filter = filter;
  // Only servers with the versioned-resources extension filter by prefix and list canonical URIs.
  if (client.server().has_versions && !below.empty()) request_filter.uri_prefix = below;
  const auto canonical = canonical_uri(below).value_or(below);
  bool has_match = below.empty();
  auto status = visit_list(client.resources(request_filter, context.connection.make_call_options()), [&](resource entry) {
    // A prefix of characters also matches URIs that do not lie below it.
    if (!below.empty() && !uri_covers(below, entry.uri) && !uri_covers(canonical, entry.uri)) return true;
    has_match = true;
    return visitor(std::move(entry));
  });
  if (status && !has_match && filter == entry_filter{})
    return tl::unexpected(
        explain_uri_error(below, {errc::resource_not_found, "the server lists no resources at or below " + below, {}}));
  return status;
}

result<std::vector<resource>> collect_entries(const command_context& context, bool is_recursive) {
  progress_line progress(context.terminal.is_stderr_tty && !context.line.has(quiet_flag), progress_line::unit::entries,
                         context.terminal.width);
  std::vector<resource> out;
  auto status = visit_entries(context, is_recursive, [&](resource entry) {
    out.push_back(std::move(entry));
    progress.advance(1);
    return out.size() < max_entries;
  });
  if (!status) return tl::unexpected(std::move(status.error()));
  if (out.size() == max_entries)
    return fail(errc::response_too_large, "the list has a million entries or more; narrow it with a URI or --filter");
  return out;
}

namespace {

entry_order parse_order(const command_line& line) {
  const auto text = line.text(sort_flag);
  if (text == "name") return entry_order::name;
  if (text == "priority") return entry_order::priority;
  return text == "recency" ? entry_order::recency : entry_order::as_listed;
}

}  // namespace

int list_resources(const command_context& context) {
  const bool is_long = context.line.has(long_flag);
  const bool is_table = context.terminal.is_stdout_tty;
  const auto order = parse_order(context.line);
  const bool as_json = context.line.has(json_flag);
  if (!is_table && !as_json && order == entry_order::as_listed) {
    auto status = visit_entries(context, false, [is_long](const resource& entry) {
      print(format_line(entry, is_long));
      return !is_output_closed();
    });
    return status ? exit_ok : context.connection.report_failure(status.error());
  }
  auto entries = collect_entries(context, false);
  if (!entries) return context.connection.report_failure(entries.error());
  sort_entries(*entries, order);
  if (as_json) {
    print_list("resources", *entries, [](json::writer& writer, const resource& entry) { write_entry(writer, entry); });
  } else if (entries->empty()) {
    report_empty(context, "nothing is listed");
  } else if (is_table) {
    print(format_table(*entries, is_long, context.terminal));
  } else {
    for (const auto& entry : *entries) print(format_line(entry, is_long));
  }
  return exit_ok;
}

int list_templates(const command_context& context) {
  auto templates = context.connection.mcp_client().templates(context.connection.make_call_options()).collect();
  if (!templates) return context.connection.report_failure(templates.error());
  if (context.line.has(json_flag)) {
    print_list("resourceTemplates", *templates,
               [](json::writer& writer, const resource_template& entry) { write_entry(writer, entry); });
    return exit_ok;
  }
  if (templates->empty()) {
    report_empty(context, "the server has no templates");
    return exit_ok;
  }
  if (!context.terminal.is_stdout_tty) {
    for (const auto& entry : *templates)
      print(sanitize(entry.uri_template) + '\t' + sanitize_line(entry.name) + '\t' + sanitize_line(entry.description) + '\n');
    return exit_ok;
  }
  std::vector<std::vector<std::string>> rows;
  for (const auto& entry : *templates)
    rows.push_back({sanitize(entry.uri_template), sanitize(entry.name),
                    sanitize_line(entry.title == entry.name ? std::string() : entry.title), sanitize_line(entry.description)});
  using enum column::alignment;
  using enum column::truncation;
  print(fit_table({{"TEMPLATE"}, {"NAME"}, {"TITLE", left, at_end}, {"DESCRIPTION", left, at_end}}, rows,
                  context.terminal.width, context.terminal.has_colour)
            .text);
  return exit_ok;
}

namespace {

/// Deeper folders are printed as one name. Drawing is recursive, and servers choose the URIs.
constexpr std::size_t max_depth = 64;

struct tree_node {
  std::map<std::string, std::unique_ptr<tree_node>> children;
  const resource* entry = nullptr;
};

/// The path segments of a URI. The scheme and authority together are the first one.
std::vector<std::string> split_segments(const std::string& uri) {
  const auto colon = uri.find("://");
  auto start = colon == std::string::npos ? std::string::npos : uri.find('/', colon + 3);
  std::vector<std::string> out{uri.substr(0, start)};
  while (start != std::string::npos) {
    const auto end = out.size() < max_depth ? uri.find('/', start + 1) : std::string::npos;
    out.push_back(uri.substr(start + 1, end == std::string::npos ? end : end - start - 1));
    start = end;
  }
  return out;
}

tree_node build_tree(const std::vector<resource>& entries) {
  tree_node root;
  for (const auto& entry : entries) {
    auto* node = &root;
    for (auto& segment : split_segments(entry.uri)) {
      auto& next = node->children[std::move(segment)];
      if (!next) next = std::make_unique<tree_node>();
      node = next.get();
    }
    node->entry = &entry;
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

/// Calls `visitor(name, child, is_last)` for each direct child. Folders whose only content is one folder are joined into one
/// name.
template <class Visitor>
void for_each_child(const tree_node& parent, const Visitor& visitor) {
  std::size_t left = parent.children.size();
  for (const auto& [name, child] : parent.children) {
    auto label = name;
    const tree_node* node = child.get();
    while (node->entry == nullptr && node->children.size() == 1) {
      label += '/' + node->children.begin()->first;
      node = node->children.begin()->second.get();
    }
    visitor(decoded_name(label), *node, --left == 0);
  }
}

void draw(const tree_node& node, const std::string& indent, std::string& out) {
  for_each_child(node, [&](const std::string& name, const tree_node& child, bool is_last) {
    out += indent + (is_last ? "└── " : "├── ") + sanitize(name);
    if (!child.children.empty()) out += '/';
    if (child.entry != nullptr && !child.entry->title.empty() && child.entry->title != child.entry->name)
      out += "  " + sanitize(child.entry->title);
    out += '\n';
    draw(child, indent + (is_last ? "    " : "│   "), out);
  });
}

void write_children(json::writer& writer, const tree_node& node) {
  writer.begin_array();
  for_each_child(node, [&](const std::string& name, const tree_node& child, bool) {
    writer.begin_object().member("name", name);
    if (child.entry != nullptr) writer.member("uri", child.entry->uri).member_if("title", child.entry->title);
    writer.key("children");
    write_children(writer, child);
    writer.end_object();
  });
  writer.end_array();
}

}  // namespace

int show_tree(const command_context& context) {
  const auto entries = collect_entries(context, true);
  if (!entries) return context.connection.report_failure(entries.error());
  const auto root = build_tree(*entries);
  std::string text;
  if (context.line.has(json_flag)) {
    json::writer writer(text);
    writer.begin_object().key("tree");
    write_children(writer, root);
    writer.end_object();
    print_json(text);
    return exit_ok;
  }
  if (entries->empty()) report_empty(context, "nothing is listed");
  for_each_child(root, [&text](const std::string& name, const tree_node& child, bool) {
    text += sanitize(name) + '\n';
    draw(child, "", text);
  });
  print(text);
  return exit_ok;
}

}  // namespace hondana::cli

/// Help of the program and of each command, and the manual page hondana(1).
#include "app/cli/flags/help.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include "app/cli/exit_codes.hpp"
#include "app/cli/flags/command_table.hpp"

namespace hondana::cli {
namespace {

constexpr std::array common_command_terms{
    topic::term{"hondana serve [PATH...]", "serve folders on http://127.0.0.1:7325/mcp"},
    topic::term{"hondana ls [URI] --on TARGET", "list the resources of any MCP server"},
    topic::term{"hondana read URI --on TARGET", "print a resource; -o FILE writes it to a file"},
};
constexpr std::array target_kinds{
    topic::term{"https://HOST/PATH", "a server behind a URL, http or https"},
    topic::term{"unix:/PATH", "a server on a Unix socket, at /mcp"},
    topic::term{"NAME", "a [[source]] of type \"mcp\" in the configuration file"},
    topic::term{"FOLDER or FILE", "served by this process; write ./NAME if NAME is also a configured name"},
    topic::term{"-- COMMAND ARGS", "instead of --on: a server program on standard input and output"},
};
constexpr std::array variables{
    topic::term{"NO_COLOR", "If it is not empty, output has no colours. Only terminals get colours."},
    topic::term{"XDG_CONFIG_HOME", "The folder of hondana/config.toml and hondana/tokens (default ~/.config)."},
    topic::term{"XDG_DATA_HOME", "The folder of hondana/credentials.json (default ~/.local/share)."},
    topic::term{"BROWSER", "The browser for hondana login, a name or path (default xdg-open)."},
    topic::term{"DISPLAY, WAYLAND_DISPLAY", "If neither is set, hondana login prints the address to visit."},
    topic::term{"HONDANA_GDRIVE_CREDENTIALS, GOOGLE_APPLICATION_CREDENTIALS",
                "Credentials for Google Drive sources that name none: the JSON itself, or the path of its file."},
    topic::term{"http_proxy, https_proxy, no_proxy", "Proxies for targets behind URLs, as curl reads them."},
};
constexpr std::array files{
    topic::term{"~/.config/hondana/config.toml", "The names for --on. hondana config import --write adds to it."},
    topic::term{"~/.config/hondana/tokens", "Hashes of the tokens that hondana token creates (mode 0600)."},
    topic::term{"~/.local/share/hondana/credentials.json",
                "Logins (mode 0600), or a note of which are in the desktop's keyring."},
};

}  // namespace

constexpr std::string_view program_summary =
    "hondana serves folders as Model Context Protocol resources, and reads the resources of any server.";

const topic& common_commands() {
  static constexpr topic commands_topic{"", "", common_command_terms};
  return commands_topic;
}

const topic& targets() {
  static constexpr topic target_topic{"Targets", "Default: this process serves the current folder itself.", target_kinds};
  return target_topic;
}

std::span<const topic> environment_topics() {
  static constexpr std::array topics{topic{"Environment", "", variables}, topic{"Files", "", files}};
  return topics;
}

namespace {

constexpr std::size_t max_help_width = 100;
constexpr std::size_t max_left_width = 32;

using row_list = std::vector<std::pair<std::string, std::string>>;

/// Wraps one paragraph into lines of at most `max_help_width` characters. Lines after the first are indented by `indent`
/// spaces.
std::string wrap_text(std::string_view text, std::size_t indent) {
  std::string out;
  std::size_t used = indent;
  while (!text.empty()) {
    const auto word = text.substr(0, text.find(' '));
    if (used > indent && used + 1 + word.size() > max_help_width) {
      out += '\n' + std::string(indent, ' ');
      used = indent;
    } else if (used > indent) {
      out += ' ';
      ++used;
    }
    out += word;
    used += word.size();
    text.remove_prefix(std::min(text.size(), word.size() + 1));
  }
  return out;
}

std::string wrap_paragraphs(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const auto end = std::min(text.find("\n\n"), text.size());
    out += '\n' + wrap_text(text.substr(0, end), 0) + '\n';
    text.remove_prefix(std::min(end + 2, text.size()));
  }
  return out;
}

/// Formats two columns. A left cell that is too wide takes a line of its own.
std::string format_columns(const row_list& rows) {
  std::size_t left = 0;
  for (const auto& [name, meaning] : rows) left = std::max(left, std::min(name.size(), max_left_width));
  std::string out;
  for (const auto& [name, meaning] : rows) {
    out += "  " + name;
    out += name.size() > left ? '\n' + std::string(left + 4, ' ') : std::string(left + 2 - name.size(), ' ');
    out += wrap_text(meaning, left + 4) + '\n';
  }
  return out;
}

row_list topic_rows(const topic& topic) {
  row_list rows;
  for (const auto& [name, meaning] : topic.terms) rows.emplace_back(name, meaning);
  return rows;
}

row_list flag_rows(std::span<const flag* const> flags) {
  row_list rows;
  for (const auto* flag : flags) {
    rows.emplace_back(flag_synopsis(*flag), std::string(flag->help) + (flag->is_repeatable ? "; may be repeated" : ""));
  }
  return rows;
}

/// The exit codes that describe the result of a command. The manual page has all of them.
std::string exit_codes_line() {
  std::string text;
  for (const auto& [code, meaning] : exit_code_table) {
    if (code > exit_server) continue;
    text += (text.empty() ? "" : ", ") + std::to_string(code) + ' ' + std::string(meaning);
  }
  return wrap_text("Exit codes: " + text + '.', 0) + '\n';
}

}  // namespace

std::string flag_synopsis(const flag& flag) {
  std::string text = flag.letter != 0 ? std::string("-") + flag.letter + ", " : "    ";
  text += "--" + std::string(flag.name);
  if (!flag.value.empty()) text += ' ' + std::string(flag.value);
  return text;
}

std::string synopsis(const command_entry& entry) {
  std::string text = "hondana " + std::string(entry.name) + " [OPTIONS]";
  for (const auto& argument : entry.arguments) {
    const auto name = std::string(argument.name) + (argument.is_repeatable ? "..." : "");
    text += argument.is_required ? ' ' + name : " [" + name + ']';
  }
  if (entry.accepts_server) text += " [--on TARGET | -- COMMAND ARGS...]";
  return text;
}

std::string command_help(const command_entry& entry) {
  std::string text = std::string(entry.summary) + ".\n\nUsage: " + synopsis(entry) + '\n';
  text += wrap_paragraphs(entry.details);
  if (!entry.arguments.empty()) {
    row_list rows;
    for (const auto& argument : entry.arguments) rows.emplace_back(argument.name, argument.help);
    text += '\n' + format_columns(rows);
  }
  auto options = flag_rows(entry.flags);
  if (entry.group == nullptr) options.emplace_back(flag_synopsis(help_flag), help_flag.help);
  if (!options.empty()) text += "\nOptions\n" + format_columns(options);
  if (entry.group != nullptr) {
    auto shared = flag_rows(entry.group->flags);
    shared.emplace_back(flag_synopsis(help_flag), help_flag.help);
    text += '\n' + std::string(entry.group->title) + '\n' + format_columns(shared);
  }
  if (!entry.examples.empty()) {
    text += "\nExamples\n";
    for (const auto& [line, meaning] : entry.examples)
      text += "  " + std::string(line) + "\n      " + std::string(meaning) + '\n';
  }
  if (entry.accepts_server) text += '\n' + exit_codes_line();
  return text;
}

std::string group_help(std::string_view word) {
  std::vector<const command_entry*> entries;
  for (const auto* command : commands())
    if (command->name.starts_with(std::string(word) + ' ')) entries.push_back(command);
  if (entries.size() < 2) return {};
  const auto has_flag = [](const command_entry& entry, const flag& target) {
    bool has_match = false;
    for_each_flag(entry, [&](const flag& candidate) { has_match = has_match || &candidate == &target; });
    return has_match;
  };
  const auto is_shared = [&](const flag& target) {
    return std::all_of(entries.begin(), entries.end(), [&](const auto* entry) { return has_flag(*entry, target); });
  };
  std::string text = "Usage: hondana " + std::string(word) + " COMMAND [OPTIONS]\n";
  std::vector<const flag*> shared;
  for_each_flag(*entries.front(), [&](const flag& flag) {
    if (is_shared(flag)) shared.push_back(&flag);
  });
  for (const auto* entry : entries) {
    text += '\n' + synopsis(*entry) + "\n    " + wrap_text(std::string(entry->summary) + '.', 4) + '\n';
    row_list rows;
    for (const auto& argument : entry->arguments) rows.emplace_back(argument.name, argument.help);
    std::vector<const flag*> flags;
    for_each_flag(*entry, [&](const flag& flag) {
      if (!is_shared(flag)) flags.push_back(&flag);
    });
    for (auto& row : flag_rows(flags)) rows.push_back(std::move(row));
    text += format_columns(rows);
  }
  text += "\nOptions of all\n" + format_columns(flag_rows(shared));
  return text + "\n'hondana " + std::string(word) + " COMMAND --help' describes one.\n";
}

std::string program_help() {
  std::string text = std::string(program_summary) + "\n\n" + format_columns(topic_rows(common_commands()));
  text += "\nUsage: hondana COMMAND [OPTIONS] [ARGUMENTS]; 'hondana COMMAND --help' describes a command.\n";
  std::string_view section;
  row_list rows;
  const auto finish = [&] {
    if (!rows.empty()) text += '\n' + std::string(section) + '\n' + format_columns(std::exchange(rows, {}));
  };
  for (const auto* entry : commands()) {
    if (entry->section.empty()) continue;
    if (entry->section != section) finish();
    section = entry->section;
    // "token new, ls, revoke" is one row, with the summary of the first.
    const auto space = entry->name.find(' ');
    if (space != std::string_view::npos && !rows.empty() && rows.back().first.starts_with(entry->name.substr(0, space + 1))) {
      rows.back().first += ", " + std::string(entry->name.substr(space + 1));
    } else {
      rows.emplace_back(entry->name, entry->summary);
    }
  }
  finish();
  text +=
      '\n' + std::string(targets().title) + "  (TARGET; default: the current folder)\n" + format_columns(topic_rows(targets()));
  return text + '\n' + exit_codes_line();
}

namespace {

/// The help of a flag with its choices and details, as whole sentences.
std::string flag_meaning(const flag& flag) {
  std::string meaning(flag.help);
  if (flag.is_repeatable) meaning += "; may be repeated";
  meaning += '.';
  if (!flag.choices.empty()) {
    meaning += " One of";
    for (const auto choice : flag.choices) meaning += ' ' + std::string(choice) + (choice == flag.choices.back() ? "." : ",");
  }
  if (!flag.details.empty()) meaning += ' ' + std::string(flag.details);
  return meaning;
}

/// The groups of flags that commands share, in the order of the commands, each once.
std::vector<const flag_group*> flag_groups() {
  std::vector<const flag_group*> groups;
  for (const auto* entry : commands()) {
    if (entry->group != nullptr && std::find(groups.begin(), groups.end(), entry->group) == groups.end())
      groups.push_back(entry->group);
  }
  return groups;
}

/// Escapes text for the manual page: characters that roff would read as a request or an escape.
std::string escape_roff(std::string_view text) {
  std::string out;
  bool begins_line = true;
  for (const char c : text) {
    if (begins_line && (c == '.' || c == '\'')) out += "\\&";
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else if (c == '~') {
      out += "\\(ti";
    } else if (c == '\'') {
      out += "\\(aq";
    } else {
      out += c;
    }
    begins_line = c == '\n';
  }
  return out;
}

std::string bold(std::string_view text) { return "\\fB" + escape_roff(text) + "\\fR"; }

/// A term in bold and its meaning, in roff.
std::string format_term(std::string_view term, std::string_view meaning) {
  return ".TP\n" + bold(term) + '\n' + escape_roff(meaning) + '\n';
}

std::string format_paragraphs(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const auto end = text.find("\n\n");
    out += ".PP\n" + escape_roff(text.substr(0, end)) + '\n';
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 2);
  }
  return out;
}

std::string format_flag(const flag& flag) {
  std::string term;
  if (flag.letter != 0) term = bold(std::string("-") + flag.letter) + ", ";
  term += bold("--" + std::string(flag.name));
  if (!flag.value.empty()) term += " \\fI" + escape_roff(flag.value) + "\\fR";
  return ".TP\n" + term + '\n' + escape_roff(flag_meaning(flag)) + '\n';
}

std::string to_upper(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return out;
}

std::string format_command(const command_entry& entry) {
  std::string text =
      ".SS " + escape_roff(synopsis(entry)) + '\n' + escape_roff(entry.summary) + ".\n" + format_paragraphs(entry.details);
  for (const auto& word : entry.arguments) text += format_term(word.name, std::string(word.help) + '.');
  for (const auto* flag : entry.flags) text += format_flag(*flag);
  if (entry.group != nullptr) text += ".PP\nAnd the options below " + bold(to_upper(entry.group->title)) + ".\n";
  for (const auto& [line, meaning] : entry.examples) {
    text += ".PP\n" + escape_roff(meaning) + ":\n.PP\n.nf\n.RS 4\n" + escape_roff(line) + "\n.RE\n.fi\n";
  }
  return text;
}

std::string format_topic(const topic& topic) {
  std::string text = ".SH " + escape_roff(to_upper(topic.title)) + '\n';
  if (!topic.lead.empty()) text += escape_roff(topic.lead) + '\n';
  for (const auto& [name, meaning] : topic.terms) text += format_term(name, meaning);
  return text;
}

}  // namespace

std::string manual_page() {
  std::string text = ".TH HONDANA 1 \"\" \"hondana " HONDANA_VERSION "\" \"User Commands\"\n";
  text += ".SH NAME\nhondana \\- serve and read resources of the Model Context Protocol\n";
  text += ".SH SYNOPSIS\n" + bold("hondana") + " \\fICOMMAND\\fR [\\fIOPTIONS\\fR] [\\fIARGUMENTS\\fR]\n";
  text += ".SH DESCRIPTION\n" + escape_roff(program_summary) + "\nThese three commands are used most:\n";
  for (const auto& [name, meaning] : common_commands().terms) text += format_term(name, meaning);
  text += ".SH COMMANDS\n";
  for (const auto* command : commands()) text += format_command(*command);
  for (const auto* group : flag_groups()) {
    text += ".SH " + escape_roff(to_upper(group->title)) + '\n';
    for (const auto* flag : group->flags) text += format_flag(*flag);
  }
  text += ".SH OPTIONS OF EVERY COMMAND\n" + format_flag(help_flag);
  text += ".SH OPTIONS INSTEAD OF A COMMAND\n" + format_flag(version_flag);
  text += format_topic(targets());
  text += ".SH EXIT STATUS\n";
  for (const auto& [code, meaning] : exit_code_table) text += format_term(std::to_string(code), std::string(meaning) + '.');
  for (const auto& topic : environment_topics()) text += format_topic(topic);
  return text + ".SH SEE ALSO\n" +
         escape_roff(
             "https://modelcontextprotocol.io, /usr/share/doc/hondana/cli.md, /usr/share/doc/hondana/authorization-setup.md") +
         '\n';
}

namespace {

/// Escapes text for a cell of a Markdown table.
std::string markdown_cell(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '|' || c == '*' || c == '_' || c == '<' || c == '[') out += '\\';
    out += c;
  }
  return out;
}

/// The anchor that Markdown gives a heading: "What is served" has the anchor "what-is-served".
std::string anchor(std::string_view heading) {
  std::string out;
  for (const char c : heading) out += c == ' ' ? '-' : c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return out;
}

/// A row of a Markdown table with a term as code and its meaning.
std::string markdown_row(std::string_view term, std::string_view meaning) {
  return "| `" + std::string(term) + "` | " + markdown_cell(meaning) + " |\n";
}

std::string markdown_table_head(std::string_view first) {
  return '\n' + ("| " + std::string(first)) + " | Meaning |\n| --- | --- |\n";
}

std::string markdown_flags(std::span<const flag* const> flags) {
  if (flags.empty()) return {};
  auto text = markdown_table_head("Option");
  for (const auto* flag : flags) {
    auto term = flag_synopsis(*flag);
    term.erase(0, term.find_first_not_of(' '));
    text += markdown_row(term, flag_meaning(*flag));
  }
  return text;
}

std::string markdown_command(const command_entry& entry) {
  auto text =
      "\n### `" + std::string(entry.name) + "`\n\n```\n" + synopsis(entry) + "\n```\n\n" + markdown_cell(entry.summary) + ".\n";
  if (!entry.details.empty()) text += '\n' + markdown_cell(entry.details) + '\n';
  if (!entry.arguments.empty()) {
    text += markdown_table_head("Argument");
    for (const auto& argument : entry.arguments) text += markdown_row(argument.name, std::string(argument.help) + '.');
  }
  text += markdown_flags(entry.flags);
  if (entry.group != nullptr)
    text += "\nAlso the options of [" + std::string(entry.group->title) + "](#" + anchor(entry.group->title) + ").\n";
  if (!entry.examples.empty()) text += markdown_table_head("Example");
  for (const auto& [line, meaning] : entry.examples) text += markdown_row(line, std::string(meaning) + '.');
  return text;
}

std::string markdown_topic(const topic& topic, std::string_view head) {
  auto text = "\n## " + std::string(topic.title) + '\n';
  if (!topic.lead.empty()) text += '\n' + std::string(topic.lead) + '\n';
  text += markdown_table_head(head);
  for (const auto& [name, meaning] : topic.terms) text += markdown_row(name, meaning);
  return text;
}

}  // namespace

std::string markdown_reference() {
  std::string text =
      "# Commands and options\n\nAll commands of hondana, with their arguments and options. [cli.md](cli.md) shows how to use "
      "them. This "
      "page is the output of `hondana help --markdown`.\n";
  std::string_view section;
  for (const auto* entry : commands()) {
    if (entry->section.empty()) continue;
    if (entry->section != section) text += "\n## " + std::string(entry->section) + '\n';
    section = entry->section;
    text += markdown_command(*entry);
  }
  for (const auto* group : flag_groups()) text += "\n## " + std::string(group->title) + '\n' + markdown_flags(group->flags);
  text += "\n## Options of every command\n" + markdown_flags(std::array{&help_flag});
  text += "\n## Options instead of a command\n" + markdown_flags(std::array{&version_flag});
  text += markdown_topic(targets(), "Target");
  text += "\n## Exit codes\n" + markdown_table_head("Code");
  for (const auto& [code, meaning] : exit_code_table) text += markdown_row(std::to_string(code), std::string(meaning) + '.');
  for (const auto& topic : environment_topics()) text += markdown_topic(topic, "Name");
  return text;
}

}  // namespace hondana::cli

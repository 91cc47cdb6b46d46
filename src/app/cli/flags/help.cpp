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

constexpr std::array first_three{
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

const topic& first_commands() {
  static constexpr topic three{"", "", first_three};
  return three;
}

const topic& targets() {
  static constexpr topic all{"Targets", "Default: this process serves the current folder itself.", target_kinds};
  return all;
}

std::span<const topic> surroundings() {
  static constexpr std::array all{topic{"Environment", "", variables}, topic{"Files", "", files}};
  return all;
}

namespace {

constexpr std::size_t widest_help = 100;
constexpr std::size_t widest_left = 32;

using rows = std::vector<std::pair<std::string, std::string>>;

/// Wraps one paragraph into lines of at most `widest_help` characters. Lines after the first are indented by `indent` spaces.
std::string in_lines(std::string_view text, std::size_t indent) {
  std::string out;
  std::size_t used = indent;
  while (!text.empty()) {
    const auto word = text.substr(0, text.find(' '));
    if (used > indent && used + 1 + word.size() > widest_help) {
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

std::string in_paragraphs(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const auto end = std::min(text.find("\n\n"), text.size());
    out += '\n' + in_lines(text.substr(0, end), 0) + '\n';
    text.remove_prefix(std::min(end + 2, text.size()));
  }
  return out;
}

/// Formats two columns. A left cell that is too wide takes a line of its own.
std::string in_columns(const rows& all) {
  std::size_t left = 0;
  for (const auto& [name, meaning] : all) left = std::max(left, std::min(name.size(), widest_left));
  std::string out;
  for (const auto& [name, meaning] : all) {
    out += "  " + name;
    out += name.size() > left ? '\n' + std::string(left + 4, ' ') : std::string(left + 2 - name.size(), ' ');
    out += in_lines(meaning, left + 4) + '\n';
  }
  return out;
}

rows terms_of(const topic& of) {
  rows all;
  for (const auto& [name, meaning] : of.terms) all.emplace_back(name, meaning);
  return all;
}

rows rows_of(std::span<const flag* const> flags) {
  rows all;
  for (const auto* one : flags) {
    all.emplace_back(spelling(*one), std::string(one->help) + (one->is_repeatable ? "; may be repeated" : ""));
  }
  return all;
}

/// The exit codes that describe the result of a command. The manual page has all of them.
std::string exit_codes_line() {
  std::string text;
  for (const auto& [code, meaning] : exit_code_table) {
    if (code > exit_server) continue;
    text += (text.empty() ? "" : ", ") + std::to_string(code) + ' ' + std::string(meaning);
  }
  return in_lines("Exit codes: " + text + '.', 0) + '\n';
}

}  // namespace

std::string spelling(const flag& of) {
  std::string text = of.letter != 0 ? std::string("-") + of.letter + ", " : "    ";
  text += "--" + std::string(of.name);
  if (!of.value.empty()) text += ' ' + std::string(of.value);
  return text;
}

std::string synopsis(const command_entry& of) {
  std::string text = "hondana " + std::string(of.name) + " [OPTIONS]";
  for (const auto& one : of.arguments) {
    const auto name = std::string(one.name) + (one.is_repeatable ? "..." : "");
    text += one.is_required ? ' ' + name : " [" + name + ']';
  }
  if (of.takes_server) text += " [--on TARGET | -- COMMAND ARGS...]";
  return text;
}

std::string command_help(const command_entry& of) {
  std::string text = std::string(of.summary) + ".\n\nUsage: " + synopsis(of) + '\n';
  text += in_paragraphs(of.details);
  if (!of.arguments.empty()) {
    rows all;
    for (const auto& one : of.arguments) all.emplace_back(one.name, one.help);
    text += '\n' + in_columns(all);
  }
  auto own = rows_of(of.flags);
  if (of.group == nullptr) own.emplace_back(spelling(help_flag), help_flag.help);
  if (!own.empty()) text += "\nOptions\n" + in_columns(own);
  if (of.group != nullptr) {
    auto shared = rows_of(of.group->flags);
    shared.emplace_back(spelling(help_flag), help_flag.help);
    text += '\n' + std::string(of.group->title) + '\n' + in_columns(shared);
  }
  if (!of.examples.empty()) {
    text += "\nExamples\n";
    for (const auto& [line, meaning] : of.examples) text += "  " + std::string(line) + "\n      " + std::string(meaning) + '\n';
  }
  if (of.takes_server) text += '\n' + exit_codes_line();
  return text;
}

std::string group_help(std::string_view word) {
  std::vector<const command_entry*> all;
  for (const auto* one : commands())
    if (one->name.starts_with(std::string(word) + ' ')) all.push_back(one);
  if (all.size() < 2) return {};
  const auto has = [](const command_entry& of, const flag& which) {
    bool found = false;
    for_each_flag(of, [&](const flag& one) { found = found || &one == &which; });
    return found;
  };
  const auto is_shared = [&](const flag& which) {
    return std::all_of(all.begin(), all.end(), [&](const auto* one) { return has(*one, which); });
  };
  std::string text = "Usage: hondana " + std::string(word) + " COMMAND [OPTIONS]\n";
  std::vector<const flag*> shared;
  for_each_flag(*all.front(), [&](const flag& one) {
    if (is_shared(one)) shared.push_back(&one);
  });
  for (const auto* one : all) {
    text += '\n' + synopsis(*one) + "\n    " + in_lines(std::string(one->summary) + '.', 4) + '\n';
    rows own;
    for (const auto& each : one->arguments) own.emplace_back(each.name, each.help);
    std::vector<const flag*> flags;
    for_each_flag(*one, [&](const flag& each) {
      if (!is_shared(each)) flags.push_back(&each);
    });
    for (auto& each : rows_of(flags)) own.push_back(std::move(each));
    text += in_columns(own);
  }
  text += "\nOptions of all\n" + in_columns(rows_of(shared));
  return text + "\n'hondana " + std::string(word) + " COMMAND --help' describes one.\n";
}

std::string program_help() {
  std::string text = std::string(program_summary) + "\n\n" + in_columns(terms_of(first_commands()));
  text += "\nUsage: hondana COMMAND [OPTIONS] [ARGUMENTS]; 'hondana COMMAND --help' describes a command.\n";
  std::string_view section;
  rows all;
  const auto finish = [&] {
    if (!all.empty()) text += '\n' + std::string(section) + '\n' + in_columns(std::exchange(all, {}));
  };
  for (const auto* one : commands()) {
    if (one->section.empty()) continue;
    if (one->section != section) finish();
    section = one->section;
    // "token new, ls, revoke" is one row, with the summary of the first.
    const auto space = one->name.find(' ');
    if (space != std::string_view::npos && !all.empty() && all.back().first.starts_with(one->name.substr(0, space + 1))) {
      all.back().first += ", " + std::string(one->name.substr(space + 1));
    } else {
      all.emplace_back(one->name, one->summary);
    }
  }
  finish();
  text += '\n' + std::string(targets().title) + "  (TARGET; default: the current folder)\n" + in_columns(terms_of(targets()));
  return text + '\n' + exit_codes_line();
}

namespace {

/// Escapes text for the manual page: characters that roff would read as a request or an escape.
std::string in_roff(std::string_view text) {
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

std::string bold(std::string_view text) { return "\\fB" + in_roff(text) + "\\fR"; }

/// A term in bold and its meaning, in roff.
std::string described(std::string_view term, std::string_view meaning) {
  return ".TP\n" + bold(term) + '\n' + in_roff(meaning) + '\n';
}

std::string paragraphs(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const auto end = text.find("\n\n");
    out += ".PP\n" + in_roff(text.substr(0, end)) + '\n';
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 2);
  }
  return out;
}

std::string flag_entry(const flag& one) {
  std::string term;
  if (one.letter != 0) term = bold(std::string("-") + one.letter) + ", ";
  term += bold("--" + std::string(one.name));
  if (!one.value.empty()) term += " \\fI" + in_roff(one.value) + "\\fR";
  std::string meaning(one.help);
  if (one.is_repeatable) meaning += "; may be repeated";
  meaning += '.';
  if (!one.choices.empty()) {
    meaning += " One of";
    for (const auto choice : one.choices) meaning += ' ' + std::string(choice) + (choice == one.choices.back() ? "." : ",");
  }
  if (!one.details.empty()) meaning += ' ' + std::string(one.details);
  return ".TP\n" + term + '\n' + in_roff(meaning) + '\n';
}

std::string upper(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return out;
}

std::string command_section(const command_entry& one) {
  std::string text = ".SS " + in_roff(synopsis(one)) + '\n' + in_roff(one.summary) + ".\n" + paragraphs(one.details);
  for (const auto& word : one.arguments) text += described(word.name, std::string(word.help) + '.');
  for (const auto* flag : one.flags) text += flag_entry(*flag);
  if (one.group != nullptr) text += ".PP\nAnd the options below " + bold(upper(one.group->title)) + ".\n";
  for (const auto& [line, meaning] : one.examples) {
    text += ".PP\n" + in_roff(meaning) + ":\n.PP\n.nf\n.RS 4\n" + in_roff(line) + "\n.RE\n.fi\n";
  }
  return text;
}

std::string topic_section(const topic& of) {
  std::string text = ".SH " + in_roff(upper(of.title)) + '\n';
  if (!of.lead.empty()) text += in_roff(of.lead) + '\n';
  for (const auto& [name, meaning] : of.terms) text += described(name, meaning);
  return text;
}

}  // namespace

std::string manual_page() {
  std::string text = ".TH HONDANA 1 \"\" \"hondana " HONDANA_VERSION "\" \"User Commands\"\n";
  text += ".SH NAME\nhondana \\- serve and read resources of the Model Context Protocol\n";
  text += ".SH SYNOPSIS\n" + bold("hondana") + " \\fICOMMAND\\fR [\\fIOPTIONS\\fR] [\\fIARGUMENTS\\fR]\n";
  text += ".SH DESCRIPTION\n" + in_roff(program_summary) + "\nThese three commands are used most:\n";
  for (const auto& [name, meaning] : first_commands().terms) text += described(name, meaning);
  text += ".SH COMMANDS\n";
  for (const auto* one : commands()) text += command_section(*one);
  const flag_group* last = nullptr;
  for (const auto* one : commands()) {
    if (one->group == nullptr || one->group == last) continue;
    last = one->group;
    text += ".SH " + in_roff(upper(last->title)) + '\n';
    for (const auto* flag : last->flags) text += flag_entry(*flag);
  }
  text += ".SH OPTIONS OF EVERY COMMAND\n" + flag_entry(help_flag) + flag_entry(version_flag);
  text += topic_section(targets());
  text += ".SH EXIT STATUS\n";
  for (const auto& [code, meaning] : exit_code_table) text += described(std::to_string(code), std::string(meaning) + '.');
  for (const auto& one : surroundings()) text += topic_section(one);
  return text + ".SH SEE ALSO\n" +
         in_roff(
             "https://modelcontextprotocol.io, /usr/share/doc/hondana/cli.md, /usr/share/doc/hondana/authorization-setup.md") +
         '\n';
}

}  // namespace hondana::cli

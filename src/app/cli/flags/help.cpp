/// Help in columns.
#include "app/cli/flags/help.hpp"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "app/cli/exit_codes.hpp"
#include "app/cli/flags/topics.hpp"

namespace hondana::cli {
namespace {

constexpr std::size_t widest_help = 100;
constexpr std::size_t widest_left = 32;

using rows = std::vector<std::pair<std::string, std::string>>;

/// One paragraph in lines of at most `widest_help`, those after the first behind `indent` spaces.
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

/// Two columns; a left one that is too wide stands in a line of its own.
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

/// Those that say how a command went; the manual page has the rest.
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

}  // namespace hondana::cli

/// Writing the manual page from the table.
#include "app/cli/flags/manual.hpp"

#include <string_view>

#include "app/cli/exit_codes.hpp"
#include "app/cli/flags/help.hpp"
#include "app/cli/flags/table.hpp"
#include "app/cli/flags/topics.hpp"

namespace hondana::cli {
namespace {

/// Text of a page: what roff would take for a request or an escape is escaped.
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

/// A term in bold and its meaning.
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

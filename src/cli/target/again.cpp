/// Spelling a target as it was typed.
#include "cli/target/again.hpp"

#include <algorithm>

#include "cli/flags/client_flags.hpp"

namespace hondana::cli {

std::string shell_word(std::string_view word) {
  const auto is_plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("_@%+=:,./-").find(c) != std::string_view::npos;
  };
  if (!word.empty() && std::all_of(word.begin(), word.end(), is_plain)) return std::string(word);
  std::string out = "\"";
  for (const char c : word) {
    if (c == '"' || c == '\\' || c == '$' || c == '`') out += '\\';
    out += c;
  }
  return out + '"';
}

std::string asking_again(const command_line& line, std::string_view command) {
  std::string out = "hondana " + std::string(command);
  if (line.has(names_flag)) out += " --config " + shell_word(line.text(names_flag));
  if (line.has(on_flag)) out += " --on " + shell_word(line.text(on_flag));
  if (!line.server().empty()) out += " --";
  for (const auto& word : line.server()) out += ' ' + shell_word(word);
  return out;
}

}  // namespace hondana::cli

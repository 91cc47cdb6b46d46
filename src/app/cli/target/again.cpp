/// Spelling a target as it was typed.
#include "app/cli/target/again.hpp"

#include "app/cli/flags/client_flags.hpp"
#include "app/cli/shell_word.hpp"

namespace hondana::cli {

std::string asking_again(const command_line& line, std::string_view command) {
  std::string out = "hondana " + std::string(command);
  if (line.has(names_flag)) out += " --config " + shell_word(line.text(names_flag));
  if (line.has(on_flag)) out += " --on " + shell_word(line.text(on_flag));
  for (const auto* one : {&cacert_flag, &cert_flag, &key_flag}) {
    if (line.has(*one)) out += " --" + std::string(one->name) + ' ' + shell_word(line.text(*one));
  }
  if (!line.server().empty()) out += " --";
  for (const auto& word : line.server()) out += ' ' + shell_word(word);
  // Words may be in quotes themselves.
  const char quote = out.find('\'') == std::string::npos ? '\'' : '`';
  return quote + out + quote;
}

}  // namespace hondana::cli

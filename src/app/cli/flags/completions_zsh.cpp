/// Completions for zsh.
#include <span>

#include "app/cli/flags/completions.hpp"
#include "app/cli/flags/table.hpp"

namespace hondana::cli {
namespace {

/// Text inside the single quotes of a specification of `_arguments`.
std::string in_zsh(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\'') {
      out += "'\\''";
    } else {
      if (c == '[' || c == ']' || c == ':' || c == '\\') out += '\\';
      out += c;
    }
  }
  return out;
}

std::string zsh_action(completion_kind by, std::span<const std::string_view> choices) {
  std::string words;
  switch (by) {
    case completion_kind::nothing:
      return " ";
    case completion_kind::file:
    case completion_kind::path:
      return "_files";
    case completion_kind::folder:
      return "_files -/";
    case completion_kind::target:
      return "_hondana_targets";
    case completion_kind::uri:
      return "_hondana_uris";
    case completion_kind::choice:
      for (const auto one : choices) words += (words.empty() ? "" : " ") + std::string(one);
      return "(" + words + ")";
    case completion_kind::command:
      return "_hondana_commands";
  }
  return " ";
}

/// `'(-o --output)'{-o,--output}'[help]:FILE:_files'`.
std::string zsh_flag(const flag& of) {
  const auto name = "--" + std::string(of.name);
  const auto value_sign = of.value.empty() ? "" : "=";
  std::string text = "        ";
  if (of.letter != 0) {
    const auto letter = std::string("-") + of.letter;
    text += of.is_repeatable ? "\\*" : "'(" + letter + ' ' + name + ")'";
    text += '{' + letter + (of.value.empty() ? "" : "+") + ',' + name + value_sign + "}'";
  } else {
    text += '\'' + std::string(of.is_repeatable ? "*" : "") + name + value_sign;
  }
  text += '[' + in_zsh(of.help) + ']';
  if (!of.value.empty()) text += ':' + in_zsh(of.value) + ':' + zsh_action(of.by, of.choices);
  return text + "' \\\n";
}

std::string zsh_command(const command_entry& of) {
  std::string text = "    '" + std::string(of.name) + "')\n      _arguments -s -S \\\n";
  for_each_flag(of, [&](const flag& one) { text += zsh_flag(one); });
  for (const auto& one : of.arguments) {
    text += std::string("        '") +
            (one.is_repeatable ? "*:"
             : one.is_required ? ":"
                               : "::") +
            in_zsh(one.name) + ':' + zsh_action(one.by, one.choices) + "' \\\n";
  }
  text.resize(text.size() - 3);
  return text + "\n      ;;\n";
}

}  // namespace

std::string zsh_completions() {
  std::string names;
  std::string cases;
  std::string seconds;
  for (const auto* one : commands()) {
    cases += zsh_command(*one);
    if (one->section.empty()) continue;
    const auto space = one->name.find(' ');
    names += "    '" + std::string(one->name.substr(0, space)) + ':' + in_zsh(one->summary) + "'\n";
    if (space == std::string_view::npos) continue;
    seconds += "    " + std::string(one->name.substr(0, space)) + ")\n      if ((CURRENT == 3)); then\n        compadd -- " +
               std::string(one->name.substr(space + 1)) +
               "\n        return\n      fi\n      command+=\" $words[3]\"\n      ((taken = 2))\n      ;;\n";
  }
  return R"zsh(#compdef hondana
# Completions of hondana for zsh; `hondana completions zsh` prints them.

_hondana_commands() {
  local -a names=(
)zsh" + names +
         R"zsh(  )
  _describe command names
}

# Words that the program itself knows: URIs of the server that the line names, and configured names.
_hondana_known() {
  local -a place=() known=()
  local i
  for ((i = 1; i < $#line_words; i++)); do
    case $line_words[i] in
      --on | --config | -c) place+=($line_words[i] $line_words[i+1]) ;;
      --on=* | --config=*) place+=($line_words[i]) ;;
    esac
  done
  known=(${(f)"$(command hondana complete-words $place -- $1 "$PREFIX" 2>/dev/null)"})
  compadd -a known
}

_hondana_targets() {
  _hondana_known target
  _files
}

_hondana_uris() {
  _hondana_known uri
  _files
}

_hondana() {
  local command
  local -a line_words=($words)
  integer taken=1
  if ((CURRENT == 2)); then
    _hondana_commands
    compadd -- --help --version
    return
  fi
  command=$words[2]
  case $command in
)zsh" + seconds +
         R"zsh(  esac
  # Behind --, the command of a server.
  if ((${words[(i)--]} < CURRENT)); then
    integer dashes=${words[(i)--]}
    shift $dashes words
    ((CURRENT -= dashes))
    _normal
    return
  fi
  shift $taken words
  ((CURRENT -= taken))
  case $command in
)zsh" + cases +
         R"zsh(  esac
}

if [[ $funcstack[1] == _hondana ]]; then
  _hondana "$@"
else
  compdef _hondana hondana
fi
)zsh";
}

}  // namespace hondana::cli

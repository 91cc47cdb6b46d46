/// Completions for bash.
#include <span>

#include "app/cli/flags/completions.hpp"
#include "app/cli/flags/table.hpp"

namespace hondana::cli {
namespace {

/// The shell code that completes one sort of word into COMPREPLY.
std::string bash_action(completion_kind by, std::span<const std::string_view> choices) {
  std::string words;
  switch (by) {
    case completion_kind::nothing:
      return ":";
    case completion_kind::file:
    case completion_kind::path:
      return "_hondana_files";
    case completion_kind::folder:
      return "_hondana_files -d";
    case completion_kind::target:
      return "_hondana_targets";
    case completion_kind::uri:
      return "_hondana_uris";
    case completion_kind::choice:
      for (const auto one : choices) words += (words.empty() ? "" : " ") + std::string(one);
      break;
    case completion_kind::command:
      for (const auto* one : commands()) {
        if (!one->section.empty()) words += (words.empty() ? "" : " ") + std::string(one->name);
      }
      break;
  }
  return "_hondana_choices '" + words + "'";
}

/// What the script knows of the commands: bodies of its `case` statements.
struct bash_cases {
  std::string first_words;  // a list, not a body
  std::string second_words;
  std::string takes_value;
  std::string values;
  std::string flags;
  std::string arguments;

  void add(const command_entry& one) {
    const std::string name(one.name);
    std::string words;
    for_each_flag(one, [&](const flag& each) {
      std::string spelled = '\'' + name + " --" + std::string(each.name) + '\'';
      words += " --" + std::string(each.name);
      if (each.letter != 0) {
        spelled += " | '" + name + " -" + each.letter + '\'';
        words += std::string(" -") + each.letter;
      }
      if (each.value.empty()) return;
      takes_value += "    " + spelled + ") return 0 ;;\n";
      values += "    " + spelled + ") " + bash_action(each.by, each.choices) + " ;;\n";
    });
    flags += "    '" + name + "') _hondana_choices '" + words.substr(1) + "' ;;\n";
    for (std::size_t at = 0; at < one.arguments.size(); ++at) {
      const auto& each = one.arguments[at];
      arguments += "    '" + name + " '" + (each.is_repeatable ? "*" : std::to_string(at)) + ") " +
                   bash_action(each.by, each.choices) + " ;;\n";
    }
    if (one.section.empty()) return;
    const auto space = name.find(' ');
    first_words += name.substr(0, space) + ' ';
    if (space == std::string::npos) return;
    second_words += "    " + name.substr(0, space) + ") seconds='" + name.substr(space + 1) + "' ;;\n";
  }
};

}  // namespace

std::string bash_completions() {
  bash_cases cases;
  for (const auto* one : commands()) cases.add(*one);
  return R"(# Completions of hondana for bash; `hondana completions bash` prints them.

_hondana_choices() {
  local choice
  for choice in $1; do
    [[ $choice != "$cur"* ]] || COMPREPLY+=("$choice")
  done
}

_hondana_files() {
  local file
  while IFS= read -r file; do
    COMPREPLY+=("$file")
  done < <(compgen "${1:--f}" -- "$cur")
  compopt -o filenames 2>/dev/null
}

# Words that the program itself knows: URIs of the server that the line names, and configured names.
_hondana_known() {
  local known
  while IFS= read -r known; do
    COMPREPLY+=("$known")
  done < <(command hondana complete-words "${place[@]}" -- "$1" "$cur" 2>/dev/null)
}

_hondana_targets() {
  _hondana_known target
  _hondana_files
}

_hondana_uris() {
  _hondana_known uri
  [[ ${place[*]} == *--on* ]] || _hondana_files
}

_hondana_takes_value() {
  case "$command $1" in
)" + cases.takes_value +
         R"(  esac
  return 1
}

_hondana_value() {
  case "$command $1" in
)" + cases.values +
         R"(  esac
}

_hondana_flag() {
  case $command in
)" + cases.flags +
         R"(  esac
}

_hondana_argument() {
  case "$command $1" in
)" + cases.arguments +
         R"(  esac
}

_hondana() {
  # Whole words, not those that COMP_WORDBREAKS makes of URIs.
  local line=${COMP_LINE:0:COMP_POINT} command='' seconds='' cur='' last='' glued='' at=0 i=2
  local -a words place=()
  COMPREPLY=()
  read -ra words <<<"$line"
  [[ $line != *[[:space:]] ]] || words+=('')
  cur=${words[${#words[@]} - 1]}
  if ((${#words[@]} <= 2)); then
    _hondana_choices ')" +
         cases.first_words + R"(--help --version'
    return
  fi
  command=${words[1]}
  case $command in
)" + cases.second_words +
         R"(  esac
  if [[ -n $seconds ]]; then
    if ((${#words[@]} == 3)); then
      _hondana_choices "$seconds"
      return
    fi
    command+=" ${words[2]}"
    i=3
  fi
  for (( ; i < ${#words[@]} - 1; i++)); do
    if _hondana_takes_value "$last"; then
      case $last in --on | --config | -c) place+=("$last" "${words[i]}") ;; esac
      last=''
      continue
    fi
    last=''
    case ${words[i]} in
      --)
        # What follows is the command of a server.
        _hondana_files
        return
        ;;
      --on=* | --config=*) place+=("${words[i]}") ;;
      -*) last=${words[i]} ;;
      *) at=$((at + 1)) ;;
    esac
  done
  if [[ $cur == --*=* ]]; then
    last=${cur%%=*}
    glued=$last=
    cur=${cur#*=}
  fi
  if _hondana_takes_value "$last"; then
    _hondana_value "$last"
  elif [[ $cur == -* ]]; then
    _hondana_flag
  else
    _hondana_argument "$at"
  fi
  # Readline replaces what is behind the last break only.
  [[ -z $glued || $COMP_WORDBREAKS == *=* ]] || COMPREPLY=("${COMPREPLY[@]/#/$glued}")
  local kept=${cur%"${cur##*[:=]}"}
  if [[ -n $kept && $COMP_WORDBREAKS == *:* ]]; then
    for i in "${!COMPREPLY[@]}"; do COMPREPLY[i]=${COMPREPLY[i]#"$kept"}; done
  fi
}

complete -F _hondana hondana
)";
}

}  // namespace hondana::cli

/// Completions for bash, fish and zsh, generated from the command table.
#include "app/cli/flags/completions.hpp"

#include <span>

#include "app/cli/flags/command_table.hpp"

namespace hondana::cli {
namespace {

/// The bash code that completes one kind of word into COMPREPLY.
std::string bash_action(completion_kind kind, std::span<const std::string_view> choices) {
  std::string words;
  switch (kind) {
    case completion_kind::none:
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
      for (const auto choice : choices) words += (words.empty() ? "" : " ") + std::string(choice);
      break;
    case completion_kind::command:
      for (const auto* entry : commands()) {
        if (!entry->section.empty()) words += (words.empty() ? "" : " ") + std::string(entry->name);
      }
      break;
  }
  return "_hondana_choices '" + words + "'";
}

/// The bodies of the script's `case` statements.
struct bash_cases {
  std::string first_words;  // a list, not a body
  std::string second_words;
  std::string takes_value;
  std::string values;
  std::string flags;
  std::string arguments;

  void add(const command_entry& entry) {
    const std::string name(entry.name);
    std::string words;
    for_each_flag(entry, [&](const flag& flag) {
      std::string pattern = '\'' + name + " --" + std::string(flag.name) + '\'';
      words += " --" + std::string(flag.name);
      if (flag.letter != 0) {
        pattern += " | '" + name + " -" + flag.letter + '\'';
        words += std::string(" -") + flag.letter;
      }
      if (flag.value.empty()) return;
      takes_value += "    " + pattern + ") return 0 ;;\n";
      values += "    " + pattern + ") " + bash_action(flag.completion, flag.choices) + " ;;\n";
    });
    flags += "    '" + name + "') _hondana_choices '" + words.substr(1) + "' ;;\n";
    for (std::size_t index = 0; index < entry.arguments.size(); ++index) {
      const auto& argument = entry.arguments[index];
      arguments += "    '" + name + " '" + (argument.is_repeatable ? "*" : std::to_string(index)) + ") " +
                   bash_action(argument.completion, argument.choices) + " ;;\n";
    }
    if (entry.section.empty()) return;
    const auto space = name.find(' ');
    first_words += name.substr(0, space) + ' ';
    if (space == std::string::npos) return;
    second_words += "    " + name.substr(0, space) + ") seconds='" + name.substr(space + 1) + "' ;;\n";
  }
};

}  // namespace

std::string bash_completions() {
  bash_cases cases;
  for (const auto* entry : commands()) cases.add(*entry);
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
  local prefix=${cur%"${cur##*[:=]}"}
  if [[ -n $prefix && $COMP_WORDBREAKS == *:* ]]; then
    for i in "${!COMPREPLY[@]}"; do COMPREPLY[i]=${COMPREPLY[i]#"$prefix"}; done
  fi
}

complete -F _hondana hondana
)";
}

namespace {

std::string quote_fish(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') out += '\\';
    out += c;
  }
  return out + '\'';
}

/// The options of fish's `complete` that describe a value.
std::string fish_action(completion_kind kind, std::span<const std::string_view> choices) {
  std::string words;
  switch (kind) {
    case completion_kind::none:
      return " -x";
    case completion_kind::file:
    case completion_kind::path:
      return " -r -F";
    case completion_kind::folder:
      return " -x -a '(__fish_complete_directories)'";
    case completion_kind::target:
      return " -r -F -a '(__hondana_known target)'";
    case completion_kind::uri:
      return " -F -a '(__hondana_known uri)'";
    case completion_kind::choice:
      for (const auto choice : choices) words += (words.empty() ? "" : " ") + std::string(choice);
      return " -x -a " + quote_fish(words);
    case completion_kind::command:
      for (const auto* entry : commands()) {
        if (!entry->section.empty()) words += (words.empty() ? "" : " ") + std::string(entry->name);
      }
      return " -x -a " + quote_fish(words);
  }
  return {};
}

/// The condition under which a command's words are completed.
std::string fish_condition(const command_entry& entry) { return "-n '__hondana_is " + std::string(entry.name) + '\''; }

std::string fish_command(const command_entry& entry) {
  std::string text;
  for_each_flag(entry, [&](const flag& flag) {
    text += "complete -c hondana " + fish_condition(entry);
    if (flag.letter != 0) text += std::string(" -s ") + flag.letter;
    text += " -l " + std::string(flag.name);
    if (!flag.value.empty()) text += fish_action(flag.completion, flag.choices);
    text += " -d " + quote_fish(flag.help) + '\n';
  });
  for (const auto& argument : entry.arguments) {
    if (argument.completion == completion_kind::none) continue;
    text += "complete -c hondana " + fish_condition(entry) + fish_action(argument.completion, argument.choices) + " -d " +
            quote_fish(argument.name) + '\n';
  }
  return text;
}

}  // namespace

std::string fish_completions() {
  std::string first;
  std::string command_lines;
  for (const auto* entry : commands()) {
    command_lines += fish_command(*entry);
    if (entry->section.empty()) continue;
    const auto space = entry->name.find(' ');
    const std::string word(entry->name.substr(0, space));
    first += "complete -c hondana -n __fish_use_subcommand -x -a " + word + " -d " + quote_fish(entry->summary) + '\n';
    if (space == std::string_view::npos) continue;
    const std::string second(entry->name.substr(space + 1));
    first += "complete -c hondana -n '__hondana_is " + word + "; and not __hondana_is " + word + ' ' + second + "' -x -a " +
             second + " -d " + quote_fish(entry->summary) + '\n';
  }
  return R"(# Completions of hondana for fish; `hondana completions fish` prints them.

# Whether the line begins with this command, of one word or two.
function __hondana_is
    set -l typed (commandline -opc)[2..-1]
    test (count $typed) -ge (count $argv); or return 1
    for i in (seq (count $argv))
        test "$typed[$i]" = "$argv[$i]"; or return 1
    end
end

# Words that the program itself knows: URIs of the server that the line names, and configured names.
function __hondana_known
    set -l typed (commandline -opc)
    set -l place
    for i in (seq (count $typed))
        switch "$typed[$i]"
            case --on --config -c
                test $i -lt (count $typed); and set -a place "$typed[$i]" $typed[(math $i + 1)]
            case '--on=*' '--config=*'
                set -a place "$typed[$i]"
        end
    end
    command hondana complete-words $place -- $argv[1] (commandline -ct) 2>/dev/null
end

complete -c hondana -f
complete -c hondana -n __fish_use_subcommand -s h -l help -d 'Print help'
complete -c hondana -n __fish_use_subcommand -s V -l version -d 'Print the version'
)" + first +
         command_lines;
}

namespace {

/// Escapes text inside the single quotes of a specification of zsh's `_arguments`.
std::string escape_zsh(std::string_view text) {
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

std::string zsh_action(completion_kind kind, std::span<const std::string_view> choices) {
  std::string words;
  switch (kind) {
    case completion_kind::none:
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
      for (const auto choice : choices) words += (words.empty() ? "" : " ") + std::string(choice);
      return "(" + words + ")";
    case completion_kind::command:
      return "_hondana_commands";
  }
  return " ";
}

/// `'(-o --output)'{-o,--output}'[help]:FILE:_files'`.
std::string zsh_flag(const flag& flag) {
  const auto name = "--" + std::string(flag.name);
  const auto value_sign = flag.value.empty() ? "" : "=";
  std::string text = "        ";
  if (flag.letter != 0) {
    const auto letter = std::string("-") + flag.letter;
    text += flag.is_repeatable ? "\\*" : "'(" + letter + ' ' + name + ")'";
    text += '{' + letter + (flag.value.empty() ? "" : "+") + ',' + name + value_sign + "}'";
  } else {
    text += '\'' + std::string(flag.is_repeatable ? "*" : "") + name + value_sign;
  }
  text += '[' + escape_zsh(flag.help) + ']';
  if (!flag.value.empty()) text += ':' + escape_zsh(flag.value) + ':' + zsh_action(flag.completion, flag.choices);
  return text + "' \\\n";
}

std::string zsh_command(const command_entry& entry) {
  std::string text = "    '" + std::string(entry.name) + "')\n      _arguments -s -S \\\n";
  for_each_flag(entry, [&](const flag& flag) { text += zsh_flag(flag); });
  for (const auto& argument : entry.arguments) {
    text += std::string("        '") +
            (argument.is_repeatable ? "*:"
             : argument.is_required ? ":"
                                    : "::") +
            escape_zsh(argument.name) + ':' + zsh_action(argument.completion, argument.choices) + "' \\\n";
  }
  text.resize(text.size() - 3);
  return text + "\n      ;;\n";
}

}  // namespace

std::string zsh_completions() {
  std::string names;
  std::string cases;
  std::string seconds;
  for (const auto* entry : commands()) {
    cases += zsh_command(*entry);
    if (entry->section.empty()) continue;
    const auto space = entry->name.find(' ');
    names += "    '" + std::string(entry->name.substr(0, space)) + ':' + escape_zsh(entry->summary) + "'\n";
    if (space == std::string_view::npos) continue;
    seconds += "    " + std::string(entry->name.substr(0, space)) + ")\n      if ((CURRENT == 3)); then\n        compadd -- " +
               std::string(entry->name.substr(space + 1)) +
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

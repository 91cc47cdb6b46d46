/// Completions for fish.
#include <span>

#include "app/cli/flags/completions.hpp"
#include "app/cli/flags/table.hpp"

namespace hondana::cli {
namespace {

std::string in_fish(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') out += '\\';
    out += c;
  }
  return out + '\'';
}

/// The options of `complete` that say what a value may be.
std::string fish_action(completion_kind by, std::span<const std::string_view> choices) {
  std::string words;
  switch (by) {
    case completion_kind::nothing:
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
      for (const auto one : choices) words += (words.empty() ? "" : " ") + std::string(one);
      return " -x -a " + in_fish(words);
    case completion_kind::command:
      for (const auto* one : commands()) {
        if (!one->section.empty()) words += (words.empty() ? "" : " ") + std::string(one->name);
      }
      return " -x -a " + in_fish(words);
  }
  return {};
}

/// The condition under which a command's words are completed.
std::string when(const command_entry& of) { return "-n '__hondana_is " + std::string(of.name) + '\''; }

std::string fish_command(const command_entry& of) {
  std::string text;
  for_each_flag(of, [&](const flag& one) {
    text += "complete -c hondana " + when(of);
    if (one.letter != 0) text += std::string(" -s ") + one.letter;
    text += " -l " + std::string(one.name);
    if (!one.value.empty()) text += fish_action(one.by, one.choices);
    text += " -d " + in_fish(one.help) + '\n';
  });
  for (const auto& one : of.arguments) {
    if (one.by == completion_kind::nothing) continue;
    text += "complete -c hondana " + when(of) + fish_action(one.by, one.choices) + " -d " + in_fish(one.name) + '\n';
  }
  return text;
}

}  // namespace

std::string fish_completions() {
  std::string first;
  std::string all;
  for (const auto* one : commands()) {
    all += fish_command(*one);
    if (one->section.empty()) continue;
    const auto space = one->name.find(' ');
    const std::string word(one->name.substr(0, space));
    first += "complete -c hondana -n __fish_use_subcommand -x -a " + word + " -d " + in_fish(one->summary) + '\n';
    if (space == std::string_view::npos) continue;
    const std::string second(one->name.substr(space + 1));
    first += "complete -c hondana -n '__hondana_is " + word + "; and not __hondana_is " + word + ' ' + second + "' -x -a " +
             second + " -d " + in_fish(one->summary) + '\n';
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
         all;
}

}  // namespace hondana::cli

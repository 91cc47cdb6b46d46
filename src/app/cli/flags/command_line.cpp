/// Parses a command line by the command table, and suggests corrections.
#include "app/cli/flags/command_line.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "app/cli/flags/client_flags.hpp"

namespace hondana::cli {
namespace {

std::string quote(std::string_view text) { return '"' + std::string(text) + '"'; }

/// "0.5", "1e3"; no value if the text is not a finite number.
std::optional<double> parse_number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value)) return {};
  return value;
}

std::string format_number(double number) {
  auto text = std::to_string(number);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text;
}

std::string join_choices(std::span<const std::string_view> choices) {
  std::string text;
  for (std::size_t i = 0; i < choices.size(); ++i) {
    if (i > 0) text += i + 1 == choices.size() ? " or " : ", ";
    text += choices[i];
  }
  return text;
}

/// The first words of all listed commands.
std::vector<std::string_view> first_words() {
  std::vector<std::string_view> words;
  for (const auto* entry : commands()) {
    if (entry->section.empty()) continue;
    const auto word = entry->name.substr(0, entry->name.find(' '));
    if (std::find(words.begin(), words.end(), word) == words.end()) words.push_back(word);
  }
  return words;
}

std::string join_first_words() {
  std::string text;
  for (const auto word : first_words()) text += (text.empty() ? "" : ", ") + std::string(word);
  return text;
}

}  // namespace

std::string command_line::text(const flag& flag) const {
  const auto& values = all_values(flag);
  return values.empty() ? std::string() : values.back();
}

const std::vector<std::string>& command_line::all_values(const flag& flag) const {
  static const std::vector<std::string> none;
  const auto match = values_.find(flag.name);
  return match == values_.end() ? none : match->second;
}

std::optional<double> command_line::number(const flag& flag) const {
  return has(flag) ? parse_number(text(flag)) : std::nullopt;
}

/// Parses the words after a command.
class line_parser {
 public:
  line_parser(const command_entry& entry, std::span<const char* const> arguments) : line_(entry), remaining_(arguments) {}

  parse_outcome parse() {
    while (!remaining_.empty()) {
      const std::string_view argument = next();
      if (argument == "--") {
        auto& target = line_.entry().accepts_server ? line_.server_command_ : line_.words_;
        if (remaining_.empty() && line_.entry().accepts_server)
          return make_error("-- must be followed by the command that starts a server");
        target.insert(target.end(), remaining_.begin(), remaining_.end());
        remaining_ = {};
      } else if (argument.starts_with("--")) {
        if (auto error = parse_long_option(argument.substr(2))) return make_error(*error);
      } else if (argument.size() > 1 && argument.starts_with('-')) {
        if (auto error = parse_short_options(argument.substr(1))) return make_error(*error);
      } else {
        line_.words_.emplace_back(argument);
      }
    }
    if (line_.has(help_flag)) return help_request{&line_.entry()};
    if (auto error = check_arguments()) return make_error(*error);
    if (!line_.server_command_.empty() && line_.has(on_flag)) return make_error("give either --on or -- COMMAND, not both");
    return std::move(line_);
  }

 private:
  using parse_error = std::optional<std::string>;

  std::string_view next() {
    const std::string_view argument = remaining_.front();
    remaining_ = remaining_.subspan(1);
    return argument;
  }

  usage_error make_error(std::string message) const { return {std::move(message), std::string(line_.entry().name)}; }

  parse_error unknown_option(std::string_view option) const {
    std::vector<std::string_view> known;
    for_each_flag(line_.entry(), [&](const flag& flag) { known.push_back(flag.name); });
    std::string text = "unknown option " + quote(option) + " of " + quote(line_.entry().name);
    if (option.starts_with("--")) text += did_you_mean(option.substr(2), known, "--");
    return text;
  }

  parse_error parse_long_option(std::string_view text) {
    const auto equals = text.find('=');
    const auto name = text.substr(0, equals);
    const auto* flag = name.empty() ? nullptr : find_flag(line_.entry(), name);
    if (flag == nullptr) return unknown_option("--" + std::string(name));
    const auto option = "--" + std::string(name);
    if (equals == std::string_view::npos) return parse_value(*flag, option, {});
    if (flag->value.empty()) return option + " takes no value";
    return parse_value(*flag, option, text.substr(equals + 1));
  }

  parse_error parse_short_options(std::string_view letters) {
    while (!letters.empty()) {
      const auto option = "-" + std::string(letters.substr(0, 1));
      const auto* flag = find_flag(line_.entry(), letters.front());
      if (flag == nullptr) return unknown_option(option);
      letters.remove_prefix(1);
      std::optional<std::string_view> attached;
      if (!flag->value.empty() && !letters.empty()) attached = std::exchange(letters, {});
      if (auto error = parse_value(*flag, option, attached)) return error;
    }
    return {};
  }

  parse_error parse_value(const flag& flag, const std::string& option, std::optional<std::string_view> attached) {
    auto& values = line_.values_[flag.name];
    if (flag.value.empty()) {
      values.emplace_back();
      return {};
    }
    if (!attached) {
      const std::string placeholder(flag.value);
      if (remaining_.empty()) return option + " needs a value: " + placeholder;
      const std::string_view next_argument = remaining_.front();
      if (next_argument.size() > 1 && next_argument.front() == '-' && !parse_number(next_argument))
        return option + " needs a value: " + placeholder + ". One that begins with a dash is written --" +
               std::string(flag.name) + "=" + std::string(next_argument);
      attached = next();
    }
    if (!values.empty() && !flag.is_repeatable) return option + " is given twice";
    if (auto error = check_value(flag, option, *attached)) return error;
    values.emplace_back(*attached);
    return {};
  }

  static parse_error check_value(const flag& flag, const std::string& option, std::string_view text) {
    if (!flag.choices.empty() && std::find(flag.choices.begin(), flag.choices.end(), text) == flag.choices.end()) {
      return option + " is " + join_choices(flag.choices) + ", not " + quote(text) + did_you_mean(text, flag.choices);
    }
    if (!flag.number) return {};
    const auto number = parse_number(text);
    const auto& [min, max, is_integer] = *flag.number;
    if (!number || *number < min || *number > max || (is_integer && std::floor(*number) != *number)) {
      return option + " is a" + (is_integer ? " whole" : "") + " number from " + format_number(min) + " to " +
             format_number(max) + ", not " + quote(text);
    }
    return {};
  }

  parse_error check_arguments() const {
    const auto& entry = line_.entry();
    const auto& words = line_.words_;
    for (std::size_t i = 0; i < entry.arguments.size(); ++i) {
      const auto& argument = entry.arguments[i];
      if (i >= words.size()) {
        if (!argument.is_required) break;
        return quote("hondana " + std::string(entry.name)) + " needs a" +
               (std::string_view("AEIO").find(argument.name.front()) == std::string_view::npos ? " " : "n ") +
               std::string(argument.name) + ": " + std::string(argument.help);
      }
      if (!argument.choices.empty() &&
          std::find(argument.choices.begin(), argument.choices.end(), words[i]) == argument.choices.end()) {
        return std::string(argument.name) + " is " + join_choices(argument.choices) + ", not " + quote(words[i]) +
               did_you_mean(words[i], argument.choices);
      }
    }
    const bool accepts_more = !entry.arguments.empty() && entry.arguments.back().is_repeatable;
    if (words.size() > entry.arguments.size() && !accepts_more) {
      return quote(words[entry.arguments.size()]) + " is an unexpected argument of " +
             quote("hondana " + std::string(entry.name));
    }
    return {};
  }

  command_line line_;
  std::span<const char* const> remaining_;
};

parse_outcome parse_command_line(int count, const char* const* arguments) {
  const std::span<const char* const> words(arguments, static_cast<std::size_t>(std::max(count, 0)));
  const std::string_view first = words.size() < 2 ? std::string_view() : words[1];
  if (first == "-h" || first == "--help") return help_request{};
  if (first == "-V" || first == "--version") return version_request{};
  if (first.empty()) return usage_error{"give a command: " + join_first_words(), {}};
  if (first.starts_with('-')) {
    return usage_error{"unknown option " + quote(first) + " before the command; the commands are " + join_first_words(), {}};
  }
  if (const auto* entry = find_command(first)) return line_parser(*entry, words.subspan(2)).parse();
  if (words.size() > 2) {
    if (const auto* entry = find_command(std::string(first) + ' ' + words[2]))
      return line_parser(*entry, words.subspan(3)).parse();
  }
  std::vector<const command_entry*> meanings;
  for (const auto* entry : commands()) {
    if (entry->name.starts_with(std::string(first) + ' ')) meanings.push_back(entry);
  }
  if (!meanings.empty()) {
    const auto word = meanings.front()->name.substr(0, first.size());
    if (words.size() > 2 && (std::string_view(words[2]) == "-h" || std::string_view(words[2]) == "--help"))
      return meanings.size() == 1 ? help_request{meanings.front()} : help_request{nullptr, word};
    std::string text = meanings.size() == 1 ? "the command is " : "the commands are ";
    for (const auto* entry : meanings) {
      if (entry != meanings.front()) text += entry == meanings.back() ? " and " : ", ";
      text += quote("hondana " + std::string(entry->name));
    }
    return usage_error{text, std::string(meanings.size() == 1 ? meanings.front()->name : word)};
  }
  const auto known = first_words();
  auto meant = did_you_mean(first, known);
  return usage_error{
      "unknown command " + quote(first) +
          (meant.empty() ? "; the commands are " + join_first_words() : meant + " The commands are " + join_first_words()),
      {}};
}

}  // namespace hondana::cli

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

// Longer than every command and flag. Longer input is not compared.
constexpr std::size_t longest_word = 64;

std::size_t slips_between(std::string_view a, std::string_view b) {
  std::vector<std::size_t> last_but_one;
  std::vector<std::size_t> last(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::vector<std::size_t> row(b.size() + 1);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] == b[j - 1] ? 0u : 1u)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) row[j] = std::min(row[j], last_but_one[j - 2] + 1);
    }
    last_but_one = std::move(last);
    last = std::move(row);
  }
  return last[b.size()];
}

}  // namespace

std::string_view nearest(std::string_view typed, std::span<const std::string_view> known) {
  std::string_view best;
  std::size_t fewest = longest_word;
  if (typed.empty() || typed.size() > longest_word) return best;
  for (const auto one : known) {
    const auto slips = slips_between(typed, one);
    if (slips > std::max<std::size_t>(1, one.size() / 3) || slips >= fewest) continue;
    // If every character differs, the suggestion makes no sense.
    if (slips >= std::max(typed.size(), one.size())) continue;
    best = one;
    fewest = slips;
  }
  return best;
}

std::string did_you_mean(std::string_view typed, std::span<const std::string_view> known, std::string_view before) {
  const auto meant = nearest(typed, known);
  return meant.empty() ? "" : "; did you mean \"" + std::string(before) + std::string(meant) + "\"?";
}

namespace {

std::string in_quotes(std::string_view text) { return '"' + std::string(text) + '"'; }

/// "0.5", "1e3"; no value if the text is not a finite number.
std::optional<double> number_in(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value)) return {};
  return value;
}

std::string without_zeros(double number) {
  auto text = std::to_string(number);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text;
}

std::string listed(std::span<const std::string_view> choices) {
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
  for (const auto* one : commands()) {
    if (one->section.empty()) continue;
    const auto word = one->name.substr(0, one->name.find(' '));
    if (std::find(words.begin(), words.end(), word) == words.end()) words.push_back(word);
  }
  return words;
}

std::string all_first_words() {
  std::string text;
  for (const auto word : first_words()) text += (text.empty() ? "" : ", ") + std::string(word);
  return text;
}

}  // namespace

std::string command_line::text(const flag& which) const {
  const auto& values = all(which);
  return values.empty() ? std::string() : values.back();
}

const std::vector<std::string>& command_line::all(const flag& which) const {
  static const std::vector<std::string> none;
  const auto found = values_.find(which.name);
  return found == values_.end() ? none : found->second;
}

std::optional<double> command_line::number(const flag& which) const {
  return has(which) ? number_in(text(which)) : std::nullopt;
}

/// Parses the words after a command.
class line_reader {
 public:
  line_reader(const command_entry& entry, std::span<const char* const> rest) : line_(entry), rest_(rest) {}

  line_outcome read() {
    while (!rest_.empty()) {
      const std::string_view one = next();
      if (one == "--") {
        auto& into = line_.entry().takes_server ? line_.server_ : line_.words_;
        if (rest_.empty() && line_.entry().takes_server)
          return wrong("-- must be followed by the command that starts a server");
        into.insert(into.end(), rest_.begin(), rest_.end());
        rest_ = {};
      } else if (one.starts_with("--")) {
        if (auto bad = take_long(one.substr(2))) return wrong(*bad);
      } else if (one.size() > 1 && one.starts_with('-')) {
        if (auto bad = take_letters(one.substr(1))) return wrong(*bad);
      } else {
        line_.words_.emplace_back(one);
      }
    }
    if (line_.has(help_flag)) return help_wanted{&line_.entry()};
    if (auto bad = check_words()) return wrong(*bad);
    if (!line_.server_.empty() && line_.has(on_flag)) return wrong("give either --on or -- COMMAND, not both");
    return std::move(line_);
  }

 private:
  using problem = std::optional<std::string>;

  std::string_view next() {
    const std::string_view one = rest_.front();
    rest_ = rest_.subspan(1);
    return one;
  }

  misuse wrong(std::string what) const { return {std::move(what), std::string(line_.entry().name)}; }

  problem unknown(std::string_view written) const {
    std::vector<std::string_view> known;
    for_each_flag(line_.entry(), [&](const flag& one) { known.push_back(one.name); });
    std::string text = "unknown option " + in_quotes(written) + " of " + in_quotes(line_.entry().name);
    if (written.starts_with("--")) text += did_you_mean(written.substr(2), known, "--");
    return text;
  }

  problem take_long(std::string_view text) {
    const auto equals = text.find('=');
    const auto name = text.substr(0, equals);
    const auto* found = name.empty() ? nullptr : find_flag(line_.entry(), name);
    if (found == nullptr) return unknown("--" + std::string(name));
    const auto shown = "--" + std::string(name);
    if (equals == std::string_view::npos) return take_value(*found, shown, {});
    if (found->value.empty()) return shown + " takes no value";
    return take_value(*found, shown, text.substr(equals + 1));
  }

  problem take_letters(std::string_view letters) {
    while (!letters.empty()) {
      const auto shown = "-" + std::string(letters.substr(0, 1));
      const auto* found = find_flag(line_.entry(), letters.front());
      if (found == nullptr) return unknown(shown);
      letters.remove_prefix(1);
      std::optional<std::string_view> attached;
      if (!found->value.empty() && !letters.empty()) attached = std::exchange(letters, {});
      if (auto bad = take_value(*found, shown, attached)) return bad;
    }
    return {};
  }

  problem take_value(const flag& which, const std::string& shown, std::optional<std::string_view> attached) {
    auto& values = line_.values_[which.name];
    if (which.value.empty()) {
      values.emplace_back();
      return {};
    }
    if (!attached) {
      const std::string wanted(which.value);
      if (rest_.empty()) return shown + " needs a value: " + wanted;
      const std::string_view after = rest_.front();
      if (after.size() > 1 && after.front() == '-' && !number_in(after))
        return shown + " needs a value: " + wanted + ". One that begins with a dash is written --" + std::string(which.name) +
               "=" + std::string(after);
      attached = next();
    }
    if (!values.empty() && !which.is_repeatable) return shown + " is given twice";
    if (auto bad = check(which, shown, *attached)) return bad;
    values.emplace_back(*attached);
    return {};
  }

  static problem check(const flag& which, const std::string& shown, std::string_view text) {
    if (!which.choices.empty() && std::find(which.choices.begin(), which.choices.end(), text) == which.choices.end()) {
      return shown + " is " + listed(which.choices) + ", not " + in_quotes(text) + did_you_mean(text, which.choices);
    }
    if (!which.number) return {};
    const auto number = number_in(text);
    const auto& [least, most, is_whole] = *which.number;
    if (!number || *number < least || *number > most || (is_whole && std::floor(*number) != *number)) {
      return shown + " is a" + (is_whole ? " whole" : "") + " number from " + without_zeros(least) + " to " +
             without_zeros(most) + ", not " + in_quotes(text);
    }
    return {};
  }

  problem check_words() const {
    const auto& entry = line_.entry();
    const auto& given = line_.words_;
    for (std::size_t i = 0; i < entry.arguments.size(); ++i) {
      const auto& wanted = entry.arguments[i];
      if (i >= given.size()) {
        if (!wanted.is_required) break;
        return in_quotes("hondana " + std::string(entry.name)) + " needs a" +
               (std::string_view("AEIO").find(wanted.name.front()) == std::string_view::npos ? " " : "n ") +
               std::string(wanted.name) + ": " + std::string(wanted.help);
      }
      if (!wanted.choices.empty() &&
          std::find(wanted.choices.begin(), wanted.choices.end(), given[i]) == wanted.choices.end()) {
        return std::string(wanted.name) + " is " + listed(wanted.choices) + ", not " + in_quotes(given[i]) +
               did_you_mean(given[i], wanted.choices);
      }
    }
    const bool takes_more = !entry.arguments.empty() && entry.arguments.back().is_repeatable;
    if (given.size() > entry.arguments.size() && !takes_more) {
      return in_quotes(given[entry.arguments.size()]) + " is an unexpected argument of " +
             in_quotes("hondana " + std::string(entry.name));
    }
    return {};
  }

  command_line line_;
  std::span<const char* const> rest_;
};

line_outcome read_line(int count, const char* const* arguments) {
  const std::span<const char* const> all(arguments, static_cast<std::size_t>(std::max(count, 0)));
  const std::string_view first = all.size() < 2 ? std::string_view() : all[1];
  if (first == "-h" || first == "--help") return help_wanted{};
  if (first == "-V" || first == "--version") return version_wanted{};
  if (first.empty()) return misuse{"give a command: " + all_first_words(), {}};
  if (first.starts_with('-')) {
    return misuse{"unknown option " + in_quotes(first) + " before the command; the commands are " + all_first_words(), {}};
  }
  if (const auto* entry = find_command(first)) return line_reader(*entry, all.subspan(2)).read();
  if (all.size() > 2) {
    if (const auto* entry = find_command(std::string(first) + ' ' + all[2])) return line_reader(*entry, all.subspan(3)).read();
  }
  std::vector<const command_entry*> meanings;
  for (const auto* entry : commands()) {
    if (entry->name.starts_with(std::string(first) + ' ')) meanings.push_back(entry);
  }
  if (!meanings.empty()) {
    const auto word = meanings.front()->name.substr(0, first.size());
    if (all.size() > 2 && (std::string_view(all[2]) == "-h" || std::string_view(all[2]) == "--help"))
      return meanings.size() == 1 ? help_wanted{meanings.front()} : help_wanted{nullptr, word};
    std::string text = meanings.size() == 1 ? "the command is " : "the commands are ";
    for (const auto* one : meanings) {
      if (one != meanings.front()) text += one == meanings.back() ? " and " : ", ";
      text += in_quotes("hondana " + std::string(one->name));
    }
    return misuse{text, std::string(meanings.size() == 1 ? meanings.front()->name : word)};
  }
  const auto known = first_words();
  auto meant = did_you_mean(first, known);
  return misuse{
      "unknown command " + in_quotes(first) +
          (meant.empty() ? "; the commands are " + all_first_words() : meant + " The commands are " + all_first_words()),
      {}};
}

}  // namespace hondana::cli

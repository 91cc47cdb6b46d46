/// Forms and links on a terminal.
#include "app/cli/verbs/answers.hpp"

#include <poll.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>

#include "app/cli/verbs/typed_values.hpp"
#include "app/cli/visible.hpp"

namespace hondana::cli {
namespace {

constexpr std::size_t longest_answer = 64u << 10;

void show(const std::string& line) { std::fputs((line + '\n').c_str(), stderr); }

/// One line of standard input; nothing at its end, or once the interruption has come.
std::optional<std::string> read_line_of_person(const interruption& interrupted) {
  std::string line;
  for (;;) {
    std::array<pollfd, 2> watched{{{STDIN_FILENO, POLLIN, 0}, {interrupted.descriptor(), POLLIN, 0}}};
    if (::poll(watched.data(), watched.size(), -1) < 0) continue;
    if (watched[1].revents != 0) return {};
    char one = 0;
    const auto count = ::read(STDIN_FILENO, &one, 1);
    if (count <= 0 || line.size() > longest_answer) return {};
    if (one == '\n') return line;
    line += one;
  }
}

std::string question_of(const std::string& name, const value& field, bool must) {
  const auto title = field.string_at("title").value_or("");
  std::string out = "  " + visible(title.empty() ? name : title);
  if (const auto more = field.string_at("description").value_or(""); !more.empty()) out += " (" + visible(more) + ')';
  if (const auto* choices = field.find("enum"); choices != nullptr) out += ' ' + visible(choices->to_text());
  if (const auto* preset = field.find("default"); preset != nullptr) out += " [" + visible(preset->to_text()) + ']';
  return out + (must ? "*: " : ": ");
}

result<form_answer> fill_in(const form_request& form, const interruption& interrupted) {
  show("The server asks: " + visible(form.message));
  show("An empty line skips a field; Ctrl-D cancels.");
  value::object filled;
  const auto* properties = form.requestedSchema.find("properties");
  const auto* fields = properties == nullptr ? nullptr : properties->as_object();
  if (fields == nullptr) return form_answer{"decline", {}};
  for (const auto& [name, field] : *fields) {
    for (;;) {
      const bool must = is_required(form.requestedSchema, name) && field.find("default") == nullptr;
      std::fputs(question_of(name, field, must).c_str(), stderr);
      const auto line = read_line_of_person(interrupted);
      if (!line) return form_answer{"cancel", {}};
      if (line->empty() && !must) break;
      auto typed = typed_value(*line, field);
      if (typed && !line->empty()) {
        filled.emplace_back(name, std::move(*typed));
        break;
      }
      show("  " + (typed ? "required" : typed.error().public_text));
    }
  }
  return form_answer{"accept", std::move(filled)};
}

result<form_answer> follow(const link_request& link, const interruption& interrupted) {
  show("The server asks you to open a page: " + visible(link.message));
  show("  " + visible(link.url));
  std::fputs("Open it in a browser if you trust it. Done? [y/N] ", stderr);
  const auto line = read_line_of_person(interrupted);
  if (!line) return form_answer{"cancel", {}};
  return form_answer{*line == "y" || *line == "Y" || *line == "yes" ? "accept" : "decline", {}};
}

}  // namespace

client_handlers terminal_handlers(const interruption& interrupted, const screen& shown) {
  client_handlers out;
  const bool is_anybody_there = shown.reads_answers;
  out.form = [&interrupted, is_anybody_there](const form_request& form, const value&) -> result<form_answer> {
    return is_anybody_there ? fill_in(form, interrupted) : form_answer{"decline", {}};
  };
  out.link = [&interrupted, is_anybody_there](const link_request& link, const value&) -> result<form_answer> {
    return is_anybody_there ? follow(link, interrupted) : form_answer{"decline", {}};
  };
  return out;
}

}  // namespace hondana::cli

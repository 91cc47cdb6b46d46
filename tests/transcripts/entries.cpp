/// Entries, templates and options in one line each.
#include "transcripts/entries.hpp"

#include <chrono>
#include <stdexcept>
#include <utility>
#include <variant>

namespace transcripts {

void check(const hondana::result<void>& done) {
  if (!done) throw std::logic_error(done.error().public_text);
}

hondana::resource named(std::string uri, std::string name) {
  hondana::resource entry;
  entry.uri = std::move(uri);
  entry.name = std::move(name);
  return entry;
}

std::string variable(const hondana::read_request& request, std::string_view name) {
  const auto place = request.match->variables.find(name);
  if (place == request.match->variables.end()) return {};
  const auto* text = std::get_if<std::string>(&place->second);
  return text == nullptr ? std::string() : *text;
}

hondana::resource_template template_of(std::string text, std::string name) {
  hondana::resource_template entry;
  entry.uri_template = std::move(text);
  entry.name = std::move(name);
  return entry;
}

hondana::server_options options_of(std::string title) {
  hondana::server_options options;
  options.name = "transcript-server";
  options.version = "1.2.3";
  options.title = std::move(title);
  options.instructions = "Read demo:///folder first.";
  options.supports_list_changes = options.supports_subscriptions = false;
  // However far the clock goes on while something is waited for.
  options.call_timeout = options.limits.total_timeout = std::chrono::hours(24);
  return options;
}

}  // namespace transcripts

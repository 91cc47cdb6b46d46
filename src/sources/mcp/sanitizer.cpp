/// Sanitizes texts of another server: limits them, removes control characters and masks secrets.
#include "sources/mcp/sanitizer.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <variant>

#include <hondana/uri.hpp>

#include "base/json/utf8.hpp"
#include "text/secrets/redactor.hpp"
#include "text/secrets/scanner.hpp"

namespace hondana::mcp {
namespace {

constexpr std::size_t longest_icon = 64u << 10;  // they may be data: URIs
constexpr std::size_t most_icons = 8;
constexpr std::size_t most_facts = 64;
constexpr std::size_t longest_error = 1000;
constexpr std::size_t most_values = 100;
constexpr std::size_t longest_value = 8192;

bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

/// The number of bytes of a harmful character at the front of valid UTF-8; 0 for a harmless one.
std::size_t harmful(std::string_view text, bool has_lines) {
  const auto byte = static_cast<unsigned char>(text.front());
  if (byte < 0x20 || byte == 0x7f) return has_lines && (byte == '\n' || byte == '\t') ? 0 : 1;
  if (byte == 0xC2 && static_cast<unsigned char>(text[1]) < 0xA0) return 2;  // U+0080 to U+009F
  if (byte != 0xE2) return 0;
  const auto last = static_cast<unsigned char>(text[2]);
  // U+200E, U+200F, U+2028 to U+202E, U+2066 to U+2069
  const bool is_80 = text[1] == '\x80' && (last == 0x8E || last == 0x8F || (last >= 0xA8 && last <= 0xAE));
  const bool is_81 = text[1] == '\x81' && last >= 0xA6 && last <= 0xA9;
  return is_80 || is_81 ? 3 : 0;
}

/// Cuts an overlong URI so that it is still overlong, and is rejected as such.
void cut(std::string& uri) {
  if (uri.size() <= max_uri_bytes) return;
  uri.resize(max_uri_bytes + 1);
  uri.shrink_to_fit();
}

bool is_picture(const icon& one) {
  return one.src.size() <= longest_icon && (one.src.starts_with("https:") || one.src.starts_with("data:"));
}

void make_fit(std::vector<icon>& icons) {
  std::erase_if(icons, [](const icon& one) { return !is_picture(one); });
  if (icons.size() > most_icons) icons.resize(most_icons);
  icons.shrink_to_fit();
  for (auto& one : icons) {
    one.src = clean(one.src, longest_icon);
    one.mimeType = clean_media_type(one.mimeType);
    if (one.sizes.size() > most_icons) one.sizes.resize(most_icons);
    for (auto& size : one.sizes) size = clean(size, longest_word);
    if (one.theme != "light" && one.theme != "dark") one.theme.clear();
  }
}

void make_fit(annotations& hints) {
  if (hints.audience.size() > 2) hints.audience.resize(2);
  hints.audience.shrink_to_fit();
  if (hints.priority && !(*hints.priority >= 0.0 && *hints.priority <= 1.0)) hints.priority.reset();
}

void make_fit(metadata& facts) {
  if (facts.size() > most_facts) facts.resize(most_facts);
  facts.shrink_to_fit();
  std::erase_if(facts, [](const auto& one) {
    const auto* number = std::get_if<double>(&one.second);
    return number != nullptr && !std::isfinite(*number);
  });
  for (auto& [key, what] : facts) {
    key = clean(key, longest_word);
    if (auto* text = std::get_if<std::string>(&what)) *text = clean(*text, longest_line);
  }
}

}  // namespace

std::string clean(std::string_view text, std::size_t most, bool has_lines) {
  constexpr std::string_view ellipsis = "…";
  const bool is_long = text.size() > most;
  std::string formed;
  // Each invalid byte may become three bytes. Text beyond the cut is not examined.
  json::append_replacing(formed, text.substr(0, most + 4));
  std::string out;
  for (std::string_view rest = formed; !rest.empty();) {
    if (const auto bytes = harmful(rest, has_lines); bytes != 0) {
      out += ' ';
      rest.remove_prefix(bytes);
      continue;
    }
    std::size_t bytes = 1;
    while (bytes < rest.size() && is_continuation(rest[bytes])) ++bytes;
    out += rest.substr(0, bytes);
    rest.remove_prefix(bytes);
  }
  if (!is_long && out.size() <= most) return out;
  out.resize(std::min(out.size(), most > ellipsis.size() ? most - ellipsis.size() : 0));
  out.resize(out.size() - json::incomplete_tail(out));
  out += ellipsis;
  return out;
}

std::string clean_shown(std::string_view text, std::size_t most, bool masks, bool has_lines) {
  if (!masks) return clean(text, most, has_lines);
  std::string whole(text.substr(0, most + secrets::margin));
  secrets::redactor(secrets::policy::text, {}).mask(whole);
  return clean(whole, most, has_lines);
}

std::string clean_media_type(std::string_view text) {
  const bool is_one = text.size() <= longest_word && text.find('/') != std::string_view::npos &&
                      std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; });
  return std::string(is_one ? text : std::string_view());
}

void make_fit(resource& entry, bool masks) {
  cut(entry.uri);
  entry.name = clean_shown(entry.name.empty() ? entry.uri : entry.name, longest_line, masks);
  entry.title = clean_shown(entry.title, longest_line, masks);
  entry.description = clean_shown(entry.description, longest_text, masks, true);
  entry.mimeType = clean_media_type(entry.mimeType);
  entry.kind = clean(entry.kind, longest_word);
  entry.version = clean(entry.version, longest_word);
  make_fit(entry.annotations);
  make_fit(entry.icons);
  make_fit(entry.metadata);
}

void make_fit(resource_template& entry, bool masks) {
  cut(entry.uriTemplate);
  entry.name = clean_shown(entry.name.empty() ? entry.uriTemplate : entry.name, longest_line, masks);
  entry.title = clean_shown(entry.title, longest_line, masks);
  entry.description = clean_shown(entry.description, longest_text, masks, true);
  entry.mimeType = clean_media_type(entry.mimeType);
  make_fit(entry.annotations);
  make_fit(entry.icons);
}

void make_fit(skill& entry) {
  cut(entry.uri);
  if (!entry.files) return;
  for (auto& one : *entry.files) {
    cut(one.uri);
    one.digest = clean(one.digest, longest_word);
  }
}

void make_fit(complete_result& found) {
  // A value is used literally, so a value that would have to be changed is useless.
  std::erase_if(found.values,
                [](const std::string& one) { return one.size() > longest_value || clean(one, longest_value) != one; });
  if (found.values.size() <= most_values) return;
  found.values.resize(most_values);
  found.has_more = true;
}

std::string clean_masked(std::string_view text, std::size_t most) {
  return clean(secrets::redact_text(text.substr(0, most + secrets::margin)), most);
}

failure passed_on(const failure& why, const std::string& name, bool masks) {
  const auto said = masks ? clean_masked(why.public_text, longest_error) : clean(why.public_text, longest_error);
  failure out{why.code, {}, clean_masked(why.private_text, longest_error), {}};
  // This server sent too many requests, not the caller.
  if (why.code == errc::too_many_requests) out.code = errc::overloaded;
  out.retry = why.retry;
  switch (why.code) {
    case errc::resource_not_found:
      out.public_text = "Resource not found";
      if (out.private_text.empty()) out.private_text = "the mounted server \"" + name + "\" says: " + said;
      return out;
    case errc::unauthorized:
      // The answer may repeat credentials that were sent.
      out.public_text = "The mounted server \"" + name + "\" failed: " + std::string(refuses_us);
      out.private_text = said + (out.private_text.empty() ? "" : " (" + out.private_text + ')');
      return out;
    case errc::access_denied:
    case errc::cancelled:
    case errc::fetch_directly:
      out.public_text = said;
      return out;
    case errc::refused:
    case errc::part_not_found:
    case errc::unreadable:
      out.public_text = "The mounted server \"" + name + "\" rejected the request: " + said;
      return out;
    default:
      out.public_text = "The mounted server \"" + name + "\" failed: " + said;
      return out;
  }
}

}  // namespace hondana::mcp

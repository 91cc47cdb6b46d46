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

constexpr std::size_t max_icon_bytes = 64u << 10;  // they may be data: URIs
constexpr std::size_t max_icons = 8;
constexpr std::size_t max_metadata_fields = 64;
constexpr std::size_t max_error_bytes = 1000;
constexpr std::size_t max_values = 100;
constexpr std::size_t max_value_bytes = 8192;

bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

/// The number of bytes of a harmful character at the front of valid UTF-8; 0 for a harmless one.
std::size_t harmful_size(std::string_view text, bool keeps_lines) {
  const auto byte = static_cast<unsigned char>(text.front());
  if (byte < 0x20 || byte == 0x7f) return keeps_lines && (byte == '\n' || byte == '\t') ? 0 : 1;
  if (byte == 0xC2 && static_cast<unsigned char>(text[1]) < 0xA0) return 2;  // U+0080 to U+009F
  if (byte != 0xE2) return 0;
  const auto last = static_cast<unsigned char>(text[2]);
  // U+200E, U+200F, U+2028 to U+202E, U+2066 to U+2069
  const bool is_80 = text[1] == '\x80' && (last == 0x8E || last == 0x8F || (last >= 0xA8 && last <= 0xAE));
  const bool is_81 = text[1] == '\x81' && last >= 0xA6 && last <= 0xA9;
  return is_80 || is_81 ? 3 : 0;
}

/// Cuts an overlong URI so that it is still overlong, and is rejected as such.
void truncate_uri(std::string& uri) {
  if (uri.size() <= max_uri_bytes) return;
  uri.resize(max_uri_bytes + 1);
  uri.shrink_to_fit();
}

bool is_valid_icon(const icon& image) {
  return image.src.size() <= max_icon_bytes && (image.src.starts_with("https:") || image.src.starts_with("data:"));
}

void sanitize_fields(std::vector<icon>& icons) {
  std::erase_if(icons, [](const icon& image) { return !is_valid_icon(image); });
  if (icons.size() > max_icons) icons.resize(max_icons);
  icons.shrink_to_fit();
  for (auto& image : icons) {
    image.src = sanitize(image.src, max_icon_bytes);
    image.mime_type = sanitize_media_type(image.mime_type);
    if (image.sizes.size() > max_icons) image.sizes.resize(max_icons);
    for (auto& size : image.sizes) size = sanitize(size, max_word_bytes);
    if (image.theme != "light" && image.theme != "dark") image.theme.clear();
  }
}

void sanitize_fields(annotations& hints) {
  if (hints.audience.size() > 2) hints.audience.resize(2);
  hints.audience.shrink_to_fit();
  if (hints.priority && !(*hints.priority >= 0.0 && *hints.priority <= 1.0)) hints.priority.reset();
}

void sanitize_fields(metadata& fields) {
  if (fields.size() > max_metadata_fields) fields.resize(max_metadata_fields);
  fields.shrink_to_fit();
  std::erase_if(fields, [](const auto& field) {
    const auto* number = std::get_if<double>(&field.second);
    return number != nullptr && !std::isfinite(*number);
  });
  for (auto& [key, field_value] : fields) {
    key = sanitize(key, max_word_bytes);
    if (auto* text = std::get_if<std::string>(&field_value)) *text = sanitize(*text, max_line_bytes);
  }
}

}  // namespace

std::string sanitize(std::string_view text, std::size_t max_bytes, bool keeps_lines) {
  constexpr std::string_view ellipsis = "…";
  const bool is_long = text.size() > max_bytes;
  std::string valid;
  // Each invalid byte may become three bytes. Text beyond the cut is not examined.
  json::append_replacing(valid, text.substr(0, max_bytes + 4));
  std::string out;
  for (std::string_view remaining = valid; !remaining.empty();) {
    if (const auto harmful_bytes = harmful_size(remaining, keeps_lines); harmful_bytes != 0) {
      out += ' ';
      remaining.remove_prefix(harmful_bytes);
      continue;
    }
    std::size_t character_bytes = 1;
    while (character_bytes < remaining.size() && is_continuation(remaining[character_bytes])) ++character_bytes;
    out += remaining.substr(0, character_bytes);
    remaining.remove_prefix(character_bytes);
  }
  if (!is_long && out.size() <= max_bytes) return out;
  out.resize(std::min(out.size(), max_bytes > ellipsis.size() ? max_bytes - ellipsis.size() : 0));
  out.resize(out.size() - json::incomplete_tail(out));
  out += ellipsis;
  return out;
}

std::string sanitize_display(std::string_view text, std::size_t max_bytes, bool masks, bool keeps_lines) {
  if (!masks) return sanitize(text, max_bytes, keeps_lines);
  std::string masked(text.substr(0, max_bytes + secrets::margin));
  secrets::redactor(secrets::masking_policy::text, {}).mask(masked);
  return sanitize(masked, max_bytes, keeps_lines);
}

std::string sanitize_media_type(std::string_view text) {
  const bool is_valid = text.size() <= max_word_bytes && text.find('/') != std::string_view::npos &&
                        std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; });
  return std::string(is_valid ? text : std::string_view());
}

void sanitize_fields(resource& entry, bool masks) {
  truncate_uri(entry.uri);
  entry.name = sanitize_display(entry.name.empty() ? entry.uri : entry.name, max_line_bytes, masks);
  entry.title = sanitize_display(entry.title, max_line_bytes, masks);
  entry.description = sanitize_display(entry.description, max_text_bytes, masks, true);
  entry.mime_type = sanitize_media_type(entry.mime_type);
  entry.kind = sanitize(entry.kind, max_word_bytes);
  entry.version = sanitize(entry.version, max_word_bytes);
  sanitize_fields(entry.annotations);
  sanitize_fields(entry.icons);
  sanitize_fields(entry.metadata);
}

void sanitize_fields(resource_template& entry, bool masks) {
  truncate_uri(entry.uri_template);
  entry.name = sanitize_display(entry.name.empty() ? entry.uri_template : entry.name, max_line_bytes, masks);
  entry.title = sanitize_display(entry.title, max_line_bytes, masks);
  entry.description = sanitize_display(entry.description, max_text_bytes, masks, true);
  entry.mime_type = sanitize_media_type(entry.mime_type);
  sanitize_fields(entry.annotations);
  sanitize_fields(entry.icons);
}

void sanitize_fields(skill& entry) {
  truncate_uri(entry.uri);
  if (!entry.files) return;
  for (auto& file : *entry.files) {
    truncate_uri(file.uri);
    file.digest = sanitize(file.digest, max_word_bytes);
  }
}

void sanitize_fields(complete_result& completion) {
  // A value is used literally, so a value that would have to be changed is useless.
  std::erase_if(completion.values, [](const std::string& candidate) {
    return candidate.size() > max_value_bytes || sanitize(candidate, max_value_bytes) != candidate;
  });
  if (completion.values.size() <= max_values) return;
  completion.values.resize(max_values);
  completion.has_more = true;
}

std::string sanitize_masked(std::string_view text, std::size_t max_bytes) {
  return sanitize(secrets::redact_text(text.substr(0, max_bytes + secrets::margin)), max_bytes);
}

failure relay_failure(const failure& error, const std::string& name, bool masks) {
  const auto masked = sanitize_masked(error.public_text, max_error_bytes);
  const auto message = masks ? masked : sanitize(error.public_text, max_error_bytes);
  failure out{error.code, {}, sanitize_masked(error.private_text, max_error_bytes), {}};
  // This server sent too many requests, not the caller.
  if (error.code == errc::too_many_requests) out.code = errc::overloaded;
  out.retry_after = error.retry_after;
  switch (error.code) {
    case errc::resource_not_found:
      out.public_text = "Resource not found";
      if (out.private_text.empty()) out.private_text = "the mounted server \"" + name + "\" says: " + masked;
      return out;
    case errc::unauthorized:
      // The answer may repeat credentials that were sent.
      out.public_text = "The mounted server \"" + name + "\" failed: " + std::string(unauthorized_text);
      out.private_text = masked + (out.private_text.empty() ? "" : " (" + out.private_text + ')');
      return out;
    case errc::access_denied:
    case errc::cancelled:
    case errc::fetch_directly:
      out.public_text = message;
      return out;
    case errc::server_error:
    case errc::part_not_found:
    case errc::unreadable:
      out.public_text = "The mounted server \"" + name + "\" rejected the request: " + message;
      return out;
    default:
      out.public_text = "The mounted server \"" + name + "\" failed: " + message;
      return out;
  }
}

}  // namespace hondana::mcp

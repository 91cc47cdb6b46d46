/// Reads a file, converts it to text, masks its secrets, and outlines it.
#include "sources/docs/document_reader.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "base/ascii/ascii.hpp"
#include "base/ascii/code_points.hpp"
#include "base/bytes/prepared_content.hpp"
#include "base/bytes/sha256.hpp"
#include "base/json/utf8.hpp"
#include "sources/docs/document_text.hpp"
#include "sources/docs/document_uri.hpp"
#include "text/charsets/charset_decoder.hpp"
#include "text/language/language.hpp"
#include "text/markup/html.hpp"
#include "text/markup/html_tree.hpp"
#include "text/secrets/redactor.hpp"
#include "text/secrets/scanner.hpp"

namespace hondana::docs {
namespace {

/// Ranges of invisible characters without width.
constexpr std::array<std::pair<char32_t, char32_t>, 10> invisible_ranges{{{0xad, 0xad},
                                                                          {0x34f, 0x34f},
                                                                          {0x61c, 0x61c},
                                                                          {0x180b, 0x180f},
                                                                          {0x200b, 0x200f},
                                                                          {0x202a, 0x202e},
                                                                          {0x2060, 0x206f},
                                                                          {0xfe00, 0xfe0f},
                                                                          {0xfeff, 0xfeff},
                                                                          {0xe0000, 0xe0fff}}};

bool is_invisible(char32_t code) {
  return std::any_of(invisible_ranges.begin(), invisible_ranges.end(),
                     [code](const auto& range) { return code >= range.first && code <= range.second; });
}

}  // namespace

std::string extract_html_text(std::string_view page) {
  const auto text = markup::all_text_of_html(page);
  std::string out;
  out.reserve(text.size());
  for (std::string_view remaining = text; !remaining.empty();) {
    const auto character = ascii::first_character(remaining);
    if (!is_invisible(character.code)) out += remaining.substr(0, character.bytes);
    remaining.remove_prefix(character.bytes);
  }
  return out;
}

namespace {

/// Lists read texts up to this size completely, and only the beginning of larger ones.
constexpr std::uint64_t max_complete_read = 4u << 20;
constexpr std::size_t partial_read_bytes = 256u << 10;
constexpr std::size_t max_targets = 1000;
constexpr std::size_t max_target_bytes = 2000;
constexpr std::size_t max_heading_length = 300;
constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

/// A text before its metadata is determined.
struct converted_text {
  std::string text{};
  markup::outline outline{};
  document_properties properties{};
};

/// A size in the largest unit without a fraction: "4 MiB".
std::string format_size(std::uint64_t size) {
  constexpr std::uint64_t kibi = 1024;
  if (size == 0 || size % kibi != 0) return std::to_string(size) + " bytes";
  return size % (kibi * kibi) != 0 ? std::to_string(size / kibi) + " KiB" : std::to_string(size / (kibi * kibi)) + " MiB";
}

result<void> check_size(const opened_file& file, const set_options& options) {
  if (file.stamp.size <= options.max_bytes) return {};
  return fail(errc::response_too_large, "The document has " + format_size(file.stamp.size) + ", more than the limit of " +
                                            format_size(options.max_bytes) +
                                            " for this set. Split it, raise max_bytes of the set, or read parts of it through "
                                            "a source of files (?bytes=, ?lines=).");
}

/// Whether a link points to another file of the folder: not another scheme, and not a fragment.
bool is_file_link(std::string_view target) noexcept {
  if (target.empty() || target.size() > max_target_bytes || target.starts_with('#') || target.starts_with("//")) return false;
  const auto stop = target.find_first_of(":/?#");
  return stop == std::string_view::npos || target[stop] != ':';
}

/// Whether a target is a script or embedded data, which has no destination. Ignores invisible characters, as browsers do.
bool is_script_target(std::string_view target) {
  std::string scheme;
  for (const char c : target) {
    if (c == ':') {
      return ascii::equals_ignore_case(scheme, "javascript") || ascii::equals_ignore_case(scheme, "vbscript") ||
             ascii::equals_ignore_case(scheme, "data");
    }
    if (scheme.size() > 16) return false;
    if (static_cast<unsigned char>(c) > ' ') scheme += c;
  }
  return false;
}

std::vector<std::string> collect_targets(const markup::outline& outline) {
  std::set<std::string, std::less<>> targets;
  for (const auto& link : outline.links) {
    if (targets.size() == max_targets) break;
    if (is_file_link(link.target)) targets.insert(link.target);
  }
  return {targets.begin(), targets.end()};
}

/// The hint to read the original, if that helps.
std::string original_hint(const set_options& options) {
  return options.redact ? std::string() : " ?format=original returns the original file.";
}

/// Masks secrets by the rules for a file name, if masking is on.
class masker {
 public:
  masker(std::string_view path, bool is_enabled) : policy_(secrets::policy_of(path)), is_enabled_(is_enabled) {}

  /// Returns the number of masked secrets.
  std::size_t operator()(std::string& text) const {
    return is_enabled_ && !text.empty() ? secrets::redactor(policy_, text).mask(text) : 0;
  }

 private:
  secrets::masking_policy policy_;
  bool is_enabled_;
};

/// Decodes a text, and converts HTML to Markdown.
result<converted_text> decode_text(std::string bytes, const document_source& source, const set_options& options) {
  converted_text converted;
  auto decoded = charsets::decode(bytes, source.charset);
  if (!decoded) {
    return fail(errc::unreadable,
                "The document is not text in any supported encoding. Check whether its format matches its name." +
                    original_hint(options));
  }
  converted.properties.charset = std::move(decoded->charset);
  converted.properties.replaced_count = decoded->replacements;
  if (source.type.markup_format == markup::markup_format::html) {
    auto rendered = markup::render_html(decoded->text);
    converted.text = std::move(rendered.text);
    converted.outline = std::move(rendered.outline);
    converted.properties.is_truncated = rendered.is_truncated;
    if (is_language_tag(rendered.language)) converted.properties.lang = std::move(rendered.language);
    return converted;
  }
  std::string_view raw_text = bytes;
  if (raw_text.starts_with(byte_order_mark)) raw_text.remove_prefix(byte_order_mark.size());
  converted.properties.equals_original = raw_text == decoded->text;
  converted.text = std::move(decoded->text);
  return converted;
}

result<converted_text> render_text(const opened_file& file, const document_source& source, const set_options& options,
                                   const request_context& request) {
  if (!options.renderer) {
    return fail(errc::unsupported, "This set does not render PDF and Office files (render = false)." + original_hint(options));
  }
  if (const auto missing = options.renderer->missing_for(*source.type.render_format); !missing.empty()) {
    return fail(errc::unsupported, "Files of this kind cannot be rendered here: " + missing + "." + original_hint(options));
  }
  auto limits = options.render_limits;
  auto rendered = options.renderer->render(*source.type.render_format, file.file.get(), limits, request.stop, request.deadline);
  if (!rendered) {
    auto error = std::move(rendered.error());
    // Clients see access_denied as "not found", and invalid_argument as a wrong parameter.
    if (error.code == errc::access_denied || error.code == errc::invalid_argument) error.code = errc::unreadable;
    if (is_permanent(error)) error.public_text += original_hint(options);
    return tl::unexpected(std::move(error));
  }
  converted_text converted;
  converted.text = std::move(rendered->text);
  if (!json::is_utf8(converted.text) || json::has_nul(converted.text)) {
    std::string repaired;
    json::append_replacing(repaired, converted.text);
    std::erase(repaired, '\0');
    converted.text = std::move(repaired);
  }
  // Properties are part of the text, and are masked completely before they are cut.
  const masker mask(source.path, options.redact);
  converted.properties.masked_count = mask(rendered->title) + mask(rendered->author);
  converted.properties.has_extra_secrets = mask(rendered->extra_text) > 0;
  converted.properties.heading = one_line(rendered->title, max_heading_length);
  if (is_language_tag(rendered->language)) converted.properties.lang = std::move(rendered->language);
  converted.properties.page_count = rendered->pages;
  converted.properties.is_truncated = rendered->is_truncated;
  return converted;
}

/// Masks titles, descriptions, headings and links. Markup within a word, or entities, can hide a secret in the text that a
/// heading shows.
void mask_derived(converted_text& converted, const masker& mask) {
  auto& properties = converted.properties;
  for (auto* text : {&properties.heading, &properties.description, &properties.front_matter.title,
                     &properties.front_matter.description, &converted.outline.title})
    mask(*text);
  for (auto& warning : properties.front_matter.warnings) mask(warning);
  for (std::size_t i = 0; i < converted.outline.sections.size(); ++i) {
    auto& section = converted.outline.sections[i];
    if (mask(section.heading) + mask(section.id) > 0) section.id = "section-" + std::to_string(i + 1);
  }
  for (auto& link : converted.outline.links) {
    mask(link.text);
    mask(link.target);
  }
}

/// Derives metadata from the text, which is masked first.
void derive_properties(converted_text& converted, const document_source& source, const set_options& options) {
  auto& properties = converted.properties;
  properties.charset_rule = source.charset;
  const masker mask(source.path, options.redact);
  properties.masked_count += mask(converted.text);
  const bool is_html = source.type.markup_format == markup::markup_format::html;
  const auto format = is_html ? markup::markup_format::markdown : source.type.markup_format;
  if (!is_html) {
    converted.outline = markup::outline_of(format, converted.text);
  } else if (properties.masked_count > 0) {
    // The outline has offsets from before the masking. Only the file contains links.
    auto links = std::move(converted.outline.links);
    converted.outline = markup::outline_of(format, converted.text);
    converted.outline.links = std::move(links);
  }
  std::erase_if(converted.outline.links, [](const auto& link) { return is_script_target(link.target); });
  for (auto& link : converted.outline.links) {
    if (!is_html || !options.redact) break;
    link.target = secrets::redact_uri(link.target);
    link.text = secrets::redact_text(link.text);
  }
  if (!is_html) properties.front_matter = parse_front_matter(converted.text);
  std::string_view body =
      std::string_view(converted.text).substr(std::min(converted.outline.front_matter_end, converted.text.size()));
  if (properties.heading.empty()) {
    const auto& sections = converted.outline.sections;
    properties.heading =
        one_line(!sections.empty() && converted.outline.title.empty() ? sections.front().heading : converted.outline.title,
                 max_heading_length);
  }
  if (properties.heading.empty() && format == markup::markup_format::plain && !source.type.render_format) {
    const auto title = title_line(body);
    properties.heading = one_line(title, max_heading_length);
    if (!title.empty()) body.remove_prefix(static_cast<std::size_t>(title.data() - body.data()) + title.size());
  }
  properties.description = first_paragraph(format, body);
  if (!properties.front_matter.lang.empty()) properties.lang = properties.front_matter.lang;
  if (properties.lang.empty()) properties.lang = language::detect_language(body);
  properties.text_size = converted.text.size();
  if (options.redact) mask_derived(converted, mask);
  properties.link_targets = collect_targets(converted.outline);
}

/// Whether an HTML file contains secrets outside of its visible text: in hidden parts, scripts, comments and attributes. Finds
/// secrets that entities, tags or invisible characters interrupt.
bool has_hidden_secrets(std::string_view bytes, const document_source& source, const masker& mask) {
  if (source.type.markup_format != markup::markup_format::html) return false;
  const auto text = charsets::decode(bytes, source.charset);
  const auto page = text ? std::string_view(text->text) : bytes;
  auto decoded = markup::decode_character_references(page);
  auto joined = extract_html_text(page);
  return mask(decoded) + mask(joined) > 0;
}

}  // namespace

std::size_t document_text::cost() const noexcept {
  std::size_t total = 512 + (content ? content->size() : 0);
  for (const auto& section : outline.sections) total += sizeof(section) + section.heading.size() + section.id.size();
  for (const auto& link : outline.links) total += sizeof(link) + link.target.size() + link.text.size();
  return total;
}

bool is_permanent(const failure& error) noexcept {
  return error.code == errc::unreadable || error.code == errc::access_denied || error.code == errc::response_too_large;
}

result<std::shared_ptr<const document_text>> read_text(const opened_file& file, const document_source& source,
                                                       const set_options& options, const request_context& request) {
  HONDANA_TRY(check_size(file, options));
  result<converted_text> converted;
  bool may_be_racy = is_racy(file.stamp, disk::wall_clock());
  if (source.type.render_format) {
    converted = render_text(file, source, options, request);
    struct stat attributes{};
    if (converted && (::fstat(file.file.get(), &attributes) != 0 || disk::stamp_of(attributes) != file.stamp)) {
      return fail(errc::content_changed, "The document changed while it was being read. Read it again.");
    }
  } else {
    HONDANA_TRY(auto bytes, read_all(file));
    if (may_be_racy) {
      // The first read may mix two states that the timestamps do not distinguish.
      const auto second = read_all(file);
      if (!second) return tl::unexpected(second.error());
      if (*second != bytes) return fail(errc::content_changed, "The document keeps changing. Read it again.");
    }
    converted = decode_text(std::move(bytes), source, options);
  }
  if (!converted) return tl::unexpected(std::move(converted.error()));
  derive_properties(*converted, source, options);
  converted->properties.stamp = file.stamp;
  converted->properties.is_racy = may_be_racy;
  auto text = std::make_shared<document_text>();
  bytes::sha256 digest;
  digest.update(converted->text);
  text->digest = digest.finish();
  text->content = std::make_shared<const std::string>(std::move(converted->text));
  text->outline = std::move(converted->outline);
  text->properties = std::make_shared<const document_properties>(std::move(converted->properties));
  return std::shared_ptr<const document_text>(std::move(text));
}

result<std::shared_ptr<const document_properties>> read_properties(const opened_file& file, const document_source& source,
                                                                   const set_options& options) {
  HONDANA_TRY(check_size(file, options));
  const bool is_complete = file.stamp.size <= max_complete_read;
  const auto start = disk::wall_clock();
  HONDANA_TRY(auto bytes, is_complete ? read_all(file) : read_front(file, partial_read_bytes));
  if (!is_complete) {
    // The last character may be incomplete.
    const auto end = bytes.rfind('\n');
    if (end != std::string::npos) bytes.resize(end + 1);
  }
  HONDANA_TRY(auto converted, decode_text(std::move(bytes), source, options));
  derive_properties(converted, source, options);
  auto& properties = converted.properties;
  properties.stamp = file.stamp;
  properties.is_racy = is_racy(file.stamp, start);
  if (!is_complete) {
    properties.text_size.reset();
    properties.replaced_count = 0;
    properties.equals_original = false;
  }
  return std::make_shared<const document_properties>(std::move(properties));
}

failure withheld_error(const std::string& reason) {
  return {errc::unsupported, "The original file is withheld, because it may contain secrets: " + reason, {}};
}

result<original_file> read_original(const opened_file& file, const document_source& source, const set_options& options,
                                    const document_properties* properties) {
  HONDANA_TRY(check_size(file, options));
  if (options.redact) {
    if (properties == nullptr) return tl::unexpected(withheld_error("its text is unknown."));
    if (properties->masked_count > 0 && !properties->equals_original) {
      return tl::unexpected(
          withheld_error("its text contains some, which can be masked there, but not in the file. Remove them from the file."));
    }
    if (properties->has_extra_secrets) {
      return tl::unexpected(withheld_error(
          "parts outside its text, such as headers, charts or comments, contain some. Remove them from the file."));
    }
    if (properties->is_truncated)
      return tl::unexpected(withheld_error("not all of its content is rendered: it is too long, or it contains other files."));
  }
  HONDANA_TRY(auto bytes, read_all(file));
  original_file original;
  if (options.redact) {
    const masker mask(source.path, true);
    original.masked_count = mask(bytes);
    const bool masks_fewer = properties->equals_original && original.masked_count < properties->masked_count;
    if (masks_fewer || has_hidden_secrets(bytes, source, mask)) {
      return tl::unexpected(withheld_error("they are written in a way that cannot be masked. Remove them from the file."));
    }
  }
  original.bytes = std::make_shared<const std::string>(std::move(bytes));
  return original;
}

}  // namespace hondana::docs

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
#include "text/secrets/redactor.hpp"
#include "text/secrets/scanner.hpp"

namespace hondana::docs {
namespace {

/// Ranges of invisible characters without width.
constexpr std::array<std::pair<char32_t, char32_t>, 10> unseen{{{0xad, 0xad},
                                                                {0x34f, 0x34f},
                                                                {0x61c, 0x61c},
                                                                {0x180b, 0x180f},
                                                                {0x200b, 0x200f},
                                                                {0x202a, 0x202e},
                                                                {0x2060, 0x206f},
                                                                {0xfe00, 0xfe0f},
                                                                {0xfeff, 0xfeff},
                                                                {0xe0000, 0xe0fff}}};

bool is_unseen(char32_t code) {
  return std::any_of(unseen.begin(), unseen.end(), [code](const auto& one) { return code >= one.first && code <= one.second; });
}

bool begins_tag_at(std::string_view text, std::size_t at) {
  if (text[at] != '<' || at + 1 >= text.size()) return false;
  const char next = text[at + 1];
  return ascii::is_letter(next) || next == '/' || next == '!' || next == '?';
}

/// Elements that do not separate words.
constexpr std::array<std::string_view, 32> within_words{"a",      "abbr", "acronym", "b",  "bdi",  "bdo",   "big",  "cite",
                                                        "code",   "del",  "dfn",     "em", "font", "i",     "ins",  "kbd",
                                                        "mark",   "nobr", "q",       "s",  "samp", "small", "span", "strike",
                                                        "strong", "sub",  "sup",     "tt", "u",    "var",   "wbr",  "ruby"};

/// The text that replaces a tag. `tag`: from its `<` to before its `>`.
std::string_view shown_as(std::string_view tag) {
  tag.remove_prefix(tag.starts_with("</") ? 2 : 1);
  const auto name = ascii::in_lower_case(tag.substr(0, std::min(tag.find_first_of(" \t\r\n\f/"), std::size_t{16})));
  const bool is_within = std::find(within_words.begin(), within_words.end(), name) != within_words.end();
  return is_within ? "" : "\n";
}

std::string without_tags_of(std::string_view page) {
  std::string out;
  out.reserve(page.size());
  for (std::size_t at = 0; at < page.size();) {
    constexpr std::string_view comment = "<!--";
    if (page.substr(at).starts_with(comment)) {
      out += '\n';
      at += comment.size();  // the text of the comment is included
      continue;
    }
    const auto end = begins_tag_at(page, at) ? page.find('>', at) : std::string_view::npos;
    if (end != std::string_view::npos) {
      out += shown_as(page.substr(at, end - at));
      at = end + 1;
    } else if (begins_tag_at(page, at)) {
      return out.append(page.substr(at));  // no further tag ends
    } else {
      out += page[at++];
    }
  }
  return out;
}

}  // namespace

std::string joined_text_of_html(std::string_view page) {
  const auto decoded = markup::decoded(without_tags_of(page));
  std::string out;
  out.reserve(decoded.size());
  for (std::string_view rest = decoded; !rest.empty();) {
    const auto one = ascii::first_character(rest);
    if (!is_unseen(one.code)) out += rest.substr(0, one.bytes);
    rest.remove_prefix(one.bytes);
  }
  return out;
}

namespace {

/// Lists read texts up to this size completely, and only the beginning of larger ones.
constexpr std::uint64_t glanced_whole = 4u << 20;
constexpr std::size_t glanced_front = 256u << 10;
constexpr std::size_t most_targets = 1000;
constexpr std::size_t longest_target = 2000;
constexpr std::size_t longest_heading = 300;
constexpr std::string_view mark = "\xEF\xBB\xBF";

/// A text before its metadata is determined.
struct found_text {
  std::string text{};
  markup::outline outline{};
  facts about{};
};

/// A size in the largest unit without a fraction: "4 MiB".
std::string in_units(std::uint64_t size) {
  constexpr std::uint64_t kibi = 1024;
  if (size == 0 || size % kibi != 0) return std::to_string(size) + " bytes";
  return size % (kibi * kibi) != 0 ? std::to_string(size / kibi) + " KiB" : std::to_string(size / (kibi * kibi)) + " MiB";
}

result<void> check_size(const opened_file& file, const options& with) {
  if (file.state.size <= with.max_bytes) return {};
  return fail(errc::response_too_large, "The document has " + in_units(file.state.size) + ", more than the limit of " +
                                            in_units(with.max_bytes) +
                                            " for this set. Split it, raise max_bytes of the set, or read parts of it through "
                                            "a source of files (?bytes=, ?lines=).");
}

/// Whether a link points to another file of the folder: not another scheme, and not a fragment.
bool is_beside(std::string_view target) noexcept {
  if (target.empty() || target.size() > longest_target || target.starts_with('#') || target.starts_with("//")) return false;
  const auto stop = target.find_first_of(":/?#");
  return stop == std::string_view::npos || target[stop] != ':';
}

/// Whether a target is a script or embedded data, which has no destination. Ignores invisible characters, as browsers do.
bool is_code(std::string_view target) {
  std::string scheme;
  for (const char c : target) {
    if (c == ':') {
      return ascii::is_same(scheme, "javascript") || ascii::is_same(scheme, "vbscript") || ascii::is_same(scheme, "data");
    }
    if (scheme.size() > 16) return false;
    if (static_cast<unsigned char>(c) > ' ') scheme += c;
  }
  return false;
}

std::vector<std::string> targets_of(const markup::outline& of) {
  std::set<std::string, std::less<>> all;
  for (const auto& one : of.links) {
    if (all.size() == most_targets) break;
    if (is_beside(one.target)) all.insert(one.target);
  }
  return {all.begin(), all.end()};
}

/// The hint to read the original, if that helps.
std::string way_to_original(const options& with) {
  return with.redact ? std::string() : " ?format=original returns the original file.";
}

/// Masks secrets by the rules for a file name, if masking is on.
class masker {
 public:
  masker(std::string_view path, bool is_on) : how_(secrets::policy_of(path)), is_on_(is_on) {}

  /// Returns the number of masked secrets.
  std::size_t operator()(std::string& text) const {
    return is_on_ && !text.empty() ? secrets::redactor(how_, text).mask(text) : 0;
  }

 private:
  secrets::policy how_;
  bool is_on_;
};

/// Decodes a text, and converts HTML to Markdown.
result<found_text> text_of(std::string bytes, const assignment& what, const options& with) {
  found_text made;
  auto decoded = charsets::decode(bytes, what.charset);
  if (!decoded) {
    return fail(errc::unreadable,
                "The document is not text in any supported encoding. Check whether its format matches its name." +
                    way_to_original(with));
  }
  made.about.charset = std::move(decoded->charset);
  made.about.replaced = decoded->replaced;
  if (what.type.marked == markup::format::html) {
    auto rendered = markup::text_of_html(decoded->text);
    made.text = std::move(rendered.text);
    made.outline = std::move(rendered.outline);
    if (is_language_tag(rendered.language)) made.about.lang = std::move(rendered.language);
    return made;
  }
  std::string_view whole = bytes;
  if (whole.starts_with(mark)) whole.remove_prefix(mark.size());
  made.about.equals_original = whole == decoded->text;
  made.text = std::move(decoded->text);
  return made;
}

result<found_text> rendering_of(const opened_file& file, const assignment& what, const options& with, const call& by) {
  if (!with.renderer) {
    return fail(errc::unsupported, "This set does not render PDF and Office files (renders = false)." + way_to_original(with));
  }
  if (const auto missing = with.renderer->missing_for(*what.type.rendered); !missing.empty()) {
    return fail(errc::unsupported, "Files of this kind cannot be rendered here: " + missing + "." + way_to_original(with));
  }
  auto limits = with.rendered;
  auto rendered = with.renderer->render(*what.type.rendered, file.file.get(), limits, by.stop, by.deadline);
  if (!rendered) {
    auto why = std::move(rendered.error());
    // Clients see access_denied as "not found", and invalid_argument as a wrong parameter.
    if (why.code == errc::access_denied || why.code == errc::invalid_argument) why.code = errc::unreadable;
    if (is_lasting(why)) why.public_text += way_to_original(with);
    return tl::unexpected(std::move(why));
  }
  found_text made;
  made.text = std::move(rendered->text);
  if (!json::is_utf8(made.text) || json::has_nul(made.text)) {
    std::string repaired;
    json::append_replacing(repaired, made.text);
    std::erase(repaired, '\0');
    made.text = std::move(repaired);
  }
  // Properties are part of the text, and are masked completely before they are cut.
  const masker mask(what.path, with.redact);
  made.about.masked = mask(rendered->title) + mask(rendered->author);
  made.about.has_secrets_beside = mask(rendered->beside) > 0;
  made.about.heading = one_line(rendered->title, longest_heading);
  if (is_language_tag(rendered->language)) made.about.lang = std::move(rendered->language);
  made.about.pages = rendered->pages;
  made.about.is_cut = rendered->is_cut;
  return made;
}

/// Masks titles, descriptions, headings and links. Markup within a word, or entities, can hide a secret in the text that a
/// heading shows.
void mask_what_was_made(found_text& of, const masker& mask) {
  auto& about = of.about;
  for (auto* one : {&about.heading, &about.description, &about.says.title, &about.says.description, &of.outline.title})
    mask(*one);
  for (auto& one : about.says.warnings) mask(one);
  for (std::size_t i = 0; i < of.outline.sections.size(); ++i) {
    auto& one = of.outline.sections[i];
    if (mask(one.heading) + mask(one.id) > 0) one.id = "section-" + std::to_string(i + 1);
  }
  for (auto& one : of.outline.links) {
    mask(one.text);
    mask(one.target);
  }
}

/// Derives metadata from the text, which is masked first.
void look_into(found_text& into, const assignment& what, const options& with) {
  auto& about = into.about;
  about.charset_rule = what.charset;
  const masker mask(what.path, with.redact);
  about.masked += mask(into.text);
  const bool is_html = what.type.marked == markup::format::html;
  const auto how = is_html ? markup::format::markdown : what.type.marked;
  if (!is_html) {
    into.outline = markup::outline_of(how, into.text);
  } else if (about.masked > 0) {
    // The outline has offsets from before the masking. Only the file contains links.
    auto links = std::move(into.outline.links);
    into.outline = markup::outline_of(how, into.text);
    into.outline.links = std::move(links);
  }
  std::erase_if(into.outline.links, [](const auto& one) { return is_code(one.target); });
  for (auto& link : into.outline.links) {
    if (!is_html || !with.redact) break;
    link.target = secrets::redact_uri(link.target);
    link.text = secrets::redact_text(link.text);
  }
  if (!is_html) about.says = statements_of(into.text);
  std::string_view body = std::string_view(into.text).substr(std::min(into.outline.front_matter_end, into.text.size()));
  if (about.heading.empty()) {
    const auto& sections = into.outline.sections;
    about.heading = one_line(!sections.empty() && into.outline.title.empty() ? sections.front().heading : into.outline.title,
                             longest_heading);
  }
  if (about.heading.empty() && how == markup::format::plain && !what.type.rendered) {
    const auto title = title_line(body);
    about.heading = one_line(title, longest_heading);
    if (!title.empty()) body.remove_prefix(static_cast<std::size_t>(title.data() - body.data()) + title.size());
  }
  about.description = first_paragraph(how, body);
  if (!about.says.lang.empty()) about.lang = about.says.lang;
  if (about.lang.empty()) about.lang = language::language_of(body);
  about.text_size = into.text.size();
  if (with.redact) mask_what_was_made(into, mask);
  about.targets = targets_of(into.outline);
}

/// Whether an HTML file contains secrets outside of its visible text: in hidden parts, scripts, comments and attributes. Finds
/// secrets that entities, tags or invisible characters interrupt.
bool hides_some(std::string_view bytes, const assignment& what, const masker& mask) {
  if (what.type.marked != markup::format::html) return false;
  const auto text = charsets::decode(bytes, what.charset);
  const auto page = text ? std::string_view(text->text) : bytes;
  auto read = markup::decoded(page);
  auto joined = joined_text_of_html(page);
  return mask(read) + mask(joined) > 0;
}

}  // namespace

std::size_t prose::cost() const noexcept {
  std::size_t all = 512 + (text ? text->size() : 0);
  for (const auto& one : outline.sections) all += sizeof(one) + one.heading.size() + one.id.size();
  for (const auto& one : outline.links) all += sizeof(one) + one.target.size() + one.text.size();
  return all;
}

bool is_lasting(const failure& why) noexcept {
  return why.code == errc::unreadable || why.code == errc::access_denied || why.code == errc::response_too_large;
}

result<std::shared_ptr<const prose>> read_prose(const opened_file& file, const assignment& what, const options& with,
                                                const call& by) {
  HONDANA_TRY(check_size(file, with));
  result<found_text> found;
  bool is_unsure = is_racy(file.state, disk::wall_clock());
  if (what.type.rendered) {
    found = rendering_of(file, what, with, by);
    struct stat after{};
    if (found && (::fstat(file.file.get(), &after) != 0 || disk::stamp_of(after) != file.state)) {
      return fail(errc::content_changed, "The document changed while it was being read. Read it again.");
    }
  } else {
    HONDANA_TRY(auto bytes, read_whole(file));
    if (is_unsure) {
      // The first read may mix two states that the timestamps do not distinguish.
      const auto again = read_whole(file);
      if (!again) return tl::unexpected(again.error());
      if (*again != bytes) return fail(errc::content_changed, "The document keeps changing. Read it again.");
    }
    found = text_of(std::move(bytes), what, with);
  }
  if (!found) return tl::unexpected(std::move(found.error()));
  look_into(*found, what, with);
  found->about.state = file.state;
  found->about.is_racy = is_unsure;
  auto made = std::make_shared<prose>();
  bytes::sha256 digest;
  digest.feed(found->text);
  made->digest = digest.finish();
  made->text = std::make_shared<const std::string>(std::move(found->text));
  made->outline = std::move(found->outline);
  made->about = std::make_shared<const facts>(std::move(found->about));
  return std::shared_ptr<const prose>(std::move(made));
}

result<std::shared_ptr<const facts>> glance(const opened_file& file, const assignment& what, const options& with) {
  HONDANA_TRY(check_size(file, with));
  const bool is_whole = file.state.size <= glanced_whole;
  const auto begun = disk::wall_clock();
  HONDANA_TRY(auto bytes, is_whole ? read_whole(file) : read_front(file, glanced_front));
  if (!is_whole) {
    // The last character may be incomplete.
    const auto end = bytes.rfind('\n');
    if (end != std::string::npos) bytes.resize(end + 1);
  }
  HONDANA_TRY(auto found, text_of(std::move(bytes), what, with));
  look_into(found, what, with);
  auto& about = found.about;
  about.state = file.state;
  about.is_racy = is_racy(file.state, begun);
  if (!is_whole) {
    about.text_size.reset();
    about.replaced = 0;
    about.equals_original = false;
  }
  return std::make_shared<const facts>(std::move(about));
}

failure withheld(const std::string& why) {
  return {errc::unsupported, "The original file is withheld, because it may contain secrets: " + why, {}};
}

result<original> read_original(const opened_file& file, const assignment& what, const options& with, const facts* about) {
  HONDANA_TRY(check_size(file, with));
  if (with.redact) {
    if (about == nullptr) return tl::unexpected(withheld("its text is unknown."));
    if (about->masked > 0 && !about->equals_original) {
      return tl::unexpected(
          withheld("its text contains some, which can be masked there, but not in the file. Remove them from the file."));
    }
    if (about->has_secrets_beside) {
      return tl::unexpected(
          withheld("parts outside its text, such as headers, charts or comments, contain some. Remove them from the file."));
    }
    if (about->is_cut)
      return tl::unexpected(withheld("not all of its content is rendered: it is too long, or it contains other files."));
  }
  HONDANA_TRY(auto bytes, read_whole(file));
  original made;
  if (with.redact) {
    const masker mask(what.path, true);
    made.masked = mask(bytes);
    const bool is_less = about->equals_original && made.masked < about->masked;
    if (is_less || hides_some(bytes, what, mask)) {
      return tl::unexpected(withheld("they are written in a way that cannot be masked. Remove them from the file."));
    }
  }
  made.bytes = std::make_shared<const std::string>(std::move(bytes));
  return made;
}

}  // namespace hondana::docs

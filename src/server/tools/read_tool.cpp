/// The tool read_resource.

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <hondana/uri.hpp>

#include "base/bytes/digest.hpp"
#include "base/json/base64.hpp"
#include "server/catalog/cursor.hpp"
#include "server/tools/content_part.hpp"
#include "server/tools/resource_tools.hpp"

namespace hondana::tools {
namespace {

constexpr std::size_t usual_page = 32 * 1024;
constexpr std::size_t least_page = 1024;
constexpr std::size_t most_page = 256 * 1024;
constexpr std::size_t largest_media = 4u << 20;   // pictures and sounds, before base64
constexpr std::size_t largest_blob = 256 * 1024;  // other blobs, which models cannot use well

value read_input_schema() {
  return value::object{
      {"type", "object"},
      {"properties",
       value::object{
           {"uri", property("string",
                            "URI of the resource, from list_resources, search_resources or a template, e.g. "
                            "file:///home/me/project/README.md",
                            {{"minLength", 1}, {"maxLength", max_uri_bytes}})},
           {"range",
            property(
                "string",
                "Only this part, e.g. lines=10-40 (counted from 1) or bytes=0-4095 (counted from 0); both ends are included",
                {{"maxLength", 64}})},
           {"cursor", property("string", "Cursor from the previous result, to continue where it ended; repeat uri and range")},
           {"maxBytes", property("integer", "Maximum bytes of text in the result; default 32768",
                                 {{"minimum", least_page}, {"maximum", most_page}})}}},
      {"required", value::array{"uri"}},
      {"additionalProperties", false}};
}

/// The validated arguments of a call.
struct question {
  std::string uri;
  std::string asked;
  std::string range;
  std::optional<part> wanted;
  bool is_of_source = false;  ///< The source extracts the range, which was added to `uri`.
  std::size_t most = usual_page;
  std::uint64_t scope = 0;
};

/// Where the next page begins: the index of a content, and the rest of it.
struct position {
  std::size_t content = 0;
  std::optional<extent> rest;
  std::string version;
};

result<question> question_of(const tool_call& call) {
  question asked;
  asked.asked = *call.arguments.find("uri")->as_string();
  auto uri = canonical_uri(asked.asked);
  if (!uri) return fail(errc::invalid_argument, "uri: " + uri.error().public_text);
  asked.uri = std::move(*uri);
  const auto is_ascii = [](char c) { return static_cast<unsigned char>(c) < 0x80; };
  if (!std::all_of(asked.asked.begin(), asked.asked.end(), is_ascii)) asked.asked = asked.uri;
  if (const auto* range = call.arguments.find("range")) {
    asked.range = *range->as_string();
    HONDANA_TRY(auto wanted, parse_part(asked.range));
    asked.wanted = wanted;
  }
  if (const auto* most = call.arguments.find("maxBytes")) asked.most = static_cast<std::size_t>(*most->as_integer());
  asked.scope = catalog::cursor_scope("read_resource", asked.uri + '\n' + asked.range, call.who.view.get());
  return asked;
}

std::string write_position(const question& asked, const position& at) {
  const auto rest = at.rest.value_or(extent{});
  const auto key =
      std::to_string(at.content) + ' ' + std::to_string(rest.begin) + ' ' + std::to_string(rest.end) + ' ' + at.version;
  return catalog::write_cursor(asked.scope, json::base64url(key));
}

/// Parses a result of `write_position`. Errors: invalid_argument for any other text.
result<position> read_position(const question& asked, const std::string& cursor) {
  const auto bad = [] {
    return fail(errc::invalid_argument,
                "cursor: not issued by this tool for this uri and range. Use the cursor of the previous result, or omit it.");
  };
  const auto key = catalog::read_cursor(cursor, asked.scope);
  const auto text = key ? json::decode_base64url(*key) : std::nullopt;
  if (!text) return bad();
  std::string_view left = *text;
  const auto number = [&left](std::uint64_t& into) {
    const auto [end, error] = std::from_chars(left.data(), left.data() + left.size(), into);
    if (error != std::errc() || end == left.data() + left.size() || *end != ' ') return false;
    left.remove_prefix(static_cast<std::size_t>(end - left.data()) + 1);
    return true;
  };
  std::uint64_t content = 0;
  extent rest;
  if (!number(content) || !number(rest.begin) || !number(rest.end)) return bad();
  position at;
  at.content = static_cast<std::size_t>(content);
  if (rest.end != 0) at.rest = rest;
  at.version = left;
  return at;
}

/// A text that changes with the content: the version, or, if the source has none, the digest of the bytes.
std::string state_of(const bytes::prepared_reading& from, std::size_t content) {
  if (!from.version.empty() || content >= from.contents.size()) return from.version;
  const auto& data = from.contents[content].data;
  const auto* whole = std::get_if<shared_bytes>(&data);
  return bytes::to_hex(whole != nullptr ? bytes::digest_of(**whole) : std::get<bytes::stream>(data).expected);
}

/// One page of a reading, built content by content.
class page {
 public:
  page(const tool_call& call, const surroundings& in, const question& asked, const catalog::read_answer& from)
      : call_(call), in_(in), asked_(asked), from_(from), left_(asked.most) {}

  result<tool_result> make(position at) {
    const auto& contents = from_.reading.contents;
    if (asked_.wanted && !is_of_one(contents)) {
      return fail(errc::invalid_argument, "range: " + asked_.asked + " consists of " + std::to_string(contents.size()) +
                                              " contents. Read it without a range, or read one of them.");
    }
    const auto wanted = asked_.wanted ? std::size_t{1} : contents.size();
    for (; at.content < wanted; ++at.content, at.rest.reset()) {
      if (left_ == 0) return finish(at);
      HONDANA_TRY(auto rest, add(contents[at.content], at.rest));
      if (rest) {
        at.rest = rest;
        return finish(at);
      }
    }
    return finish(std::nullopt);
  }

 private:
  /// Whether there is only one content, apart from other forms of it, such as the original of a text. Then the first one is
  /// used.
  bool is_of_one(const std::vector<bytes::prepared>& contents) const {
    const auto other_form = [form = asked_.uri + '?'](const bytes::prepared& one) { return one.uri.starts_with(form); };
    return !contents.empty() && std::all_of(contents.begin() + 1, contents.end(), other_form);
  }

  /// Adds one content. Returns the rest of it if the page is full.
  result<std::optional<extent>> add(const bytes::prepared& one, const std::optional<extent>& rest) {
    if (one.is_text) return add_text(one, rest);
    if (asked_.wanted && asked_.wanted->is_lines) {
      return fail(errc::invalid_argument, "range: " + asked_.asked + " is not text and has no lines. Use a range of bytes.");
    }
    const bool is_picture = one.mimeType.starts_with("image/") && !asked_.wanted;
    const bool is_sound = one.mimeType.starts_with("audio/") && !asked_.wanted;
    const auto most = is_picture || is_sound ? largest_media : largest_blob;
    HONDANA_TRY(auto found, pull(call_, in_, one, from_.home, asked_.wanted, {}, most));
    if (found.begin + found.bytes.size() < found.end) return leave_out(one, found.end - found.begin, most);
    if (is_picture) {
      answer_.content.emplace_back(image_block{std::move(found.bytes), one.mimeType, hints(one)});
    } else if (is_sound) {
      answer_.content.emplace_back(audio_block{std::move(found.bytes), one.mimeType, hints(one)});
    } else {
      answer_.content.emplace_back(
          embedded_block{one.uri, one.mimeType, std::move(found.bytes), content_form::blob, hints(one), one.metadata});
    }
    left_ = 0;  // further contents get a page of their own
    return std::nullopt;
  }

  result<std::optional<extent>> add_text(const bytes::prepared& one, const std::optional<extent>& rest) {
    HONDANA_TRY(auto found, pull(call_, in_, one, from_.home, asked_.wanted, rest, left_));
    const auto next = found.begin + found.bytes.size();
    left_ -= std::min(left_, found.bytes.size());
    if (next < found.end || found.begin > 0) {
      note(one.uri + ": bytes " + std::to_string(found.begin) + " to " + std::to_string(next) + " of " +
           std::to_string(found.total) + ".");
    }
    const bool is_stuck = found.bytes.empty() && next < found.end;  // not even one character fits
    if (!found.bytes.empty() || next == found.end) {
      answer_.content.emplace_back(
          embedded_block{one.uri, one.mimeType, std::move(found.bytes), content_form::text, hints(one), one.metadata});
    }
    if (is_stuck) left_ = 0;
    if (next < found.end) return extent{next, found.end};
    return std::nullopt;
  }

  result<std::optional<extent>> leave_out(const bytes::prepared& one, std::uint64_t size, std::size_t most) {
    resource link = is_of_entry(one) ? *from_.entry : resource{};
    link.uri = one.uri;
    if (link.name.empty()) link.name = one.name.empty() ? one.uri : one.name;
    if (link.mimeType.empty()) link.mimeType = one.mimeType;
    const auto why =
        one.uri + " has " + std::to_string(size) + " bytes of " + (one.mimeType.empty() ? "unknown type" : one.mimeType) +
        ", and this tool sends at most " + std::to_string(most) +
        " of it. The client can read all of it with resources/read; to read a part, use a range such as bytes=0-65535.";
    if (from_.reading.contents.size() == 1) return fail(errc::response_too_large, why);
    note(why);
    answer_.content.emplace_back(link_block{std::move(link)});
    return std::nullopt;
  }

  void note(std::string text) { notes_ += (notes_.empty() ? "" : "\n") + std::move(text); }

  /// Whether the entry describes this content, not the folder that contains it.
  bool is_of_entry(const bytes::prepared& one) const { return from_.entry && from_.entry->uri == one.uri; }

  annotations hints(const bytes::prepared& one) const { return is_of_entry(one) ? from_.entry->annotations : annotations{}; }

  tool_result finish(std::optional<position> next) {
    if (next) {
      next->version = state_of(from_.reading, next->content);
      value::object again{
          {"uri", asked_.asked.substr(0, asked_.asked.size() - (asked_.is_of_source ? asked_.range.size() + 1 : 0))}};
      if (!asked_.range.empty()) again.emplace_back("range", asked_.range);
      if (asked_.most != usual_page) again.emplace_back("maxBytes", static_cast<std::int64_t>(asked_.most));
      again.emplace_back("cursor", write_position(asked_, *next));
      note("There is more. next: call read_resource again with " + value(std::move(again)).to_text());
    }
    if (!notes_.empty()) answer_.content.emplace_back(text_block{notes_, {}});
    return std::move(answer_);
  }

  const tool_call& call_;
  const surroundings& in_;
  const question& asked_;
  const catalog::read_answer& from_;
  std::size_t left_;
  std::string notes_;
  tool_result answer_;
};

failure explained(failure why, const question& asked) {
  if (why.code == errc::response_too_large && asked.range.empty()) {
    why.public_text += " With this tool, use a range such as lines=1-200 or bytes=0-65535.";
  }
  if (why.code != errc::resource_not_found && why.code != errc::access_denied) return why;
  why.public_text = "Resource not found: " + asked.asked +
                    ". It does not exist, or you may not read it. Use a URI from list_resources or search_resources.";
  return why;
}

result<tool_outcome> read(const tool_call& call, const surroundings& in) {
  HONDANA_TRY(auto asked, question_of(call));
  position at;
  if (const auto* cursor = call.arguments.find("cursor")) {
    HONDANA_TRY(auto given, read_position(asked, *cursor->as_string()));
    at = std::move(given);
  }
  if (auto admitted = in.gate->admit(call.who, model::read_resource{asked.uri, asked.asked}); !admitted) {
    return tl::unexpected(explained(std::move(admitted.error()), asked));
  }
  auto found = await<catalog::read_answer>(call, [&](catalog::completion<catalog::read_answer> done) {
    in.catalog->read(call, asked.uri, asked.asked, {{}, true, true}, std::move(done));
  });
  const bool is_part_of_source = asked.wanted && asked.uri.find_first_of("?#") == std::string::npos;
  if (!found && found.error().code == errc::response_too_large && is_part_of_source) {
    // The whole exceeds the read limit; the source may be able to extract the range.
    asked.uri += '?' + asked.range;
    asked.asked += '?' + asked.range;
    asked.wanted.reset();
    asked.is_of_source = true;
    if (auto admitted = in.gate->admit(call.who, model::read_resource{asked.uri, asked.asked}); !admitted) {
      return tl::unexpected(explained(std::move(admitted.error()), asked));
    }
    found = await<catalog::read_answer>(call, [&](catalog::completion<catalog::read_answer> done) {
      in.catalog->read(call, asked.uri, asked.asked, {{}, true, true}, std::move(done));
    });
  }
  if (!found) return tl::unexpected(explained(std::move(found.error()), asked));
  if (at.content >= found->reading.contents.size()) {
    return fail(errc::content_changed, asked.asked + " has fewer contents than before. Read it again without a cursor.");
  }
  if (call.arguments.find("cursor") != nullptr && at.version != state_of(found->reading, at.content)) {
    return fail(errc::content_changed, asked.asked + " has changed since the previous page. Read it again without a cursor.");
  }
  return page(call, in, asked, *found).make(std::move(at)).map([](tool_result made) { return tool_outcome(std::move(made)); });
}

}  // namespace

offered read_tool(std::shared_ptr<const place> where) {
  offered made;
  made.entry.name = tool_names[1];
  made.entry.title = "Read a resource";
  made.entry.description =
      "Reads a resource of this server by its URI. Returns text as text, images and audio as such, and a folder as a list of "
      "its content. Long text comes in pages; each result says how to get the next one.";
  made.entry.inputSchema = read_input_schema();
  made.entry.annotations = reading_only("Read a resource");
  made.handler = [where = std::move(where)](const tool_call& call) { return read(call, where->now()); };
  return made;
}

}  // namespace hondana::tools

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

constexpr std::size_t default_page_bytes = 32 * 1024;
constexpr std::size_t min_page_bytes = 1024;
constexpr std::size_t max_page_bytes = 256 * 1024;
constexpr std::size_t max_media_bytes = 4u << 20;   // pictures and sounds, before base64
constexpr std::size_t max_blob_bytes = 256 * 1024;  // other blobs, which models cannot use well

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
                                 {{"minimum", min_page_bytes}, {"maximum", max_page_bytes}})}}},
      {"required", value::array{"uri"}},
      {"additionalProperties", false}};
}

/// The validated arguments of a call.
struct read_arguments {
  std::string uri;
  std::string requested_uri;
  std::string range_text;
  std::optional<content_range> range;
  bool is_source_range = false;  ///< The source extracts the range, which was added to `uri`.
  std::size_t max_bytes = default_page_bytes;
  std::uint64_t scope = 0;
};

/// Where the next page begins: the index of a content, and the rest of it.
struct page_position {
  std::size_t content = 0;
  std::optional<byte_range> remaining;
  std::string version;
};

result<read_arguments> parse_arguments(const tool_call& call) {
  read_arguments arguments;
  arguments.requested_uri = *call.arguments.find("uri")->as_string();
  auto uri = canonical_uri(arguments.requested_uri);
  if (!uri) return fail(errc::invalid_argument, "uri: " + uri.error().public_text);
  arguments.uri = std::move(*uri);
  const auto is_ascii = [](char c) { return static_cast<unsigned char>(c) < 0x80; };
  if (!std::all_of(arguments.requested_uri.begin(), arguments.requested_uri.end(), is_ascii))
    arguments.requested_uri = arguments.uri;
  if (const auto* range = call.arguments.find("range")) {
    arguments.range_text = *range->as_string();
    HONDANA_TRY(auto parsed, parse_range(arguments.range_text));
    arguments.range = parsed;
  }
  if (const auto* max_argument = call.arguments.find("maxBytes"))
    arguments.max_bytes = static_cast<std::size_t>(*max_argument->as_integer());
  arguments.scope =
      catalog::cursor_scope("read_resource", arguments.uri + '\n' + arguments.range_text, call.caller.access_filter.get());
  return arguments;
}

std::string write_position(const read_arguments& arguments, const page_position& position) {
  const auto remaining = position.remaining.value_or(byte_range{});
  const auto key = std::to_string(position.content) + ' ' + std::to_string(remaining.begin) + ' ' +
                   std::to_string(remaining.end) + ' ' + position.version;
  return catalog::write_cursor(arguments.scope, json::encode_base64url(key));
}

/// Parses a result of `write_position`. Errors: invalid_argument for any other text.
result<page_position> read_position(const read_arguments& arguments, const std::string& cursor) {
  const auto invalid_cursor = [] {
    return fail(errc::invalid_argument,
                "cursor: not issued by this tool for this uri and range. Use the cursor of the previous result, or omit it.");
  };
  const auto key = catalog::read_cursor(cursor, arguments.scope);
  const auto text = key ? json::decode_base64url(*key) : std::nullopt;
  if (!text) return invalid_cursor();
  std::string_view input = *text;
  const auto parse_number = [&input](std::uint64_t& number) {
    const auto [end, error] = std::from_chars(input.data(), input.data() + input.size(), number);
    if (error != std::errc() || end == input.data() + input.size() || *end != ' ') return false;
    input.remove_prefix(static_cast<std::size_t>(end - input.data()) + 1);
    return true;
  };
  std::uint64_t content = 0;
  byte_range remaining;
  if (!parse_number(content) || !parse_number(remaining.begin) || !parse_number(remaining.end)) return invalid_cursor();
  page_position position;
  position.content = static_cast<std::size_t>(content);
  if (remaining.end != 0) position.remaining = remaining;
  position.version = input;
  return position;
}

/// A text that changes with the content: the version, or, if the source has none, the digest of the bytes.
std::string content_state(const bytes::prepared_read_result& reading, std::size_t content) {
  if (!reading.version.empty() || content >= reading.contents.size()) return reading.version;
  const auto& data = reading.contents[content].data;
  const auto* buffer = std::get_if<shared_bytes>(&data);
  return bytes::to_hex(buffer != nullptr ? bytes::digest_of(**buffer) : std::get<bytes::verified_stream>(data).expected_digest);
}

/// One page of a reading, built content by content.
class page_builder {
 public:
  page_builder(const tool_call& call, const tool_services& services, const read_arguments& arguments,
               const catalog::read_answer& answer)
      : call_(call), services_(services), arguments_(arguments), read_(answer), remaining_bytes_(arguments.max_bytes) {}

  result<tool_result> build(page_position position) {
    const auto& contents = read_.reading.contents;
    if (arguments_.range && !is_single_content(contents)) {
      return fail(errc::invalid_argument, "range: " + arguments_.requested_uri + " consists of " +
                                              std::to_string(contents.size()) +
                                              " contents. Read it without a range, or read one of them.");
    }
    const auto count = arguments_.range ? std::size_t{1} : contents.size();
    for (; position.content < count; ++position.content, position.remaining.reset()) {
      if (remaining_bytes_ == 0) return finish(position);
      HONDANA_TRY(auto remaining, add(contents[position.content], position.remaining));
      if (remaining) {
        position.remaining = remaining;
        return finish(position);
      }
    }
    return finish(std::nullopt);
  }

 private:
  /// Whether there is only one content, apart from other forms of it, such as the original of a text. Then the first one is
  /// used.
  bool is_single_content(const std::vector<bytes::prepared_content>& contents) const {
    const auto is_other_form = [form = arguments_.uri + '?'](const bytes::prepared_content& content) {
      return content.uri.starts_with(form);
    };
    return !contents.empty() && std::all_of(contents.begin() + 1, contents.end(), is_other_form);
  }

  /// Adds one content. Returns the rest of it if the page is full.
  result<std::optional<byte_range>> add(const bytes::prepared_content& content, const std::optional<byte_range>& remaining) {
    if (content.is_text) return add_text(content, remaining);
    if (arguments_.range && arguments_.range->is_lines) {
      return fail(errc::invalid_argument,
                  "range: " + arguments_.requested_uri + " is not text and has no lines. Use a range of bytes.");
    }
    const bool is_picture = content.mime_type.starts_with("image/") && !arguments_.range;
    const bool is_sound = content.mime_type.starts_with("audio/") && !arguments_.range;
    const auto max_bytes = is_picture || is_sound ? max_media_bytes : max_blob_bytes;
    HONDANA_TRY(auto extracted, extract(call_, services_, content, read_.executor, arguments_.range, {}, max_bytes));
    if (extracted.begin + extracted.bytes.size() < extracted.end)
      return add_link(content, extracted.end - extracted.begin, max_bytes);
    if (is_picture) {
      answer_.content.emplace_back(image_block{std::move(extracted.bytes), content.mime_type, annotations_of(content)});
    } else if (is_sound) {
      answer_.content.emplace_back(audio_block{std::move(extracted.bytes), content.mime_type, annotations_of(content)});
    } else {
      answer_.content.emplace_back(embedded_block{content.uri, content.mime_type, std::move(extracted.bytes),
                                                  content_kind::blob, annotations_of(content), content.metadata});
    }
    remaining_bytes_ = 0;  // further contents get a page of their own
    return std::nullopt;
  }

  result<std::optional<byte_range>> add_text(const bytes::prepared_content& content,
                                             const std::optional<byte_range>& remaining) {
    HONDANA_TRY(auto extracted,
                extract(call_, services_, content, read_.executor, arguments_.range, remaining, remaining_bytes_));
    const auto next = extracted.begin + extracted.bytes.size();
    remaining_bytes_ -= std::min(remaining_bytes_, extracted.bytes.size());
    if (next < extracted.end || extracted.begin > 0) {
      add_note(content.uri + ": bytes " + std::to_string(extracted.begin) + " to " + std::to_string(next) + " of " +
               std::to_string(extracted.total) + ".");
    }
    const bool is_stuck = extracted.bytes.empty() && next < extracted.end;  // not even one character fits
    if (!extracted.bytes.empty() || next == extracted.end) {
      answer_.content.emplace_back(embedded_block{content.uri, content.mime_type, std::move(extracted.bytes),
                                                  content_kind::text, annotations_of(content), content.metadata});
    }
    if (is_stuck) remaining_bytes_ = 0;
    if (next < extracted.end) return byte_range{next, extracted.end};
    return std::nullopt;
  }

  result<std::optional<byte_range>> add_link(const bytes::prepared_content& content, std::uint64_t size,
                                             std::size_t max_bytes) {
    resource link = matches_entry(content) ? *read_.entry : resource{};
    link.uri = content.uri;
    if (link.name.empty()) link.name = content.name.empty() ? content.uri : content.name;
    if (link.mime_type.empty()) link.mime_type = content.mime_type;
    const auto reason =
        content.uri + " has " + std::to_string(size) + " bytes of " +
        (content.mime_type.empty() ? "unknown type" : content.mime_type) + ", and this tool sends at most " +
        std::to_string(max_bytes) +
        " of it. The client can read all of it with resources/read; to read a part, use a range such as bytes=0-65535.";
    if (read_.reading.contents.size() == 1) return fail(errc::response_too_large, reason);
    add_note(reason);
    answer_.content.emplace_back(link_block{std::move(link)});
    return std::nullopt;
  }

  void add_note(std::string text) { notes_ += (notes_.empty() ? "" : "\n") + std::move(text); }

  /// Whether the entry describes this content, not the folder that contains it.
  bool matches_entry(const bytes::prepared_content& content) const { return read_.entry && read_.entry->uri == content.uri; }

  annotations annotations_of(const bytes::prepared_content& content) const {
    return matches_entry(content) ? read_.entry->annotations : annotations{};
  }

  tool_result finish(std::optional<page_position> next) {
    if (next) {
      next->version = content_state(read_.reading, next->content);
      value::object next_call{
          {"uri", arguments_.requested_uri.substr(0, arguments_.requested_uri.size() -
                                                         (arguments_.is_source_range ? arguments_.range_text.size() + 1 : 0))}};
      if (!arguments_.range_text.empty()) next_call.emplace_back("range", arguments_.range_text);
      if (arguments_.max_bytes != default_page_bytes)
        next_call.emplace_back("maxBytes", static_cast<std::int64_t>(arguments_.max_bytes));
      next_call.emplace_back("cursor", write_position(arguments_, *next));
      add_note("There is more. next: call read_resource again with " + value(std::move(next_call)).to_text());
    }
    if (!notes_.empty()) answer_.content.emplace_back(text_block{notes_, {}});
    return std::move(answer_);
  }

  const tool_call& call_;
  const tool_services& services_;
  const read_arguments& arguments_;
  const catalog::read_answer& read_;
  std::size_t remaining_bytes_;
  std::string notes_;
  tool_result answer_;
};

failure explain(failure error, const read_arguments& arguments) {
  if (error.code == errc::response_too_large && arguments.range_text.empty()) {
    error.public_text += " With this tool, use a range such as lines=1-200 or bytes=0-65535.";
  }
  if (error.code != errc::resource_not_found && error.code != errc::access_denied) return error;
  error.public_text = "Resource not found: " + arguments.requested_uri +
                      ". It does not exist, or you may not read it. Use a URI from list_resources or search_resources.";
  return error;
}

result<tool_outcome> read(const tool_call& call, const tool_services& services) {
  HONDANA_TRY(auto arguments, parse_arguments(call));
  page_position position;
  if (const auto* cursor = call.arguments.find("cursor")) {
    HONDANA_TRY(auto parsed, read_position(arguments, *cursor->as_string()));
    position = std::move(parsed);
  }
  if (auto admitted = services.gate->admit(call.caller, model::read_resource{arguments.uri, arguments.requested_uri});
      !admitted) {
    return tl::unexpected(explain(std::move(admitted.error()), arguments));
  }
  auto answer = await<catalog::read_answer>(call, [&](catalog::completion<catalog::read_answer> callback) {
    services.catalog->read(call, arguments.uri, arguments.requested_uri, {{}, true, true}, std::move(callback));
  });
  const bool may_extract_in_source = arguments.range && arguments.uri.find_first_of("?#") == std::string::npos;
  if (!answer && answer.error().code == errc::response_too_large && may_extract_in_source) {
    // The whole exceeds the read limit; the source may be able to extract the range.
    arguments.uri += '?' + arguments.range_text;
    arguments.requested_uri += '?' + arguments.range_text;
    arguments.range.reset();
    arguments.is_source_range = true;
    if (auto admitted = services.gate->admit(call.caller, model::read_resource{arguments.uri, arguments.requested_uri});
        !admitted) {
      return tl::unexpected(explain(std::move(admitted.error()), arguments));
    }
    answer = await<catalog::read_answer>(call, [&](catalog::completion<catalog::read_answer> callback) {
      services.catalog->read(call, arguments.uri, arguments.requested_uri, {{}, true, true}, std::move(callback));
    });
  }
  if (!answer) return tl::unexpected(explain(std::move(answer.error()), arguments));
  if (position.content >= answer->reading.contents.size()) {
    return fail(errc::content_changed,
                arguments.requested_uri + " has fewer contents than before. Read it again without a cursor.");
  }
  if (call.arguments.find("cursor") != nullptr && position.version != content_state(answer->reading, position.content)) {
    return fail(errc::content_changed,
                arguments.requested_uri + " has changed since the previous page. Read it again without a cursor.");
  }
  return page_builder(call, services, arguments, *answer).build(std::move(position)).map([](tool_result page_result) {
    return tool_outcome(std::move(page_result));
  });
}

}  // namespace

built_in_tool read_tool(std::shared_ptr<const services_holder> holder) {
  built_in_tool tool;
  tool.entry.name = tool_names[1];
  tool.entry.title = "Read a resource";
  tool.entry.description =
      "Reads a resource of this server by its URI. Returns text as text, images and audio as such, and a folder as a list of "
      "its content. Long text comes in pages; each result says how to get the next one.";
  tool.entry.input_schema = read_input_schema();
  tool.entry.annotations = read_only_annotations("Read a resource");
  tool.handler = [services = std::move(holder)](const tool_call& call) { return read(call, services->current()); };
  return tool;
}

}  // namespace hondana::tools

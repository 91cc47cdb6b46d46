/// Reads server results leniently: lists, contents, tools, prompts, skills and completions.
#include "protocol/wire/asking/results.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <hondana/client.hpp>

#include "base/json/base64.hpp"
#include "base/json/reader.hpp"
#include "base/value/value.hpp"
#include "protocol/model/iso_8601.hpp"
#include "protocol/wire/wire_constants.hpp"

namespace hondana::wire::asking {

/// protocol_error: the server's answer is invalid. `text`: why.
[[nodiscard]] tl::unexpected<failure> invalid_answer(std::string text);
/// The member, or null.
[[nodiscard]] value value_member(const json::object& object, std::string_view name);
[[nodiscard]] result<std::string> required_text(const json::object& object, std::string_view name, const std::string& path);
[[nodiscard]] annotations parse_annotations(const json::object& object);
[[nodiscard]] std::vector<icon> parse_icons(const json::object& object);
[[nodiscard]] result<resource> parse_entry(const json::object& object, const std::string& path);
[[nodiscard]] result<received_content> parse_item(const json::object& object, const std::string& path);

/// Reads a list with its cursor and freshness. `read_element` reads one element.
template <class T, class Read>
result<list_page<T>> parse_page(const json::object& object, std::string_view name, Read read_element) {
  const auto member = object.find(name);
  if (!member) return invalid_answer(member.error().text());
  if (!*member) return invalid_answer("result." + std::string(name) + ": missing");
  const auto list = (*member)->as_array(name);
  if (!list) return invalid_answer("result." + list.error().text());
  constexpr std::size_t max_entries = 100'000;
  if (list->size() > max_entries)
    return fail(errc::response_too_large, "result." + std::string(name) + ": " + std::to_string(list->size()) +
                                              " entries in one page; a client accepts " + std::to_string(max_entries));
  list_page<T> out;
  std::size_t index = 0;
  for (const auto& element : list->elements()) {
    const auto path = "result." + std::string(name) + "[" + std::to_string(index++) + "]";
    const auto inner = element.as_object(path);
    if (!inner) return invalid_answer(inner.error().text());
    HONDANA_TRY(auto entry, read_element(*inner, path));
    out.items.push_back(std::move(entry));
  }
  if (const auto cursor = object.find("nextCursor"); cursor && *cursor && !(*cursor)->is_null()) {
    const auto text = (*cursor)->as_string("result.nextCursor");
    if (!text) return invalid_answer(text.error().text());
    out.cursor = std::string(*text);
  }
  out.ttl = parse_freshness(object).ttl;
  return out;
}

namespace {

std::string parse_version(const json::object& object) {
  if (auto text = text_member(object, "version"); !text.empty()) return text;
  const auto meta = object_member(object, "_meta");
  return meta ? text_member(*meta, version_key) : std::string();
}

std::optional<value> parse_meta(const json::object& object) {
  auto meta = value_member(object, "_meta");
  return meta.as_object() != nullptr ? std::optional(std::move(meta)) : std::nullopt;
}

metadata parse_metadata(const json::object& object) {
  metadata out;
  const auto inner = object_member(object, "metadata");
  if (!inner) return out;
  for (const auto& [name, member] : inner->members()) {
    switch (member.type()) {
      case json::kind::boolean:
        out.emplace_back(name, *member.as_boolean(name));
        break;
      case json::kind::integer:
        if (const auto integer = member.as_integer(name)) out.emplace_back(name, *integer);
        break;
      case json::kind::number:
        out.emplace_back(name, *member.as_number(name));
        break;
      case json::kind::string:
        out.emplace_back(name, std::string(*member.as_string(name)));
        break;
      default:
        break;
    }
  }
  return out;
}

result<skill> parse_skill_entry(const json::object& object, const std::string& path) {
  skill out;
  auto uri = required_text(object, "uri", path);
  if (!uri) return tl::unexpected(std::move(uri.error()));
  out.uri = std::move(*uri);
  out.frontmatter = value_member(object, "frontmatter");
  if (out.frontmatter.as_object() == nullptr) return invalid_answer(path + ".frontmatter: missing, or not an object");
  const auto files = object.find("resources");
  if (!files || !*files) return invalid_answer(path + ".resources: missing");
  if ((*files)->type() == json::kind::string) {
    if (*(*files)->as_string({}) != "dynamic") return invalid_answer(path + ".resources: expected an array or \"dynamic\"");
    return out;
  }
  const auto list = (*files)->as_array(path + ".resources");
  if (!list) return invalid_answer(list.error().text());
  if (list->size() > max_skill_files)
    return invalid_answer(path + ".resources: " + std::to_string(list->size()) + " files; a skill has at most " +
                          std::to_string(max_skill_files));
  out.files.emplace();
  std::uint64_t total = 0;
  for (const auto& element : list->elements()) {
    const auto inner = element.as_object(path + ".resources");
    if (!inner) return invalid_answer(inner.error().text());
    skill_file file;
    HONDANA_TRY(auto name, required_text(*inner, "uri", path + ".resources[]"));
    file.uri = std::move(name);
    file.digest = text_member(*inner, "digest");
    const auto size = integer_member(*inner, "size");
    const bool is_digest = file.digest.size() == 71 && file.digest.starts_with("sha256:") &&
                           file.digest.find_first_not_of("0123456789abcdef", 7) == std::string::npos;
    if (!is_digest || !size || *size < 0)
      return invalid_answer(path + ".resources: " + file.uri.substr(0, 500) +
                            " has no size, or no sha256 digest in lower case");
    file.size = static_cast<std::uint64_t>(*size);
    total += std::min(file.size, max_skill_bytes + 1);
    if (total > max_skill_bytes)
      return invalid_answer(path + ".resources: more than " + std::to_string(max_skill_bytes) +
                            " bytes, the maximum of a skill");
    out.files->push_back(std::move(file));
  }
  return out;
}

}  // namespace

tl::unexpected<failure> invalid_answer(std::string text) {
  return fail(errc::protocol_error, "the server sent an invalid answer: " + std::move(text));
}

value value_member(const json::object& object, std::string_view name) {
  const auto member = object.find(name);
  if (!member || !*member) return {};
  auto parsed = copy_value(**member);
  return parsed ? std::move(*parsed) : value();
}

annotations parse_annotations(const json::object& object) {
  annotations out;
  const auto inner = object_member(object, "annotations");
  if (!inner) return out;
  for (const auto& element : elements_of(*inner, "audience")) {
    const auto text = element.as_string("audience");
    if (text && *text == "user") out.audience.push_back(chat_role::user);
    if (text && *text == "assistant") out.audience.push_back(chat_role::assistant);
  }
  if (const auto number = number_member(*inner, "priority")) out.priority = std::clamp(*number, 0.0, 1.0);
  if (const auto text = text_member(*inner, "lastModified"); !text.empty()) out.last_modified = model::parse_time(text);
  return out;
}

std::vector<icon> parse_icons(const json::object& object) {
  std::vector<icon> out;
  for (const auto& element : elements_of(object, "icons")) {
    const auto inner = element.as_object("icons");
    if (!inner) continue;
    icon entry{text_member(*inner, "src"), text_member(*inner, "mimeType"), {}, text_member(*inner, "theme")};
    for (const auto& size : elements_of(*inner, "sizes")) {
      if (const auto text = size.as_string("sizes")) entry.sizes.emplace_back(*text);
    }
    out.push_back(std::move(entry));
  }
  return out;
}

result<std::string> required_text(const json::object& object, std::string_view name, const std::string& path) {
  const auto text = object.get_string(name);
  if (!text) return invalid_answer(path + "." + std::string(name) + ": missing, or not a string");
  return std::string(*text);
}

result<resource> parse_entry(const json::object& object, const std::string& path) {
  resource out;
  HONDANA_TRY(auto uri, required_text(object, "uri", path));
  out.uri = std::move(uri);
  out.name = text_member(object, "name");
  if (out.name.empty()) out.name = out.uri;
  out.title = text_member(object, "title");
  out.description = text_member(object, "description");
  out.mime_type = text_member(object, "mimeType");
  if (const auto size = integer_member(object, "size"); size && *size >= 0) out.size = static_cast<std::uint64_t>(*size);
  out.annotations = parse_annotations(object);
  out.icons = parse_icons(object);
  out.kind = text_member(object, "kind");
  out.version = parse_version(object);
  out.metadata = parse_metadata(object);
  return out;
}

result<received_content> parse_item(const json::object& object, const std::string& path) {
  received_content out;
  out.uri = text_member(object, "uri");
  out.name = text_member(object, "name");
  out.title = text_member(object, "title");
  out.mime_type = text_member(object, "mimeType");
  out.version = parse_version(object);
  out.meta = parse_meta(object);
  if (const auto text = object.find_string("text"); text && *text) {
    out.bytes = std::string(**text);
  } else if (const auto blob = object.find_string("blob"); blob && *blob) {
    out.is_text = false;
    auto decoded = json::decode_base64(**blob);
    if (!decoded) return invalid_answer(path + ".blob: not base64 in the standard alphabet with padding");
    out.bytes = std::move(*decoded);
  } else {
    return invalid_answer(path + ": neither text nor blob");
  }
  out.size = out.bytes.size();
  return out;
}

freshness parse_freshness(const json::object& result) {
  freshness out;
  constexpr std::int64_t max_ttl_ms = 365ll * 24 * 3600 * 1000;
  if (const auto ttl = integer_member(result, "ttlMs"); ttl && *ttl > 0)
    out.ttl = std::chrono::milliseconds(std::min(*ttl, max_ttl_ms));
  out.is_public = text_member(result, "cacheScope") == "public";
  return out;
}

result<list_page<resource>> parse_resources(const json::object& result) {
  return parse_page<resource>(result, "resources", parse_entry);
}

result<resource> parse_resource(const json::object& object) {
  const auto inner = object_member(object, "resource");
  if (!inner) return invalid_answer("resource: missing, or not an object");
  return parse_entry(*inner, "resource");
}

result<list_page<resource_template>> parse_templates(const json::object& result) {
  return parse_page<resource_template>(
      result, "resourceTemplates",
      [](const json::object& object, const std::string& path) -> hondana::result<resource_template> {
        resource_template out;
        HONDANA_TRY(auto text, required_text(object, "uriTemplate", path));
        out.uri_template = std::move(text);
        out.name = text_member(object, "name");
        if (out.name.empty()) out.name = out.uri_template;
        out.title = text_member(object, "title");
        out.description = text_member(object, "description");
        out.mime_type = text_member(object, "mimeType");
        out.annotations = parse_annotations(object);
        out.icons = parse_icons(object);
        return out;
      });
}

result<list_page<skill>> parse_skills(const json::object& result) {
  return parse_page<skill>(result, "skills", parse_skill_entry);
}

result<skill> parse_skill(const json::object& result) {
  const auto inner = object_member(result, "skill");
  if (!inner) return invalid_answer("result.skill: missing, or not an object");
  return parse_skill_entry(*inner, "result.skill");
}

result<read_response> parse_contents(const json::object& result) {
  HONDANA_TRY(auto items, parse_page<received_content>(result, "contents", parse_item));
  read_response out;
  out.contents = std::move(items.items);
  out.ttl = items.ttl;
  return out;
}

result<complete_result> parse_completion(const json::object& result) {
  const auto inner = object_member(result, "completion");
  if (!inner) return invalid_answer("result.completion: missing, or not an object");
  complete_result out;
  for (const auto& element : elements_of(*inner, "values")) {
    const auto text = element.as_string("result.completion.values");
    if (!text) return invalid_answer(text.error().text());
    out.values.emplace_back(*text);
  }
  if (const auto total = integer_member(*inner, "total"); total && *total >= 0) out.total = static_cast<std::uint64_t>(*total);
  out.has_more = flag_member(*inner, "hasMore");
  return out;
}

result<list_page<tool>> parse_tools(const json::object& result) {
  return parse_page<tool>(result, "tools", [](const json::object& object, const std::string& path) -> hondana::result<tool> {
    tool out;
    HONDANA_TRY(auto name, required_text(object, "name", path));
    out.name = std::move(name);
    out.title = text_member(object, "title");
    out.description = text_member(object, "description");
    out.input_schema = value_member(object, "inputSchema");
    if (out.input_schema.as_object() == nullptr) return invalid_answer(path + ".inputSchema: missing, or not an object");
    if (auto schema = value_member(object, "outputSchema"); !schema.is_null()) out.output_schema = std::move(schema);
    if (const auto hints = object_member(object, "annotations")) {
      const auto hint = [&hints](std::string_view member_name) -> std::optional<bool> {
        const auto member = hints->find(member_name);
        if (!member || !*member) return {};
        const auto flag = (*member)->as_boolean(member_name);
        return flag ? std::optional(*flag) : std::nullopt;
      };
      out.annotations = {text_member(*hints, "title"), hint("readOnlyHint"), hint("destructiveHint"), hint("idempotentHint"),
                         hint("openWorldHint")};
    }
    out.icons = parse_icons(object);
    out.meta = parse_meta(object);
    return out;
  });
}

result<list_page<prompt>> parse_prompts(const json::object& result) {
  return parse_page<prompt>(result, "prompts",
                            [](const json::object& object, const std::string& path) -> hondana::result<prompt> {
                              prompt out;
                              auto name = required_text(object, "name", path);
                              if (!name) return tl::unexpected(std::move(name.error()));
                              out.name = std::move(*name);
                              out.title = text_member(object, "title");
                              out.description = text_member(object, "description");
                              for (const auto& element : elements_of(object, "arguments")) {
                                const auto inner = element.as_object("arguments");
                                if (!inner) continue;
                                prompt_argument argument;
                                argument.name = text_member(*inner, "name");
                                argument.title = text_member(*inner, "title");
                                argument.description = text_member(*inner, "description");
                                argument.required = flag_member(*inner, "required");
                                out.arguments.push_back(std::move(argument));
                              }
                              out.icons = parse_icons(object);
                              out.meta = parse_meta(object);
                              return out;
                            });
}

result<std::optional<content_block>> parse_block(const json::object& object) {
  const auto kind = text_member(object, "type");
  const auto hints = parse_annotations(object);
  if (kind == "text") return content_block(text_block{text_member(object, "text"), hints});
  if (kind == "image" || kind == "audio") {
    auto decoded = json::decode_base64(text_member(object, "data"));
    if (!decoded) return invalid_answer("the data of an " + kind + " block is not base64");
    if (kind == "image") return content_block(image_block{std::move(*decoded), text_member(object, "mimeType"), hints});
    return content_block(audio_block{std::move(*decoded), text_member(object, "mimeType"), hints});
  }
  if (kind == "resource_link") {
    HONDANA_TRY(auto entry, parse_entry(object, "content"));
    return content_block(link_block{std::move(entry)});
  }
  if (kind == "resource") {
    const auto inner = object_member(object, "resource");
    if (!inner) return invalid_answer("a resource block without its resource");
    HONDANA_TRY(auto item, parse_item(*inner, "content.resource"));
    return content_block(embedded_block{std::move(item.uri), std::move(item.mime_type), std::move(item.bytes),
                                        item.is_text ? content_kind::text : content_kind::blob, hints});
  }
  return std::optional<content_block>();
}

result<tool_response> parse_tool_response(const json::value& result) {
  tool_response out;
  auto raw = copy_value(result);
  if (!raw) return invalid_answer(raw.error().public_text);
  out.raw = std::move(*raw);
  const auto object = result.as_object("result");
  for (const auto& element : elements_of(*object, "content")) {
    const auto inner = element.as_object("result.content");
    if (!inner) return invalid_answer(inner.error().text());
    HONDANA_TRY(auto block, parse_block(*inner));
    if (block) out.content.push_back(std::move(*block));
  }
  if (const auto* structure = out.raw.find("structuredContent")) out.structured_content = *structure;
  out.is_error = flag_member(*object, "isError");
  return out;
}

result<prompt_result> parse_prompt(const json::object& result) {
  prompt_result out;
  out.description = text_member(result, "description");
  for (const auto& element : elements_of(result, "messages")) {
    const auto inner = element.as_object("result.messages");
    if (!inner) return invalid_answer(inner.error().text());
    const auto content = object_member(*inner, "content");
    if (!content) return invalid_answer("result.messages[].content: missing, or not an object");
    HONDANA_TRY(auto block, parse_block(*content));
    if (block)
      out.messages.push_back(
          {text_member(*inner, "role") == "assistant" ? chat_role::assistant : chat_role::user, std::move(*block)});
  }
  return out;
}

}  // namespace hondana::wire::asking

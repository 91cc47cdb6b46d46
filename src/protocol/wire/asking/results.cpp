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

/// broken_protocol: the server's answer is invalid. `text`: why.
[[nodiscard]] tl::unexpected<failure> broken(std::string text);
/// The member, or null.
[[nodiscard]] value value_member(const json::object& of, std::string_view name);
[[nodiscard]] result<std::string> required_text(const json::object& of, std::string_view name, const std::string& path);
[[nodiscard]] annotations annotations_of(const json::object& of);
[[nodiscard]] std::vector<icon> icons_of(const json::object& of);
[[nodiscard]] result<resource> entry_of(const json::object& of, const std::string& path);
[[nodiscard]] result<read_item> item_of(const json::object& of, const std::string& path);

/// Reads a list with its cursor and freshness. `read` reads one element.
template <class T, class Read>
result<page<T>> page_of(const json::object& from, std::string_view name, Read read) {
  const auto member = from.find(name);
  if (!member) return broken(member.error().text());
  if (!*member) return broken("result." + std::string(name) + ": missing");
  const auto all = (*member)->as_array(name);
  if (!all) return broken("result." + all.error().text());
  constexpr std::size_t most = 100'000;
  if (all->size() > most)
    return fail(errc::response_too_large, "result." + std::string(name) + ": " + std::to_string(all->size()) +
                                              " entries in one page; a client accepts " + std::to_string(most));
  page<T> out;
  std::size_t at = 0;
  for (const auto& one : all->elements()) {
    const auto path = "result." + std::string(name) + "[" + std::to_string(at++) + "]";
    const auto inner = one.as_object(path);
    if (!inner) return broken(inner.error().text());
    HONDANA_TRY(auto made, read(*inner, path));
    out.items.push_back(std::move(made));
  }
  if (const auto cursor = from.find("nextCursor"); cursor && *cursor && !(*cursor)->is_null()) {
    const auto text = (*cursor)->as_string("result.nextCursor");
    if (!text) return broken(text.error().text());
    out.cursor = std::string(*text);
  }
  out.ttl = freshness_of(from).ttl;
  return out;
}

namespace {

std::string version_of(const json::object& of) {
  if (auto text = text_member(of, "version"); !text.empty()) return text;
  const auto meta = object_member(of, "_meta");
  return meta ? text_member(*meta, version_key) : std::string();
}

metadata metadata_of(const json::object& of) {
  metadata out;
  const auto inner = object_member(of, "metadata");
  if (!inner) return out;
  for (const auto& [name, one] : inner->members()) {
    switch (one.type()) {
      case json::kind::boolean:
        out.emplace_back(name, *one.as_boolean(name));
        break;
      case json::kind::integer:
        if (const auto small = one.as_integer(name)) out.emplace_back(name, *small);
        break;
      case json::kind::number:
        out.emplace_back(name, *one.as_number(name));
        break;
      case json::kind::string:
        out.emplace_back(name, std::string(*one.as_string(name)));
        break;
      default:
        break;
    }
  }
  return out;
}

result<skill> skill_at(const json::object& of, const std::string& path) {
  skill out;
  auto uri = required_text(of, "uri", path);
  if (!uri) return tl::unexpected(std::move(uri.error()));
  out.uri = std::move(*uri);
  out.frontmatter = value_member(of, "frontmatter");
  if (out.frontmatter.as_object() == nullptr) return broken(path + ".frontmatter: missing, or not an object");
  const auto files = of.find("resources");
  if (!files || !*files) return broken(path + ".resources: missing");
  if ((*files)->type() == json::kind::string) {
    if (*(*files)->as_string({}) != "dynamic") return broken(path + ".resources: expected an array or \"dynamic\"");
    return out;
  }
  const auto all = (*files)->as_array(path + ".resources");
  if (!all) return broken(all.error().text());
  if (all->size() > max_skill_files)
    return broken(path + ".resources: " + std::to_string(all->size()) + " files; a skill has at most " +
                  std::to_string(max_skill_files));
  out.files.emplace();
  std::uint64_t total = 0;
  for (const auto& one : all->elements()) {
    const auto inner = one.as_object(path + ".resources");
    if (!inner) return broken(inner.error().text());
    skill_file file;
    HONDANA_TRY(auto name, required_text(*inner, "uri", path + ".resources[]"));
    file.uri = std::move(name);
    file.digest = text_member(*inner, "digest");
    const auto size = integer_member(*inner, "size");
    const bool is_digest = file.digest.size() == 71 && file.digest.starts_with("sha256:") &&
                           file.digest.find_first_not_of("0123456789abcdef", 7) == std::string::npos;
    if (!is_digest || !size || *size < 0)
      return broken(path + ".resources: " + file.uri.substr(0, 500) + " has no size, or no sha256 digest in lower case");
    file.size = static_cast<std::uint64_t>(*size);
    total += std::min(file.size, max_skill_bytes + 1);
    if (total > max_skill_bytes)
      return broken(path + ".resources: more than " + std::to_string(max_skill_bytes) + " bytes, the maximum of a skill");
    out.files->push_back(std::move(file));
  }
  return out;
}

}  // namespace

tl::unexpected<failure> broken(std::string text) {
  return fail(errc::broken_protocol, "the server sent an invalid answer: " + std::move(text));
}

value value_member(const json::object& of, std::string_view name) {
  const auto member = of.find(name);
  if (!member || !*member) return {};
  auto taken = take_value(**member);
  return taken ? std::move(*taken) : value();
}

annotations annotations_of(const json::object& of) {
  annotations out;
  const auto inner = object_member(of, "annotations");
  if (!inner) return out;
  for (const auto& one : elements_of(*inner, "audience")) {
    const auto text = one.as_string("audience");
    if (text && *text == "user") out.audience.push_back(role::user);
    if (text && *text == "assistant") out.audience.push_back(role::assistant);
  }
  if (const auto number = number_member(*inner, "priority")) out.priority = std::clamp(*number, 0.0, 1.0);
  if (const auto text = text_member(*inner, "lastModified"); !text.empty()) out.lastModified = model::parse_time(text);
  return out;
}

std::vector<icon> icons_of(const json::object& of) {
  std::vector<icon> out;
  for (const auto& one : elements_of(of, "icons")) {
    const auto inner = one.as_object("icons");
    if (!inner) continue;
    icon made{text_member(*inner, "src"), text_member(*inner, "mimeType"), {}, text_member(*inner, "theme")};
    for (const auto& size : elements_of(*inner, "sizes")) {
      if (const auto text = size.as_string("sizes")) made.sizes.emplace_back(*text);
    }
    out.push_back(std::move(made));
  }
  return out;
}

result<std::string> required_text(const json::object& of, std::string_view name, const std::string& path) {
  const auto text = of.get_string(name);
  if (!text) return broken(path + "." + std::string(name) + ": missing, or not a string");
  return std::string(*text);
}

result<resource> entry_of(const json::object& of, const std::string& path) {
  resource out;
  HONDANA_TRY(auto uri, required_text(of, "uri", path));
  out.uri = std::move(uri);
  out.name = text_member(of, "name");
  if (out.name.empty()) out.name = out.uri;
  out.title = text_member(of, "title");
  out.description = text_member(of, "description");
  out.mimeType = text_member(of, "mimeType");
  if (const auto size = integer_member(of, "size"); size && *size >= 0) out.size = static_cast<std::uint64_t>(*size);
  out.annotations = annotations_of(of);
  out.icons = icons_of(of);
  out.kind = text_member(of, "kind");
  out.version = version_of(of);
  out.metadata = metadata_of(of);
  return out;
}

result<read_item> item_of(const json::object& of, const std::string& path) {
  read_item out;
  out.uri = text_member(of, "uri");
  out.name = text_member(of, "name");
  out.title = text_member(of, "title");
  out.mimeType = text_member(of, "mimeType");
  out.version = version_of(of);
  if (auto meta = value_member(of, "_meta"); meta.as_object() != nullptr) out.meta = std::move(meta);
  if (const auto text = of.find_string("text"); text && *text) {
    out.bytes = std::string(**text);
  } else if (const auto blob = of.find_string("blob"); blob && *blob) {
    out.is_text = false;
    auto decoded = json::decode_base64(**blob);
    if (!decoded) return broken(path + ".blob: not base64 in the standard alphabet with padding");
    out.bytes = std::move(*decoded);
  } else {
    return broken(path + ": neither text nor blob");
  }
  out.size = out.bytes.size();
  return out;
}

freshness freshness_of(const json::object& result) {
  freshness out;
  constexpr std::int64_t longest = 365ll * 24 * 3600 * 1000;
  if (const auto ttl = integer_member(result, "ttlMs"); ttl && *ttl > 0)
    out.ttl = std::chrono::milliseconds(std::min(*ttl, longest));
  out.is_public = text_member(result, "cacheScope") == "public";
  return out;
}

result<page<resource>> resources_of(const json::object& result) { return page_of<resource>(result, "resources", entry_of); }

result<resource> resource_of(const json::object& of) {
  const auto inner = object_member(of, "resource");
  if (!inner) return broken("resource: missing, or not an object");
  return entry_of(*inner, "resource");
}

result<page<resource_template>> templates_of(const json::object& result) {
  return page_of<resource_template>(result, "resourceTemplates",
                                    [](const json::object& of, const std::string& path) -> hondana::result<resource_template> {
                                      resource_template out;
                                      HONDANA_TRY(auto text, required_text(of, "uriTemplate", path));
                                      out.uriTemplate = std::move(text);
                                      out.name = text_member(of, "name");
                                      if (out.name.empty()) out.name = out.uriTemplate;
                                      out.title = text_member(of, "title");
                                      out.description = text_member(of, "description");
                                      out.mimeType = text_member(of, "mimeType");
                                      out.annotations = annotations_of(of);
                                      out.icons = icons_of(of);
                                      return out;
                                    });
}

result<page<skill>> skills_of(const json::object& result) { return page_of<skill>(result, "skills", skill_at); }

result<skill> skill_of(const json::object& result) {
  const auto inner = object_member(result, "skill");
  if (!inner) return broken("result.skill: missing, or not an object");
  return skill_at(*inner, "result.skill");
}

result<read_answer> contents_of(const json::object& result) {
  HONDANA_TRY(auto items, page_of<read_item>(result, "contents", item_of));
  read_answer out;
  out.items = std::move(items.items);
  out.ttl = items.ttl;
  return out;
}

result<complete_result> completion_of(const json::object& result) {
  const auto inner = object_member(result, "completion");
  if (!inner) return broken("result.completion: missing, or not an object");
  complete_result out;
  for (const auto& one : elements_of(*inner, "values")) {
    const auto text = one.as_string("result.completion.values");
    if (!text) return broken(text.error().text());
    out.values.emplace_back(*text);
  }
  if (const auto total = integer_member(*inner, "total"); total && *total >= 0) out.total = static_cast<std::uint64_t>(*total);
  out.has_more = flag_member(*inner, "hasMore");
  return out;
}

result<page<tool>> tools_of(const json::object& result) {
  return page_of<tool>(result, "tools", [](const json::object& of, const std::string& path) -> hondana::result<tool> {
    tool out;
    HONDANA_TRY(auto name, required_text(of, "name", path));
    out.name = std::move(name);
    out.title = text_member(of, "title");
    out.description = text_member(of, "description");
    out.inputSchema = value_member(of, "inputSchema");
    if (out.inputSchema.as_object() == nullptr) return broken(path + ".inputSchema: missing, or not an object");
    if (auto schema = value_member(of, "outputSchema"); !schema.is_null()) out.outputSchema = std::move(schema);
    if (const auto hints = object_member(of, "annotations")) {
      const auto hint = [&hints](std::string_view which) -> std::optional<bool> {
        const auto member = hints->find(which);
        if (!member || !*member) return {};
        const auto flag = (*member)->as_boolean(which);
        return flag ? std::optional(*flag) : std::nullopt;
      };
      out.annotations = {text_member(*hints, "title"), hint("readOnlyHint"), hint("destructiveHint"), hint("idempotentHint"),
                         hint("openWorldHint")};
    }
    out.icons = icons_of(of);
    out.meta = value_member(of, "_meta");
    return out;
  });
}

result<page<prompt>> prompts_of(const json::object& result) {
  return page_of<prompt>(result, "prompts", [](const json::object& of, const std::string& path) -> hondana::result<prompt> {
    prompt out;
    auto name = required_text(of, "name", path);
    if (!name) return tl::unexpected(std::move(name.error()));
    out.name = std::move(*name);
    out.title = text_member(of, "title");
    out.description = text_member(of, "description");
    for (const auto& one : elements_of(of, "arguments")) {
      const auto inner = one.as_object("arguments");
      if (!inner) continue;
      prompt_argument argument;
      argument.name = text_member(*inner, "name");
      argument.title = text_member(*inner, "title");
      argument.description = text_member(*inner, "description");
      argument.required = flag_member(*inner, "required");
      out.arguments.push_back(std::move(argument));
    }
    out.icons = icons_of(of);
    out.meta = value_member(of, "_meta");
    return out;
  });
}

result<std::optional<content_block>> block_of(const json::object& of) {
  const auto kind = text_member(of, "type");
  const auto hints = annotations_of(of);
  if (kind == "text") return content_block(text_block{text_member(of, "text"), hints});
  if (kind == "image" || kind == "audio") {
    auto decoded = json::decode_base64(text_member(of, "data"));
    if (!decoded) return broken("the data of an " + kind + " block is not base64");
    if (kind == "image") return content_block(image_block{std::move(*decoded), text_member(of, "mimeType"), hints});
    return content_block(audio_block{std::move(*decoded), text_member(of, "mimeType"), hints});
  }
  if (kind == "resource_link") {
    HONDANA_TRY(auto entry, entry_of(of, "content"));
    return content_block(link_block{std::move(entry)});
  }
  if (kind == "resource") {
    const auto inner = object_member(of, "resource");
    if (!inner) return broken("a resource block without its resource");
    HONDANA_TRY(auto item, item_of(*inner, "content.resource"));
    return content_block(embedded_block{std::move(item.uri), std::move(item.mimeType), std::move(item.bytes),
                                        item.is_text ? content_form::text : content_form::blob, hints});
  }
  return std::optional<content_block>();
}

result<called> called_of(const json::value& from) {
  called out;
  auto raw = take_value(from);
  if (!raw) return broken(raw.error().public_text);
  out.raw = std::move(*raw);
  const auto of = from.as_object("result");
  for (const auto& one : elements_of(*of, "content")) {
    const auto inner = one.as_object("result.content");
    if (!inner) return broken(inner.error().text());
    HONDANA_TRY(auto block, block_of(*inner));
    if (block) out.content.push_back(std::move(*block));
  }
  if (const auto* structure = out.raw.find("structuredContent")) out.structuredContent = *structure;
  out.isError = flag_member(*of, "isError");
  return out;
}

result<prompt_result> prompt_of(const json::object& from) {
  prompt_result out;
  out.description = text_member(from, "description");
  for (const auto& one : elements_of(from, "messages")) {
    const auto inner = one.as_object("result.messages");
    if (!inner) return broken(inner.error().text());
    const auto content = object_member(*inner, "content");
    if (!content) return broken("result.messages[].content: missing, or not an object");
    HONDANA_TRY(auto block, block_of(*content));
    if (block)
      out.messages.push_back({text_member(*inner, "role") == "assistant" ? role::assistant : role::user, std::move(*block)});
  }
  return out;
}

}  // namespace hondana::wire::asking

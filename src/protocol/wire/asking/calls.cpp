/// Tools, prompts and the blocks they answer with.
#include <optional>
#include <utility>

#include "base/json/base64.hpp"
#include "base/value/take.hpp"
#include "protocol/wire/asking/members.hpp"
#include "protocol/wire/asking/pages.hpp"

namespace hondana::wire::asking {

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

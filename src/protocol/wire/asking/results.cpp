/// Lists of resources and skills, contents and completions.
#include "protocol/wire/asking/results.hpp"

#include <algorithm>
#include <utility>

#include "base/json/base64.hpp"
#include "base/value/take.hpp"
#include "protocol/model/times.hpp"
#include "protocol/wire/asking/members.hpp"
#include "protocol/wire/asking/pages.hpp"
#include "protocol/wire/names.hpp"

namespace hondana::wire::asking {
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

}  // namespace hondana::wire::asking

/// The extension io.modelcontextprotocol/skills.
/// Spec: modelcontextprotocol/ext-skills, specification/stable/skills.mdx.
#include "protocol/wire/skills.hpp"

#include <utility>
#include <variant>

#include "protocol/wire/request_params.hpp"
#include "protocol/wire/wire_constants.hpp"

namespace hondana::wire {

void write(json::writer& to, const skill& entry, const entry_members&) {
  to.begin_object().member("uri", entry.uri).key("frontmatter").raw(entry.frontmatter.to_text());
  if (!entry.files) {
    to.member("resources", "dynamic").end_object();
    return;
  }
  to.key("resources").begin_array();
  for (const auto& file : *entry.files) {
    to.begin_object().member("uri", file.uri).member("digest", file.digest);
    to.key("size").unsigned_integer(file.size).end_object();
  }
  to.end_array().end_object();
}

namespace skills {

decoded<model::operation> decode_list(std::string_view method, const json::object& params) {
  return wire::decode_list<model::list_skills>(method, params);
}

decoded<model::operation> decode_get(std::string_view method, const json::object& params) {
  auto uri = uri_of(params);
  if (!uri) return tl::unexpected(invalid_params(method, uri.error()));
  return model::operation{model::get_skill{std::move(uri->canonical), std::move(uri->asked)}};
}

decoded<model::operation> decode_read_directory(std::string_view method, const json::object& params) {
  auto uri = uri_of(params);
  if (!uri) return tl::unexpected(invalid_params(method, uri.error()));
  auto cursor = cursor_of(params);
  if (!cursor) return tl::unexpected(invalid_params(method, cursor.error()));
  return model::operation{model::read_directory{std::move(uri->canonical), std::move(uri->asked), std::move(*cursor)}};
}

bool is_declared(const model::self_description& self) noexcept { return self.has_skills || self.lists_folders; }

void write_setting(json::writer& to, const model::self_description& self) {
  to.key(skills_extension).begin_object();
  if (self.lists_folders) to.key("directoryRead").boolean(true);
  to.end_object();
}

std::string_view undeclared_method(const model::operation& what, const model::self_description& self) {
  if (!is_declared(self) && std::holds_alternative<model::list_skills>(what)) return "skills/list";
  if (!is_declared(self) && std::holds_alternative<model::get_skill>(what)) return "skills/get";
  if (!self.lists_folders && std::holds_alternative<model::read_directory>(what)) return "resources/directory/read";
  return {};
}

}  // namespace skills
}  // namespace hondana::wire

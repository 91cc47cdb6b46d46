/// The extension io.modelcontextprotocol/skills.
/// Spec: modelcontextprotocol/ext-skills, specification/stable/skills.mdx.
#include "protocol/wire/skills.hpp"

#include <utility>
#include <variant>

#include "protocol/wire/request_params.hpp"
#include "protocol/wire/wire_constants.hpp"

namespace hondana::wire {

void write(json::writer& writer, const skill& entry, const entry_members&) {
  writer.begin_object().member("uri", entry.uri).key("frontmatter").raw(entry.frontmatter.to_text());
  if (!entry.files) {
    writer.member("resources", "dynamic").end_object();
    return;
  }
  writer.key("resources").begin_array();
  for (const auto& file : *entry.files) {
    writer.begin_object().member("uri", file.uri).member("digest", file.digest);
    writer.key("size").unsigned_integer(file.size).end_object();
  }
  writer.end_array().end_object();
}

namespace skills {

decoded<model::operation> decode_list(std::string_view method, const json::object& params) {
  return wire::decode_list<model::list_skills>(method, params);
}

decoded<model::operation> decode_get(std::string_view method, const json::object& params) {
  auto uri = require_uri(params);
  if (!uri) return tl::unexpected(invalid_params(method, uri.error()));
  return model::operation{model::get_skill{std::move(uri->canonical), std::move(uri->requested)}};
}

decoded<model::operation> decode_read_directory(std::string_view method, const json::object& params) {
  auto uri = require_uri(params);
  if (!uri) return tl::unexpected(invalid_params(method, uri.error()));
  auto cursor = find_cursor(params);
  if (!cursor) return tl::unexpected(invalid_params(method, cursor.error()));
  return model::operation{model::read_directory{std::move(uri->canonical), std::move(uri->requested), std::move(*cursor)}};
}

bool is_declared(const model::server_info& server) noexcept { return server.has_skills || server.lists_folders; }

void write_setting(json::writer& writer, const model::server_info& server) {
  writer.key(skills_extension).begin_object();
  if (server.lists_folders) writer.key("directoryRead").boolean(true);
  writer.end_object();
}

std::string_view undeclared_method(const model::operation& operation, const model::server_info& server) {
  if (!is_declared(server) && std::holds_alternative<model::list_skills>(operation)) return "skills/list";
  if (!is_declared(server) && std::holds_alternative<model::get_skill>(operation)) return "skills/get";
  if (!server.lists_folders && std::holds_alternative<model::read_directory>(operation)) return "resources/directory/read";
  return {};
}

}  // namespace skills
}  // namespace hondana::wire

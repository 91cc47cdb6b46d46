/// The Skills extension, io.modelcontextprotocol/skills: decodes its requests, and writes entries and settings.
/// Spec: modelcontextprotocol/ext-skills, specification/stable/skills.mdx.
#pragma once

#include <string_view>

#include <hondana/skill.hpp>

#include "base/json/reader.hpp"
#include "base/json/writer.hpp"
#include "protocol/model/operations.hpp"
#include "protocol/wire/codec.hpp"
#include "protocol/wire/entry_json.hpp"

namespace hondana::wire {

/// Writes one skill, an object that is the same in every revision. `members`: unused.
void write(json::writer& writer, const skill& entry, const entry_members& members);

namespace skills {

/// Decodes `skills/list`.
[[nodiscard]] decoded<model::operation> decode_list(std::string_view method, const json::object& params);
/// Decodes `skills/get`.
[[nodiscard]] decoded<model::operation> decode_get(std::string_view method, const json::object& params);
/// Decodes `resources/directory/read`.
[[nodiscard]] decoded<model::operation> decode_read_directory(std::string_view method, const json::object& params);

/// Whether a server declares the extension: it has skills, or folders that `resources/directory/read` can list.
[[nodiscard]] bool is_declared(const model::server_info& server) noexcept;
/// Writes the extension's identifier with its settings, as a member of `capabilities.extensions`.
void write_setting(json::writer& writer, const model::server_info& server);
/// The method of `operation` if it needs a part of the extension that `server` does not declare; otherwise empty.
[[nodiscard]] std::string_view undeclared_method(const model::operation& operation, const model::server_info& server);

}  // namespace skills
}  // namespace hondana::wire

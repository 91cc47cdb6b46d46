/// The extension io.modelcontextprotocol/skills.
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

/// Writes one entry, which is the same in every revision.
void write(json::writer& to, const skill& entry, const entry_members& members);

namespace skills {

/// Decode the parameters of `skills/list`, `skills/get` and `resources/directory/read`.
[[nodiscard]] decoded<model::operation> decode_list(std::string_view method, const json::object& params);
[[nodiscard]] decoded<model::operation> decode_get(std::string_view method, const json::object& params);
[[nodiscard]] decoded<model::operation> decode_read_directory(std::string_view method, const json::object& params);

/// Whether a server declares the extension: it has skills, or folders that `resources/directory/read` can list.
[[nodiscard]] bool is_declared(const model::self_description& self) noexcept;
/// Writes the extension's identifier with its settings, as a member of `capabilities.extensions`.
void write_setting(json::writer& to, const model::self_description& self);
/// The method of `what` if it needs a part of the extension that `self` does not declare; otherwise empty.
[[nodiscard]] std::string_view undeclared_method(const model::operation& what, const model::self_description& self);

}  // namespace skills
}  // namespace hondana::wire

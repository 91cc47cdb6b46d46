/// Reads results: lists, contents, tools, prompts, skills, completions, in any revision's spelling.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include <hondana/client.hpp>

#include "base/json/reader.hpp"

namespace hondana::wire::asking {

/// For how long and for whom an answer may be kept.
struct freshness {
  std::chrono::milliseconds ttl{0};
  bool is_public = false;
};
[[nodiscard]] freshness freshness_of(const json::object& result);

/// Each reads a result. Members that are missing and cannot be, or of a wrong type, are broken_protocol, naming the path.
[[nodiscard]] result<page<resource>> resources_of(const json::object& result);
[[nodiscard]] result<page<resource_template>> templates_of(const json::object& result);
[[nodiscard]] result<page<tool>> tools_of(const json::object& result);
[[nodiscard]] result<page<prompt>> prompts_of(const json::object& result);
[[nodiscard]] result<page<skill>> skills_of(const json::object& result);
[[nodiscard]] result<skill> skill_of(const json::object& result);
/// The `resource` of a result or of the news of a change.
[[nodiscard]] result<resource> resource_of(const json::object& of);
[[nodiscard]] result<read_answer> contents_of(const json::object& result);
[[nodiscard]] result<called> called_of(const json::value& result);
[[nodiscard]] result<prompt_result> prompt_of(const json::object& result);
[[nodiscard]] result<complete_result> completion_of(const json::object& result);
/// A content block; nothing for one of a type this client does not know.
[[nodiscard]] result<std::optional<content_block>> block_of(const json::object& of);

}  // namespace hondana::wire::asking

/// What the catalog answers, free of any protocol revision.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <hondana/prompt.hpp>
#include <hondana/provider.hpp>
#include <hondana/resource.hpp>
#include <hondana/tool.hpp>

namespace hondana::model {

/// For how long and for whom an answer may be kept.
struct cache_hint {
  std::chrono::milliseconds ttl{0};
  bool is_private = false;  ///< Others may be told something else.

  bool operator==(const cache_hint&) const = default;
};

struct resource_page {
  std::vector<resource> resources;
  std::optional<std::string> next_cursor;
  cache_hint cache;
  std::shared_ptr<const validity> valid{};  ///< Of all that it is made from; null: not known.
};

/// Children of a folder; nobody may keep it.
struct directory_page {
  std::vector<resource> resources;
  std::optional<std::string> next_cursor;
};

struct skill_page {
  std::vector<skill> skills;
  std::optional<std::string> next_cursor;
  cache_hint cache;
};

struct skill_answer {
  hondana::skill skill;
  cache_hint cache;
};

struct template_page {
  std::vector<resource_template> templates;
  std::optional<std::string> next_cursor;
  cache_hint cache;
  std::shared_ptr<const validity> valid{};  ///< As of a page of resources.
};

struct tool_page {
  std::vector<std::shared_ptr<const tool>> tools;
  std::optional<std::string> next_cursor;
  cache_hint cache;
};

struct prompt_page {
  std::vector<std::shared_ptr<const prompt>> prompts;
  std::optional<std::string> next_cursor;
  cache_hint cache;
};

/// An argument of a tool that HTTP requests repeat in a header `Mcp-Param-<name>`.
struct mirrored_argument {
  std::vector<std::string> path;  ///< Members from the arguments down to it.
  std::string header;             ///< Behind `Mcp-Param-`, as declared.
  bool is_integer = false;
};

/// What stands there among a call's arguments; null when there is nothing, or a null.
[[nodiscard]] const value* argument_at(const value& arguments, const std::vector<std::string>& path) noexcept;

/// What a server says of itself.
struct self_description {
  std::string name;
  std::string version;
  std::string title;
  std::string instructions;
  bool has_completions = false;
  bool has_subscriptions = false;    ///< Changes of single resources are announced to whoever asked.
  bool announces_resources = false;  ///< Changes of the list of resources are announced.
  bool has_tools = false;
  bool has_prompts = false;
  bool has_logging = false;
  bool announces_tools = false;    ///< Changes of the list of tools are announced;
  bool announces_prompts = false;  ///< and of that of prompts.
  bool has_skills = false;         ///< Some source has agent skills, or may have.
  bool lists_folders = false;      ///< Some source lists the children of folders.

  bool operator==(const self_description&) const = default;
};

}  // namespace hondana::model

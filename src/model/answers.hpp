/// What the catalog answers, free of any protocol revision.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include <hondana/provider.hpp>
#include <hondana/resource.hpp>

namespace hondana::model {

/// For how long and for whom an answer may be kept.
struct cache_hint {
  std::chrono::milliseconds ttl{0};
  bool is_private = false;  ///< It depends on the caller's view.
};

struct resource_page {
  std::vector<resource> resources;
  std::optional<std::string> next_cursor;
  cache_hint cache;
};

struct template_page {
  std::vector<resource_template> templates;
  std::optional<std::string> next_cursor;
  cache_hint cache;
};

/// What a server says of itself.
struct self_description {
  std::string name;
  std::string version;
  std::string title;
  std::string instructions;
  bool has_completions = false;
};

}  // namespace hondana::model

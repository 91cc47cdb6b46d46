/// Compiles a schema document: nodes for its subschemas, and references resolved inside the document.

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <hondana/uri.hpp>
#include <hondana/value.hpp>

#include "protocol/schema/program.hpp"
#include "protocol/schema/schema.hpp"

namespace hondana::schema {

/// Resolves `reference` against `base` (RFC 3986 section 5.2). An empty base returns the reference unchanged.
[[nodiscard]] std::string resolve_uri(std::string_view base, std::string_view reference);

/// The value that a fragment with a percent-encoded JSON Pointer refers to in `root`; null when there is none.
[[nodiscard]] const value* resolve_pointer(const value& root, std::string_view fragment);

namespace {

/// Removes dot segments (RFC 3986 section 5.2.4).
std::string remove_dot_segments(std::string_view path) {
  std::vector<std::string_view> segments;
  const bool is_rooted = path.starts_with('/');
  bool ends_with_slash = false;
  for (auto remaining = is_rooted ? path.substr(1) : path;;) {
    const auto end = remaining.find('/');
    const auto segment = remaining.substr(0, end);
    ends_with_slash = segment == "." || segment == "..";
    if (segment == "..") {
      if (!segments.empty()) segments.pop_back();
    } else if (segment != ".") {
      segments.push_back(segment);
    }
    if (end == std::string_view::npos) break;
    remaining.remove_prefix(end + 1);
  }
  std::string out;
  for (std::size_t index = 0; index < segments.size(); ++index)
    out.append(index == 0 && !is_rooted ? "" : "/").append(segments[index]);
  if (ends_with_slash) out += '/';
  return out;
}

std::string merge_paths(const uri_parts& base, std::string_view path) {
  if (base.authority && base.path.empty()) return "/" + std::string(path);
  const auto slash = base.path.rfind('/');
  return std::string(slash == std::string_view::npos ? std::string_view() : base.path.substr(0, slash + 1)) + std::string(path);
}

std::string recompose(const uri_parts& parts) {
  std::string out;
  if (!parts.scheme.empty()) out.append(parts.scheme).append(":");
  if (parts.authority) out.append("//").append(*parts.authority);
  out.append(parts.path);
  if (parts.query) out.append("?").append(*parts.query);
  if (parts.fragment) out.append("#").append(*parts.fragment);
  return out;
}

}  // namespace

std::string resolve_uri(std::string_view base, std::string_view reference) {
  const auto reference_parts = split_uri(reference);
  if (!reference_parts.scheme.empty() || base.empty()) return std::string(reference);
  const auto base_parts = split_uri(base);
  auto out = reference_parts;
  out.scheme = base_parts.scheme;
  std::string path;
  if (reference_parts.authority) {
    path = remove_dot_segments(reference_parts.path);
  } else {
    out.authority = base_parts.authority;
    if (reference_parts.path.empty()) {
      path = std::string(base_parts.path);
      if (!reference_parts.query) out.query = base_parts.query;
    } else {
      path = remove_dot_segments(reference_parts.path.starts_with('/') ? std::string(reference_parts.path)
                                                                       : merge_paths(base_parts, reference_parts.path));
    }
  }
  out.path = path;
  return recompose(out);
}

const value* resolve_pointer(const value& root, std::string_view fragment) {
  const auto decoded = percent_decode(fragment);
  if (!decoded) return nullptr;
  const auto* current = &root;
  for (std::string_view remaining(*decoded); current != nullptr && !remaining.empty();) {
    if (remaining.front() != '/') return nullptr;
    const auto end = std::min(remaining.find('/', 1), remaining.size());
    std::string name;
    for (std::size_t index = 1; index < end; ++index) {
      const bool is_escape =
          remaining[index] == '~' && index + 1 < end && (remaining[index + 1] == '0' || remaining[index + 1] == '1');
      name.push_back(is_escape ? (remaining[++index] == '0' ? '~' : '/') : remaining[index]);
    }
    if (const auto* elements = current->as_array()) {
      std::size_t index = 0;
      const auto [parsed_end, error] = std::from_chars(name.data(), name.data() + name.size(), index);
      const bool is_index = error == std::errc{} && parsed_end == name.data() + name.size();
      current = is_index && index < elements->size() ? &(*elements)[index] : nullptr;
    } else {
      current = current->find(name);
    }
    remaining.remove_prefix(end);
  }
  return current;
}

namespace {

constexpr std::size_t max_nodes = 20'000;
constexpr std::string_view dialect = "https://json-schema.org/draft/2020-12/schema";

constexpr std::array<std::string_view, 7> single_keywords{
    "items", "contains", "additionalProperties", "propertyNames", "unevaluatedItems", "unevaluatedProperties", "not"};
constexpr std::array<std::string_view, 3> branch_keywords{"if", "then", "else"};
constexpr std::array<std::string_view, 4> list_keywords{"prefixItems", "allOf", "anyOf", "oneOf"};
constexpr std::array<std::string_view, 4> map_keywords{"$defs", "properties", "patternProperties", "dependentSchemas"};

template <class List>
bool contains(const List& list, std::string_view name) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

class compiler {
 public:
  explicit compiler(const value& document) : program_(std::make_shared<program>()) { program_->document = document; }

  std::shared_ptr<const program> run() {
    auto& root = add_scope("", program_->document);
    scan(program_->document, root, "");
    program_->root = find_or_add_node(program_->document, root, "");
    // Reading a node can add more nodes. A queue avoids a recursion as deep as the chain of references.
    while (!pending_.empty()) {
      const auto next = pending_.back();
      pending_.pop_back();
      read(*next.target, *next.source, *next.scope, next.location);
    }
    for (const auto& scope : program_->scopes) {
      for (const auto& [name, source] : dynamic_[scope.get()])
        scope->dynamic_anchors.emplace(name, find_or_add_node(*source, *scope, name));
    }
    while (!pending_.empty()) {
      const auto next = pending_.back();
      pending_.pop_back();
      read(*next.target, *next.source, *next.scope, next.location);
    }
    return program_;
  }

 private:
  struct pending_node {
    node* target;
    const value* source;
    resource_scope* scope;
    std::string location;
  };

  resource_scope& add_scope(std::string uri, const value& root) {
    auto scope = std::make_unique<resource_scope>();
    scope->uri = std::move(uri);
    scope->root = &root;
    program_->scopes.push_back(std::move(scope));
    return *program_->scopes.back();
  }

  /// Finds identifiers and anchors at all positions where a schema can occur.
  void scan(const value& source, resource_scope& outer, const std::string& location) {
    const auto* members = source.as_object();
    if (members == nullptr) return;
    auto* scope = &outer;
    if (const auto* id = source.find("$id")) {
      auto uri = resolve_uri(outer.uri, require_string(*id, join_location(location, "$id")));
      if (uri.ends_with('#')) uri.pop_back();
      if (uri.find('#') != std::string::npos) reject(join_location(location, "$id"), "an identifier must not have a fragment");
      if (&source == &program_->document) {
        scope->uri = std::move(uri);
      } else {
        scope = &add_scope(std::move(uri), source);
      }
    }
    scopes_.emplace(&source, scope);
    for (const auto* keyword : {"$anchor", "$dynamicAnchor"}) {
      const auto* anchor = source.find(keyword);
      if (anchor == nullptr) continue;
      const auto& name = require_string(*anchor, join_location(location, keyword));
      scope->anchors.emplace(name, &source);
      if (std::string_view(keyword) == "$dynamicAnchor") dynamic_[scope].emplace_back(name, &source);
    }
    for (const auto& [name, part] : *members) {
      const auto part_location = join_location(location, name);
      if (contains(single_keywords, name) || contains(branch_keywords, name)) {
        scan(part, *scope, part_location);
      } else if (contains(list_keywords, name)) {
        if (const auto* elements = part.as_array()) {
          for (std::size_t index = 0; index < elements->size(); ++index) {
            scan((*elements)[index], *scope, join_location(part_location, std::to_string(index)));
          }
        }
      } else if (contains(map_keywords, name)) {
        if (const auto* inner = part.as_object()) {
          for (const auto& [key, subschema] : *inner) scan(subschema, *scope, join_location(part_location, key));
        }
      }
    }
  }

  const node* find_or_add_node(const value& source, resource_scope& scope, const std::string& location) {
    if (const auto existing = nodes_.find(&source); existing != nodes_.end()) return existing->second;
    if (program_->nodes.size() >= max_nodes) reject(location, "the schema has too many parts");
    program_->nodes.push_back(std::make_unique<node>());
    auto* added = program_->nodes.back().get();
    nodes_.emplace(&source, added);
    const auto scope_entry = scopes_.find(&source);
    auto* node_scope = scope_entry != scopes_.end() ? scope_entry->second : &scope;
    added->scope = node_scope;
    pending_.push_back({added, &source, node_scope, location});
    return added;
  }

  void read(node& target, const value& source, resource_scope& scope, const std::string& location) {
    target.boolean_schema = source.as_boolean();
    if (target.boolean_schema) return;
    const auto* members = source.as_object();
    if (members == nullptr) reject(location, "a schema must be an object or a boolean");
    for (const auto& [name, part] : *members) {
      const auto part_location = join_location(location, name);
      if (name == "$schema") {
        const auto& dialect_uri = require_string(part, part_location);
        if (dialect_uri != dialect && dialect_uri != std::string(dialect) + '#')
          reject(part_location, "only the dialect " + std::string(dialect) + " is supported");
      } else if (!read_reference(target, name, part, scope, part_location) && !read_value(target, name, part, part_location)) {
        read_schemas(target, name, part, scope, part_location);
      }
    }
  }

  bool read_reference(node& target, std::string_view name, const value& part, resource_scope& scope,
                      const std::string& location) {
    if (name == "$ref") {
      target.reference = resolve_reference(require_string(part, location), scope, location).target;
      return true;
    }
    if (name != "$dynamicRef") return false;
    const auto resolved = resolve_reference(require_string(part, location), scope, location);
    target.dynamic_reference = resolved.target;
    target.dynamic_name = resolved.dynamic_name;
    return true;
  }

  struct resolved_reference {
    const node* target;
    std::string dynamic_name;  // set for a $dynamicAnchor
  };

  resolved_reference resolve_reference(const std::string& reference, const resource_scope& base, const std::string& location) {
    const auto target_uri = resolve_uri(base.uri, reference);
    const auto hash = target_uri.find('#');
    const auto uri = target_uri.substr(0, hash);
    const auto fragment = hash == std::string::npos ? std::string_view() : std::string_view(target_uri).substr(hash + 1);
    const auto match = std::find_if(program_->scopes.begin(), program_->scopes.end(),
                                    [&](const auto& candidate) { return candidate->uri == uri; });
    if (match == program_->scopes.end()) {
      reject(location,
             "refers to " + target_uri + ", which is not in this document. Schemas are never fetched: put it below $defs");
    }
    auto& scope = **match;
    if (fragment.empty()) return {find_or_add_node(*scope.root, scope, uri), {}};
    if (fragment.front() == '/') {
      const auto* target_schema = resolve_pointer(*scope.root, fragment);
      if (target_schema == nullptr) reject(location, "nothing is at " + reference);
      return {find_or_add_node(*target_schema, scope, std::string(fragment)), {}};
    }
    const std::string name(fragment);
    const auto anchor = scope.anchors.find(name);
    if (anchor == scope.anchors.end()) reject(location, "unknown anchor " + name);
    const auto& dynamic = dynamic_[&scope];
    const bool is_dynamic = std::any_of(dynamic.begin(), dynamic.end(), [&](const auto& entry) { return entry.first == name; });
    return {find_or_add_node(*anchor->second, scope, name), is_dynamic ? name : std::string()};
  }

  void read_schemas(node& target, const std::string& name, const value& part, resource_scope& scope,
                    const std::string& location) {
    using single_field = const node* node::*;
    constexpr std::array<std::pair<std::string_view, single_field>, 10> single_fields{
        {{"items", &node::items},
         {"contains", &node::contains},
         {"additionalProperties", &node::additional_properties},
         {"propertyNames", &node::property_names},
         {"unevaluatedItems", &node::unevaluated_items},
         {"unevaluatedProperties", &node::unevaluated_properties},
         {"not", &node::negated},
         {"if", &node::condition},
         {"then", &node::then_schema},
         {"else", &node::else_schema}}};
    for (const auto& [keyword, member] : single_fields) {
      if (name != keyword) continue;
      target.*member = find_or_add_node(part, scope, location);
      program_->tracks_evaluation = program_->tracks_evaluation || name.starts_with("unevaluated");
      return;
    }
    using list_field = std::vector<const node*> node::*;
    constexpr std::array<std::pair<std::string_view, list_field>, 4> lists{
        {{"prefixItems", &node::prefix_items}, {"allOf", &node::all_of}, {"anyOf", &node::any_of}, {"oneOf", &node::one_of}}};
    for (const auto& [keyword, member] : lists) {
      if (name != keyword) continue;
      const auto* elements = part.as_array();
      if (elements == nullptr || elements->empty()) reject(location, "expected an array of schemas, with one or more");
      for (std::size_t index = 0; index < elements->size(); ++index) {
        (target.*member).push_back(find_or_add_node((*elements)[index], scope, join_location(location, std::to_string(index))));
      }
      return;
    }
    if (!contains(map_keywords, name)) return;
    const auto* members = part.as_object();
    if (members == nullptr) reject(location, "expected an object of schemas");
    for (const auto& [key, schema] : *members) {
      const auto* subnode = find_or_add_node(schema, scope, join_location(location, key));
      if (name == "properties") target.properties.emplace_back(key, subnode);
      if (name == "patternProperties") target.pattern_properties.emplace_back(require_pattern(key, location), subnode);
      if (name == "dependentSchemas") target.dependent_schemas.emplace_back(key, subnode);
    }
  }

  std::shared_ptr<program> program_;
  std::unordered_map<const value*, resource_scope*> scopes_;
  std::unordered_map<const value*, const node*> nodes_;
  std::unordered_map<const resource_scope*, std::vector<std::pair<std::string, const value*>>> dynamic_;
  std::vector<pending_node> pending_;
};

}  // namespace

result<schema> schema::compile(const value& document) {
  try {
    return schema(compiler(document).run());
  } catch (const schema_error& error) {
    return fail(errc::invalid_argument, error.text);
  }
}

}  // namespace hondana::schema

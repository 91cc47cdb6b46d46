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
[[nodiscard]] std::string resolved(std::string_view base, std::string_view reference);

/// The value that a fragment with a percent-encoded JSON Pointer refers to in `root`; null when there is none.
[[nodiscard]] const value* pointed(const value& root, std::string_view fragment);

namespace {

/// Removes dot segments (RFC 3986 section 5.2.4).
std::string without_dots(std::string_view path) {
  std::vector<std::string_view> kept;
  const bool is_rooted = path.starts_with('/');
  bool ends_open = false;
  for (auto rest = is_rooted ? path.substr(1) : path;;) {
    const auto end = rest.find('/');
    const auto segment = rest.substr(0, end);
    ends_open = segment == "." || segment == "..";
    if (segment == "..") {
      if (!kept.empty()) kept.pop_back();
    } else if (segment != ".") {
      kept.push_back(segment);
    }
    if (end == std::string_view::npos) break;
    rest.remove_prefix(end + 1);
  }
  std::string out;
  for (std::size_t index = 0; index < kept.size(); ++index) out.append(index == 0 && !is_rooted ? "" : "/").append(kept[index]);
  if (ends_open) out += '/';
  return out;
}

std::string merged(const uri_parts& base, std::string_view path) {
  if (base.authority && base.path.empty()) return "/" + std::string(path);
  const auto slash = base.path.rfind('/');
  return std::string(slash == std::string_view::npos ? std::string_view() : base.path.substr(0, slash + 1)) + std::string(path);
}

std::string joined(const uri_parts& from) {
  std::string out;
  if (!from.scheme.empty()) out.append(from.scheme).append(":");
  if (from.authority) out.append("//").append(*from.authority);
  out.append(from.path);
  if (from.query) out.append("?").append(*from.query);
  if (from.fragment) out.append("#").append(*from.fragment);
  return out;
}

}  // namespace

std::string resolved(std::string_view base, std::string_view reference) {
  const auto from = split_uri(reference);
  if (!from.scheme.empty() || base.empty()) return std::string(reference);
  const auto against = split_uri(base);
  auto out = from;
  out.scheme = against.scheme;
  std::string path;
  if (from.authority) {
    path = without_dots(from.path);
  } else {
    out.authority = against.authority;
    if (from.path.empty()) {
      path = std::string(against.path);
      if (!from.query) out.query = against.query;
    } else {
      path = without_dots(from.path.starts_with('/') ? std::string(from.path) : merged(against, from.path));
    }
  }
  out.path = path;
  return joined(out);
}

const value* pointed(const value& root, std::string_view fragment) {
  const auto decoded = percent_decode(fragment);
  if (!decoded) return nullptr;
  const auto* place = &root;
  for (std::string_view rest(*decoded); place != nullptr && !rest.empty();) {
    if (rest.front() != '/') return nullptr;
    const auto end = std::min(rest.find('/', 1), rest.size());
    std::string name;
    for (std::size_t index = 1; index < end; ++index) {
      const bool is_escape = rest[index] == '~' && index + 1 < end && (rest[index + 1] == '0' || rest[index + 1] == '1');
      name.push_back(is_escape ? (rest[++index] == '0' ? '~' : '/') : rest[index]);
    }
    if (const auto* elements = place->as_array()) {
      std::size_t index = 0;
      const auto [stop, error] = std::from_chars(name.data(), name.data() + name.size(), index);
      const bool is_index = error == std::errc{} && stop == name.data() + name.size();
      place = is_index && index < elements->size() ? &(*elements)[index] : nullptr;
    } else {
      place = place->find(name);
    }
    rest.remove_prefix(end);
  }
  return place;
}

namespace {

constexpr std::size_t most_nodes = 20'000;
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
  explicit compiler(const value& document) : made_(std::make_shared<program>()) { made_->document = document; }

  std::shared_ptr<const program> run() {
    auto& root = add_scope("", made_->document);
    scan(made_->document, root, "");
    made_->root = node_of(made_->document, root, "");
    // Reading a node can add more nodes. A queue avoids a recursion as deep as the chain of references.
    while (!unread_.empty()) {
      const auto next = unread_.back();
      unread_.pop_back();
      read(*next.into, *next.from, *next.scope, next.place);
    }
    for (const auto& scope : made_->scopes) {
      for (const auto& [name, from] : dynamic_[scope.get()]) scope->dynamic_anchors.emplace(name, node_of(*from, *scope, name));
    }
    while (!unread_.empty()) {
      const auto next = unread_.back();
      unread_.pop_back();
      read(*next.into, *next.from, *next.scope, next.place);
    }
    return made_;
  }

 private:
  struct waiting {
    node* into;
    const value* from;
    resource_scope* scope;
    std::string place;
  };

  resource_scope& add_scope(std::string uri, const value& root) {
    auto scope = std::make_unique<resource_scope>();
    scope->uri = std::move(uri);
    scope->root = &root;
    made_->scopes.push_back(std::move(scope));
    return *made_->scopes.back();
  }

  /// Finds identifiers and anchors at all positions where a schema can occur.
  void scan(const value& from, resource_scope& outer, const std::string& place) {
    const auto* members = from.as_object();
    if (members == nullptr) return;
    auto* scope = &outer;
    if (const auto* id = from.find("$id")) {
      auto uri = resolved(outer.uri, text_of(*id, inside(place, "$id")));
      if (uri.ends_with('#')) uri.pop_back();
      if (uri.find('#') != std::string::npos) refuse(inside(place, "$id"), "an identifier must not have a fragment");
      if (&from == &made_->document) {
        scope->uri = std::move(uri);
      } else {
        scope = &add_scope(std::move(uri), from);
      }
    }
    home_.emplace(&from, scope);
    for (const auto* keyword : {"$anchor", "$dynamicAnchor"}) {
      const auto* anchor = from.find(keyword);
      if (anchor == nullptr) continue;
      const auto& name = text_of(*anchor, inside(place, keyword));
      scope->anchors.emplace(name, &from);
      if (std::string_view(keyword) == "$dynamicAnchor") dynamic_[scope].emplace_back(name, &from);
    }
    for (const auto& [name, part] : *members) {
      const auto below = inside(place, name);
      if (contains(single_keywords, name) || contains(branch_keywords, name)) {
        scan(part, *scope, below);
      } else if (contains(list_keywords, name)) {
        if (const auto* elements = part.as_array()) {
          for (std::size_t index = 0; index < elements->size(); ++index) {
            scan((*elements)[index], *scope, inside(below, std::to_string(index)));
          }
        }
      } else if (contains(map_keywords, name)) {
        if (const auto* inner = part.as_object()) {
          for (const auto& [key, one] : *inner) scan(one, *scope, inside(below, key));
        }
      }
    }
  }

  const node* node_of(const value& from, resource_scope& scope, const std::string& place) {
    if (const auto known = nodes_.find(&from); known != nodes_.end()) return known->second;
    if (made_->nodes.size() >= most_nodes) refuse(place, "the schema has too many parts");
    made_->nodes.push_back(std::make_unique<node>());
    auto* made = made_->nodes.back().get();
    nodes_.emplace(&from, made);
    const auto home = home_.find(&from);
    auto* mine = home != home_.end() ? home->second : &scope;
    made->scope = mine;
    unread_.push_back({made, &from, mine, place});
    return made;
  }

  void read(node& into, const value& from, resource_scope& scope, const std::string& place) {
    into.verdict = from.as_boolean();
    if (into.verdict) return;
    const auto* members = from.as_object();
    if (members == nullptr) refuse(place, "a schema must be an object or a boolean");
    for (const auto& [name, part] : *members) {
      const auto below = inside(place, name);
      if (name == "$schema") {
        const auto& named = text_of(part, below);
        if (named != dialect && named != std::string(dialect) + '#')
          refuse(below, "only the dialect " + std::string(dialect) + " is supported");
      } else if (!read_reference(into, name, part, scope, below) && !read_value(into, name, part, below)) {
        read_schemas(into, name, part, scope, below);
      }
    }
  }

  bool read_reference(node& into, std::string_view name, const value& part, resource_scope& scope, const std::string& place) {
    if (name == "$ref") {
      into.reference = follow(text_of(part, place), scope, place).to;
      return true;
    }
    if (name != "$dynamicRef") return false;
    const auto found = follow(text_of(part, place), scope, place);
    into.dynamic_reference = found.to;
    into.dynamic_name = found.dynamic_name;
    return true;
  }

  struct target {
    const node* to;
    std::string dynamic_name;  // set for a $dynamicAnchor
  };

  target follow(const std::string& reference, const resource_scope& from, const std::string& place) {
    const auto whole = resolved(from.uri, reference);
    const auto hash = whole.find('#');
    const auto uri = whole.substr(0, hash);
    const auto fragment = hash == std::string::npos ? std::string_view() : std::string_view(whole).substr(hash + 1);
    const auto found =
        std::find_if(made_->scopes.begin(), made_->scopes.end(), [&](const auto& one) { return one->uri == uri; });
    if (found == made_->scopes.end()) {
      refuse(place, "refers to " + whole + ", which is not in this document. Schemas are never fetched: put it below $defs");
    }
    auto& scope = **found;
    if (fragment.empty()) return {node_of(*scope.root, scope, uri), {}};
    if (fragment.front() == '/') {
      const auto* there = pointed(*scope.root, fragment);
      if (there == nullptr) refuse(place, "nothing is at " + reference);
      return {node_of(*there, scope, std::string(fragment)), {}};
    }
    const std::string name(fragment);
    const auto anchor = scope.anchors.find(name);
    if (anchor == scope.anchors.end()) refuse(place, "unknown anchor " + name);
    const auto& dynamic = dynamic_[&scope];
    const bool is_dynamic = std::any_of(dynamic.begin(), dynamic.end(), [&](const auto& one) { return one.first == name; });
    return {node_of(*anchor->second, scope, name), is_dynamic ? name : std::string()};
  }

  void read_schemas(node& into, const std::string& name, const value& part, resource_scope& scope, const std::string& place) {
    using one = const node* node::*;
    constexpr std::array<std::pair<std::string_view, one>, 10> ones{{{"items", &node::items},
                                                                     {"contains", &node::contains},
                                                                     {"additionalProperties", &node::additional_properties},
                                                                     {"propertyNames", &node::property_names},
                                                                     {"unevaluatedItems", &node::unevaluated_items},
                                                                     {"unevaluatedProperties", &node::unevaluated_properties},
                                                                     {"not", &node::negated},
                                                                     {"if", &node::condition},
                                                                     {"then", &node::then_so},
                                                                     {"else", &node::otherwise}}};
    for (const auto& [keyword, member] : ones) {
      if (name != keyword) continue;
      into.*member = node_of(part, scope, place);
      made_->tracks = made_->tracks || name.starts_with("unevaluated");
      return;
    }
    using many = std::vector<const node*> node::*;
    constexpr std::array<std::pair<std::string_view, many>, 4> lists{
        {{"prefixItems", &node::prefix_items}, {"allOf", &node::all_of}, {"anyOf", &node::any_of}, {"oneOf", &node::one_of}}};
    for (const auto& [keyword, member] : lists) {
      if (name != keyword) continue;
      const auto* elements = part.as_array();
      if (elements == nullptr || elements->empty()) refuse(place, "expected an array of schemas, with one or more");
      for (std::size_t index = 0; index < elements->size(); ++index) {
        (into.*member).push_back(node_of((*elements)[index], scope, inside(place, std::to_string(index))));
      }
      return;
    }
    if (!contains(map_keywords, name)) return;
    const auto* members = part.as_object();
    if (members == nullptr) refuse(place, "expected an object of schemas");
    for (const auto& [key, schema] : *members) {
      const auto* made = node_of(schema, scope, inside(place, key));
      if (name == "properties") into.properties.emplace_back(key, made);
      if (name == "patternProperties") into.pattern_properties.emplace_back(pattern_of(key, place), made);
      if (name == "dependentSchemas") into.dependent_schemas.emplace_back(key, made);
    }
  }

  std::shared_ptr<program> made_;
  std::unordered_map<const value*, resource_scope*> home_;
  std::unordered_map<const value*, const node*> nodes_;
  std::unordered_map<const resource_scope*, std::vector<std::pair<std::string, const value*>>> dynamic_;
  std::vector<waiting> unread_;
};

}  // namespace

result<schema> schema::compile(const value& document) {
  try {
    return schema(compiler(document).run());
  } catch (const fault& what) {
    return fail(errc::invalid_argument, what.text);
  }
}

}  // namespace hondana::schema

/// Views that let nothing be read for which a caller lacks a scope.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <hondana/provider.hpp>
#include <hondana/uri.hpp>

namespace hondana::gate {

/// The `uris` of a scope rule, in one form and ready to be compared.
struct named_uris {
  std::vector<std::string> prefixes{};
  std::vector<uri_template> templates{};

  /// Whether a URI in normal form is one of a resource that the rule names, or of a part of one. A rule without URIs names all.
  [[nodiscard]] bool has(std::string_view uri) const;
};

/// The URIs that each rule about reading names.
using guarded_uris = std::vector<named_uris>;

/// Makes such views, and keeps those that were asked for last. Sources ask a caller's view before they give anything that they
/// derive from a resource, such as a patch or an outline. Threads: any.
class scoped_views {
 public:
  explicit scoped_views(guarded_uris all);

  /// `lacking`: by rule, whether the caller lacks one of its scopes; `through`: what else it may see, null: everything. Callers
  /// who lack the same get the same view, and those who lack nothing get `through`.
  [[nodiscard]] std::shared_ptr<const view> narrow(const std::vector<bool>& lacking, std::shared_ptr<const view> through) const;

 private:
  using key = std::pair<std::vector<bool>, const view*>;

  std::shared_ptr<const guarded_uris> all_;
  mutable std::mutex mutex_;
  mutable std::map<key, std::shared_ptr<const view>> made_;
};

}  // namespace hondana::gate

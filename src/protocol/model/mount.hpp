/// What tells a source that passes on what other servers have.
#pragma once

namespace hondana::model {

/// Such a source is one of these, too: right behind each of its claims stands a URI as the other server writes it.
class mount {
 public:
  mount() = default;
  mount(const mount&) = delete;
  mount& operator=(const mount&) = delete;
  virtual ~mount() = default;
};

}  // namespace hondana::model

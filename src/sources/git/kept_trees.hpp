/// Trees in which many names are looked for, one after the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include <hondana/error.hpp>

#include "sources/git/library.hpp"
#include "sources/git/stopping.hpp"

namespace hondana::git {

/// Reads a tree at the first look into it, and keeps it while there is room, so that a look at each of its entries does not
/// read it again. For one thread. Lifetime: refers to what it is given.
class kept_trees {
 public:
  kept_trees(git_repository* in, const stopping& asks) noexcept : in_(in), asks_(asks) {}

  struct found {
    git_oid id{};
    std::uint32_t mode = 0;
  };
  /// Nothing: there is no such name, or it is none that a path could have. Errors: cancelled; source_unavailable for trees that
  /// are missing or damaged.
  [[nodiscard]] result<std::optional<found>> find(const git_oid& tree, std::string_view name);

  /// How many trees were read, those that had to be read again each time.
  [[nodiscard]] std::size_t reads() const noexcept { return reads_; }

 private:
  struct kept {
    std::string id;
    tree_pointer tree;
    std::size_t bytes = 0;
  };

  result<git_tree*> open(const git_oid& id);

  git_repository* const in_;
  const stopping& asks_;
  std::list<kept> all_;  // the last that was asked for first
  std::map<std::string, std::list<kept>::iterator, std::less<>> by_id_;
  std::size_t bytes_ = 0;
  std::size_t reads_ = 0;
};

}  // namespace hondana::git

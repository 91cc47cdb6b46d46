/// Maps names and addresses of people to their proper ones, as `.mailmap` says.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include <hondana/error.hpp>

#include "sources/git/libgit2.hpp"

namespace hondana::git {

/// A mailmap as gitmailmap(5) describes it. Names and addresses are compared without regard to the case of ASCII letters, which
/// libgit2 does not do. Immutable. Threads: any.
class mailmap {
 public:
  /// An empty mailmap.
  mailmap() = default;
  /// Parses the text of a `.mailmap`. Ignores malformed lines, and entries after the first 100 000.
  [[nodiscard]] static mailmap parse(std::string_view text);
  /// Reads `.mailmap` at the top of the work tree or, in a bare repository, at `HEAD`. Empty if it does not exist, is a link,
  /// is larger than 4 MiB, or cannot be read. Errors: source_unavailable if descriptors are missing.
  [[nodiscard]] static result<mailmap> read(git_repository* repo);

  /// Replaces a name and an address by the proper ones.
  void apply(std::string& name, std::string& email) const;

  /// A digest of the text. Empty: no name is mapped.
  [[nodiscard]] const std::string& stamp() const noexcept { return stamp_; }

 private:
  struct person {
    std::string name, email;  // empty: unchanged
  };
  struct address_entry {
    std::optional<person> any_name;
    std::map<std::string, person, std::less<>> by_name;  // in lower case
  };
  std::map<std::string, address_entry, std::less<>> by_email_;  // in lower case
  std::string stamp_;
};

}  // namespace hondana::git

/// The URIs of a files source that some peer watches, and what each was when it was last looked at.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "os/disk/stamp.hpp"
#include "sources/files/root.hpp"

namespace hondana::files {

/// Threads: one at a time.
class attached {
 public:
  /// Begins to watch `uri`, which is what `path` in `of` has. True when it has changed since `since` (by `wall_clock`), as far
  /// as time stamps tell, which move in ticks: so rather true than false.
  [[nodiscard]] bool add(const std::string& uri, std::shared_ptr<const root> of, const std::string& path, std::int64_t since);
  void remove(const std::string& uri);

  /// Those that something at `path` concerns: what has that path, also by a link, and the folder around it, which shows what is
  /// in it; with `below`, also what lies below.
  [[nodiscard]] std::vector<std::string> at(const root& of, const std::string& path, bool below) const;
  /// All of a root.
  [[nodiscard]] std::vector<std::string> of(const root& which) const;
  /// Looks again: whether a peer has to be told. Where the stamp cannot tell, it has.
  [[nodiscard]] bool has_changed(const std::string& uri);
  /// Whether it is, or was before the last look, reached by a link, and so another name of what may have changed.
  [[nodiscard]] bool is_alias(const std::string& uri) const;
  /// Whether it is, or was, a folder whose reading shows what is at `path`.
  [[nodiscard]] bool shows(const std::string& uri, const root& of, const std::string& path) const;

  [[nodiscard]] std::size_t size() const noexcept { return by_uri_.size(); }

 private:
  using key = std::pair<const root*, std::string>;
  struct entry {
    std::shared_ptr<const root> of;
    std::string path;
    std::optional<disk::stamp> state;  // absent: there was nothing
    bool is_folder = false;
    bool is_alias = false;
    std::vector<std::string> ways;  // its path, the links on it, and where it really is
  };

  /// Looks at it, and notes by which paths it is reached.
  void look(const std::string& uri, entry& one);
  void forget_ways(const std::string& uri, const entry& one);

  std::unordered_map<std::string, entry> by_uri_;
  std::multimap<key, std::string> by_path_;
};

/// The folder that holds what a path names; empty: the root.
[[nodiscard]] inline std::string folder_of(std::string_view path) {
  const auto slash = path.rfind('/');
  return slash == std::string_view::npos ? std::string() : std::string(path.substr(0, slash));
}

}  // namespace hondana::files

/// One served folder: its URIs, path lookup, and access checks.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/error.hpp>
#include <hondana/provider.hpp>

#include "base/ignore/gitignore.hpp"
#include "sources/files/confined_dir.hpp"
#include "sources/files/options.hpp"
#include "sources/files/priority.hpp"
#include "sources/files/serving_rules.hpp"
#include "text/secrets/scanner.hpp"

namespace hondana::files {

/// Why something cannot be had, for the log and for `hondana check`. Peers are told no more than the kind.
struct refusal {
  obstacle why = obstacle::missing;
  int error = 0;
  std::string reason;  ///< "hidden", "link leaves the root", "Permission denied".
};

/// Immutable but for its cache of ignore files and the folder that is open. Threads: any, at once. Paths are relative to the
/// folder, in the file system's bytes, without `.`, `..` and empty segments; the empty path is the folder itself.
class root {
 public:
  /// Opens the folder. Errors: source_unavailable naming the path, why not and what to do; invalid_argument for options.
  [[nodiscard]] static result<std::shared_ptr<root>> open(const root_options& from, const options& all);

  /// Where it is, free of links.
  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  /// Its canonical URI, without a trailing slash unless it is the file system's own root.
  [[nodiscard]] const std::string& uri() const noexcept { return uri_; }
  /// The URI of something below.
  [[nodiscard]] std::string uri_of(std::string_view path) const;
  /// The path a canonical URI without query means, with one trailing slash ignored; nothing when the URI is not of this root
  /// or means nothing that could exist, such as a name with an encoded slash in it or an empty one.
  [[nodiscard]] std::optional<std::string> path_of(std::string_view uri) const;
  /// What people read: the path below the root, or the folder's own name; ill-formed UTF-8 shown as U+FFFD.
  [[nodiscard]] std::string name_of(std::string_view path) const;

  /// Finds what a path leads to, when it, every link on the way, and all folders above are served: by where each really is,
  /// and by the name under which it was asked for. Ends early, as if there were nothing, when `by` (may be null) is cancelled
  /// or its deadline passes. Where descriptors or memory are short, `trouble` is the obstacle.
  [[nodiscard]] tl::expected<located, refusal> find(std::string_view path, const call* by = nullptr) const;
  /// Whether the caller's view shows what was found for a path: by its own URI, by the one asked for, and by those of all links
  /// and spellings between; of a link's target by its entry, too. Without a view everything is shown.
  [[nodiscard]] bool is_visible(std::string_view asked, const located& what, const caller& to) const;
  /// The same for reading what was found: a link to it must not say what it says.
  [[nodiscard]] bool is_readable(std::string_view asked, const located& what, const caller& to) const;
  /// The ignore files down to a served folder. Errors: as `find`, when it has gone.
  [[nodiscard]] tl::expected<ignore::stack, refusal> stack_at(std::string_view folder) const;

  /// The folder that is open now.
  [[nodiscard]] std::shared_ptr<const beneath> below() const { return top_.now(); }
  [[nodiscard]] const rules& decisions() const noexcept { return rules_; }
  [[nodiscard]] const priorities& weights() const noexcept { return priorities_; }
  /// What is masked in a file, by its path.
  [[nodiscard]] secrets::policy masking_of(std::string_view path) const noexcept;
  /// See `top::look_again`.
  [[nodiscard]] top::news look_again() const { return top_.look_again(); }
  /// Whether the path named no folder that can be served when it was looked at last.
  [[nodiscard]] bool is_gone() const noexcept { return top_.is_gone(); }
  [[nodiscard]] bool is_barred() const noexcept { return top_.is_barred(); }
  [[nodiscard]] ignore_files& ignored() const noexcept { return ignored_; }

 private:
  root(std::string path, disk::handle folder, std::vector<std::string> spellings, bool portable, bool masks, rules decisions,
       priorities weights, log_line log);

  /// What one lookup may still take.
  struct patience {
    const call* by;
    std::uint64_t steps;
  };
  /// As `find`; throws std::system_error when descriptors or memory are short.
  [[nodiscard]] tl::expected<located, refusal> find_or_throw(std::string_view path, const call* by) const;
  /// Decides about a path free of links, folder by folder from the top; the reason it is left out, or nothing. Throws as above.
  [[nodiscard]] std::optional<std::string> judge(const beneath& in, std::string_view path, bool is_folder,
                                                 patience& left) const;
  /// Decides about a path as it was asked for, by names alone, up to its first `..`.
  [[nodiscard]] std::optional<std::string> judge_spelling(std::string_view path, bool is_folder) const;

  std::string path_;
  std::string uri_;
  mutable top top_;
  bool masks_;
  rules rules_;
  priorities priorities_;
  mutable ignore_files ignored_;
};

/// A failed lookup in words.
[[nodiscard]] refusal refusal_of(const not_found& why);
/// Throws std::system_error when the lookup failed for a shortage or a failing disk, so that it is not known what is there.
void throw_if_unsure(const refusal& why);

}  // namespace hondana::files

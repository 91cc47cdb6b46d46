/// What of a root is served: hidden names, version control data, secrets, exclusions, ignore files, and what is allowed after
/// all.
#pragma once

#include <sys/stat.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/error.hpp>

#include "base/ignore/pattern_list.hpp"
#include "base/ignore/stack.hpp"
#include "os/disk/own_files.hpp"
#include "sources/files/options.hpp"

namespace hondana::files {

/// Why a path is left out.
enum class denial : std::uint8_t { none, kept_back, version_control, secret, hidden, excluded, ignored };

/// The decision about one path. Its views live as long as the rules and the stack it was made from.
struct ruling {
  denial why = denial::none;
  std::string_view pattern;  ///< What matched, as written.
  std::string_view note;     ///< What a secret is.
  std::string_view source;   ///< The ignore file, relative to the root.
  std::size_t line = 0;      ///< Its line, from 1.
  std::string_view fault;    ///< Why the ignore file cannot be obeyed, and so leaves out everything.
  std::uint64_t steps = 0;   ///< What matching ignore files took.

  [[nodiscard]] bool is_served() const noexcept { return why == denial::none; }
};

/// The decision in words: "ignored by src/.gitignore:3 `*.o`", "secret: `.env*` (…)", "hidden".
[[nodiscard]] std::string to_text(const ruling& decision);

/// The rules of one root. Threads: immutable, any number may ask at once.
class rules {
 public:
  /// `root`: the absolute path of the folder, without links. Errors: invalid_argument naming the option and the pattern that
  /// cannot match.
  [[nodiscard]] static result<rules> make(const root_options& from, std::string_view root);

  /// Decides about `path` (relative to the root, not empty) alone: whoever asks has entered its folders, so each of them was
  /// served. `ignored_by` holds the ignore files down to the path's folder; it gets `most_steps`. A link is no folder.
  [[nodiscard]] ruling decide(std::string_view path, bool is_folder, const ignore::stack& ignored_by,
                              std::uint64_t most_steps = ignore::most_steps) const;

  /// Decides by names alone, without ignore files, about a path that leads over links to something elsewhere: a link that
  /// leads to a folder is a folder here.
  [[nodiscard]] ruling decide_name(std::string_view path, bool is_folder) const;

  /// Whether the configuration brings this very path back.
  [[nodiscard]] bool allows(std::string_view path, bool is_folder) const noexcept;

  /// Whether it is a file that is kept back, whatever it is called here.
  [[nodiscard]] bool is_kept_back(const struct stat& facts) const noexcept { return own_.is_one(facts); }

  [[nodiscard]] bool obey_ignore_files() const noexcept { return obey_ignore_files_; }

 private:
  [[nodiscard]] ruling deny_name(std::string_view path, bool is_folder) const;

  disk::own_files own_;
  ignore::pattern_list allow_;
  ignore::pattern_list exclude_;
  bool show_hidden_ = false;
  bool obey_ignore_files_ = true;
};

/// Joins patterns to the text of an ignore file and compiles it. Errors: invalid_argument naming `option` for a pattern that
/// is empty, spans lines, or can match nothing.
[[nodiscard]] result<ignore::pattern_list> compile_patterns(const std::vector<std::string>& patterns,
                                                            const std::string& option);

}  // namespace hondana::files

/// One walk through a folder of documents.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include <hondana/provider.hpp>

#include "base/ignore/stack.hpp"
#include "os/disk/handle.hpp"
#include "os/disk/own_files.hpp"
#include "sources/docs/ground.hpp"
#include "sources/docs/patterns.hpp"

namespace hondana::docs {

/// What a failed system call is for a peer.
[[nodiscard]] tl::unexpected<failure> refused(int error, std::string_view path);
[[nodiscard]] std::string words_of(int error);

/// Decides about everything it meets. Threads: one.
class walker {
 public:
  struct choice {
    const patterns& include;
    const patterns& exclude;
    const disk::own_files& own;
    bool obeys = true;  ///< Ignore files.
  };
  walker(const call& by, const std::function<void(const std::string&, int)>& entering, choice how)
      : by_(by), entering_(entering), how_(how) {}

  /// Errors: as `ground::walk`.
  [[nodiscard]] result<walked> walk(int root);

 private:
  /// Throws std::system_error when descriptors or memory are short.
  [[nodiscard]] result<walked> walk_or_throw(int root);
  /// Goes through a folder, which it takes over. `prefix` is its path with a slash; empty for the root.
  result<void> enter(disk::handle folder, const std::string& prefix, const ignore::stack& ignored, std::size_t depth);
  result<void> look(int at, const std::string& prefix, const char* name, const ignore::stack& ignored, std::size_t depth);
  /// Why something is left out by its name; empty: it is not.
  [[nodiscard]] std::string denied(const std::string& path, bool is_folder, const ignore::stack& ignored) const;
  result<void> leave_out(std::string path, std::string why);

  const call& by_;
  const std::function<void(const std::string&, int)>& entering_;
  const choice how_;
  walked found_;
  bool is_full_ = false;
};

}  // namespace hondana::docs

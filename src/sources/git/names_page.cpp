/// Picking the least names without sorting all of them.
#include "sources/git/names_page.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "sources/git/reference_files.hpp"

namespace hondana::git {
namespace {

/// Keeps the least names it is shown; the greatest of those stands in front.
class least_names {
 public:
  least_names(const std::string& after, std::size_t most) : after_(after), most_(most) {}

  void show(std::string_view name) {
    if (name <= after_) return;
    if (kept_.size() == most_) {
      if (most_ == 0 || name >= kept_.front()) return;
      std::pop_heap(kept_.begin(), kept_.end());
      kept_.pop_back();
    }
    kept_.emplace_back(name);
    std::push_heap(kept_.begin(), kept_.end());
  }
  [[nodiscard]] std::vector<std::string> take() {
    std::sort_heap(kept_.begin(), kept_.end());
    kept_.erase(std::unique(kept_.begin(), kept_.end()), kept_.end());
    return std::move(kept_);
  }

 private:
  const std::string_view after_;
  const std::size_t most_;
  std::vector<std::string> kept_;
};

}  // namespace

result<names_page> names_behind(git_repository* in, std::initializer_list<const char*> prefixes, const std::string& after,
                                std::size_t limit) {
  constexpr std::string_view said = "the references cannot be listed; run `git fsck` for details";
  least_names least(after, limit + 1);
  for (const char* const prefix : prefixes) {
    HONDANA_TRY(check_references(in, prefix));
    git_reference_iterator* raw = nullptr;
    if (const int code = git_reference_iterator_glob_new(&raw, in, (std::string(prefix) + '*').c_str()); code < 0)
      return failed(std::string(said));
    const reference_iterator_pointer walk(raw);
    const char* name = nullptr;
    int code = 0;
    while ((code = git_reference_next_name(&name, raw)) == 0) least.show(name);
    if (code != GIT_ITEROVER) return failed(std::string(said));
  }
  names_page page{least.take()};
  page.is_last = page.names.size() <= limit;
  if (!page.is_last) page.names.resize(limit);
  return page;
}

}  // namespace hondana::git

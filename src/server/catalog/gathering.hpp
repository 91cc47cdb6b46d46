/// Pages of several sources on their way to one answer.
#pragma once

#include <cstddef>
#include <mutex>
#include <utility>
#include <vector>

#include "server/catalog/catalog.hpp"

namespace hondana::catalog {

/// Waits for `expected` pages (at least one); the first failure is the answer to all of them. Threads: any.
template <class Page>
class gathering {
 public:
  using pages = std::vector<Page>;

  gathering(std::size_t expected, completion<pages> done) : left_(expected), pages_(expected), done_(std::move(done)) {}

  void take(std::size_t place, result<Page> page) {
    std::unique_lock lock(mutex_);
    if (!done_) return;
    if (page) {
      pages_[place] = std::move(*page);
      if (--left_ != 0) return;
    }
    const auto done = std::exchange(done_, {});
    auto gathered = page ? result<pages>(std::move(pages_)) : tl::unexpected(std::move(page.error()));
    lock.unlock();
    done(std::move(gathered));
  }

 private:
  std::mutex mutex_;
  std::size_t left_;
  pages pages_;
  completion<pages> done_;
};

}  // namespace hondana::catalog

/// Texts of documents that were read lately, so that sections and pages do not cost a rendering each.
#pragma once

#include <cstddef>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "sources/docs/facts.hpp"

namespace hondana::docs {

/// Bounded by what the texts take; those used longest ago go first. Threads: any.
class kept_texts {
 public:
  explicit kept_texts(std::size_t most_bytes) : most_(most_bytes) {}

  /// The text of a document in this state; null when it is not kept.
  [[nodiscard]] std::shared_ptr<const prose> find(const std::string& path, const disk::stamp& state,
                                                  const std::string& charset_rule);
  /// One that is racy, or takes more than a quarter of all, is not kept.
  void keep(const std::string& path, std::shared_ptr<const prose> text);
  [[nodiscard]] std::size_t bytes() const;

 private:
  struct kept {
    std::string path;
    std::shared_ptr<const prose> text;
    std::size_t cost;
  };
  void drop(std::unordered_map<std::string, std::list<kept>::iterator>::iterator which);

  const std::size_t most_;
  mutable std::mutex mutex_;
  std::list<kept> by_use_;  // latest first
  std::unordered_map<std::string, std::list<kept>::iterator> by_path_;
  std::size_t cost_ = 0;
};

}  // namespace hondana::docs

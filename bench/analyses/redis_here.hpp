/// A Redis server of a benchmark's own.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>
#include <string_view>

#include "../process/child.hpp"
#include "sources/analyses/cache/redis/redis_store.hpp"

namespace analyses_bench {

/// On a Unix socket in `folder`, with an append-only file that is synced always, or never where that is not measured. One that
/// is synced rewrites its file only when it is told to. Throws where redis-server cannot be started.
class redis_here {
 public:
  redis_here(std::string folder, bool is_synced);
  ~redis_here();
  redis_here(const redis_here&) = delete;
  redis_here& operator=(const redis_here&) = delete;

  void start();
  void kill();
  /// Has the append-only file written anew, as short as it can be, and waits until it is.
  void rewrite() const;
  [[nodiscard]] hondana::analyses::redis_options options() const;
  /// Bytes that it says it uses.
  [[nodiscard]] double used_memory() const;

 private:
  /// A number that INFO tells.
  [[nodiscard]] double told(const char* section, std::string_view name) const;

  std::string folder_;
  bool is_synced_;
  pid_t pid_ = -1;
};

}  // namespace analyses_bench

/// Locks that show other processes who has a file open, and a list that shows it to this one.
#include "os/sqlite/users.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <mutex>
#include <set>
#include <utility>

namespace hondana::sqlite {
namespace {

class files_open_here {
 public:
  using file = std::pair<dev_t, ino_t>;
  static files_open_here& all() {
    static files_open_here one;
    return one;
  }
  [[nodiscard]] bool has(const file& which) {
    const std::lock_guard held(mutex_);
    return open_.contains(which);
  }
  void unless_open(const file& which, const std::function<void()>& work) {
    const std::lock_guard held(mutex_);
    if (!open_.contains(which)) work();
  }
  [[nodiscard]] std::shared_ptr<const void> take(const file& which) {
    const std::lock_guard held(mutex_);
    open_.insert(which);
    return {this, [which](const void*) { all().give_back(which); }};
  }

 private:
  void give_back(const file& which) {
    const std::lock_guard held(mutex_);
    open_.erase(open_.find(which));
  }
  std::mutex mutex_;
  std::multiset<file> open_;
};

}  // namespace

result<disk::handle> join_users(const std::string& path, const file_kind& kind, bool& is_alone) {
  disk::handle users(::open((path + ".users").c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!users.is_open()) return cannot_have(path, kind, "its .users file cannot be created", std::strerror(errno));
  is_alone = ::flock(users.get(), LOCK_EX | LOCK_NB) == 0;
  while (::flock(users.get(), LOCK_SH) != 0) {
    if (errno != EINTR) return cannot_have(path, kind, "its .users file cannot be locked", std::strerror(errno));
  }
  return users;
}

bool has_open_here(const std::string& path) {
  const auto which = identity_of(path);
  return which && files_open_here::all().has({which->device, which->number});
}

void while_not_open_here(const std::string& path, const std::function<void()>& work) {
  const auto which = identity_of(path);
  if (which) files_open_here::all().unless_open({which->device, which->number}, work);
}

std::shared_ptr<const void> note_open_here(const std::string& path) {
  const auto which = identity_of(path);
  return which ? files_open_here::all().take({which->device, which->number}) : nullptr;
}

}  // namespace hondana::sqlite

/// Counting open readers.
#include "providers/files/reader_set.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <mutex>
#include <unordered_map>
#include <utility>

namespace hondana::files {
namespace {

constexpr std::size_t fewest = 16;
constexpr std::size_t most_of_all = 16'384;

/// Asked anew each time: the limit is raised when a server starts to listen.
std::size_t allowed_by_descriptors() noexcept {
  rlimit now{};
  if (::getrlimit(RLIMIT_NOFILE, &now) != 0) return fewest;
  return static_cast<std::size_t>(std::clamp<rlim_t>(now.rlim_cur / 8, fewest, most_of_all));
}

}  // namespace

struct reader_set::state {
  std::size_t most = 0;
  std::mutex mutex;
  std::size_t open = 0;
  std::unordered_map<std::string, std::size_t> of_address;
};

reader_set::reader_set(std::size_t most) : state_(std::make_shared<state>()) { state_->most = most; }

result<std::shared_ptr<void>> reader_set::enter(const std::string& address) {
  auto& s = *state_;
  const auto most = s.most != 0 ? s.most : allowed_by_descriptors();
  {
    const std::lock_guard lock(s.mutex);
    auto& mine = s.of_address[address];
    if (s.open >= most || mine >= std::max<std::size_t>(most / 4, 1)) {
      if (mine == 0) s.of_address.erase(address);
      return fail(
          errc::overloaded,
          "Too many large files are being sent at once. Take the answers that are on their way first, or ask for a part "
          "of at most 1 MiB.");
    }
    ++s.open;
    ++mine;
  }
  return std::shared_ptr<void>(nullptr, [of = state_, address](void*) {
    const std::lock_guard lock(of->mutex);
    --of->open;
    if (const auto mine = of->of_address.find(address); --mine->second == 0) of->of_address.erase(mine);
  });
}

}  // namespace hondana::files

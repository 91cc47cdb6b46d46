/// Comparing owners.
#include "sources/git/ownership.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <string_view>

namespace hondana::git {

bool is_ours(const std::string& path) noexcept {
  struct stat facts{};
  if (::lstat(path.c_str(), &facts) != 0) return false;
  if (facts.st_uid == ::geteuid()) return true;
  if (::geteuid() != 0) return false;
  const char* const said = std::getenv("SUDO_UID");
  if (said == nullptr) return false;
  const std::string_view text = said;
  uid_t caller = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), caller);
  return problem == std::errc() && end == text.data() + text.size() && facts.st_uid == caller;
}

}  // namespace hondana::git

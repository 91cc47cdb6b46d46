/// The records of requests that a program has open, over reloads of its configuration.
#include "app/cli/audit_records.hpp"

#include <utility>

namespace hondana::cli {

result<std::shared_ptr<audit_file>> audit_records::open(const std::optional<audit_file_options>& as) {
  if (!as) return nullptr;
  std::erase_if(all_, [](const auto& one) { return one.second.file.expired(); });
  if (const auto found = all_.find(as->path); found != all_.end()) {
    if (auto there = found->second.file.lock()) return there;
  }
  auto with = *as;
  with.log = log_;
  auto made = audit_file::open(std::move(with));
  if (made) all_.insert_or_assign(as->path, opened{*made, *as});
  return made;
}

bool audit_records::is_open_otherwise(const std::optional<audit_file_options>& as) const {
  const auto found = as ? all_.find(as->path) : all_.end();
  return found != all_.end() && !found->second.file.expired() && !says_the_same(*as, found->second.as);
}

void audit_records::reopen() {
  for (const auto& [path, one] : all_) {
    if (const auto there = one.file.lock()) there->reopen();
  }
}

bool audit_records::flush(std::chrono::steady_clock::time_point until) {
  bool is_whole = true;
  for (const auto& [path, one] : all_) {
    const auto there = one.file.lock();
    is_whole = (!there || there->flush(until)) && is_whole;
  }
  return is_whole;
}

}  // namespace hondana::cli

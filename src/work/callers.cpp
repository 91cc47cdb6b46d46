/// Turns.
#include "work/callers.hpp"

#include <algorithm>

namespace hondana::work {
namespace {

// Lines without jobs are kept up to here, since the same few callers mostly come again.
constexpr std::size_t most_idle_lines = 64;

}  // namespace

std::size_t callers::waiting(std::string_view who) const {
  const auto found = lines_.find(who);
  return found == lines_.end() ? 0 : found->second.jobs.size();
}

void callers::put(std::string_view who, waiting_job what) {
  auto found = lines_.find(who);
  if (found == lines_.end()) {
    found = lines_.try_emplace(std::string(who)).first;
    found->second.who = found->first;
  }
  auto& to = found->second;
  to.jobs.push_back(std::move(what));
  if (to.jobs.size() == 1) turns_.push_back(&to);
  ++size_;
}

std::list<callers::line*>::iterator callers::next_turn(std::size_t running_each) {
  return std::find_if(turns_.begin(), turns_.end(),
                      [=](const line* one) { return one->who.empty() || one->running < running_each; });
}

bool callers::has_next(std::size_t running_each) { return next_turn(running_each) != turns_.end(); }

std::pair<waiting_job, callers::line*> callers::take(std::size_t running_each) {
  const auto turn = next_turn(running_each);
  auto* whose = *turn;
  auto what = std::move(whose->jobs.front());
  whose->jobs.pop_front();
  if (whose->jobs.empty()) {
    turns_.erase(turn);
  } else {
    turns_.splice(turns_.end(), turns_, turn);
  }
  ++whose->running;
  --size_;
  return {std::move(what), whose};
}

void callers::done(line* whose) {
  --whose->running;
  if (lines_.size() <= most_idle_lines || whose->running != 0 || !whose->jobs.empty()) return;
  lines_.erase(lines_.find(whose->who));
}

std::list<waiting_job> callers::clear() {
  std::list<waiting_job> out;
  for (auto* one : turns_) out.splice(out.end(), one->jobs);
  turns_.clear();
  size_ = 0;
  return out;
}

}  // namespace hondana::work

/// Turns.
#include "base/executor/callers.hpp"

#include <algorithm>

namespace hondana::executor {
namespace {

// Lines without jobs are kept up to here, since the same few callers mostly come again.
constexpr std::size_t most_idle_lines = 64;

}  // namespace

std::size_t callers::waiting(std::string_view who) const {
  const auto found = lines_.find(who);
  return found == lines_.end() ? 0 : found->second.jobs[0].size() + found->second.jobs[1].size();
}

void callers::put(std::string_view who, waiting_job what) {
  auto found = lines_.find(who);
  if (found == lines_.end()) {
    found = lines_.try_emplace(std::string(who)).first;
    found->second.who = found->first;
  }
  const auto sort = static_cast<std::size_t>(what.cost);
  auto& jobs = found->second.jobs[sort];
  jobs.push_back(std::move(what));
  if (jobs.size() == 1) turns_[sort].push_back(&found->second);
  ++size_;
}

std::list<callers::line*>::iterator callers::next_turn(job_cost cost, std::size_t running_each) {
  auto& turns = turns_[static_cast<std::size_t>(cost)];
  return std::find_if(turns.begin(), turns.end(),
                      [=](const line* one) { return one->who.empty() || one->running < running_each; });
}

bool callers::has_next(job_cost cost, std::size_t running_each) {
  return next_turn(cost, running_each) != turns_[static_cast<std::size_t>(cost)].end();
}

std::pair<waiting_job, callers::line*> callers::take(job_cost cost, std::size_t running_each) {
  const auto turn = next_turn(cost, running_each);
  auto& turns = turns_[static_cast<std::size_t>(cost)];
  auto* whose = *turn;
  auto& jobs = whose->jobs[static_cast<std::size_t>(cost)];
  auto what = std::move(jobs.front());
  jobs.pop_front();
  if (jobs.empty()) {
    turns.erase(turn);
  } else {
    turns.splice(turns.end(), turns, turn);
  }
  ++whose->running;
  --size_;
  return {std::move(what), whose};
}

void callers::done(line* whose) {
  --whose->running;
  if (lines_.size() <= most_idle_lines || whose->running != 0 || !whose->jobs[0].empty() || !whose->jobs[1].empty()) return;
  lines_.erase(lines_.find(whose->who));
}

std::list<waiting_job> callers::clear() {
  std::list<waiting_job> out;
  for (std::size_t sort = 0; sort < turns_.size(); ++sort) {
    for (auto* one : turns_[sort]) out.splice(out.end(), one->jobs[sort]);
    turns_[sort].clear();
  }
  size_ = 0;
  return out;
}

}  // namespace hondana::executor

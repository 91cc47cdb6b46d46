/// A set of documents: its newest snapshot, and the thread that renders documents in the background.
#include "sources/docs/document_set.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>

#include <hondana/clock.hpp>

#include "base/executor/thread_guards.hpp"
#include "protocol/model/caller_checks.hpp"
#include "sources/docs/document_uri.hpp"

namespace hondana::docs {
namespace {

using clock = monotonic_clock;

constexpr std::size_t most_kept = 64u << 20;

assignment assignment_of(const document& which) { return {which.on_disk, which.type, which.rule.charset}; }

/// Facts of a document that could not be read.
std::shared_ptr<const facts> problem_of(const disk::stamp& state, std::string charset_rule, failure why) {
  facts made;
  made.state = state;
  made.charset_rule = std::move(charset_rule);
  made.problem = std::move(why);
  return std::make_shared<const facts>(std::move(made));
}

/// Calls that wait for renderings may use most of the source's threads. The rest serve documents that need no rendering.
press_bounds bounds_for(const options& how) {
  press_bounds made;
  made.at_once = how.rendered_at_once;
  made.waiting = how.calls > 4 ? how.calls - 4 : std::max<std::size_t>(how.calls / 2, 1);
  made.one = how.rendered.time;
  return made;
}

/// The error for an original whose text is unavailable. Errors of the call itself are returned unchanged.
failure why_withheld(failure why, const call& by) {
  const bool is_of_call = why.code == errc::cancelled || why.code == errc::overloaded || why.code == errc::content_changed ||
                          why.code == errc::resource_not_found || why.code == errc::source_unavailable ||
                          (why.code == errc::timed_out && monotonic_clock::now() >= by.deadline);
  if (is_of_call) return why;
  return withheld("its text, which would show them, is unavailable: " + why.public_text);
}

bool ends_all(const failure& why) noexcept { return why.code == errc::cancelled || why.code == errc::timed_out; }

}  // namespace

library::library(options all, std::unique_ptr<ground> where)
    : how_(std::make_shared<const options>(std::move(all))),
      ground_(std::move(where)),
      texts_(std::make_shared<kept_texts>(most_kept)),
      press_(bounds_for(*how_)) {}

result<std::shared_ptr<library>> library::open(options all) {
  HONDANA_TRY(auto where, ground::open(all));
  return std::shared_ptr<library>(new library(std::move(all), std::move(where)));
}

std::shared_ptr<const scene> library::latest() const {
  const std::lock_guard lock(mutex_);
  return latest_;
}

clock::time_point library::looked_at_last() const {
  const std::lock_guard lock(mutex_);
  return looked_at_;
}

void library::watch(std::shared_ptr<change_listener> to) {
  const std::lock_guard lock(mutex_);
  listener_ = std::move(to);
}

bool library::is_heard() const {
  const std::lock_guard lock(mutex_);
  return listener_ != nullptr;
}

void library::attach_list() {
  const std::lock_guard lock(mutex_);
  tells_list_ = true;
}

void library::be_silent() {
  const std::lock_guard lock(log_mutex_);
  is_silent_ = true;
}

void library::say(const std::string& line) {
  const std::lock_guard lock(log_mutex_);
  if (how_->log && !is_silent_) how_->log(line);
}

void library::mind_rules(const std::string& now) {
  {
    const std::lock_guard lock(mutex_);
    if (rules_problem_ == now) return;
    rules_problem_ = now;
  }
  say("the documents " + how_->name +
      (now.empty() ? ": the rules file is valid again"
                   : ": the rules file is invalid, so the last valid rules stay in force: " + now));
}

result<void> library::read_rules() {
  auto file = ground_->open_file(rules_file_name);
  if (!file && file.error().code == errc::source_unavailable) return tl::unexpected(std::move(file.error()));
  if (!file && file.error().code == errc::resource_not_found && !ground_->has(rules_file_name)) {
    if (!rules_ || rules_state_ != disk::stamp()) rules_ = std::make_shared<const rules>();
    rules_state_ = {};
    mind_rules({});
    return {};
  }
  std::string problem = file ? std::string() : std::string(rules_file_name) + " cannot be opened as a file";
  if (file) {
    if (file->state == rules_state_ && !are_rules_racy_) {
      problem = [this] {
        const std::lock_guard lock(mutex_);
        return rules_problem_;
      }();
    } else {
      const auto begun = disk::wall_clock();
      HONDANA_TRY(auto text, read_front(*file, rules::most_bytes + 1));
      auto parsed = rules::parse(text, std::string(rules_file_name));
      rules_state_ = file->state;
      are_rules_racy_ = is_racy(file->state, begun);
      if (parsed) {
        rules_ = std::make_shared<const rules>(std::move(*parsed));
      } else {
        problem = std::move(parsed.error().public_text);
      }
    }
  }
  mind_rules(problem);
  if (rules_) return {};
  // The rules file may exclude documents, so nothing is served without it.
  return fail(errc::source_unavailable,
              "The rules file of the documents is invalid: " + problem + ". Nothing is served until it is corrected.");
}

void library::remember(const std::string& path, std::shared_ptr<const facts> what) {
  const std::lock_guard lock(mutex_);
  auto& place = known_[path];
  const auto is_same = place && place->state == what->state && place->text_size == what->text_size && !place->is_racy &&
                       place->problem.has_value() == what->problem.has_value() && place->charset_rule == what->charset_rule;
  if (is_same) return;
  place = std::move(what);
  is_news_ = true;
}

result<void> library::learn(const walked& found, const call& by) {
  for (const auto& file : found.documents) {
    HONDANA_TRY(still_wanted(by));
    const auto type = type_of(file.path).value_or(plain_type());
    const auto said = rules_->of(readable(file.path));
    std::shared_ptr<const facts> known;
    {
      const std::lock_guard lock(mutex_);
      if (const auto at = known_.find(file.path); at != known_.end()) known = at->second;
    }
    if (known && known->state == file.state && !known->is_racy && known->charset_rule == said.charset) continue;
    if (said.is_excluded) continue;
    if (type.rendered) {
      // The known facts belong to another state. The background thread or a reader renders the new one.
      const std::lock_guard lock(mutex_);
      if (known && known->state != file.state) known_.erase(file.path);
      continue;
    }
    auto opened = ground_->open_file(file.path);
    if (!opened && ends_all(opened.error())) return tl::unexpected(std::move(opened.error()));
    if (!opened) {
      remember(file.path, problem_of(file.state, said.charset, std::move(opened.error())));
      continue;
    }
    auto read = glance(*opened, {file.path, type, said.charset}, *how_);
    // A file that keeps changing is read again at the next refresh.
    if (!read && read.error().code == errc::content_changed) continue;
    remember(file.path, read ? std::move(*read) : problem_of(opened->state, said.charset, std::move(read.error())));
  }
  return {};
}

result<std::shared_ptr<const scene>> library::refreshed(const call& by) {
  const auto arrived = clock::now();
  std::unique_lock looking(looking_, std::defer_lock);
  // At most a day, since the system clock cannot wait for arbitrarily long.
  if (!monotonic_clock::try_lock_until(looking, std::min(by.deadline, arrived + std::chrono::hours(24)))) {
    return fail(errc::timed_out, "The documents are still being read. Retry later.");
  }
  if (begun_ > arrived) {
    if (auto made = latest()) return made;  // another caller has refreshed since
  }
  const auto begun = clock::now();
  auto found = ground_->walk(by, [this](const std::string& path, int descriptor) {
    if (entering_) entering_(0, path, descriptor);
  });
  {
    const std::lock_guard lock(mutex_);
    if (found || !ends_all(found.error())) folder_problem_ = found ? std::string() : found.error().public_text;
  }
  if (!found) return tl::unexpected(std::move(found.error()));
  const auto rules_before = rules_;
  HONDANA_TRY(read_rules());
  HONDANA_TRY(learn(*found, by));

  std::unique_lock lock(mutex_);
  if (latest_ && *found == seen_ && rules_ == rules_before && !is_news_) {
    begun_ = begun;
    looked_at_ = clock::now();
    auto same = latest_;
    lock.unlock();
    if (wake_ && next_unknown()) wake_();
    return same;
  }
  if (known_.size() > found->documents.size()) {
    std::erase_if(known_, [&found](const auto& one) {
      return !std::binary_search(found->documents.begin(), found->documents.end(), seen_file{one.first, {}},
                                 [](const auto& a, const auto& b) { return a.path < b.path; });
    });
  }
  const auto known = known_;
  is_news_ = false;
  lock.unlock();
  auto made = scene::make(how_->name, *found, *rules_, known, std::chrono::system_clock::now());
  seen_ = std::move(*found);
  begun_ = begun;
  lock.lock();
  const auto before = std::exchange(latest_, made);
  looked_at_ = clock::now();
  const auto to = listener_;
  // The first refresh has no earlier snapshot. Changes since the subscription may have been missed, so the whole list is
  // notified.
  const bool may_have_missed = !before && tells_list_;
  lock.unlock();
  if (before && to) made->tell_changes_since(*before, *to);
  if (may_have_missed && to) to->list_changed();
  if (wake_ && next_unknown()) wake_();
  return made;
}

result<std::shared_ptr<const prose>> library::rendered(const document& which, opened_file file, const call& by,
                                                       bool is_for_later) {
  press::order what;
  what.key = which.on_disk + '\0' + disk::version_of(file.state) + '\0' + which.rule.charset;
  what.may_join_begun = !is_racy(file.state, disk::wall_clock());
  what.is_for_later = is_for_later;
  what.make = [held = std::make_shared<const opened_file>(std::move(file)), path = which.on_disk, type = which.type,
               charset = which.rule.charset, with = how_, kept = texts_](const call& by_press) {
    auto read = read_prose(*held, {path, type, charset}, *with, by_press);
    if (read) kept->keep(path, *read);
    return read;
  };
  return press_.print(std::move(what), by);
}

result<std::shared_ptr<const prose>> library::text_of(const document& which, const call& by, bool is_for_later) {
  HONDANA_TRY(auto file, ground_->open_file(which.on_disk));
  if (auto kept = texts_->find(which.on_disk, file.state, which.rule.charset)) {
    // The caller that requested the rendering may have left before it finished.
    if (which.type.rendered) remember(which.on_disk, kept->about);
    return kept;
  }
  if (which.type.rendered && which.known && which.known->problem && which.known->state == file.state &&
      is_lasting(*which.known->problem)) {
    return tl::unexpected(*which.known->problem);
  }
  const auto state = file.state;
  const bool is_slow = which.type.rendered && how_->renderer;
  auto read = is_slow ? rendered(which, std::move(file), by, is_for_later) : read_prose(file, assignment_of(which), *how_, by);
  if (!read) {
    if (is_lasting(read.error())) remember(which.on_disk, problem_of(state, which.rule.charset, read.error()));
    return read;
  }
  if (!is_slow) texts_->keep(which.on_disk, *read);
  remember(which.on_disk, (*read)->about);
  return read;
}

result<original> library::original_of(const document& which, const call& by, std::shared_ptr<const prose> text) {
  HONDANA_TRY(auto file, ground_->open_file(which.on_disk));
  if (text && text->about->state != file.state) text.reset();
  if (how_->redact && !text) {
    // Only the text shows secrets that are not recognizable in the bytes.
    auto read = text_of(which, by);
    if (!read) return tl::unexpected(why_withheld(std::move(read.error()), by));
    text = std::move(*read);
    if (text->about->state != file.state) {
      return fail(errc::content_changed, "The document changed while it was being read. Read it again.");
    }
  }
  return read_original(file, assignment_of(which), *how_, text ? text->about.get() : nullptr);
}

void library::note_problem(const document& which, failure why) {
  remember(which.on_disk, problem_of(which.state, which.rule.charset, std::move(why)));
}

result<disk::stamp> library::state_of(const document& which) const {
  return ground_->open_file(which.on_disk).map([](const auto& file) { return file.state; });
}

std::optional<document> library::next_unknown() const {
  const std::lock_guard lock(mutex_);
  if (!latest_ || !how_->renderer) return std::nullopt;
  for (const auto& [path, one] : latest_->documents()) {
    if (!one.type.rendered || one.known || known_.contains(one.on_disk)) continue;
    if (one.state.size > how_->max_bytes || !how_->renderer->missing_for(*one.type.rendered).empty()) continue;
    return one;
  }
  return std::nullopt;
}

hondana::health library::health() const {
  const std::lock_guard lock(mutex_);
  if (!folder_problem_.empty()) return {false, folder_problem_};
  if (!rules_problem_.empty())
    return {false, "the rules file is invalid, so the last valid rules stay in force: " + rules_problem_};
  if (!latest_) return {true, "not read yet"};
  std::size_t problems = 0;
  std::size_t unknown = 0;
  for (const auto& [path, one] : latest_->documents()) {
    problems += one.known && one.known->problem ? 1 : 0;
    unknown += one.known ? 0 : 1;
  }
  std::string said = std::to_string(latest_->documents().size()) + " documents";
  if (problems > 0) said += ", " + std::to_string(problems) + " of them cannot be read";
  if (unknown > 0) said += ", " + std::to_string(unknown) + " not rendered yet";
  if (const auto lacks = how_->renderer ? how_->renderer->lacks() : std::string(); !lacks.empty()) {
    said += "; rendering processes are not fully sandboxed: " + lacks;
  }
  return {true, said};
}

namespace {

using clock = monotonic_clock;

constexpr std::chrono::seconds farewell{1};
/// The results of background rendering are published after this many documents, or this long.
constexpr std::size_t documents_a_turn = 20;
constexpr std::chrono::seconds longest_turn{5};
constexpr std::chrono::minutes longest_call{2};

}  // namespace

struct learner::state {
  explicit state(std::shared_ptr<library> from) : of(std::move(from)) {}

  const std::shared_ptr<library> of;
  std::stop_source stop;
  std::mutex mutex;
  std::condition_variable left;
  bool is_running = false;
  bool is_asked = false;

  [[nodiscard]] call new_call() const {
    call made;
    made.stop = stop.get_token();
    made.deadline = clock::now() + longest_call;
    return made;
  }

  /// Renders some documents. False: there is nothing more to do.
  bool turn() {
    const auto begun = clock::now();
    bool did_some = false;
    for (std::size_t i = 0; i < documents_a_turn && clock::now() - begun < longest_turn && !stop.stop_requested(); ++i) {
      const auto next = of->next_unknown();
      if (!next) break;
      did_some = true;
      auto text = of->text_of(*next, new_call(), true);
      // The queue is full, or requests had priority. The next list request wakes this thread again.
      if (!text && text.error().code == errc::overloaded) return false;
      if (!text && text.error().code != errc::cancelled) of->note_problem(*next, std::move(text.error()));
    }
    // If this fails, the next request reports the error.
    return did_some && !stop.stop_requested() && of->refreshed(new_call()).has_value();
  }

  void run() {
    for (;;) {
      try {
        while (turn()) continue;
      } catch (const std::exception& problem) {
        executor::without_throwing(
            [&] { of->say(std::string("rendering documents in the background failed: ") + problem.what()); });
      }
      const std::lock_guard lock(mutex);
      if (is_asked && !stop.stop_requested()) {
        is_asked = false;
        continue;
      }
      is_running = false;
      left.notify_all();
      return;
    }
  }
};

learner::learner(std::shared_ptr<library> of) : state_(std::make_shared<state>(std::move(of))) {}

learner::~learner() {
  state_->stop.request_stop();
  std::unique_lock lock(state_->mutex);
  monotonic_clock::wait_for(state_->left, lock, farewell, [this] { return !state_->is_running; });
}

std::function<void()> learner::waker() const {
  // A weak reference: the library calls this function, and must not keep itself alive.
  return [of = std::weak_ptr(state_)] {
    const auto there = of.lock();
    if (!there || there->stop.stop_requested()) return;
    const std::lock_guard lock(there->mutex);
    if (std::exchange(there->is_asked, there->is_running)) return;
    if (there->is_running) return;
    there->is_running = true;
    const executor::signals_blocked quiet;
    std::thread([there] { there->run(); }).detach();
  };
}

}  // namespace hondana::docs

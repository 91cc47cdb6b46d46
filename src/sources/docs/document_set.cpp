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

constexpr std::size_t text_cache_bytes = 64u << 20;

document_source make_source(const document& document) { return {document.disk_path, document.type, document.rule.charset}; }

/// Properties of a document that could not be read.
std::shared_ptr<const document_properties> make_problem(const disk::stamp& stamp, std::string charset_rule, failure error) {
  document_properties properties;
  properties.stamp = stamp;
  properties.charset_rule = std::move(charset_rule);
  properties.problem = std::move(error);
  return std::make_shared<const document_properties>(std::move(properties));
}

/// Calls that wait for renderings may use most of the source's threads. The rest serve documents that need no rendering.
render_queue_limits make_queue_limits(const set_options& options) {
  render_queue_limits limits;
  limits.max_concurrency = options.max_concurrent_renders;
  limits.max_waiting_calls = options.max_calls > 4 ? options.max_calls - 4 : std::max<std::size_t>(options.max_calls / 2, 1);
  limits.render_timeout = options.render_limits.max_time;
  return limits;
}

/// The error for an original whose text is unavailable. Errors of the call itself are returned unchanged.
failure original_error(failure error, const request_context& request) {
  const bool is_request_error = error.code == errc::cancelled || error.code == errc::overloaded ||
                                error.code == errc::content_changed || error.code == errc::resource_not_found ||
                                error.code == errc::source_unavailable ||
                                (error.code == errc::timed_out && monotonic_clock::now() >= request.deadline);
  if (is_request_error) return error;
  return withheld_error("its text, which would show them, is unavailable: " + error.public_text);
}

bool is_interruption(const failure& error) noexcept { return error.code == errc::cancelled || error.code == errc::timed_out; }

}  // namespace

document_set::document_set(set_options options, std::unique_ptr<document_folder> folder)
    : options_(std::make_shared<const set_options>(std::move(options))),
      folder_(std::move(folder)),
      text_cache_(std::make_shared<text_cache>(text_cache_bytes)),
      render_queue_(make_queue_limits(*options_)) {}

result<std::shared_ptr<document_set>> document_set::open(set_options options) {
  HONDANA_TRY(auto folder, document_folder::open(options));
  return std::shared_ptr<document_set>(new document_set(std::move(options), std::move(folder)));
}

std::shared_ptr<const snapshot> document_set::latest() const {
  const std::lock_guard lock(mutex_);
  return latest_;
}

clock::time_point document_set::last_checked_at() const {
  const std::lock_guard lock(mutex_);
  return checked_at_;
}

void document_set::set_listener(std::shared_ptr<change_listener> listener) {
  const std::lock_guard lock(mutex_);
  listener_ = std::move(listener);
}

bool document_set::has_listener() const {
  const std::lock_guard lock(mutex_);
  return listener_ != nullptr;
}

void document_set::watch_list() {
  const std::lock_guard lock(mutex_);
  is_list_watched_ = true;
}

void document_set::disable_log() {
  const std::lock_guard lock(log_mutex_);
  is_log_disabled_ = true;
}

void document_set::log_line(const std::string& line) {
  const std::lock_guard lock(log_mutex_);
  if (options_->log && !is_log_disabled_) options_->log(line);
}

void document_set::record_rules_problem(const std::string& problem) {
  {
    const std::lock_guard lock(mutex_);
    if (rules_problem_ == problem) return;
    rules_problem_ = problem;
  }
  log_line("the documents " + options_->name +
           (problem.empty() ? ": the rules file is valid again"
                            : ": the rules file is invalid, so the last valid rules stay in force: " + problem));
}

result<void> document_set::read_rules() {
  auto file = folder_->open_file(rules_file_name);
  if (!file && file.error().code == errc::source_unavailable) return tl::unexpected(std::move(file.error()));
  if (!file && file.error().code == errc::resource_not_found && !folder_->exists(rules_file_name)) {
    if (!rules_ || rules_stamp_ != disk::stamp()) rules_ = std::make_shared<const rules>();
    rules_stamp_ = {};
    record_rules_problem({});
    return {};
  }
  std::string problem = file ? std::string() : std::string(rules_file_name) + " cannot be opened as a file";
  if (file) {
    if (file->stamp == rules_stamp_ && !are_rules_racy_) {
      problem = [this] {
        const std::lock_guard lock(mutex_);
        return rules_problem_;
      }();
    } else {
      const auto start = disk::wall_clock();
      HONDANA_TRY(auto text, read_front(*file, rules::max_bytes + 1));
      auto parsed = rules::parse(text, std::string(rules_file_name));
      rules_stamp_ = file->stamp;
      are_rules_racy_ = is_racy(file->stamp, start);
      if (parsed) {
        rules_ = std::make_shared<const rules>(std::move(*parsed));
      } else {
        problem = std::move(parsed.error().public_text);
      }
    }
  }
  record_rules_problem(problem);
  if (rules_) return {};
  // The rules file may exclude documents, so nothing is served without it.
  return fail(errc::source_unavailable,
              "The rules file of the documents is invalid: " + problem + ". Nothing is served until it is corrected.");
}

void document_set::store_properties(const std::string& path, std::shared_ptr<const document_properties> properties) {
  const std::lock_guard lock(mutex_);
  auto& stored = properties_[path];
  const auto is_same = stored && stored->stamp == properties->stamp && stored->text_size == properties->text_size &&
                       !stored->is_racy && stored->problem.has_value() == properties->problem.has_value() &&
                       stored->charset_rule == properties->charset_rule;
  if (is_same) return;
  stored = std::move(properties);
  has_new_properties_ = true;
}

result<void> document_set::update_properties(const walk_result& walked, const request_context& request) {
  for (const auto& file : walked.documents) {
    HONDANA_TRY(check_cancellation(request));
    const auto type = type_of(file.path).value_or(fallback_type());
    const auto rule = rules_->evaluate(display_path(file.path));
    std::shared_ptr<const document_properties> cached;
    {
      const std::lock_guard lock(mutex_);
      if (const auto it = properties_.find(file.path); it != properties_.end()) cached = it->second;
    }
    if (cached && cached->stamp == file.stamp && !cached->is_racy && cached->charset_rule == rule.charset) continue;
    if (rule.is_excluded) continue;
    if (type.render_format) {
      // The known properties belong to another state. The background thread or a reader renders the new one.
      const std::lock_guard lock(mutex_);
      if (cached && cached->stamp != file.stamp) properties_.erase(file.path);
      continue;
    }
    auto opened = folder_->open_file(file.path);
    if (!opened && is_interruption(opened.error())) return tl::unexpected(std::move(opened.error()));
    if (!opened) {
      store_properties(file.path, make_problem(file.stamp, rule.charset, std::move(opened.error())));
      continue;
    }
    auto read = read_properties(*opened, {file.path, type, rule.charset}, *options_);
    // A file that keeps changing is read again at the next refresh.
    if (!read && read.error().code == errc::content_changed) continue;
    store_properties(file.path, read ? std::move(*read) : make_problem(opened->stamp, rule.charset, std::move(read.error())));
  }
  return {};
}

result<std::shared_ptr<const snapshot>> document_set::refresh(const request_context& request) {
  const auto arrived = clock::now();
  std::unique_lock scan_lock(scan_mutex_, std::defer_lock);
  // At most a day, since the system clock cannot wait for arbitrarily long.
  if (!monotonic_clock::try_lock_until(scan_lock, std::min(request.deadline, arrived + std::chrono::hours(24)))) {
    return fail(errc::timed_out, "The documents are still being read. Retry later.");
  }
  if (last_scan_start_ > arrived) {
    if (auto newest = latest()) return newest;  // another caller has refreshed since
  }
  const auto start = clock::now();
  auto walked = folder_->walk(request, [this](const std::string& path, int descriptor) {
    if (on_enter_folder_) on_enter_folder_(0, path, descriptor);
  });
  {
    const std::lock_guard lock(mutex_);
    if (walked || !is_interruption(walked.error())) folder_problem_ = walked ? std::string() : walked.error().public_text;
  }
  if (!walked) return tl::unexpected(std::move(walked.error()));
  const auto previous_rules = rules_;
  HONDANA_TRY(read_rules());
  HONDANA_TRY(update_properties(*walked, request));

  std::unique_lock lock(mutex_);
  if (latest_ && *walked == last_walk_ && rules_ == previous_rules && !has_new_properties_) {
    last_scan_start_ = start;
    checked_at_ = clock::now();
    auto unchanged = latest_;
    lock.unlock();
    if (render_trigger_ && next_unrendered()) render_trigger_();
    return unchanged;
  }
  if (properties_.size() > walked->documents.size()) {
    std::erase_if(properties_, [&walked](const auto& entry) {
      return !std::binary_search(walked->documents.begin(), walked->documents.end(), scanned_file{entry.first, {}},
                                 [](const auto& a, const auto& b) { return a.path < b.path; });
    });
  }
  const auto properties = properties_;
  has_new_properties_ = false;
  lock.unlock();
  auto updated = snapshot::make(options_->name, *walked, *rules_, properties, std::chrono::system_clock::now());
  last_walk_ = std::move(*walked);
  last_scan_start_ = start;
  lock.lock();
  const auto previous = std::exchange(latest_, updated);
  checked_at_ = clock::now();
  const auto listener = listener_;
  // The first refresh has no earlier snapshot. Changes since the subscription may have been missed, so the whole list is
  // notified.
  const bool may_have_missed = !previous && is_list_watched_;
  lock.unlock();
  if (previous && listener) updated->notify_changes_since(*previous, *listener);
  if (may_have_missed && listener) listener->list_changed();
  if (render_trigger_ && next_unrendered()) render_trigger_();
  return updated;
}

result<std::shared_ptr<const document_text>> document_set::render(const document& document, opened_file file,
                                                                  const request_context& request, bool is_background) {
  render_queue::render_request queued;
  queued.key = document.disk_path + '\0' + disk::version_of(file.stamp) + '\0' + document.rule.charset;
  queued.can_join_running = !is_racy(file.stamp, disk::wall_clock());
  queued.is_background = is_background;
  queued.render = [shared_file = std::make_shared<const opened_file>(std::move(file)), path = document.disk_path,
                   type = document.type, charset = document.rule.charset, options = options_,
                   cache = text_cache_](const request_context& context) {
    auto read = read_text(*shared_file, {path, type, charset}, *options, context);
    if (read) cache->insert(path, *read);
    return read;
  };
  return render_queue_.render(std::move(queued), request);
}

result<std::shared_ptr<const document_text>> document_set::text_of(const document& document, const request_context& request,
                                                                   bool is_background) {
  HONDANA_TRY(auto file, folder_->open_file(document.disk_path));
  if (auto cached = text_cache_->find(document.disk_path, file.stamp, document.rule.charset)) {
    // The caller that requested the rendering may have left before it finished.
    if (document.type.render_format) store_properties(document.disk_path, cached->properties);
    return cached;
  }
  if (document.type.render_format && document.properties && document.properties->problem &&
      document.properties->stamp == file.stamp && is_permanent(*document.properties->problem)) {
    return tl::unexpected(*document.properties->problem);
  }
  const auto stamp = file.stamp;
  const bool is_slow = document.type.render_format && options_->renderer;
  auto read = is_slow ? render(document, std::move(file), request, is_background)
                      : read_text(file, make_source(document), *options_, request);
  if (!read) {
    if (is_permanent(read.error()))
      store_properties(document.disk_path, make_problem(stamp, document.rule.charset, read.error()));
    return read;
  }
  if (!is_slow) text_cache_->insert(document.disk_path, *read);
  store_properties(document.disk_path, (*read)->properties);
  return read;
}

result<original_file> document_set::original_of(const document& document, const request_context& request,
                                                std::shared_ptr<const document_text> text) {
  HONDANA_TRY(auto file, folder_->open_file(document.disk_path));
  if (text && text->properties->stamp != file.stamp) text.reset();
  if (options_->redact && !text) {
    // Only the text shows secrets that are not recognizable in the bytes.
    auto read = text_of(document, request);
    if (!read) return tl::unexpected(original_error(std::move(read.error()), request));
    text = std::move(*read);
    if (text->properties->stamp != file.stamp) {
      return fail(errc::content_changed, "The document changed while it was being read. Read it again.");
    }
  }
  return read_original(file, make_source(document), *options_, text ? text->properties.get() : nullptr);
}

void document_set::record_problem(const document& document, failure error) {
  store_properties(document.disk_path, make_problem(document.stamp, document.rule.charset, std::move(error)));
}

result<disk::stamp> document_set::current_stamp(const document& document) const {
  return folder_->open_file(document.disk_path).map([](const auto& file) { return file.stamp; });
}

std::optional<document> document_set::next_unrendered() const {
  const std::lock_guard lock(mutex_);
  if (!latest_ || !options_->renderer) return std::nullopt;
  for (const auto& [path, document] : latest_->documents()) {
    if (!document.type.render_format || document.properties || properties_.contains(document.disk_path)) continue;
    if (document.stamp.size > options_->max_bytes || !options_->renderer->missing_for(*document.type.render_format).empty())
      continue;
    return document;
  }
  return std::nullopt;
}

hondana::provider_health document_set::health() const {
  const std::lock_guard lock(mutex_);
  if (!folder_problem_.empty()) return {false, folder_problem_};
  if (!rules_problem_.empty())
    return {false, "the rules file is invalid, so the last valid rules stay in force: " + rules_problem_};
  if (!latest_) return {true, "not read yet"};
  std::size_t problems = 0;
  std::size_t unknown = 0;
  for (const auto& [path, document] : latest_->documents()) {
    problems += document.properties && document.properties->problem ? 1 : 0;
    unknown += document.properties ? 0 : 1;
  }
  std::string summary = std::to_string(latest_->documents().size()) + " documents";
  if (problems > 0) summary += ", " + std::to_string(problems) + " of them cannot be read";
  if (unknown > 0) summary += ", " + std::to_string(unknown) + " not rendered yet";
  if (const auto missing = options_->renderer ? options_->renderer->missing_confinement() : std::string(); !missing.empty()) {
    summary += "; rendering processes are not fully sandboxed: " + missing;
  }
  return {true, summary};
}

namespace {

using clock = monotonic_clock;

constexpr std::chrono::seconds stop_timeout{1};
/// The results of background rendering are published after this many documents, or this long.
constexpr std::size_t documents_per_round = 20;
constexpr std::chrono::seconds max_round_time{5};
constexpr std::chrono::minutes call_timeout{2};

}  // namespace

struct background_renderer::state {
  explicit state(std::shared_ptr<document_set> documents) : set(std::move(documents)) {}

  const std::shared_ptr<document_set> set;
  std::stop_source stop;
  std::mutex mutex;
  std::condition_variable stopped;
  bool is_running = false;
  bool is_requested = false;

  [[nodiscard]] request_context make_context() const {
    request_context context;
    context.stop = stop.get_token();
    context.deadline = clock::now() + call_timeout;
    return context;
  }

  /// Renders some documents. False: there is nothing more to do.
  bool run_round() {
    const auto start = clock::now();
    bool has_progress = false;
    for (std::size_t i = 0; i < documents_per_round && clock::now() - start < max_round_time && !stop.stop_requested(); ++i) {
      const auto next = set->next_unrendered();
      if (!next) break;
      has_progress = true;
      auto text = set->text_of(*next, make_context(), true);
      // The queue is full, or requests had priority. The next list request wakes this thread again.
      if (!text && text.error().code == errc::overloaded) return false;
      if (!text && text.error().code != errc::cancelled) set->record_problem(*next, std::move(text.error()));
    }
    // If this fails, the next request reports the error.
    return has_progress && !stop.stop_requested() && set->refresh(make_context()).has_value();
  }

  void run() {
    for (;;) {
      try {
        while (run_round()) continue;
      } catch (const std::exception& problem) {
        executor::run_noexcept(
            [&] { set->log_line(std::string("rendering documents in the background failed: ") + problem.what()); });
      }
      const std::lock_guard lock(mutex);
      if (is_requested && !stop.stop_requested()) {
        is_requested = false;
        continue;
      }
      is_running = false;
      stopped.notify_all();
      return;
    }
  }
};

background_renderer::background_renderer(std::shared_ptr<document_set> set) : state_(std::make_shared<state>(std::move(set))) {}

background_renderer::~background_renderer() {
  state_->stop.request_stop();
  std::unique_lock lock(state_->mutex);
  monotonic_clock::wait_for(state_->stopped, lock, stop_timeout, [this] { return !state_->is_running; });
}

std::function<void()> background_renderer::trigger() const {
  // A weak reference: the document set calls this function, and must not keep itself alive.
  return [weak_state = std::weak_ptr(state_)] {
    const auto locked = weak_state.lock();
    if (!locked || locked->stop.stop_requested()) return;
    const std::lock_guard lock(locked->mutex);
    if (std::exchange(locked->is_requested, locked->is_running)) return;
    if (locked->is_running) return;
    locked->is_running = true;
    const executor::signal_blocker quiet;
    std::thread([locked] { locked->run(); }).detach();
  };
}

}  // namespace hondana::docs

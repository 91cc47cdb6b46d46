/// Sources and context, swapped as a whole.
#include "server/core.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace hondana::inline v0 {
namespace {

constexpr std::size_t queue_limit = 1024;

catalog::limits limits_of(const server_options& options) { return {options.page_size, options.read_limit, queue_limit}; }

}  // namespace

core::core(server_options options) : timers_(std::make_shared<work::timers>()) {
  const auto arranged = arrange(std::move(options), {});
  if (!arranged) throw std::logic_error("an arrangement without sources was refused: " + arranged.error().public_text);
}

core::~core() { close(std::chrono::steady_clock::now()); }

std::shared_ptr<const session::context> core::current() const {
  const std::lock_guard lock(mutex_);
  return context_;
}

server_options core::options() const {
  const std::lock_guard lock(mutex_);
  return options_;
}

result<void> core::add(std::shared_ptr<provider> what) {
  const std::lock_guard one_change(arranging_);
  std::unique_lock lock(mutex_);
  auto sources = sources_;
  auto options = options_;
  lock.unlock();
  sources.push_back(std::make_shared<catalog::source>(std::move(what), queue_limit));
  return arrange(std::move(options), std::move(sources));
}

result<void> core::replace(server_options options, std::vector<std::shared_ptr<provider>> providers) {
  const std::lock_guard one_change(arranging_);
  std::unique_lock lock(mutex_);
  const auto present = sources_;
  lock.unlock();
  std::vector<std::shared_ptr<catalog::source>> sources;
  sources.reserve(providers.size());
  for (auto& one : providers) {
    const auto kept =
        std::find_if(present.begin(), present.end(), [&one](const auto& source) { return source->what() == one; });
    sources.push_back(kept != present.end() ? *kept : std::make_shared<catalog::source>(std::move(one), queue_limit));
  }
  return arrange(std::move(options), std::move(sources));
}

result<void> core::arrange(server_options options, std::vector<std::shared_ptr<catalog::source>> sources) {
  auto catalog = catalog::catalog::make(sources, limits_of(options), timers_);
  if (!catalog) return tl::unexpected(std::move(catalog.error()));
  auto context = std::make_shared<session::context>();
  context->catalog = std::move(*catalog);
  context->gate = std::make_shared<const gate::gate>();
  context->self = {options.name, options.version, options.title, options.instructions, context->catalog->has_templates()};
  context->call_deadline = options.call_deadline;
  context->log = options.log;
  const std::lock_guard lock(mutex_);
  for (const auto& gone : sources_) {
    if (std::find(sources.begin(), sources.end(), gone) != sources.end()) continue;
    // Calls under way on it have until their deadline; what then still waits behind stuck threads is dropped.
    timers_->at(std::chrono::steady_clock::now() + options.call_deadline,
                [gone] { gone->close(std::chrono::steady_clock::now()); });
  }
  options_ = std::move(options);
  sources_ = std::move(sources);
  context_ = std::move(context);
  return {};
}

std::vector<std::pair<std::string, hondana::health>> core::health() const {
  std::unique_lock lock(mutex_);
  const auto sources = sources_;
  lock.unlock();
  std::vector<std::pair<std::string, hondana::health>> all;
  all.reserve(sources.size());
  for (const auto& one : sources) all.emplace_back(one->what()->name(), one->what()->health());
  return all;
}

bool core::close(std::chrono::steady_clock::time_point until) {
  std::unique_lock lock(mutex_);
  const auto sources = sources_;
  lock.unlock();
  bool all_left = true;
  for (const auto& one : sources) all_left = one->close(until) && all_left;
  return all_left;
}

}  // namespace hondana::inline v0

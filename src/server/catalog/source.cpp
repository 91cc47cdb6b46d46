/// A provider with its lane, and what is said when it is the reason for a failure.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "protocol/model/mount.hpp"
#include "server/catalog/catalog.hpp"
#include "server/catalog/masking.hpp"
#include "server/catalog/owed.hpp"

namespace hondana::catalog {

namespace {

std::uint64_t next_id() {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

}  // namespace

source::source(std::shared_ptr<provider> what, std::size_t waiting, const source_limits& within)
    : id_(next_id()),
      provider_(std::move(what)),
      waiting_(waiting),
      accounts_(provider_->name(), dynamic_cast<const model::mount*>(provider_.get()) != nullptr) {
  if (provider_->never_blocks()) {
    lane_ = std::make_shared<executor::inline_lane>();
  } else {
    pool_ = std::make_shared<executor::pool>(provider_->name(), 1);
    lane_ = pool_;
  }
  limit_to(within);
}

void source::limit_to(const source_limits& within) {
  deadline_ = within.deadline;
  if (!pool_) return;
  executor::pool_limits out;
  out.threads = std::max<std::size_t>(within.concurrency != 0 ? within.concurrency : provider_->concurrency(), 1);
  out.waiting = within.waiting != 0 ? within.waiting : waiting_;
  out.waiting_each = std::max<std::size_t>(out.waiting / 4, 1);
  if (within.per_caller != 0) out.running_each = within.per_caller;
  pool_->limit_to(out);
}

call source::bounded(call by) const {
  const auto most = deadline_.load(std::memory_order_relaxed);
  if (most.count() != 0) by.deadline = std::min(by.deadline, executor::clock::now() + most);
  if (by.report && provider_->masking() == masking::by_server) {
    by.report = [to = std::move(by.report)](const progress& now) {
      auto said = now;
      mask_secrets(masking::by_server, said.message);
      to(said);
    };
  }
  return by;
}

bool source::close(executor::clock::time_point until) { return !pool_ || pool_->close(until); }

failure naming(failure why, const std::string& source_name) {
  switch (why.code) {
    case errc::timed_out:
    case errc::overloaded:
    case errc::source_unavailable:
    case errc::unsupported:
    case errc::internal:
    case errc::refused:
    case errc::unauthorized:
    case errc::broken_protocol:
      if (why.public_text.empty()) {
        why.public_text = "The source \"" + source_name + "\" failed on this request.";
      } else if (why.public_text.find('"' + source_name + '"') == std::string::npos) {
        why.public_text = "The source \"" + source_name + "\" failed: " + why.public_text;
      }
      return why;
    default:
      return why;
  }
}

failure passed_deadline(const std::string& source_name) {
  return {errc::timed_out, "The source \"" + source_name + "\" did not answer in time. Retry later.", {}};
}

failure never_ran(const std::string& source_name) {
  return {
      errc::source_unavailable,
      "The source \"" + source_name + "\" did not start this request: it is shutting down, or memory is short. Retry later.",
      {}};
}

failure threw(const std::string& source_name, std::string what) {
  return {errc::internal, "The source \"" + source_name + "\" failed on this request; the reason is in the server's log.",
          "exception from the source \"" + source_name + "\": " + std::move(what)};
}

failure was_cancelled() { return {errc::cancelled, "The request was cancelled.", {}}; }

}  // namespace hondana::catalog

/// A provider with its lane, and what is said when it is the reason for a failure.
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "catalog/catalog.hpp"
#include "catalog/owed.hpp"

namespace hondana::catalog {

namespace {

std::uint64_t next_id() {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

}  // namespace

source::source(std::shared_ptr<provider> what, std::size_t queue_limit) : id_(next_id()), provider_(std::move(what)) {
  if (provider_->never_blocks()) {
    lane_ = std::make_shared<work::inline_lane>();
  } else {
    pool_ = std::make_shared<work::pool>(provider_->name(), provider_->concurrency(), queue_limit);
    lane_ = pool_;
  }
}

bool source::close(work::clock::time_point until) { return !pool_ || pool_->close(until); }

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
  return {errc::timed_out, "The source \"" + source_name + "\" did not answer in time. Ask again later.", {}};
}

failure never_ran(const std::string& source_name) {
  return {errc::source_unavailable, "The source \"" + source_name + "\" is shutting down.", {}};
}

failure threw(const std::string& source_name, std::string what) {
  return {errc::internal, "The source \"" + source_name + "\" failed on this request; the reason is in the server's log.",
          "exception from the source \"" + source_name + "\": " + std::move(what)};
}

failure was_cancelled() { return {errc::cancelled, "The request was cancelled.", {}}; }

}  // namespace hondana::catalog

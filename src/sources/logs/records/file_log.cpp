/// The log in files: the live file and the files it was rotated into, compressed or not.
#include "sources/logs/records/file_log.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <memory>
#include <mutex>
#include <utility>

#include <hondana/clock.hpp>

#include "base/bytes/digest.hpp"
#include "os/disk/spool.hpp"
#include "sources/logs/records/framing.hpp"
#include "sources/logs/records/log_watcher.hpp"
#include "sources/logs/records/matcher.hpp"
#include "sources/logs/records/opened_files.hpp"
#include "sources/logs/records/page_reader.hpp"
#include "sources/logs/records/record_walker.hpp"
#include "sources/logs/records/timestamp.hpp"

namespace hondana::records {
namespace {

// While files are being rotated: the minimum number of attempts, and their duration.
constexpr int min_attempts = 20;
constexpr std::chrono::seconds retry_period{2};

class file_log final : public log_backend, public std::enable_shared_from_this<file_log> {
 public:
  file_log(log_file_set set, framing_options framing, time_zone zone, const file_log_options& options)
      : set_(std::move(set)),
        redact_(options.redact),
        opener_(std::move(framing), zone, options.max_file_bytes, options.max_cached_bytes) {}

  result<log_page> read(const log_query& query, const read_budget& budget, const request_context& context) override;
  result<walk_result> walk(std::optional<instant> since, std::optional<instant> until, const read_budget& budget,
                           const request_context& context, const std::function<bool(const log_record&)>& visit) override;
  result<std::string> version(const request_context& context) override;
  void follow(std::function<void()> on_change) override;
  [[nodiscard]] system_requirements requirements() const override;
  [[nodiscard]] std::string last_error() const override;
  void check() override;

 private:
  void record_error(const failure* error);
  [[nodiscard]] static request_context with_deadline(const request_context& context, const read_budget& budget) {
    auto limited = context;
    limited.deadline = std::min(context.deadline, budget.deadline);
    return limited;
  }

  const log_file_set set_;
  const bool redact_;
  file_opener opener_;
  mutable std::mutex mutex_;
  std::string last_error_;
  std::mutex follow_mutex_;
  std::unique_ptr<log_watcher> watcher_;
};

result<log_page> file_log::read(const log_query& query, const read_budget& budget, const request_context& context) {
  HONDANA_TRY(const auto matcher, record_matcher::compile(query));
  const auto limited = with_deadline(context, budget);
  const page_request request{query, matcher, budget, limited, redact_};
  using clock = monotonic_clock;
  const auto deadline = std::min(limited.deadline, clock::now() + retry_period);
  for (int i = 1;; ++i) {
    const auto listing = list_files(set_);
    auto outcome = listing ? read_page(*listing, opener_, request) : result<log_page>(tl::unexpected(listing.error()));
    const bool may_retry = i < min_attempts || (clock::now() < deadline && !context.stop.stop_requested());
    if (!outcome && outcome.error().code == errc::content_changed && may_retry) continue;
    // A remark about one file may describe a problem of the whole log, so check it.
    if (!outcome || outcome->notes.empty()) {
      record_error(outcome ? nullptr : &outcome.error());
    } else {
      check();
    }
    return outcome;
  }
}

result<walk_result> file_log::walk(std::optional<instant> since, std::optional<instant> until, const read_budget& budget,
                                   const request_context& context, const std::function<bool(const log_record&)>& visit) {
  const auto limited = budget.min_scanned_bytes == 0 ? with_deadline(context, budget) : context;
  const walk_request request{since, until, budget, limited, redact_, visit};
  auto outcome = walk_records([this] { return list_files(set_); }, opener_, request);
  if (!outcome) record_error(&outcome.error());
  return outcome;
}

result<std::string> file_log::version(const request_context&) {
  const auto listing = list_files(set_);
  if (!listing) {
    record_error(&listing.error());
    return tl::unexpected(listing.error());
  }
  bytes::digester sum;
  for (const auto& file : listing->files) {
    sum.update(file.name + '/' + std::to_string(file.stamp.device) + '/' + std::to_string(file.stamp.inode) + '/' +
               std::to_string(file.stamp.size) + '/' + std::to_string(file.stamp.modified) + ';');
  }
  // After a while, a last line without a line end counts as complete. The version must change then.
  const auto& newest = listing->files.back();
  if (disk::wall_clock() - newest.stamp.modified <= line_settle_time) {
    const auto opened = open_listed(*listing, newest);
    if (opened && has_partial_line(opened->get(), newest.stamp.size)) sum.update("half a line");
  }
  return bytes::to_hex(sum.value());
}

void file_log::follow(std::function<void()> on_change) {
  std::unique_ptr<log_watcher> previous;  // destroyed after the lock is released, since its callback may be in this class
  const std::lock_guard lock(follow_mutex_);
  previous = std::move(watcher_);
  if (!on_change) return;
  watcher_ = std::make_unique<log_watcher>(set_, std::move(on_change), [weak_log = weak_from_this()] {
    if (const auto file_log = weak_log.lock()) file_log->check();
  });
}

system_requirements file_log::requirements() const {
  system_requirements out;
  out.folders.push_back({set_.folder, false});
  out.folders.push_back({disk::spool::folder(), true});  // for copies of compressed files
  return out;
}

std::string file_log::last_error() const {
  const std::lock_guard lock(mutex_);
  return last_error_;
}

void file_log::record_error(const failure* error) {
  const bool is_log_error = error == nullptr || error->code == errc::resource_not_found || error->code == errc::access_denied ||
                            error->code == errc::source_unavailable;
  if (!is_log_error) return;
  const std::lock_guard lock(mutex_);
  last_error_ = error == nullptr ? std::string() : error->public_text;
}

void file_log::check() {
  const auto listing = list_files(set_);
  if (!listing) return record_error(&listing.error());
  const auto opened = open_listed(*listing, listing->files.back());
  record_error(opened ? nullptr : &opened.error());
}

}  // namespace

result<std::shared_ptr<log_backend>> open_file_log(file_log_options options) {
  const auto slash = options.path.rfind('/');
  if (!options.path.starts_with('/') || slash + 1 == options.path.size() || options.path.find('\0') != std::string::npos) {
    return fail(errc::invalid_argument, "path: expected the absolute path of a file, such as \"/var/log/app.log\".");
  }
  log_file_set set;
  set.folder = slash == 0 ? "/" : options.path.substr(0, slash);
  set.live_name = options.path.substr(slash + 1);
  if (set.live_name == "." || set.live_name == "..")
    return fail(errc::invalid_argument, "path: expected the path of a file, not of a folder.");
  set.max_files = std::max<std::size_t>(options.max_files, 1);
  set.own_files = options.own_files;
  if (!options.pattern.empty()) {
    HONDANA_TRY(auto pattern, compile_expression(options.pattern, "rotated_pattern"));
    set.pattern = std::move(pattern);
  }
  const auto zone = time_zone::from_name(options.zone);
  if (!zone) return fail(errc::invalid_argument, "time_zone: expected \"local\", \"UTC\" or an offset such as \"+09:00\".");
  HONDANA_TRY(auto framing, parse_framing(options.multi_line));
  return std::static_pointer_cast<log_backend>(std::make_shared<file_log>(std::move(set), std::move(framing), *zone, options));
}

}  // namespace hondana::records

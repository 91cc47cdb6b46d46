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
#include "sources/logs/records/time_stamp.hpp"

namespace hondana::records {
namespace {

// While files are being rotated: the minimum number of attempts, and their duration.
constexpr int least_tries = 20;
constexpr std::chrono::seconds trying_lasts{2};

class file_log final : public log, public std::enable_shared_from_this<file_log> {
 public:
  file_log(set_place where, framing_choice how, zone in, const file_log_options& with)
      : where_(std::move(where)), redact_(with.redact), members_(std::move(how), in, with.member_bytes, with.kept_bytes) {}

  result<page> read(const query& what, const budget& most, const call& by) override;
  result<walk_end> walk(std::optional<instant> since, std::optional<instant> until, const budget& most, const call& by,
                        const std::function<bool(const record&)>& each) override;
  result<std::string> version(const call& by) override;
  void follow(std::function<void()> changed) override;
  [[nodiscard]] needs needed() const override;
  [[nodiscard]] std::string trouble() const override;
  void look() override;

 private:
  void remember(const failure* why);
  [[nodiscard]] static call within(const call& by, const budget& most) {
    auto out = by;
    out.deadline = std::min(by.deadline, most.deadline);
    return out;
  }

  const set_place where_;
  const bool redact_;
  members members_;
  mutable std::mutex mutex_;
  std::string trouble_;
  std::mutex follow_mutex_;
  std::unique_ptr<following> following_;
};

result<page> file_log::read(const query& what, const budget& most, const call& by) {
  HONDANA_TRY(const auto wanted, matcher::compile(what));
  const auto within_all = within(by, most);
  const page_request request{what, wanted, most, within_all, redact_};
  using clock = monotonic_clock;
  const auto until = std::min(within_all.deadline, clock::now() + trying_lasts);
  for (int i = 1;; ++i) {
    const auto all = list_files(where_);
    auto said = all ? read_page(*all, members_, request) : result<page>(tl::unexpected(all.error()));
    const bool may_try_again = i < least_tries || (clock::now() < until && !by.stop.stop_requested());
    if (!said && said.error().code == errc::content_changed && may_try_again) continue;
    // A remark about one file may describe a problem of the whole log, so check it.
    if (!said || said->remarks.empty()) {
      remember(said ? nullptr : &said.error());
    } else {
      look();
    }
    return said;
  }
}

result<walk_end> file_log::walk(std::optional<instant> since, std::optional<instant> until, const budget& most, const call& by,
                                const std::function<bool(const record&)>& each) {
  const auto within_all = within(by, most);
  const walk_request request{since, until, most, within_all, redact_, each};
  auto said = walk_through([this] { return list_files(where_); }, members_, request);
  if (!said) remember(&said.error());
  return said;
}

result<std::string> file_log::version(const call&) {
  const auto all = list_files(where_);
  if (!all) {
    remember(&all.error());
    return tl::unexpected(all.error());
  }
  bytes::digester sum;
  for (const auto& one : all->files) {
    sum.feed(one.name + '/' + std::to_string(one.facts.device) + '/' + std::to_string(one.facts.inode) + '/' +
             std::to_string(one.facts.size) + '/' + std::to_string(one.facts.modified) + ';');
  }
  // After a while, a last line without a line end counts as complete. The version must change then.
  const auto& newest = all->files.back();
  if (disk::wall_clock() - newest.facts.modified <= line_settles_after) {
    const auto opened = open_listed(*all, newest);
    if (opened && is_open_ended(opened->get(), newest.facts.size)) sum.feed("half a line");
  }
  return bytes::to_hex(sum.value());
}

void file_log::follow(std::function<void()> changed) {
  std::unique_ptr<following> before;  // destroyed after the lock is released, since its callback may be in this class
  const std::lock_guard lock(follow_mutex_);
  before = std::move(following_);
  if (!changed) return;
  following_ = std::make_unique<following>(where_, std::move(changed), [self = weak_from_this()] {
    if (const auto there = self.lock()) there->look();
  });
}

needs file_log::needed() const {
  needs out;
  out.folders.push_back({where_.folder, false});
  out.folders.push_back({disk::spool::folder(), true});  // for copies of compressed files
  return out;
}

std::string file_log::trouble() const {
  const std::lock_guard lock(mutex_);
  return trouble_;
}

void file_log::remember(const failure* why) {
  const bool is_of_the_log = why == nullptr || why->code == errc::resource_not_found || why->code == errc::access_denied ||
                             why->code == errc::source_unavailable;
  if (!is_of_the_log) return;
  const std::lock_guard lock(mutex_);
  trouble_ = why == nullptr ? std::string() : why->public_text;
}

void file_log::look() {
  const auto all = list_files(where_);
  if (!all) return remember(&all.error());
  const auto opened = open_listed(*all, all->files.back());
  remember(opened ? nullptr : &opened.error());
}

}  // namespace

result<std::shared_ptr<log>> open_file_log(file_log_options with) {
  const auto slash = with.path.rfind('/');
  if (!with.path.starts_with('/') || slash + 1 == with.path.size() || with.path.find('\0') != std::string::npos) {
    return fail(errc::invalid_argument, "path: expected the absolute path of a file, such as \"/var/log/app.log\".");
  }
  set_place where;
  where.folder = slash == 0 ? "/" : with.path.substr(0, slash);
  where.live = with.path.substr(slash + 1);
  if (where.live == "." || where.live == "..")
    return fail(errc::invalid_argument, "path: expected the path of a file, not of a folder.");
  where.most = std::max<std::size_t>(with.most_members, 1);
  where.kept_back = with.kept_back;
  if (!with.pattern.empty()) {
    HONDANA_TRY(auto made, compile_expression(with.pattern, "pattern"));
    where.pattern = std::move(made);
  }
  const auto in = zone::named(with.zone);
  if (!in) return fail(errc::invalid_argument, "zone: expected \"local\", \"UTC\" or an offset such as \"+09:00\".");
  HONDANA_TRY(auto how, framing_named(with.multi_line));
  return std::static_pointer_cast<log>(std::make_shared<file_log>(std::move(where), std::move(how), *in, with));
}

}  // namespace hondana::records

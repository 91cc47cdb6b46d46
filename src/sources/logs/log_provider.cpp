/// The provider of one log: reads, completion, subscriptions and rate-limited notifications.
#include "sources/logs/log_provider.hpp"

#include <algorithm>
#include <cmath>
#include <compare>
#include <cstddef>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <hondana/clock.hpp>
#include <hondana/completion.hpp>
#include <hondana/provider.hpp>

#include "base/bytes/digest.hpp"
#include "protocol/model/caller_checks.hpp"
#include "sources/logs/address.hpp"
#include "sources/logs/catalog_entries.hpp"
#include "sources/logs/moment.hpp"
#include "sources/logs/records/fields.hpp"
#include "sources/logs/records/log.hpp"
#include "sources/logs/rendering.hpp"
#include "text/secrets/redactor.hpp"
#include "text/secrets/secret_names.hpp"

namespace hondana::logs {

void telling::tell_to(std::shared_ptr<change_listener> to) {
  const std::lock_guard lock(mutex_);
  to_.swap(to);
}

void telling::turn(bool on) {
  const std::lock_guard lock(mutex_);
  is_on_ = on;
}

void telling::tell() {
  std::shared_ptr<change_listener> to;
  {
    const std::lock_guard lock(mutex_);
    if (!is_on_ || !to_ || is_late_) return;
    const auto now = executor::clock::now();
    if (now - told_ < between) {
      is_late_ = true;
      timers_.at(told_ + between, [weak = weak_from_this()] {
        if (const auto self = weak.lock()) self->tell_late();
      });
      return;
    }
    told_ = now;
    to = to_;
  }
  to->content_changed(uri_, title_);
}

void telling::tell_late() {
  std::shared_ptr<change_listener> to;
  {
    const std::lock_guard lock(mutex_);
    is_late_ = false;
    if (!is_on_) return;
    told_ = executor::clock::now();
    to = to_;
  }
  if (to) to->content_changed(uri_, title_);
}

struct completing_source {
  records::instant now = 0;
  /// Returns the newest records, masked. Empty: the caller may not read them.
  std::function<result<records::page>(std::size_t lines)> newest{};
  /// See `records::log::own_fields`. Set if `newest` is set.
  std::function<result<std::vector<std::pair<std::string, std::string>>>(std::string_view name, std::size_t records)>
      own_fields{};
};

/// Completes a parameter: levels, formats, numbers of lines and times. For `field`, the names that the newest records have, and
/// after `path:` their values. Fields whose name suggests a secret get no values. Errors: of `newest`.
[[nodiscard]] result<complete_result> complete_parameter(const complete_request& request, const completing_source& from);

namespace {

constexpr std::size_t looked_at_records = 500;
constexpr std::size_t most_names = 1000;
constexpr std::size_t longest_shown_value = 200;
constexpr int deepest_path = 4;

using tally = std::map<std::string, std::size_t, std::less<>>;

/// Counts the names of fields. Those of nested objects get a path with dots.
void count_names(tally& names, std::string_view text, const std::string& above, int depth) {
  records::each_field(text, [&](std::string_view name, std::string_view raw) {
    const auto path = above + std::string(name);
    if (name.empty() || path.find_first_of(":=") != std::string::npos) return true;
    if (raw.starts_with('{') && depth < deepest_path) {
      count_names(names, raw, path + '.', depth + 1);
    } else if (!raw.starts_with('[') && (names.size() < most_names || names.contains(path))) {
      ++names[path];
    }
    return true;
  });
}

/// Most frequent first, then by name.
std::vector<std::string> by_frequency(const tally& of) {
  std::vector<std::pair<std::string_view, std::size_t>> all(of.begin(), of.end());
  std::sort(all.begin(), all.end(),
            [](const auto& a, const auto& b) { return a.second != b.second ? a.second > b.second : a.first < b.first; });
  std::vector<std::string> out;
  out.reserve(all.size());
  for (const auto& [text, count] : all) out.emplace_back(text);
  return out;
}

/// The most common journal fields, which are offered before other ones.
const std::vector<std::string>& usual_journal_fields() {
  static const std::vector<std::string> all{"_SYSTEMD_UNIT", "SYSLOG_IDENTIFIER", "PRIORITY",   "_PID", "_COMM", "_UID",
                                            "_HOSTNAME",     "_BOOT_ID",          "_TRANSPORT", "_EXE", "UNIT"};
  return all;
}

/// Whether the path of a field suggests that its value is a secret.
bool tells_secret(std::string_view path) {
  if (secrets::told_by(path) != secrets::telling::nothing) return true;
  while (!path.empty()) {
    const auto name = path.substr(0, path.find('.'));
    if (secrets::told_by(name) == secrets::telling::strong) return true;
    path.remove_prefix(std::min(path.size(), name.size() + 1));
  }
  return false;
}

/// Counts the names of fields, or the values of one field.
class field_tally {
 public:
  explicit field_tally(std::optional<std::string> of) : of_(std::move(of)) {}

  void add(const records::record& one) {
    if (!of_) return count_names(seen_, one.text, {}, 0);
    const auto value = records::field_of(one.text, *of_);
    if (value) add_value(*value);
  }
  void add_own(const std::pair<std::string, std::string>& one) {
    if (of_) return add_value(one.second);
    if (own_.size() < most_names || own_.contains(one.first)) ++own_[one.first];
  }
  [[nodiscard]] std::vector<std::string> all() {
    auto out = by_frequency(seen_);
    for (const auto& one : usual_journal_fields())
      if (own_.erase(one) != 0) out.push_back(one);
    const auto others = by_frequency(own_);
    out.insert(out.end(), others.begin(), others.end());
    return out;
  }

 private:
  void add_value(const std::string& value) {
    // Objects and lists contain fields with their own names.
    const bool is_shown = !value.empty() && value.size() <= longest_shown_value && value.find(',') == std::string::npos &&
                          value.front() != '{' && value.front() != '[' && secrets::redact_text(value) == value;
    if (is_shown && (seen_.size() < most_names || seen_.contains(value))) ++seen_[value];
  }

  const std::optional<std::string> of_;
  tally seen_, own_;
};

result<complete_result> complete_field(const complete_request& request, const completing_source& from) {
  complete_result nothing{{}, 0, false};
  if (!from.newest) return nothing;
  // Only the last item of a list is completed.
  const auto comma = request.value.rfind(',');
  const auto front = comma == std::string::npos ? std::string() : request.value.substr(0, comma + 1);
  const auto typed = request.value.substr(front.size());
  const auto sign = typed.find_first_of(":=");
  const auto of = sign == std::string::npos ? std::nullopt : std::optional(typed.substr(0, sign));
  // Do not list values of secret fields, even if masking does not recognize them.
  if (of && (of->empty() || tells_secret(*of))) return nothing;
  field_tally seen(of);
  const auto page = from.newest(looked_at_records);
  if (!page) return tl::unexpected(page.error());
  for (const auto& one : page->records) seen.add(one);
  if (from.own_fields) {
    const auto own = from.own_fields(of.value_or(""), looked_at_records);
    if (!own) return tl::unexpected(own.error());
    for (const auto& one : *own) seen.add_own(one);
  }
  auto values = seen.all();
  for (auto& one : values) one = front + (of ? typed.substr(0, sign + 1) + one : one + ':');
  return complete_from(request.value, values);
}

std::vector<std::string> usual_times(records::instant now, bool is_until) {
  const auto today = text_of(now - ((now % day) + day) % day);
  const auto yesterday = text_of(now - ((now % day) + day) % day - day);
  constexpr std::size_t date_size = 10;
  std::vector<std::string> out{"15m", "1h", "6h", "1d", "7d", today.substr(0, date_size), yesterday.substr(0, date_size)};
  if (is_until) out.insert(out.begin(), "now");
  return out;
}

}  // namespace

result<complete_result> complete_parameter(const complete_request& request, const completing_source& from) {
  const auto fixed = [&](const std::vector<std::string>& values) { return complete_from(request.value, values); };
  if (request.argument == "level") return fixed({"error", "warning", "critical", "notice", "info", "debug", "trace"});
  if (request.argument == "since" || request.argument == "until")
    return fixed(usual_times(from.now, request.argument == "until"));
  if (request.argument == "lines") return fixed({"100", "20", "500", "1000", "10000"});
  if (request.argument == "format")
    return request.uriTemplate.find("/summary") != std::string::npos ? fixed({"markdown", "json"}) : fixed({"text", "json"});
  if (request.argument == "field") return complete_field(request, from);
  return complete_result{{}, 0, false};
}

namespace {

/// The time reserved for writing the answer before the deadline of a request.
constexpr std::chrono::milliseconds time_to_answer{200};
constexpr std::uint64_t most_answer_bytes = 4u << 20;

std::string mark_of(std::string_view log, std::string_view asked) {
  bytes::digester all;
  all.feed(log);
  all.feed("\n");
  all.feed(asked);
  return bytes::to_hex(all.value());
}

summaries_options summing_of(const provider_options& from) {
  auto out = from.summing;
  out.look_back = from.look_back > 0 ? from.look_back : day;
  out.scanned_bytes = from.scanned_bytes;
  out.time = from.time;
  out.now = from.now;
  return out;
}

}  // namespace

/// Reports changes of the summary's priority.
struct log_provider::list_listener {
  std::mutex mutex;
  std::shared_ptr<change_listener> to;
  std::string uri, title;

  void tell() {
    std::shared_ptr<change_listener> now;
    {
      const std::lock_guard lock(mutex);
      now = to;
    }
    if (now) now->list_changed();
  }
};

/// Logs each problem of the log once, until it changes or ends.
struct log_provider::trouble_log {
  std::string name;
  std::function<void(std::string_view)> to;
  std::mutex mutex;
  std::string said;

  void note(const std::string& trouble, const std::string& details = {}) {
    {
      const std::lock_guard lock(mutex);
      if (said == trouble) return;
      said = trouble;
    }
    if (!to) return;
    if (trouble.empty()) return to("the log " + name + " can be read again");
    to("the log " + name + ": " + trouble + (details.empty() ? "" : " (" + details + ')'));
  }
};

struct log_provider::rendered {
  std::string version;
  std::optional<std::string> text{};
  metadata facts{};
  bool is_racy = false;
};

log_provider::log_provider(provider_options from)
    : options_(std::move(from)),
      records_(
          std::make_shared<telling>(claim_of(options_.name), entry_of({.name = options_.name}, options_.is_journal).title)),
      summary_(std::make_shared<telling>(summary_uri_of(options_.name),
                                         entry_of({.name = options_.name, .is_summary = true}, false).title)),
      list_(std::make_shared<list_listener>()),
      troubles_(std::make_shared<trouble_log>()),
      summaries_(
          std::make_shared<summaries>(options_.of, summing_of(options_),
                                      summaries::listener{[to = summary_] { to->tell(); }, [to = list_] { to->tell(); },
                                                          [of = options_.of, to = troubles_] { to->note(of->trouble()); }})) {
  troubles_->name = options_.name;
  troubles_->to = options_.log;
}

log_provider::~log_provider() {
  const std::lock_guard lock(following_);
  if (is_following_) options_.of->follow(nullptr);
}

std::string log_provider::name() const { return "log " + options_.name; }

std::vector<std::string> log_provider::claims() const { return {claim_of(options_.name)}; }

scheme_documentation log_provider::documentation() const { return logs::describe(); }

std::vector<resource_template> log_provider::templates() const { return templates_of(options_.name); }

hondana::needs log_provider::needs() const { return options_.of->needed(); }

hondana::masking log_provider::masking() const noexcept { return options_.redact ? masking::by_source : masking::none; }

hondana::health log_provider::health() const {
  summaries_->look();
  auto trouble = options_.of->trouble();
  return {trouble.empty(), std::move(trouble)};
}

void log_provider::look() {
  options_.of->look();
  troubles_->note(options_.of->trouble());
}

failure log_provider::told(failure why) const {
  if (why.code == errc::resource_not_found || why.code == errc::access_denied) why.code = errc::source_unavailable;
  if (why.code == errc::source_unavailable) troubles_->note(why.public_text, why.private_text);
  return why;
}

records::instant log_provider::now() const { return options_.now ? options_.now() : present_instant(); }

result<address> log_provider::find(const std::string& uri) const {
  auto at = parse_address(uri, now());
  if (at && at->name != options_.name)
    return fail(errc::resource_not_found, "Unknown log. List the resources to see the logs.");
  return at;
}

records::budget log_provider::budget_for(const call& by, std::uint64_t max_bytes) const {
  records::budget most;
  most.deadline = monotonic_clock::now() + options_.time;
  if (by.deadline != std::chrono::steady_clock::time_point::max())
    most.deadline = std::min(most.deadline, by.deadline - time_to_answer);
  most.scanned_bytes = options_.scanned_bytes;
  // In JSON, a text can take twice its size. It takes even more if it consists mostly of control characters, and is rejected
  // then.
  most.answer_bytes = static_cast<std::size_t>(std::min<std::uint64_t>(most_answer_bytes, max_bytes / 2));
  most.record_bytes = std::min(most.record_bytes, most.answer_bytes);
  return most;
}

result<list_result> log_provider::list(const list_request& request) {
  list_result page;
  for (const bool is_summary : {false, true}) {
    auto entry = entry_of({.name = options_.name, .is_summary = is_summary}, options_.is_journal);
    if (is_summary) entry.annotations.priority = summaries_->priority();
    if (std::is_gt(compare_by_segment(entry.uri, request.after))) page.entries.push_back(std::move(entry));
  }
  if (page.entries.size() > request.limit) {
    page.entries.resize(request.limit);
    page.resume = page.entries.empty() ? request.after : page.entries.back().uri;
  }
  return page;
}

result<log_provider::rendered> log_provider::render_page(const address& at, const call& by, std::uint64_t max_bytes,
                                                         const std::optional<std::string>& known) {
  // Read the version before the records, so that it is never newer than they are.
  HONDANA_TRY(const auto version, options_.of->version(by));
  rendered made;
  if (!version.empty() && !at.is_relative) {
    made.version = mark_of(version, uri_of(at));
    if (known == made.version) return made;
  }
  auto what = at.what;
  what.lines = at.lines.value_or(options_.lines);
  HONDANA_TRY(const auto page, options_.of->read(what, budget_for(by, max_bytes), by));
  told_page told{.at = at, .what = page, .has_heads = options_.is_journal};
  if (page.next) {
    auto older = at;
    older.what.cursor = *page.next;
    told.next = uri_of(older);
  }
  made.text = at.is_json ? json_of(told) : text_of(told);
  made.facts = secrets::facts_of(page.masked);
  if (!told.next.empty()) made.facts.emplace_back("dev.hondana/next", told.next);
  if (!page.ended_early.empty()) made.facts.emplace_back("dev.hondana/endedEarly", page.ended_early);
  // If the time limit or the current time influenced the contents, the log's version does not identify them.
  made.is_racy = !page.ended_early.empty() || at.is_relative;
  return made;
}

result<log_provider::rendered> log_provider::render_summary(const address& at, const call& by) {
  std::shared_ptr<const summary> what;
  if (!at.what.since && !at.what.until) {
    HONDANA_TRY(auto kept, summaries_->get(by));
    what = std::move(kept);
  } else {
    summary_request asked;
    asked.since = at.what.since;
    asked.until = at.what.until;
    asked.look_back = options_.look_back > 0 ? options_.look_back : day;
    asked.now = now();
    asked.most = budget_for(by, UINT64_MAX);
    HONDANA_TRY(auto made, summarise(*options_.of, asked, by));
    what = std::make_shared<const summary>(std::move(made));
  }
  rendered made;
  made.text = at.is_json ? json_of(*what, options_.name) : markdown_of(*what, options_.name);
  made.is_racy = true;
  return made;
}

result<log_provider::rendered> log_provider::render(const address& at, const call& by, std::uint64_t max_bytes,
                                                    const std::optional<std::string>& known) {
  auto made = at.is_summary ? render_summary(at, by) : render_page(at, by, max_bytes, known);
  if (!made) return tl::unexpected(told(std::move(made.error())));
  troubles_->note(options_.of->trouble());
  if (!made->text) return made;
  if (made->text->size() > max_bytes)
    return fail(errc::response_too_large, "This page has " + std::to_string(made->text->size()) + " bytes, and at most " +
                                              std::to_string(max_bytes) + " may be sent. Request fewer lines.");
  if (made->version.empty()) {
    made->version = bytes::to_hex(bytes::digest_of(*made->text));
    if (known == made->version) made->text.reset();
  }
  return made;
}

result<reading> log_provider::read(const read_request& request) {
  HONDANA_TRY(const auto at, find(request.uri));
  HONDANA_TRY(auto made, render(at, request, request.max_bytes, request.if_version));
  reading answer;
  answer.version = std::move(made.version);
  answer.is_racy = made.is_racy;
  if (!made.text) return answer;
  const auto entry = entry_of(at, options_.is_journal);
  content item;
  item.name = entry.name;
  item.title = entry.title;
  item.mimeType = entry.mimeType;
  item.form = content_form::text;
  item.metadata = std::move(made.facts);
  item.data = std::make_shared<const std::string>(std::move(*made.text));
  answer.contents.push_back(std::move(item));
  return answer;
}

result<resource> log_provider::describe(const describe_request& request) {
  HONDANA_TRY(const auto at, find(request.uri));
  auto entry = entry_of(at, options_.is_journal);
  entry.uri = request.uri;
  if (at.is_summary) entry.annotations.priority = summaries_->priority();
  entry.version = request.known_version;
  if (!entry.version.empty()) return entry;
  HONDANA_TRY(auto made, render(at, request, read_request().max_bytes, std::nullopt));
  entry.version = std::move(made.version);
  if (at.is_summary) entry.annotations.priority = summaries_->priority();
  return entry;
}

result<complete_result> log_provider::complete(const complete_request& request) {
  completing_source from;
  from.now = now();
  const bool may_read = !request.who.view || request.who.view->may_read(claim_of(options_.name));
  if (may_read)
    from.newest = [this, &request](std::size_t lines) {
      records::query what;
      what.lines = lines;
      auto most = budget_for(request, most_answer_bytes);
      constexpr std::chrono::milliseconds enough{300};
      most.deadline = std::min(most.deadline, monotonic_clock::now() + enough);
      return options_.of->read(what, most, request);
    };
  if (may_read)
    from.own_fields = [this, &request](std::string_view field, std::size_t newest) {
      return options_.of->own_fields(field, newest, budget_for(request, most_answer_bytes), request);
    };
  auto made = complete_parameter(request, from);
  if (!made) return tl::unexpected(told(std::move(made.error())));
  return made;
}

void log_provider::watch(std::shared_ptr<change_listener> to) {
  if (!options_.watch) return;
  records_->tell_to(to);
  summary_->tell_to(to);
  const std::lock_guard lock(list_->mutex);
  list_->to = std::move(to);
}

void log_provider::follow_as_wanted() {
  const bool is_wanted = options_.watch && (has_records_ || has_summary_);
  records_->turn(has_records_);
  summary_->turn(has_summary_);
  summaries_->attend(options_.watch && has_list_, options_.watch && has_summary_);
  if (is_wanted == is_following_) return;
  is_following_ = is_wanted;
  if (!is_wanted) return options_.of->follow(nullptr);
  options_.of->follow([records = records_, summed = std::weak_ptr(summaries_)] {
    records->tell();
    if (const auto there = summed.lock()) there->stir();
  });
}

void log_provider::attach(const std::string& uri) {
  const auto at = find(uri);
  if (!at) return;
  const std::lock_guard lock(following_);
  (at->is_summary ? has_summary_ : has_records_) = true;
  follow_as_wanted();
}

void log_provider::detach(const std::string& uri) {
  const auto at = find(uri);
  if (!at) return;
  const std::lock_guard lock(following_);
  (at->is_summary ? has_summary_ : has_records_) = false;
  follow_as_wanted();
}

void log_provider::attach_list() {
  const std::lock_guard lock(following_);
  has_list_ = true;
  follow_as_wanted();
}

void log_provider::detach_list() {
  const std::lock_guard lock(following_);
  has_list_ = false;
  follow_as_wanted();
}

}  // namespace hondana::logs

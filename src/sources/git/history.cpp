/// Logs of commits, page by page and filtered, and the history of one file across renames.
#include "sources/git/history.hpp"

#include <re2/re2.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include <hondana/error.hpp>

#include "base/bytes/digest.hpp"
#include "sources/git/commit_store.hpp"
#include "sources/git/commit_walk.hpp"
#include "sources/git/diff.hpp"
#include "sources/git/libgit2.hpp"
#include "sources/git/object_parser.hpp"
#include "sources/git/rename_detection.hpp"
#include "sources/git/text_encoding.hpp"

namespace hondana::git {

inline constexpr std::size_t largest_page = 10'000;
/// Bytes; as long as a note in a cursor.
inline constexpr std::size_t longest_path = 4096;

[[nodiscard]] inline std::size_t limit_of(const log_request& request) noexcept {
  return std::clamp<std::size_t>(request.limit, 1, largest_page);
}
[[nodiscard]] inline std::size_t budget_of(const log_request& request) noexcept {
  return std::max<std::size_t>(request.budget, 1);
}

/// A digest of everything that determines a log: its kind, where it starts and ends, and what it leaves out.
[[nodiscard]] bytes::digest digest_of(const commit_store& store, const log_request& request, std::string_view kind);

/// A filter prepared for one walk. Commits may be checked in any order; a parent of the one before is the cheapest. Threads:
/// one at a time.
class commit_filter {
 public:
  /// As `log_request::mask`.
  using masker = std::function<void(std::string& text)>;

  /// `in` must outlive it. Errors: invalid_argument for patterns that RE2 rejects, naming the argument.
  [[nodiscard]] static result<commit_filter> make(const commit_store& in, const log_filter& from, masker mask = {});

  /// Checks everything except `since`, which the walk checks. A path matches a commit if it differs from that in any parent or,
  /// in a commit without parents, if it exists. git log --full-history shows the same merges. Errors: of the store.
  [[nodiscard]] result<bool> takes(const commit_node& commit);

 private:
  commit_filter(const commit_store& in, const log_filter& from, masker mask);
  [[nodiscard]] result<bool> is_said_in(const git_oid& commit) const;
  [[nodiscard]] result<bool> changes_path(const commit_node& commit);
  using shared_trail = std::shared_ptr<const path_trail>;
  [[nodiscard]] result<shared_trail> trail_at(const git_oid& commit, const git_oid& tree, const path_trail* like);

  const commit_store& in_;
  std::optional<std::int64_t> until_;
  std::unique_ptr<const RE2> author_, grep_;
  masker mask_;
  std::optional<path_steps> path_;
  std::unordered_map<git_oid, shared_trail, oid_hash, oid_equal> trails_;  // of commits that are likely to come next
};

namespace {

/// At most `most` bytes from the front, cut after a line or else between characters, so that the encoding can still be
/// detected.
std::string_view front_of(std::string_view text, std::size_t most) noexcept {
  if (text.size() <= most) return text;
  text = text.substr(0, most);
  if (const auto line = text.rfind('\n'); line != std::string_view::npos) return text.substr(0, line + 1);
  const auto is_inside = [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; };
  for (int last = 0; last < 3 && is_inside(text.back()); ++last) text.remove_suffix(1);
  if ((static_cast<unsigned char>(text.back()) & 0x80U) != 0) text.remove_suffix(1);
  return text;
}

signature signature_of(std::string_view line, std::string_view encoding) {
  const auto parts = parse_identity(line.substr(0, largest_subject));
  return {to_utf8(parts.name, encoding).text, to_utf8(parts.email, encoding).text, parts.time, parts.offset};
}

commit_facts facts_in(const git_oid& id, commit_parts parts) {
  commit_facts facts;
  facts.id = id;
  facts.tree = parts.tree;
  facts.parents = std::move(parts.parents);
  facts.author = signature_of(parts.author, parts.encoding);
  facts.committer = signature_of(parts.committer, parts.encoding);
  const auto message = parse_message(parts.message);
  const auto subject = front_of(message.subject, largest_subject);
  const auto body = front_of(message.body, largest_body);
  facts.cut_bytes = message.subject.size() - subject.size() + (message.body.size() - body.size());
  // Converted as one text: without a declaration the encoding is guessed, and the subject alone may be too short for that.
  const auto head = joined_subject(subject);
  auto all = to_utf8(head + '\n' + std::string(body), parts.encoding);
  const auto end = std::min(all.text.find('\n'), all.text.size());
  facts.body = all.text.substr(std::min(end + 1, all.text.size()));
  all.text.resize(end);
  facts.summary = std::move(all.text);
  facts.encoding = std::move(all.from);
  return facts;
}

}  // namespace

result<commit_facts> facts_of(const commit_store& from, const git_oid& id) {
  HONDANA_TRY(auto bytes, from.commit(id));
  auto parts = parse_commit(bytes.text());
  if (!parts) {
    return fail(errc::source_unavailable,
                "commit " + text_of(id) + " is malformed: its tree or a parent is not an id; run `git fsck` for details");
  }
  return facts_in(id, std::move(*parts));
}

result<commit_facts> facts_of(git_repository* in, const git_oid& id) {
  HONDANA_TRY(const auto store, commit_store::open(in));
  return facts_of(store, id);
}

result<commit_facts> facts_of(git_commit* commit) { return facts_of(git_commit_owner(commit), *git_commit_id(commit)); }

namespace {

constexpr std::size_t longest_pattern = 4096;
constexpr int most_memory = 1 << 20;
constexpr std::size_t most_trails = 10'000;

result<std::unique_ptr<const RE2>> compile(const std::string& pattern, const char* argument) {
  if (pattern.empty()) return nullptr;
  const auto refused = [argument](const std::string& why) {
    return fail(errc::invalid_argument,
                std::string("the argument `") + argument + "` is not a valid regular expression: " + why +
                    "; use RE2 syntax, and put a backslash before special characters that are meant literally");
  };
  if (pattern.size() > longest_pattern) return refused("it is longer than " + std::to_string(longest_pattern) + " bytes");
  RE2::Options options;
  options.set_log_errors(false);
  options.set_case_sensitive(false);
  options.set_max_mem(most_memory);
  auto made = std::make_unique<const RE2>(pattern, options);
  if (!made->ok()) return refused(made->error());
  return made;
}

/// The lines as one, with all bytes at their positions: white space at line ends becomes spaces.
std::string joined_lines(std::string_view lines) {
  std::string joined(lines);
  for (char& c : joined)
    if (c == '\n' || c == '\r' || c == '\t') c = ' ';
  return joined;
}

bool has_line_with(std::string_view text, const RE2& pattern) {
  while (!text.empty()) {
    const auto line = text.substr(0, text.find('\n'));
    if (RE2::PartialMatch(line, pattern)) return true;
    text.remove_prefix(std::min(line.size() + 1, text.size()));
  }
  return false;
}

/// Masks what views mask, which show the lines of a subject as one. The whole text is masked before it is searched. Otherwise a
/// pattern that matches both the mask and the first letter of a secret would reveal that letter.
void mask_message(std::string& text, const commit_filter::masker& mask) {
  const auto subject = parse_message(text).subject;
  const auto begin = static_cast<std::size_t>(subject.data() - text.data());
  std::string shown;
  if (subject.substr(0, subject.size() - std::min<std::size_t>(subject.size(), 1)).find('\n') != std::string_view::npos)
    shown = joined_lines(subject);
  mask(text);
  if (shown.empty()) return;
  mask(shown);
  for (std::size_t i = 0; i < shown.size(); ++i)
    if (shown[i] == '*' && text[begin + i] != '\n') text[begin + i] = '*';
}

}  // namespace

commit_filter::commit_filter(const commit_store& in, const log_filter& from, masker mask)
    : in_(in), until_(from.until), mask_(std::move(mask)) {
  if (!from.path.empty()) path_.emplace(from.path);
}

result<commit_filter> commit_filter::make(const commit_store& in, const log_filter& from, masker mask) {
  commit_filter made(in, from, std::move(mask));
  HONDANA_TRY(auto author, compile(from.author, "author"));
  made.author_ = std::move(author);
  HONDANA_TRY(auto grep, compile(from.grep, "grep"));
  made.grep_ = std::move(grep);
  return made;
}

result<bool> commit_filter::takes(const commit_node& commit) {
  if (until_ && (*until_ < 0 || commit.time > static_cast<std::uint64_t>(*until_))) return false;
  if (author_ || grep_) {
    if (auto said = is_said_in(commit.id); !said || !*said) return said;
  }
  return path_ ? changes_path(commit) : true;
}

result<bool> commit_filter::is_said_in(const git_oid& commit) const {
  HONDANA_TRY(const auto bytes, in_.commit(commit));
  const auto parts = parse_commit(bytes.text());
  if (!parts) return false;
  if (author_) {
    auto who = to_utf8(parse_identity(parts->author).who, parts->encoding).text;
    if (mask_) mask_(who);
    if (!RE2::PartialMatch(who, *author_)) return false;
  }
  if (!grep_) return true;
  auto message = to_utf8(parts->message, parts->encoding).text;
  if (mask_) mask_message(message, mask_);
  return has_line_with(message, *grep_);
}

result<commit_filter::shared_trail> commit_filter::trail_at(const git_oid& commit, const git_oid& tree,
                                                            const path_trail* like) {
  if (const auto known = trails_.find(commit); known != trails_.end()) return known->second;
  auto trail = path_->trail(in_, tree, like);
  if (!trail) {
    auto error = std::move(trail.error());
    error.public_text = "the path cannot be looked up in commit " + text_of(commit) + ": " + error.public_text;
    return tl::unexpected(std::move(error));
  }
  return std::make_shared<const path_trail>(std::move(*trail));
}

result<bool> commit_filter::changes_path(const commit_node& commit) {
  HONDANA_TRY(const auto here, trail_at(commit.id, commit.tree, nullptr));
  trails_.erase(commit.id);
  if (commit.parents.empty()) return here->entry.is_there();
  bool is_changed = false;
  for (const auto& id : commit.parents) {
    HONDANA_TRY(const auto parent, in_.read(id));
    HONDANA_TRY(auto there, trail_at(id, parent.tree, here.get()));
    if (!(there->entry == here->entry)) is_changed = true;
    if (trails_.size() >= most_trails) trails_.clear();
    trails_.emplace(id, std::move(there));
  }
  return is_changed;
}

namespace {

result<log_page> page_of(walk& through, commit_filter& filter, const commit_store& store, const log_request& request) {
  const auto limit = limit_of(request), budget = budget_of(request);
  log_page page;
  for (std::size_t looked_at = 0; page.commits.size() < limit && looked_at < budget; ++looked_at) {
    auto node = through.next();
    if (!node) {
      // Commits before the damage are returned. The next page reports the damage.
      if (node.error().code == errc::source_unavailable && !page.commits.empty()) break;
      return tl::unexpected(std::move(node.error()));
    }
    if (!*node) break;
    HONDANA_TRY(const auto is_wanted, filter.takes(**node));
    if (!is_wanted) continue;
    HONDANA_TRY(auto facts, facts_of(store, (*node)->id));
    page.commits.push_back(std::move(facts));
  }
  return page;
}

}  // namespace

bytes::digest digest_of(const commit_store& store, const log_request& request, std::string_view kind) {
  std::string all;
  const auto add = [&all](std::string_view text) { all.append(std::to_string(text.size())).append(":").append(text); };
  const auto add_time = [&add](const std::optional<std::int64_t>& time) { add(time ? std::to_string(*time) : std::string()); };
  add(kind);
  add(text_of(request.from));
  add(store.shallow_stamp());
  add(request.filter.path);
  add(request.filter.author);
  add(request.filter.grep);
  add_time(request.filter.since);
  add_time(request.filter.until);
  return bytes::digest_of(all);
}

result<log_page> log(git_repository* in, const log_request& request) {
  HONDANA_TRY(const auto store, commit_store::open(in));
  HONDANA_TRY(auto filter, commit_filter::make(store, request.filter, request.mask));
  const auto digest = digest_of(store, request, "log");
  walk through(store, request.from, {request.filter.since, request.is_stopped});
  HONDANA_TRY(begin_walk(through, request.cursor, digest));
  auto page = page_of(through, filter, store, request);
  if (page && !through.is_over()) page->next = cursor_of(through.state(), digest);
  return page;
}

namespace {

/// Follows a file through a walk. After a rename, the older name applies to all later commits, on all branches.
class follower {
 public:
  follower(git_repository* in, const commit_store& store, const log_request& request, std::string path)
      : in_(in), store_(store), request_(request), path_(std::move(path)) {}

  [[nodiscard]] const std::string& path() const noexcept { return path_; }

  /// Whether the commit changed the file. Merges count as changing nothing.
  result<bool> follow(const commit_node& commit) {
    if (commit.parents.size() > 1) return false;
    const path_steps steps(path_);
    const auto here = steps.trail(store_, commit.tree, &last_);
    if (!here) return tl::unexpected(here.error());
    if (commit.parents.empty()) return here->entry.is_there();
    HONDANA_TRY(const auto parent, store_.read(commit.parents.front()));
    HONDANA_TRY(const auto there, steps.trail(store_, parent.tree, &*here));
    last_ = there;
    if (here->entry == there.entry) return false;
    const bool has_come =
        here->entry.is_there() && !here->entry.is_folder() && (!there.entry.is_there() || there.entry.is_folder());
    if (has_come) {
      HONDANA_TRY(auto before, name_before(commit, parent));
      if (before) next_path_ = std::move(*before);
    }
    return true;
  }

  /// Called after a commit was handled: older commits have the older name.
  void go_on() {
    if (next_path_.empty()) return;
    path_ = std::exchange(next_path_, {});
    last_ = {};
  }

 private:
  result<std::optional<std::string>> name_before(const commit_node& commit, const commit_node& parent) const {
    rename_question question{parent.tree, commit.tree, path_};
    question.takes_copies = true;
    question.largest_file = largest_compared_file;
    question.is_stopped = request_.is_stopped;
    HONDANA_TRY(auto before, renamed_from(in_, question));
    if (!before || (request_.shows && !request_.shows(parent.id, before->path))) return std::nullopt;
    return std::move(before->path);
  }

  git_repository* const in_;
  const commit_store& store_;
  const log_request& request_;
  std::string path_, next_path_;
  path_trail last_;  // of the last parent that was examined, which probably comes next
};

result<file_history_page> file_page_of(walk& through, commit_filter& filter, follower& file, const commit_store& store,
                                       const log_request& request) {
  file_history_page page;
  const auto limit = limit_of(request), budget = budget_of(request);
  for (std::size_t looked_at = 0; page.steps.size() < limit && looked_at < budget; ++looked_at) {
    auto node = through.next();
    if (!node) {
      if (node.error().code == errc::source_unavailable && !page.steps.empty()) break;
      return tl::unexpected(std::move(node.error()));
    }
    if (!*node) break;
    HONDANA_TRY(const auto is_changed, file.follow(**node));
    if (!is_changed) continue;
    HONDANA_TRY(const auto is_wanted, filter.takes(**node));
    if (is_wanted) {
      HONDANA_TRY(auto facts, facts_of(store, (*node)->id));
      page.steps.push_back({std::move(facts), file.path()});
    }
    file.go_on();
  }
  return page;
}

}  // namespace

result<file_history_page> file_history(git_repository* in, const git_oid& from, const std::string& path,
                                       const log_request& request) {
  if (path.empty() || path.size() > longest_path)
    return fail(errc::invalid_argument, "the argument `path` must name a file and have at most 4096 bytes");
  HONDANA_TRY(const auto store, commit_store::open(in));
  auto asked = request;
  asked.from = from;
  asked.filter.path.clear();
  HONDANA_TRY(auto filter, commit_filter::make(store, asked.filter, asked.mask));
  const auto digest = digest_of(store, asked, "file " + path);
  walk through(store, from, {asked.filter.since, asked.is_stopped});
  HONDANA_TRY(const auto name, begin_walk(through, asked.cursor, digest));
  if (!name.empty() && asked.shows && !asked.shows(from, name))
    return fail(errc::invalid_argument, std::string(foreign_cursor));
  follower file(in, store, asked, name.empty() ? path : name);
  auto page = file_page_of(through, filter, file, store, asked);
  if (page && !through.is_over())
    page->next = cursor_of(through.state(), digest, file.path() == path ? std::string() : file.path());
  return page;
}

}  // namespace hondana::git

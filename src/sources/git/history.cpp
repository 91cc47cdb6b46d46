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
#include "sources/git/diff_content.hpp"
#include "sources/git/libgit2.hpp"
#include "sources/git/object_parser.hpp"
#include "sources/git/rename_detection.hpp"
#include "sources/git/text_encoding.hpp"

namespace hondana::git {

inline constexpr std::size_t max_page_commits = 10'000;
/// Bytes; as long as a note in a cursor.
inline constexpr std::size_t max_file_path_bytes = 4096;

[[nodiscard]] inline std::size_t clamped_limit(const log_request& request) noexcept {
  return std::clamp<std::size_t>(request.limit, 1, max_page_commits);
}
[[nodiscard]] inline std::size_t clamped_budget(const log_request& request) noexcept {
  return std::max<std::size_t>(request.budget, 1);
}

/// A digest of everything that determines a log: its kind, where it starts and ends, and what it leaves out.
[[nodiscard]] bytes::digest compute_log_digest(const commit_store& store, const log_request& request, std::string_view kind);

/// A filter prepared for one walk. Commits may be checked in any order; a parent of the one before is the cheapest. Threads:
/// one at a time.
class commit_filter {
 public:
  /// As `log_request::mask`.
  using masker = std::function<void(std::string& text)>;

  /// `store` must outlive it. Errors: invalid_argument for patterns that RE2 rejects, naming the argument.
  [[nodiscard]] static result<commit_filter> create(const commit_store& store, const log_filter& filter, masker mask = {});

  /// Checks everything except `since`, which the walk checks. A path matches a commit if it differs from that in any parent or,
  /// in a commit without parents, if it exists. git log --full-history shows the same merges. Errors: of the store.
  [[nodiscard]] result<bool> matches(const commit_node& commit);

 private:
  commit_filter(const commit_store& store, const log_filter& filter, masker mask);
  [[nodiscard]] result<bool> matches_text(const git_oid& commit) const;
  [[nodiscard]] result<bool> changes_path(const commit_node& commit);
  using shared_trail = std::shared_ptr<const path_trail>;
  [[nodiscard]] result<shared_trail> trail_at(const git_oid& commit, const git_oid& tree, const path_trail* similar);

  const commit_store& store_;
  std::optional<std::int64_t> until_;
  std::unique_ptr<const RE2> author_, grep_;
  masker mask_;
  std::optional<path_steps> path_;
  std::unordered_map<git_oid, shared_trail, oid_hash, oid_equal> trails_;  // of commits that are likely to come next
};

namespace {

/// At most `max_bytes` bytes from the front, cut after a line or else between characters, so that the encoding can still be
/// detected.
std::string_view truncate_text(std::string_view text, std::size_t max_bytes) noexcept {
  if (text.size() <= max_bytes) return text;
  text = text.substr(0, max_bytes);
  if (const auto line = text.rfind('\n'); line != std::string_view::npos) return text.substr(0, line + 1);
  const auto is_continuation = [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; };
  for (int last = 0; last < 3 && is_continuation(text.back()); ++last) text.remove_suffix(1);
  if ((static_cast<unsigned char>(text.back()) & 0x80U) != 0) text.remove_suffix(1);
  return text;
}

signature parse_signature(std::string_view line, std::string_view encoding, const mailmap& people) {
  const auto parts = parse_identity(line.substr(0, max_subject_bytes));
  signature person{to_utf8(parts.name, encoding).text, to_utf8(parts.email, encoding).text, parts.time, parts.offset};
  people.apply(person.name, person.email);
  return person;
}

commit_metadata make_commit_metadata(const git_oid& id, commit_parts parts, const mailmap& people) {
  commit_metadata metadata;
  metadata.id = id;
  metadata.tree = parts.tree;
  metadata.parents = std::move(parts.parents);
  metadata.author = parse_signature(parts.author, parts.encoding, people);
  metadata.committer = parse_signature(parts.committer, parts.encoding, people);
  const auto message = parse_message(parts.message);
  const auto subject = truncate_text(message.subject, max_subject_bytes);
  const auto body = truncate_text(message.body, max_body_bytes);
  metadata.omitted_bytes = message.subject.size() - subject.size() + (message.body.size() - body.size());
  // Converted as one text: without a declaration the encoding is guessed, and the subject alone may be too short for that.
  const auto subject_line = join_subject(subject);
  auto converted = to_utf8(subject_line + '\n' + std::string(body), parts.encoding);
  const auto end = std::min(converted.text.find('\n'), converted.text.size());
  metadata.body = converted.text.substr(std::min(end + 1, converted.text.size()));
  converted.text.resize(end);
  metadata.summary = std::move(converted.text);
  metadata.encoding = std::move(converted.encoding);
  return metadata;
}

}  // namespace

result<commit_metadata> read_commit_metadata(const commit_store& store, const git_oid& id) {
  HONDANA_TRY(auto bytes, store.commit(id));
  auto parts = parse_commit(bytes.text());
  if (!parts) {
    return fail(errc::source_unavailable,
                "commit " + to_hex(id) + " is malformed: its tree or a parent is not an id; run `git fsck` for details");
  }
  store.apply_graft(id, parts->parents);
  return make_commit_metadata(id, std::move(*parts), store.people());
}

result<signature> read_commit_author(const commit_store& store, const git_oid& id) {
  HONDANA_TRY(const auto bytes, store.commit(id));
  const auto parts = parse_commit(bytes.text());
  return parts ? parse_signature(parts->author, parts->encoding, store.people()) : signature{};
}

result<commit_metadata> read_commit_metadata(git_repository* repo, const git_oid& id) {
  HONDANA_TRY(const auto store, commit_store::open(repo));
  return read_commit_metadata(store, id);
}

result<commit_metadata> read_commit_metadata(git_commit* commit) {
  return read_commit_metadata(git_commit_owner(commit), *git_commit_id(commit));
}

namespace {

constexpr std::size_t max_pattern_bytes = 4096;
constexpr int max_regex_memory = 1 << 20;
constexpr std::size_t max_trails = 10'000;

result<std::unique_ptr<const RE2>> compile(const std::string& pattern, const char* argument) {
  if (pattern.empty()) return nullptr;
  const auto reject = [argument](const std::string& reason) {
    return fail(errc::invalid_argument,
                std::string("the argument `") + argument + "` is not a valid regular expression: " + reason +
                    "; use RE2 syntax, and put a backslash before special characters that are meant literally");
  };
  if (pattern.size() > max_pattern_bytes) return reject("it is longer than " + std::to_string(max_pattern_bytes) + " bytes");
  RE2::Options options;
  options.set_log_errors(false);
  options.set_case_sensitive(false);
  options.set_max_mem(max_regex_memory);
  auto compiled = std::make_unique<const RE2>(pattern, options);
  if (!compiled->ok()) return reject(compiled->error());
  return compiled;
}

/// The lines as one, with all bytes at their positions: white space at line ends becomes spaces.
std::string join_lines(std::string_view lines) {
  std::string joined(lines);
  for (char& c : joined)
    if (c == '\n' || c == '\r' || c == '\t') c = ' ';
  return joined;
}

bool has_matching_line(std::string_view text, const RE2& pattern) {
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
  std::string subject_text;
  if (subject.substr(0, subject.size() - std::min<std::size_t>(subject.size(), 1)).find('\n') != std::string_view::npos)
    subject_text = join_lines(subject);
  mask(text);
  if (subject_text.empty()) return;
  mask(subject_text);
  for (std::size_t i = 0; i < subject_text.size(); ++i)
    if (subject_text[i] == '*' && text[begin + i] != '\n') text[begin + i] = '*';
}

}  // namespace

commit_filter::commit_filter(const commit_store& store, const log_filter& filter, masker mask)
    : store_(store), until_(filter.until), mask_(std::move(mask)) {
  if (!filter.path.empty()) path_.emplace(filter.path);
}

result<commit_filter> commit_filter::create(const commit_store& store, const log_filter& filter, masker mask) {
  commit_filter created(store, filter, std::move(mask));
  HONDANA_TRY(auto author, compile(filter.author, "author"));
  created.author_ = std::move(author);
  HONDANA_TRY(auto grep, compile(filter.grep, "grep"));
  created.grep_ = std::move(grep);
  return created;
}

result<bool> commit_filter::matches(const commit_node& commit) {
  if (until_ && (*until_ < 0 || commit.time > static_cast<std::uint64_t>(*until_))) return false;
  if (author_ || grep_) {
    if (auto is_match = matches_text(commit.id); !is_match || !*is_match) return is_match;
  }
  return path_ ? changes_path(commit) : true;
}

result<bool> commit_filter::matches_text(const git_oid& commit) const {
  HONDANA_TRY(const auto bytes, store_.commit(commit));
  const auto parts = parse_commit(bytes.text());
  if (!parts) return false;
  if (author_) {
    auto author = to_utf8(parse_identity(parts->author).name_and_email, parts->encoding).text;
    if (!store_.people().stamp().empty()) {
      const auto person = parse_signature(parts->author, parts->encoding, store_.people());
      author = person.name + " <" + person.email + '>';
    }
    if (mask_) mask_(author);
    if (!RE2::PartialMatch(author, *author_)) return false;
  }
  if (!grep_) return true;
  auto message = to_utf8(parts->message, parts->encoding).text;
  if (mask_) mask_message(message, mask_);
  return has_matching_line(message, *grep_);
}

result<commit_filter::shared_trail> commit_filter::trail_at(const git_oid& commit, const git_oid& tree,
                                                            const path_trail* similar) {
  if (const auto cached = trails_.find(commit); cached != trails_.end()) return cached->second;
  auto trail = path_->trail(store_, tree, similar);
  if (!trail) {
    auto error = std::move(trail.error());
    error.public_text = "the path cannot be looked up in commit " + to_hex(commit) + ": " + error.public_text;
    return tl::unexpected(std::move(error));
  }
  return std::make_shared<const path_trail>(std::move(*trail));
}

result<bool> commit_filter::changes_path(const commit_node& commit) {
  HONDANA_TRY(const auto current, trail_at(commit.id, commit.tree, nullptr));
  trails_.erase(commit.id);
  if (commit.parents.empty()) return current->entry.exists();
  bool is_changed = false;
  for (const auto& id : commit.parents) {
    HONDANA_TRY(const auto parent, store_.read(id));
    HONDANA_TRY(auto parent_trail, trail_at(id, parent.tree, current.get()));
    if (!(parent_trail->entry == current->entry)) is_changed = true;
    if (trails_.size() >= max_trails) trails_.clear();
    trails_.emplace(id, std::move(parent_trail));
  }
  return is_changed;
}

namespace {

result<log_page> read_page(commit_walk& walk, commit_filter& filter, const commit_store& store, const log_request& request) {
  const auto limit = clamped_limit(request), budget = clamped_budget(request);
  log_page page;
  for (std::size_t examined = 0; page.commits.size() < limit && examined < budget; ++examined) {
    auto node = walk.next();
    if (!node) {
      // Commits before the damage are returned. The next page reports the damage.
      if (node.error().code == errc::source_unavailable && !page.commits.empty()) break;
      return tl::unexpected(std::move(node.error()));
    }
    if (!*node) break;
    HONDANA_TRY(const auto is_match, filter.matches(**node));
    if (!is_match) continue;
    HONDANA_TRY(auto metadata, read_commit_metadata(store, (*node)->id));
    page.commits.push_back(std::move(metadata));
  }
  return page;
}

}  // namespace

namespace {

/// The state of the repository that decides which commits a log has.
const std::string& filter_stamp(const commit_store& store, const log_filter& filter) noexcept {
  return filter.author.empty() ? store.history_stamp() : store.stamp();
}

}  // namespace

bytes::digest compute_log_digest(const commit_store& store, const log_request& request, std::string_view kind) {
  std::string input;
  const auto append = [&input](std::string_view text) { input.append(std::to_string(text.size())).append(":").append(text); };
  const auto append_time = [&append](const std::optional<std::int64_t>& time) {
    append(time ? std::to_string(*time) : std::string());
  };
  append(kind);
  append(to_hex(request.start));
  append(filter_stamp(store, request.filter));
  append(request.filter.path);
  append(request.filter.author);
  append(request.filter.grep);
  append_time(request.filter.since);
  append_time(request.filter.until);
  return bytes::digest_of(input);
}

result<log_page> read_log(git_repository* repo, const log_request& request) {
  HONDANA_TRY(const auto store, commit_store::open(repo));
  HONDANA_TRY(auto filter, commit_filter::create(store, request.filter, request.mask));
  const auto digest = compute_log_digest(store, request, "log");
  commit_walk walk(store, request.start, {request.filter.since, request.is_stopped});
  HONDANA_TRY(resume_walk(walk, request.cursor, digest));
  auto page = read_page(walk, filter, store, request);
  if (page && !walk.is_finished()) page->next = encode_cursor(walk.state(), digest);
  return page;
}

namespace {

/// Follows a file through a walk. After a rename, the older name applies to all later commits, on all branches.
class file_follower {
 public:
  file_follower(git_repository* repo, const commit_store& store, const log_request& request, std::string path)
      : repo_(repo), store_(store), request_(request), path_(std::move(path)) {}

  [[nodiscard]] const std::string& path() const noexcept { return path_; }

  /// Whether the commit changed the file. Merges count as changing nothing.
  result<bool> follow(const commit_node& commit) {
    if (commit.parents.size() > 1) return false;
    const path_steps steps(path_);
    const auto current = steps.trail(store_, commit.tree, &last_trail_);
    if (!current) return tl::unexpected(current.error());
    if (commit.parents.empty()) return current->entry.exists();
    HONDANA_TRY(const auto parent, store_.read(commit.parents.front()));
    HONDANA_TRY(const auto parent_trail, steps.trail(store_, parent.tree, &*current));
    last_trail_ = parent_trail;
    lacks_content_ = false;
    if (current->entry == parent_trail.entry) return false;
    const bool is_added = current->entry.exists() && !current->entry.is_folder() &&
                          (!parent_trail.entry.exists() || parent_trail.entry.is_folder());
    if (is_added) {
      HONDANA_TRY(auto old_name, find_old_name(commit, parent));
      if (old_name) next_path_ = std::move(*old_name);
      lacks_content_ = !old_name && side_contents(repo_).lacks({path_, current->entry.id, current->entry.mode});
    }
    return true;
  }

  /// Whether the commit that was followed last added the file, with a content that was not fetched.
  [[nodiscard]] bool lacks_content() const noexcept { return lacks_content_; }

  /// Called after a commit was handled: older commits have the older name.
  void advance() {
    if (next_path_.empty()) return;
    path_ = std::exchange(next_path_, {});
    last_trail_ = {};
  }

 private:
  result<std::optional<std::string>> find_old_name(const commit_node& commit, const commit_node& parent) const {
    rename_query query{parent.tree, commit.tree, path_};
    query.detects_copies = true;
    query.max_file_bytes = max_compared_file_bytes;
    query.is_stopped = request_.is_stopped;
    HONDANA_TRY(auto source, find_rename_source(repo_, query));
    if (!source || (request_.is_visible && !request_.is_visible(parent.id, source->path))) return std::nullopt;
    return std::move(source->path);
  }

  git_repository* const repo_;
  const commit_store& store_;
  const log_request& request_;
  std::string path_, next_path_;
  bool lacks_content_ = false;
  path_trail last_trail_;  // of the last parent that was examined, which probably comes next
};

result<file_history_page> read_file_page(commit_walk& walk, commit_filter& filter, file_follower& follower,
                                         const commit_store& store, const log_request& request) {
  file_history_page page;
  const auto limit = clamped_limit(request), budget = clamped_budget(request);
  for (std::size_t examined = 0; page.steps.size() < limit && examined < budget; ++examined) {
    auto node = walk.next();
    if (!node) {
      if (node.error().code == errc::source_unavailable && !page.steps.empty()) break;
      return tl::unexpected(std::move(node.error()));
    }
    if (!*node) break;
    HONDANA_TRY(const auto is_changed, follower.follow(**node));
    if (!is_changed) continue;
    HONDANA_TRY(const auto is_match, filter.matches(**node));
    if (is_match) {
      HONDANA_TRY(auto metadata, read_commit_metadata(store, (*node)->id));
      page.steps.push_back({std::move(metadata), follower.path(), false, follower.lacks_content()});
    }
    follower.advance();
  }
  return page;
}

}  // namespace

result<file_history_page> file_history(git_repository* repo, const git_oid& start, const std::string& path,
                                       const log_request& request) {
  if (path.empty() || path.size() > max_file_path_bytes)
    return fail(errc::invalid_argument, "the argument `path` must name a file and have at most 4096 bytes");
  HONDANA_TRY(const auto store, commit_store::open(repo));
  auto effective = request;
  effective.start = start;
  effective.filter.path.clear();
  HONDANA_TRY(auto filter, commit_filter::create(store, effective.filter, effective.mask));
  const auto digest = compute_log_digest(store, effective, "file " + path);
  commit_walk walk(store, start, {effective.filter.since, effective.is_stopped});
  HONDANA_TRY(const auto name, resume_walk(walk, effective.cursor, digest));
  if (!name.empty() && effective.is_visible && !effective.is_visible(start, name))
    return fail(errc::invalid_argument, std::string(foreign_cursor_message));
  file_follower follower(repo, store, effective, name.empty() ? path : name);
  auto page = read_file_page(walk, filter, follower, store, effective);
  if (page && !walk.is_finished())
    page->next = encode_cursor(walk.state(), digest, follower.path() == path ? std::string() : follower.path());
  return page;
}

}  // namespace hondana::git

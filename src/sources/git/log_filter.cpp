/// Looks first at what is at hand, and at trees last.
#include "sources/git/log_filter.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "sources/git/commit_object.hpp"
#include "sources/git/text.hpp"

namespace hondana::git {
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

/// The lines as one, byte for byte where they were: blanks at their ends stay as spaces.
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

/// Masks what views mask, which show the lines of a subject as one. All of a text is masked before anything is looked for in
/// it: a pattern that fits the mask as well as a secret's first letter would otherwise tell that letter.
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

}  // namespace hondana::git

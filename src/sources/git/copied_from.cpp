/// Compares one file with every other.
#include "sources/git/copied_from.hpp"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <utility>

#include "sources/git/similarity.hpp"
#include "sources/git/stopping.hpp"

namespace hondana::git {
namespace {

constexpr unsigned least_copied = whole_score / 2;
constexpr std::size_t copies_kept = 4;

std::string_view last_name_of(const side& of) noexcept {
  const std::string_view path = of.path;
  return path.substr(path.rfind('/') + 1);
}

struct resemblance {
  const earlier_file* file = nullptr;
  unsigned score = 0;
  bool has_same_name = false;
};

bool is_more_alike(const resemblance& a, const resemblance& b) noexcept {
  return a.score != b.score ? a.score > b.score : a.has_same_name > b.has_same_name;
}

const side* equal_to(const side& wanted, const std::vector<earlier_file>& files) {
  const side* best = nullptr;
  int best_score = -1;
  for (const auto& [file, is_gone] : files) {
    if (git_oid_equal(&file.id, &wanted.id) == 0 || is_regular(file.mode) != is_regular(wanted.mode)) continue;
    const int score = (is_gone ? 1 : 0) + (last_name_of(file) == last_name_of(wanted) ? 1 : 0);
    if (score > best_score) best = &file;
    best_score = std::max(best_score, score);
  }
  return best;
}

class copy_search {
 public:
  copy_search(const side& wanted, side_contents& from, const compare_options& options)
      : wanted_(wanted), from_(from), options_(options), stopping_(options.is_stopped) {}

  result<std::optional<side>> run(const std::vector<earlier_file>& files) {
    HONDANA_TRY(begin());
    if (size_ > options_.largest_renamed) return std::nullopt;
    for (const auto& one : files) {
      HONDANA_TRY(stopping_.step());
      HONDANA_TRY(const auto score, score_with(one.file));
      note({&one, score, last_name_of(one.file) == last_name_of(wanted_)});
    }
    for (const bool must_be_gone : {true, false}) {
      if (const auto* found = best_of(must_be_gone)) return found->file;
    }
    return std::nullopt;
  }

 private:
  /// Of equally good ones the first.
  [[nodiscard]] const earlier_file* best_of(bool must_be_gone) const {
    const resemblance* best = nullptr;
    for (const auto& one : best_) {
      if (one.score < least_copied || (must_be_gone && !one.file->is_gone)) continue;
      if (best == nullptr || is_more_alike(one, *best)) best = &one;
    }
    return best == nullptr ? nullptr : best->file;
  }

  result<void> begin() {
    HONDANA_TRY(const auto size, from_.size_of(wanted_));
    size_ = size;
    if (size_ > options_.largest_renamed) return {};
    HONDANA_TRY(const auto chunks, chunks_of(wanted_));
    chunks_ = chunks;
    return {};
  }

  result<chunk_bag> chunks_of(const side& of) {
    HONDANA_TRY(const auto read, from_.read(of, options_.largest_renamed));
    return counter_.count(read.bytes(), !read.is_binary);
  }

  result<unsigned> score_with(const side& other) {
    if (!is_regular(other.mode)) return 0U;
    HONDANA_TRY(const auto size, from_.size_of(other));
    if (size > options_.largest_renamed || !may_be_similar(size, size_, least_copied)) return 0U;
    HONDANA_TRY(const auto chunks, chunks_of(other));
    return score_of(common_bytes(chunks, chunks_), size, size_);
  }

  /// The order of the files counts where scores are equal: a better one takes the place of the worst.
  void note(const resemblance& one) {
    if (best_.size() < copies_kept) {
      best_.push_back(one);
    } else if (const auto worst = std::max_element(best_.begin(), best_.end(), is_more_alike); is_more_alike(one, *worst)) {
      *worst = one;
    }
  }

  const side& wanted_;
  side_contents& from_;
  const compare_options& options_;
  stopping stopping_;
  chunk_counter counter_;
  chunk_bag chunks_;
  std::uint64_t size_ = 0;
  std::vector<resemblance> best_;
};

}  // namespace

result<std::optional<side>> copied_from(const side& wanted, const std::vector<earlier_file>& files, side_contents& from,
                                        const compare_options& options) {
  if (const auto* equal = equal_to(wanted, files)) return *equal;
  if (!is_regular(wanted.mode)) return std::nullopt;
  return copy_search(wanted, from, options).run(files);
}

}  // namespace hondana::git

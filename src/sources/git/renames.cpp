/// Git's three passes over what came and what went.
#include "sources/git/renames.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "sources/git/similarity.hpp"
#include "sources/git/stopping.hpp"

namespace hondana::git {
namespace {

constexpr unsigned least_score = whole_score / 2;
constexpr unsigned least_by_name = whole_score / 4 * 3;
constexpr std::uint64_t most_pairs = 1000 * 1000;
// Of equal files, for each that came.
constexpr std::size_t most_equal = 100;
constexpr std::size_t best_kept = 4;
// Of chunks, of all files together; beyond that they are counted each time.
constexpr std::size_t most_kept_kinds = std::size_t{32} << 20;

std::string_view name_of(const side& of) noexcept {
  const std::string_view path = of.path;
  return path.substr(path.rfind('/') + 1);
}

/// A file that came or went.
struct mover {
  std::size_t at;  // in the changes
  const side* what;
  std::optional<std::size_t> partner{};  // in the changes
  unsigned score = 0;
  std::optional<std::uint64_t> size{};
  std::optional<chunk_bag> chunks{};
  bool is_lacking = false;  // its content was not fetched, so that it is like nothing but its equal
};

/// A file that came and one that went, and how alike they are.
struct likeness {
  mover *came = nullptr, *went = nullptr;
  unsigned score = 0;
  bool has_same_name = false;
  std::size_t place = 0;  // among all that are to be sorted
};

bool is_better(const likeness& one, const likeness& other) noexcept {
  return one.score != other.score ? one.score > other.score : one.has_same_name > other.has_same_name;
}

class rename_search {
 public:
  rename_search(std::vector<change>& changes, side_contents& from, const compare_options& options)
      : changes_(changes), from_(from), options_(options), stopping_(options.is_stopped) {}

  result<void> run() {
    gather();
    if (came_.empty() || went_.empty()) return {};
    HONDANA_TRY(equal());
    HONDANA_TRY(by_name());
    HONDANA_TRY(by_content());
    settle();
    return {};
  }

 private:
  void gather() {
    for (std::size_t i = 0; i < changes_.size(); ++i) {
      if (changes_[i].what == change::kind::added) came_.push_back({i, &changes_[i].after});
      if (changes_[i].what == change::kind::deleted) went_.push_back({i, &changes_[i].before});
    }
  }

  void pair(mover& came, mover& went, unsigned score) {
    came.partner = went.at;
    came.score = score;
    went.partner = came.at;
  }

  result<void> equal() {
    // Links and submodules are only ever renamed as what they are; whether a file may be executed does not matter.
    using key = std::pair<std::string_view, std::uint32_t>;
    const auto key_of = [](const side& of) {
      return key({reinterpret_cast<const char*>(of.id.id), GIT_OID_RAWSZ}, is_regular(of.mode) ? 0 : of.mode);
    };
    std::map<key, std::vector<mover*>> equals;
    for (auto& one : went_) equals[key_of(*one.what)].push_back(&one);
    std::map<key, std::size_t> taken;  // that many at the front of each are
    for (auto& one : came_) {
      HONDANA_TRY(stopping_.step());
      const auto found = equals.find(key_of(*one.what));
      if (found == equals.end() || git_oid_is_zero(&one.what->id)) continue;
      auto& front = taken[found->first];
      const auto free = std::span(found->second).subspan(front);
      const auto looked_at = free.first(std::min(free.size(), most_equal));
      if (looked_at.empty()) continue;
      auto best = std::find_if(looked_at.begin(), looked_at.end(),
                               [&](const mover* went) { return name_of(*went->what) == name_of(*one.what); });
      if (best == looked_at.end()) best = looked_at.begin();
      pair(one, **best, whole_score);
      std::rotate(looked_at.begin(), best, best + 1);
      ++front;
    }
    return {};
  }

  result<void> by_name() {
    const auto by_their_names = [](std::vector<mover>& movers) {
      std::unordered_map<std::string_view, mover*> names;  // null: several have it
      for (auto& one : movers) {
        if (one.partner) continue;
        if (const auto [at, is_new] = names.try_emplace(name_of(*one.what), &one); !is_new) at->second = nullptr;
      }
      return names;
    };
    const auto coming = by_their_names(came_), going = by_their_names(went_);
    for (auto& one : went_) {
      if (one.partner) continue;
      const auto name = name_of(*one.what);
      const auto other = coming.find(name);
      if (other == coming.end() || other->second == nullptr || going.at(name) == nullptr) continue;
      HONDANA_TRY(const auto score, similarity(one, *other->second, least_by_name));
      if (score >= least_by_name) pair(*other->second, one, score);
    }
    return {};
  }

  result<void> by_content() {
    std::erase_if(went_, [](const mover& one) { return one.partner.has_value(); });
    const auto left = std::count_if(came_.begin(), came_.end(), [](const mover& one) { return !one.partner; });
    if (static_cast<std::uint64_t>(left) * went_.size() > most_pairs) return {};
    std::vector<likeness> all;
    for (auto& one : came_) {
      if (one.partner) continue;
      HONDANA_TRY(auto best, most_alike(one));
      all.insert(all.end(), best.begin(), best.end());
      forget_chunks(one);
    }
    for (std::size_t i = 0; i < all.size(); ++i) all[i].place = i;
    std::sort(all.begin(), all.end(),
              [](const likeness& a, const likeness& b) { return is_better(a, b) || (!is_better(b, a) && a.place < b.place); });
    for (const auto& one : all) {
      if (one.score < least_score) break;
      if (!one.came->partner && !one.went->partner) pair(*one.came, *one.went, one.score);
    }
    return {};
  }

  /// Of those that went. Their order counts where scores are equal: a better one takes the place of the worst.
  result<std::vector<likeness>> most_alike(mover& came) {
    std::vector<likeness> best;
    for (auto& went : went_) {
      HONDANA_TRY(stopping_.step());
      HONDANA_TRY(const auto score, similarity(went, came, least_score));
      const likeness one{&came, &went, score, name_of(*came.what) == name_of(*went.what)};
      if (best.size() < best_kept) {
        best.push_back(one);
      } else if (auto worst = std::max_element(best.begin(), best.end(), is_better); is_better(one, *worst)) {
        *worst = one;
      }
    }
    return best;
  }

  result<unsigned> similarity(mover& before, mover& after, unsigned least) {
    if (!is_regular(before.what->mode) || !is_regular(after.what->mode)) return 0u;
    for (auto* one : {&before, &after}) {
      if (one->is_lacking) return 0u;
      if (one->size) continue;
      const auto size = from_.size_of(*one->what);
      one->is_lacking = !size && from_.lacks(*one->what);
      if (one->is_lacking) return 0u;
      if (!size) return tl::unexpected(size.error());
      one->size = *size;
    }
    const auto larger = std::max(*before.size, *after.size);
    if (larger > options_.largest_renamed || !may_be_similar(*before.size, *after.size, least)) return 0u;
    for (auto* one : {&before, &after}) {
      if (one->chunks) continue;
      HONDANA_TRY(auto chunks, chunks_of(*one->what));
      one->chunks = std::move(chunks);
      kept_kinds_ += one->chunks->kinds.size();
    }
    const auto score = score_of(common_bytes(*before.chunks, *after.chunks), *before.size, *after.size);
    for (auto* one : {&before, &after}) {
      if (kept_kinds_ > most_kept_kinds) forget_chunks(*one);
    }
    return score;
  }

  void forget_chunks(mover& of) {
    if (of.chunks) kept_kinds_ -= of.chunks->kinds.size();
    of.chunks.reset();
  }

  result<chunk_bag> chunks_of(const side& of) {
    HONDANA_TRY(stopping_.ask());
    HONDANA_TRY(const auto read, from_.read(of, options_.largest_renamed));
    return counter_.count(read.bytes(), !read.is_binary);
  }

  void settle() {
    for (auto& one : came_) {
      if (!one.partner) continue;
      auto& here = changes_[one.at];
      here.what = change::kind::renamed;
      here.before = std::move(changes_[*one.partner].before);
      here.similarity = one.score * 100 / whole_score;
      changes_[*one.partner].before.mode = 0;
    }
    std::erase_if(changes_, [](const change& one) { return !one.before.is_there() && !one.after.is_there(); });
  }

  std::vector<change>& changes_;
  side_contents& from_;
  const compare_options& options_;
  stopping stopping_;
  chunk_counter counter_;
  std::vector<mover> came_, went_;
  std::size_t kept_kinds_ = 0;
};

}  // namespace

result<void> find_renames(std::vector<change>& changes, side_contents& from, const compare_options& options) {
  return rename_search(changes, from, options).run();
}

}  // namespace hondana::git

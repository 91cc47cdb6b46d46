/// The two lists that a search stands on, by words and by meaning, as far as the caller may have what is in them.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include <hondana/error.hpp>
#include <hondana/provider.hpp>

#include "search/index/engine.hpp"
#include "search/index/ground.hpp"
#include "search/index/ranking.hpp"
#include "search/index/sight.hpp"

namespace hondana::search {

/// What was found for one question. Threads: one.
class lists {
 public:
  explicit lists(ground& on) : on_(on) {}

  /// Asks for the vector of the question, which takes no longer than half of what is left until the deadline of `by`.
  void embed(const call& by, const std::string& q);
  /// Looks for the words. `in`, and what is asked, live as long as this. Errors: those of the store, in fixed words.
  [[nodiscard]] result<void> ask(state_of_index& in, const question& what, std::span<const wanted_word> words);

  /// More passages have the words than were looked at.
  [[nodiscard]] bool has_more() const noexcept { return has_more_; }
  /// What is wrong with the index, in fixed words; empty: nothing.
  [[nodiscard]] const std::string& trouble() const noexcept { return trouble_; }
  /// Why nothing was searched by meaning, in fixed words; empty: it was, or there are no vectors.
  [[nodiscard]] const std::string& remark() const noexcept { return remark_; }

  /// The best that the caller may have, fused: at most `most` of those that have words where nothing is near by meaning.
  /// `is_cut` becomes true where there were more. Errors: as `sight::keep`.
  [[nodiscard]] result<std::vector<candidate>> fused(sight& through, std::size_t most, bool& is_cut);

 private:
  [[nodiscard]] result<std::vector<near_passage>> nearest(sight& through);
  [[nodiscard]] result<std::vector<near_passage>> nearest(std::size_t count) const;
  /// What was made otherwise than texts are now.
  [[nodiscard]] result<void> leave_out_stale(std::vector<near_passage>& near) const;

  ground& on_;
  state_of_index* in_ = nullptr;
  const question* what_ = nullptr;
  std::vector<match> by_words_;
  std::vector<float> vector_;  // empty: nothing is searched by meaning
  bool has_more_ = false;
  std::string trouble_;
  std::string remark_;
};

}  // namespace hondana::search

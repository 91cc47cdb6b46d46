/// Runs a template's automaton over a URI in linear time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/uri/template_program.hpp"

namespace hondana::uri {

/// A longer URI matches nothing: the first pass keeps a few bits for each of its characters.
inline constexpr std::size_t max_matched_bytes = std::size_t{1} << 20U;

/// A stretch of the URI that one variable took.
struct capture {
  std::uint32_t part;
  std::uint32_t variable;
  std::string_view key;  ///< The parameter's name in named expressions.
  std::string_view text;
};

/// One match, in two passes: from the end, where in the URI can each node still reach the end; then from the start, taking
/// the most that the first pass allows. Both look at each pair of node and position a bounded number of times.
///
/// `program` and `text` must outlive it. `text` is what follows the template's literal prefix, with canonical escapes.
class template_matcher {
 public:
  template_matcher(const template_program& program, std::string_view text);

  /// The captures in order, as views of the text; nothing when it does not match.
  [[nodiscard]] std::optional<std::vector<capture>> run();

  /// The work done, in looks at a node or a character.
  [[nodiscard]] std::size_t steps() const noexcept { return steps_; }

 private:
  /// Where a name node can go: to the value of a parameter, or behind a parameter without one.
  struct named_step {
    const parameter_block::parameter* parameter;
    std::size_t key_end;
    bool has_value;
  };

  [[nodiscard]] bool reaches(node_index node, std::size_t at) const noexcept;
  [[nodiscard]] std::size_t unit(std::size_t at) const noexcept { return text_[at] == '%' ? 3 : 1; }
  void look_back_from(std::size_t at);
  [[nodiscard]] bool can_match(node_index index, std::size_t at);
  [[nodiscard]] bool can_run(node_index index, std::size_t at);
  [[nodiscard]] std::optional<named_step> name_at(const parameter_block& block, std::size_t at);
  [[nodiscard]] std::optional<named_step> other_name_at(const parameter_block& block, std::size_t at);
  [[nodiscard]] std::size_t run_end(const node& run, std::size_t at);

  const template_program& program_;
  std::string_view text_;
  std::size_t words_;                 ///< Per position.
  std::vector<std::uint64_t> reach_;  ///< One bit for each position and node.
  /// For each run with a limit, how many code points it must take from here; of the last 16 positions, since an escaped code
  /// point has at most 12 characters.
  std::vector<std::array<std::uint32_t, 16>> needed_;
  std::size_t steps_ = 0;
};

}  // namespace hondana::uri

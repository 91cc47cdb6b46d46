/// What keeps an index from being like what is served: in fixed words for peers, and in all of them for the log.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <hondana/error.hpp>

#include "search/index/ground.hpp"

namespace hondana::search {

/// The gravest first.
enum class trouble : std::uint8_t { defect, store, lists, resources, room, vectors };
inline constexpr std::size_t kinds_of_trouble = 6;

/// What anybody may read of it: no URI, host or path.
[[nodiscard]] std::string_view words_for(trouble which) noexcept;

/// Those there are. `search_state::problem` is the gravest of them, as long as it lasts. Threads: one.
class troubles {
 public:
  explicit troubles(std::shared_ptr<ground> on) : on_(std::move(on)) {}
  /// `why` goes to the log, once as long as it is the same.
  void have(trouble which, const std::string& why);
  void have(trouble which, const failure& why);
  void end(trouble which);
  /// Of the gravest; empty: there are none.
  [[nodiscard]] std::string_view words() const noexcept;

 private:
  void tell() const;

  const std::shared_ptr<ground> on_;
  std::array<std::string, kinds_of_trouble> why_{};  // empty: there is none of that kind
};

}  // namespace hondana::search

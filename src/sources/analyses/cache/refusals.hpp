/// What every store refuses, in the same words.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <hondana/error.hpp>

#include "sources/analyses/cache/store.hpp"

namespace hondana::analyses {

inline constexpr std::size_t longest_who = 128;
inline constexpr std::size_t longest_reason = 4096;

/// That nothing is written of what could not be read again, or would fall apart on the way to a store. Errors:
/// invalid_argument.
[[nodiscard]] result<void> check(const wish& what);
[[nodiscard]] result<void> check(const putting& what);
[[nodiscard]] result<void> check(const forgetting& what);
[[nodiscard]] result<void> check_lease(milliseconds lease);

[[nodiscard]] tl::unexpected<failure> no_such_claim();
[[nodiscard]] tl::unexpected<failure> already_put();
[[nodiscard]] tl::unexpected<failure> another_question();
[[nodiscard]] tl::unexpected<failure> too_many_claims();
/// `most_computing` are reached.
[[nodiscard]] tl::unexpected<failure> too_much_computed();

/// Of a failure: what is kept, in whole characters of well-formed UTF-8.
[[nodiscard]] std::string kept_reason(std::string_view why);
/// What stands in the place of an analysis that was only claimed: the question.
[[nodiscard]] result<putting> prepared_for(const wish& what);

}  // namespace hondana::analyses

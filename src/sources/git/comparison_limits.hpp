/// How much of files the views compare. A comparison cannot be stopped, so that it must end soon by itself.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hondana::git {

/// Of either side, in bytes; also of files that are compared to find renames.
inline constexpr std::uint64_t largest_compared_file = std::uint64_t{32} << 20;
/// Of both sides together. So many lines drawn at random, the worst there is, take about a second and 50 megabytes.
inline constexpr std::size_t most_compared_lines = 200'000;

}  // namespace hondana::git

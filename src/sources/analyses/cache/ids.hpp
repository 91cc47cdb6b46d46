/// Ids of analyses, whose order is newest first.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <hondana/error.hpp>

namespace hondana::analyses {

inline constexpr std::size_t digits_of_id = 32;
inline constexpr std::size_t digits_of_time = 12;
inline constexpr std::size_t digits_of_secret = 16;

[[nodiscard]] bool is_id(std::string_view text) noexcept;
[[nodiscard]] bool is_secret(std::string_view text) noexcept;
/// The 20 digits behind the time. Errors: internal: the system has no random numbers.
[[nodiscard]] result<std::string> random_digits();
/// What only the holder of a claim knows, 16 digits. Errors: as `random_digits`.
[[nodiscard]] result<std::string> secret_digits();
/// Whether both are the same secret; what is none never is. How long it takes says nothing of either.
[[nodiscard]] bool is_same_secret(std::string_view a, std::string_view b) noexcept;
/// The 12 digits of a time, milliseconds since 1970.
[[nodiscard]] std::string digits_of(std::int64_t time);

/// 16 bytes of 32 digits; empty: these are none. And back.
[[nodiscard]] std::string raw_id(std::string_view id);
[[nodiscard]] std::string id_of_raw(std::string_view raw);

}  // namespace hondana::analyses

/// Reads what Drive answers.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <hondana/error.hpp>

#include "sources/gdrive/drive/entries.hpp"

namespace hondana::drive {

inline constexpr std::size_t most_answer_bytes = 32u << 20;
inline constexpr std::size_t most_page = 1'000;  ///< Files, drives or changes of one page.
inline constexpr std::size_t longest_name = 32u << 10;
inline constexpr std::size_t longest_page_token = 8u << 10;

// Errors: broken_protocol, naming the place and the member, never its value: "files/3/id: missing". Unknown members are passed
// over; so is a member of a wrong type that nothing depends on (a colour, a date that is none). What everything depends on (a
// page token, that there is a list) is checked. Of an entry of a page what cannot be used is left out, be it a parent or the
// whole, and stands in `odd`: whoever shares a file with us, and whatever Google adds, stops no list and no log.

[[nodiscard]] result<file> file_in(std::string_view json);
[[nodiscard]] result<file_page> files_in(std::string_view json);
[[nodiscard]] result<shared_drive> drive_in(std::string_view json);
[[nodiscard]] result<drive_page> drives_in(std::string_view json);
[[nodiscard]] result<change_page> changes_in(std::string_view json);
[[nodiscard]] result<about> about_in(std::string_view json);
[[nodiscard]] result<channel> channel_in(std::string_view json);
[[nodiscard]] result<std::string> start_token_in(std::string_view json);

}  // namespace hondana::drive

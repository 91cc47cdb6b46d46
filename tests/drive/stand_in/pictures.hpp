/// Pictures and pages that exports have: small, and the same for the same name.
#pragma once

#include <string>
#include <string_view>

namespace drive_test {

/// A square of one colour, which the name chooses.
std::string png_of(std::string_view name);
std::string svg_of(std::string_view name);
/// One page with one line of ASCII.
std::string pdf_of(std::string_view line);

}  // namespace drive_test

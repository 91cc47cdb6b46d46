/// URIs and patterns of URIs in the normal form in which rules compare them.
#pragma once

#include <string>
#include <string_view>

namespace hondana::access {

/// A canonical URI whose escaped text is in NFC, whatever it was in: names of files may be in NFD, and a rule means the name
/// that people see. What is no UTF-8 stays as it is; no separator comes or goes.
[[nodiscard]] std::string in_one_form(std::string_view uri);
/// Whether that makes any difference; cheap.
[[nodiscard]] bool has_forms(std::string_view uri) noexcept;

/// The same of a pattern, where text may be raw and escaped; sets in brackets stay as they are.
[[nodiscard]] std::string pattern_in_one_form(std::string_view pattern);

}  // namespace hondana::access

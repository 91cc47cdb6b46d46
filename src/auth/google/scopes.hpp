/// What of Google Drive is asked for: reading, and never more.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/error.hpp>

namespace hondana::google {

/// Spec: Google, "Choose Google Drive API scopes".
enum class scope : std::uint8_t {
  drive_metadata_readonly,  ///< Names, folders, times, owners, changes. Neither contents nor the list of shared drives.
  drive_readonly,           ///< These and contents.
};
using scopes = std::set<scope>;

/// "https://www.googleapis.com/auth/drive.readonly".
[[nodiscard]] std::string_view url_of(scope one) noexcept;

/// Takes URLs and their last parts ("drive.readonly"); nothing: `drive_readonly`. Errors: invalid_argument for any other, which
/// is never asked for, and says so.
[[nodiscard]] result<scopes> read_scopes(const std::vector<std::string>& names);

/// URLs with one space between, as token endpoints take them.
[[nodiscard]] std::string spelled(const scopes& of);

struct coverage {
  bool is_enough = false;  ///< All that was asked for is granted, by itself or by a wider scope.
  bool is_more = false;    ///< Something of Google's APIs is granted that was not asked for.
};
/// `granted`: as a token endpoint spells it.
[[nodiscard]] coverage coverage_of(std::string_view granted, const scopes& asked);

/// Whether contents may be read.
[[nodiscard]] bool may_read_contents(const scopes& of) noexcept;

}  // namespace hondana::google

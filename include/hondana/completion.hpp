/// Chooses and ranks the values of a completion.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <hondana/capabilities.hpp>
#include <hondana/provider.hpp>

namespace hondana::inline v0 {

/// Returns the values that match `typed`, in this order:
/// - values that begin with `typed`.
/// - values that begin with it if ASCII case is ignored.
/// - values whose words begin with its parts (`fb` for `foo_bar` and `fooBar`).
/// - values that contain its letters in order.
///
/// Among equal matches, shorter values come first. An empty `typed` matches every value, in the given order. Duplicates are
/// returned once. At most 100 values are returned; `total` counts all matches.
///
/// Texts are UTF-8; ill-formed parts are compared byte by byte. Threads: any.
/// Spec: server/utilities/completion#implementation-considerations, all revisions.
[[nodiscard]] complete_result complete_from(std::string_view typed, const std::vector<std::string>& values);

}  // namespace hondana::inline v0

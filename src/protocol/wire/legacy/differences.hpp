/// How the revisions of the handshake era differ from one another.
#pragma once

#include <array>
#include <string_view>

#include "protocol/wire/entries.hpp"
#include "protocol/wire/inputs.hpp"

namespace hondana::wire::legacy {

/// How one revision differs from its neighbours.
struct differences {
  std::string_view revision;
  bool has_batches;
  bool writes_null_ids;
  bool has_completions_capability;
  bool has_server_title;
  bool has_updated_title;
  bool misfits_are_results;
  bool has_completion_context;
  entry_members members;
  input_members inputs;
  bool may_poll = false;
};

/// The same revision as peers see it that know the versioned dialect.
[[nodiscard]] constexpr differences with_dialect(differences plain) noexcept {
  plain.members.versioned = true;
  return plain;
}

// Columns as in the specification's changelogs: batches came and went with 2025-03-26, which brought audio and hints about
// tools; title, lastModified, _meta, structured content, links, forms and what completions know of came with 2025-06-18, whose
// page alone shows names beside contents; icons, links for the user and sampling with tools came with 2025-11-25, which also
// made error ids optional misfitting arguments something for the model, and let clients poll.
inline constexpr entry_members members_2025_11_25{true, true, true, true, false, true, true, false};
inline constexpr entry_members members_2025_06_18{true, true, false, true, true, true, true, false};
inline constexpr entry_members members_2025_03_26{false, false, false, false, false, true, false, false};
inline constexpr entry_members members_2024_11_05{};

inline constexpr std::array revisions_of_era{
    differences{"2025-11-25",
                false,
                false,
                true,
                true,
                false,
                true,
                true,
                members_2025_11_25,
                {true, true, true, true, true, members_2025_11_25},
                true},
    differences{"2025-06-18",
                false,
                true,
                true,
                true,
                true,
                false,
                true,
                members_2025_06_18,
                {true, false, false, false, false, members_2025_06_18}},
    differences{"2025-03-26",
                true,
                true,
                true,
                false,
                false,
                false,
                false,
                members_2025_03_26,
                {false, false, false, false, false, members_2025_03_26}},
    differences{"2024-11-05",
                false,
                true,
                false,
                false,
                false,
                false,
                false,
                members_2024_11_05,
                {false, false, false, false, false, members_2024_11_05}},
};

}  // namespace hondana::wire::legacy

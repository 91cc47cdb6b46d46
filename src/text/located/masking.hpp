/// Masks secrets in configuration trees.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "text/located/node.hpp"
#include "text/secrets/scanner.hpp"

namespace hondana::located {

/// Masks with asterisks every text, number and key of a tree that is a secret: because it is found in the text that the tree
/// was read from (there by the policy for settings, around it what stands around it), because it is one by itself, or because
/// of the key it stands below. Of a text that a secret was found in, the whole value where the value is written otherwise than
/// it reads (escapes). A number that is masked becomes a text. So are all values of what Kubernetes calls a Secret. Returns how
/// many values and keys were masked.
std::size_t mask_secrets(document& of, std::string_view text);

/// The same, and says where in the text secrets are: those that are found there, and what of the tree was masked beyond them,
/// as whole values. In order and apart, as `secrets::find` gives them; a text with these masked shows no more than the tree
/// does.
std::size_t mask_secrets(document& of, std::string_view text, std::vector<secrets::span>& in_text);

}  // namespace hondana::located

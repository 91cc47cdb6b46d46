/// Masks secrets in configuration trees.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "text/located/node.hpp"
#include "text/secrets/scanner.hpp"

namespace hondana::located {

/// Masks the secrets of a tree with asterisks: texts, numbers and keys, also in its warnings. `text`: the source text of the
/// tree. Returns the number of masked values and keys.
///
/// There are three reasons why a value is secret. The policy for settings finds it in the source text; it is a secret by
/// itself; or a key above it says so. All values of a Kubernetes Secret are secret. If a secret was found in a value whose
/// source differs from its meaning (escapes), the whole value is masked. A masked number becomes a text.
std::size_t mask_secrets(document& document, std::string_view text);

/// Masks like the overload above. Sets `source_spans` to the ranges of secrets in the source text: those found there, and those
/// that were masked only in the tree. Sorted and disjoint. The text with these ranges masked reveals no more than the tree.
std::size_t mask_secrets(document& document, std::string_view text, std::vector<secrets::span>& source_spans);

}  // namespace hondana::located

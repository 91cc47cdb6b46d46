/// Inner products of vectors, with AVX2 if the processor supports it.
#pragma once

#include <cstddef>

namespace hondana::embeddings {

/// Returns the inner product of two vectors of `count` numbers. The last digits depend on the machine.
using product = float (*)(const float* a, const float* b, std::size_t count) noexcept;

/// Returns the AVX2 and FMA version if the processor supports both, otherwise `product_portable`. Always the same during one
/// run.
[[nodiscard]] product fastest_product() noexcept;

/// Needs no processor-specific instructions.
[[nodiscard]] float product_portable(const float* a, const float* b, std::size_t count) noexcept;

}  // namespace hondana::embeddings

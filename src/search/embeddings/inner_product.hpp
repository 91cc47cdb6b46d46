/// Inner products of vectors, with AVX2 where the processor has it.
#pragma once

#include <cstddef>

namespace hondana::embeddings {

/// Sums in single precision; the last digits depend on the machine.
using product = float (*)(const float* a, const float* b, std::size_t count) noexcept;

/// With AVX2 and FMA where there are both, and otherwise `product_portable`. The same for the whole run.
[[nodiscard]] product fastest_product() noexcept;

/// Without vectors of the machine's own.
[[nodiscard]] float product_portable(const float* a, const float* b, std::size_t count) noexcept;

}  // namespace hondana::embeddings

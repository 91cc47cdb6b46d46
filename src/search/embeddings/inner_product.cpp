/// Inner products of vectors, with AVX2 if the processor supports it.
#include "search/embeddings/inner_product.hpp"

#include <array>

#if defined(__x86_64__) && !defined(HONDANA_PORTABLE_KERNELS)
#include <immintrin.h>
#define HONDANA_AVX2_PRODUCTS 1
#endif

namespace hondana::embeddings {
namespace {

constexpr std::size_t lanes = 8;

#ifdef HONDANA_AVX2_PRODUCTS
/// Uses four independent sums, because each addition of a single sum would wait for the previous one.
__attribute__((target("avx2,fma"))) float product_avx2(const float* a, const float* b, std::size_t count) noexcept {
  __m256 first = _mm256_setzero_ps();
  __m256 second = _mm256_setzero_ps();
  __m256 third = _mm256_setzero_ps();
  __m256 fourth = _mm256_setzero_ps();
  std::size_t i = 0;
  for (; i + 4 * lanes <= count; i += 4 * lanes) {
    first = _mm256_fmadd_ps(_mm256_loadu_ps(a + i), _mm256_loadu_ps(b + i), first);
    second = _mm256_fmadd_ps(_mm256_loadu_ps(a + i + lanes), _mm256_loadu_ps(b + i + lanes), second);
    third = _mm256_fmadd_ps(_mm256_loadu_ps(a + i + 2 * lanes), _mm256_loadu_ps(b + i + 2 * lanes), third);
    fourth = _mm256_fmadd_ps(_mm256_loadu_ps(a + i + 3 * lanes), _mm256_loadu_ps(b + i + 3 * lanes), fourth);
  }
  for (; i + lanes <= count; i += lanes) first = _mm256_fmadd_ps(_mm256_loadu_ps(a + i), _mm256_loadu_ps(b + i), first);
  const __m256 sum = _mm256_add_ps(_mm256_add_ps(first, second), _mm256_add_ps(third, fourth));
  __m128 half = _mm_add_ps(_mm256_castps256_ps128(sum), _mm256_extractf128_ps(sum, 1));
  half = _mm_add_ps(half, _mm_movehl_ps(half, half));
  half = _mm_add_ss(half, _mm_movehdup_ps(half));
  float out = _mm_cvtss_f32(half);
  for (; i < count; ++i) out += a[i] * b[i];
  return out;
}
#endif

}  // namespace

float product_portable(const float* a, const float* b, std::size_t count) noexcept {
  std::array<float, lanes> sums{};
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    for (std::size_t j = 0; j < lanes; ++j) sums[j] += a[i + j] * b[i + j];
  }
  float out = 0;
  for (; i < count; ++i) out += a[i] * b[i];
  for (const float sum : sums) out += sum;
  return out;
}

product fastest_product() noexcept {
#ifdef HONDANA_AVX2_PRODUCTS
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return product_avx2;
#endif
  return product_portable;
}

}  // namespace hondana::embeddings

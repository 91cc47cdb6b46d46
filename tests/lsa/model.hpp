/// Vectors of texts by latent semantic analysis, for tests: what a model of embeddings does, without one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace lsa {

using vector = std::vector<float>;

/// Log-entropy weights, and the `k` strongest directions of a randomised singular value decomposition (Halko, Martinsson and
/// Tropp, 2011). The same texts give the same model. Immutable; threads: any.
class model {
 public:
  /// Fewer texts or words than `k` leave the last numbers of all vectors 0.
  [[nodiscard]] static std::shared_ptr<const model> of(const std::vector<std::string>& texts, std::size_t k = 128);
  /// Of the .md files of a folder, cut at their headings.
  [[nodiscard]] static std::shared_ptr<const model> of_folder(const std::string& folder, std::size_t k = 128);
  ~model();
  model(const model&) = delete;
  model& operator=(const model&) = delete;

  /// Of length 1. A text of which no word is known has a direction of its own, as with a real model, that has nothing to do
  /// with anything.
  [[nodiscard]] vector embed(std::string_view text) const;
  [[nodiscard]] std::size_t dimension() const noexcept;
  [[nodiscard]] std::size_t words() const noexcept;

 private:
  struct state;
  explicit model(std::unique_ptr<state> made) noexcept;
  std::unique_ptr<state> state_;
};

/// Its parts, each with its heading.
[[nodiscard]] std::vector<std::string> sections_of(std::string_view markdown);

}  // namespace lsa

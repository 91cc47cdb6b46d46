/// An embedder that asks a service over HTTP.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "search/embeddings/embedder.hpp"
#include "search/embeddings/respite.hpp"

namespace hondana::embeddings {

class service final : public embedder {
 public:
  service(settings from, std::shared_ptr<endpoint::endpoint> at);

  result<std::vector<vector>> of_documents(std::span<const std::string> texts, std::stop_token stop) const override;
  result<vector> of_query(const std::string& text, std::chrono::steady_clock::time_point until,
                          std::stop_token stop) const override;
  const std::string& id() const noexcept override { return id_; }
  std::size_t dimension() const noexcept override { return dimension_; }
  std::string description() const override;
  std::string place() const override { return at_->place(); }
  std::vector<std::string> files() const override { return at_->files(); }

 private:
  using clock = respite::clock;
  struct call {
    std::optional<clock::time_point> until{};
    std::stop_token stop{};
    bool leaves_out = false;  ///< What is refused by itself has no vector, where others have one.
  };
  /// What came of one request.
  struct outcome {
    std::vector<vector> vectors{};  ///< Empty: it was refused, as `why` says, in a way that may be due to its texts.
    failure why{};
    bool is_for_size = false;
  };

  [[nodiscard]] std::string prepared(const std::string& prefix, std::string_view text) const;
  /// Asks, and keeps account of what came of it.
  [[nodiscard]] result<void> fill(std::span<std::string> texts, std::span<vector> into, const call& how) const;
  /// Asks for all at once, or, where that is refused, for less. `does_answer`: the service has given some vector meanwhile.
  [[nodiscard]] result<void> ask(std::span<std::string> texts, std::span<vector> into, const call& how,
                                 bool& does_answer) const;
  [[nodiscard]] result<outcome> ask_once(std::span<const std::string> texts, const call& how) const;
  /// Whether it answers at all, to a text that nobody can find fault with.
  [[nodiscard]] bool answers(const call& how) const;
  [[nodiscard]] failure failure_of(const endpoint::answer& got, std::string words) const;
  [[nodiscard]] result<void> take_dimension(std::span<const vector> of, const call& how) const;
  [[nodiscard]] std::string body_of(std::span<const std::string> texts) const;
  [[nodiscard]] std::size_t most_bytes_for(std::size_t texts) const;

  const settings from_;
  const std::shared_ptr<endpoint::endpoint> at_;
  const std::string path_;
  const std::string id_;
  mutable std::atomic<std::size_t> dimension_;
  mutable respite respite_;
};

}  // namespace hondana::embeddings

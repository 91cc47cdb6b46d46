/// An embedder that asks a service over HTTP.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "embeddings/embedder.hpp"
#include "embeddings/respite.hpp"

namespace hondana::embeddings {

class service final : public embedder {
 public:
  service(settings from, std::shared_ptr<endpoint::endpoint> at);

  result<std::vector<vector>> of_documents(std::span<const std::string> texts, std::stop_token stop) const override;
  result<vector> of_query(const std::string& text, std::stop_token stop) const override;
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
  };

  [[nodiscard]] std::string prepared(const std::string& prefix, std::string_view text) const;
  /// Asks, and keeps account of what came of it.
  [[nodiscard]] result<void> fill(std::span<std::string> texts, std::span<vector> into, const call& how) const;
  /// Asks for all at once, or, where that is refused for its size, for less.
  [[nodiscard]] result<void> ask(std::span<std::string> texts, std::span<vector> into, const call& how) const;
  /// Nothing: it was refused for its size, as `why` says.
  [[nodiscard]] result<std::optional<std::vector<vector>>> ask_once(std::span<const std::string> texts, const call& how,
                                                                    failure& why) const;
  [[nodiscard]] failure failure_of(const endpoint::answer& got, std::string words) const;
  [[nodiscard]] result<void> check_dimension(std::size_t got) const;
  [[nodiscard]] std::string body_of(std::span<const std::string> texts) const;
  [[nodiscard]] std::size_t most_bytes_for(std::size_t texts) const;

  const settings from_;
  const std::shared_ptr<endpoint::endpoint> at_;
  const std::string path_;
  const std::string id_;
  mutable std::atomic<std::size_t> dimension_;
  mutable respite respite_;
  mutable std::mutex mutex_;
  mutable std::string wrong_last_;  // empty: nothing
};

}  // namespace hondana::embeddings

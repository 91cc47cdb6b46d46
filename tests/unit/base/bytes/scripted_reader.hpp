/// A reader whose pieces and faults a test chooses.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include <hondana/resource.hpp>

namespace hondana::test {

class scripted_reader : public byte_reader {
 public:
  explicit scripted_reader(std::string bytes, std::size_t piece = 7) : bytes_(std::move(bytes)), piece_(piece) {}

  std::optional<std::uint64_t> said_size;
  std::optional<failure> fault;                 ///< Given instead of the next piece.
  std::function<void(std::string&)> on_rewind;  ///< May change the bytes for the second pass.
  int reads = 0;

  [[nodiscard]] std::uint64_t size() const noexcept override { return said_size.value_or(bytes_.size()); }
  [[nodiscard]] result<std::size_t> read(std::span<char> into) override {
    ++reads;
    if (fault) return tl::unexpected(*fault);
    const auto count = std::min({into.size(), piece_, bytes_.size() - at_});
    std::copy_n(bytes_.begin() + static_cast<std::ptrdiff_t>(at_), count, into.begin());
    at_ += count;
    return count;
  }
  [[nodiscard]] result<void> rewind() override {
    at_ = 0;
    if (on_rewind) on_rewind(bytes_);
    return {};
  }

 private:
  std::string bytes_;
  std::size_t piece_;
  std::size_t at_ = 0;
};

}  // namespace hondana::test

/// Masks secrets in content read in pieces or lines.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include <hondana/resource.hpp>

#include "text/secrets/redactor.hpp"

namespace hondana::secrets {

/// Gives what another reader gives, which is the whole of a source, without its secrets. Holds less than a mebibyte of it.
/// Errors: as the other's. Threads: as any reader.
class masking_reader final : public byte_reader {
 public:
  masking_reader(std::shared_ptr<byte_reader> of, policy how) noexcept : of_(std::move(of)), how_(how) {}

  [[nodiscard]] std::uint64_t size() const noexcept override { return of_->size(); }
  [[nodiscard]] result<std::size_t> read(std::span<char> into) override;
  [[nodiscard]] result<void> rewind() override;
  /// How many secrets were masked, once all has been read.
  [[nodiscard]] metadata facts() const override;

 private:
  /// Makes the next piece ready; an empty one at the end.
  [[nodiscard]] result<void> advance();
  /// Reads until `window_` has `wanted` bytes, or all.
  [[nodiscard]] result<void> fill(std::size_t wanted);

  std::shared_ptr<byte_reader> of_;
  policy how_;
  redactor redactor_;
  std::string window_;    // of the source: what decides about the next piece, the piece, and what decides about it behind
  std::size_t next_ = 0;  // in `window_`: the next piece
  std::string ready_;
  std::size_t given_ = 0;  // of `ready_`
  std::size_t masked_ = 0;
  bool is_begun_ = false;
  bool is_at_end_ = false;  // of the source
};

/// Masks the lines of one source, such as a program's standard error. Threads: one at a time.
class line_masker {
 public:
  /// What `redact_text` masks, and whole lines between the first and the last one of a private key. A key without a last line
  /// ends where something else begins that has words in it, or when it is longer than any.
  [[nodiscard]] std::string masked(std::string_view line);

 private:
  std::size_t lines_left_ = 0;  ///< Of a key.
};

}  // namespace hondana::secrets

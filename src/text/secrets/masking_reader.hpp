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

/// Reads from another reader, which must be at its beginning and return a whole source, and masks the secrets. Buffers less
/// than 1 MiB. Errors: those of the other reader. Threads: as any reader.
class masking_reader final : public byte_reader {
 public:
  masking_reader(std::shared_ptr<byte_reader> source, masking_policy policy) noexcept
      : source_(std::move(source)), policy_(policy) {}

  [[nodiscard]] std::uint64_t size() const noexcept override { return source_->size(); }
  [[nodiscard]] result<std::size_t> read(std::span<char> buffer) override;
  [[nodiscard]] result<void> rewind() override;
  /// Returns the number of masked secrets. Complete after everything has been read.
  [[nodiscard]] metadata trailing_metadata() const override;

 private:
  /// Prepares the next piece; an empty one at the end.
  [[nodiscard]] result<void> advance();
  /// Reads until `window_` has `min_bytes` bytes, or the end is reached.
  [[nodiscard]] result<void> fill(std::size_t min_bytes);

  std::shared_ptr<byte_reader> source_;
  masking_policy policy_;
  redactor redactor_;
  std::string window_;    // of the source: the next piece with the context before and after it that decides about it
  std::size_t next_ = 0;  // position of the next piece in `window_`
  std::string ready_;
  std::size_t returned_ = 0;  // returned bytes of `ready_`
  std::size_t masked_ = 0;
  bool is_started_ = false;
  bool is_at_end_ = false;  // of the source
};

/// Masks the lines of one source, such as the standard error of a program. Threads: one at a time.
class line_masker {
 public:
  /// Masks what `redact_text` masks, and whole lines between the first and last line of a private key. A key without a last
  /// line ends at a line of other words, or when it is longer than any key.
  [[nodiscard]] std::string mask(std::string_view line);

 private:
  std::size_t lines_left_ = 0;  ///< Limit for the rest of a key.
};

}  // namespace hondana::secrets

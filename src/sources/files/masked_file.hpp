/// A file as it is served: without the secrets in it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "sources/files/open_file.hpp"
#include "text/secrets/scanner.hpp"

namespace hondana::files {

/// Gives the bytes of another file, those of secrets masked, so that whatever is cut out of it was masked in the whole. A read
/// takes up to `secrets::margin` bytes more at either end from the other (twice that of UTF-16, four times
/// that of UTF-32).
class masked_file final : public open_file {
 public:
  masked_file(std::shared_ptr<const open_file> of, secrets::policy how) noexcept : of_(std::move(of)), how_(how) {}

  [[nodiscard]] result<disk::stamp> state() const override { return of_->state(); }
  [[nodiscard]] result<std::size_t> read(char* into, std::size_t size, std::uint64_t offset) const override;
  [[nodiscard]] result<std::size_t> read_counting(char* into, std::size_t size, std::uint64_t offset, bool is_first,
                                                  std::size_t& masked) const override;

 private:
  std::shared_ptr<const open_file> of_;
  secrets::policy how_;
};

}  // namespace hondana::files

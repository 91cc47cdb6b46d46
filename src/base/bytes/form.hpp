/// Tells text from blobs by looking at all of the content.
#pragma once

#include <string_view>

#include <hondana/resource.hpp>

#include "base/json/utf8.hpp"

namespace hondana::bytes {

/// Text is well-formed UTF-8 without NUL, judged over the whole content; everything else is a blob. Fed in pieces.
class form_detector {
 public:
  void feed(std::string_view piece);
  /// `text` or `blob`, for what has been fed.
  [[nodiscard]] content_form value() const noexcept;

 private:
  json::utf8_stream utf8_;
  bool binary_ = false;
};

[[nodiscard]] content_form form_of(std::string_view bytes) noexcept;

}  // namespace hondana::bytes

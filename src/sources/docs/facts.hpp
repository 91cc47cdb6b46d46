/// What is known of a document once it has been read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <hondana/error.hpp>
#include <hondana/resource.hpp>

#include "os/disk/stamp.hpp"
#include "sources/docs/statements.hpp"
#include "text/markup/outline.hpp"

namespace hondana::docs {

/// Small enough to be kept for every document.
struct facts {
  disk::stamp state{};
  std::string charset_rule{};  ///< What a rule said its encoding is, when it was read.
  bool is_racy = false;        ///< It may have changed since without a trace.

  statements says{};
  std::string heading{};      ///< Its first heading, or the title that a PDF or Office file has; empty: none.
  std::string description{};  ///< Its first paragraph.
  std::string lang{};         ///< As the file says, or as its text shows; empty: not known.
  std::string charset{};      ///< "UTF-8" and the like; empty for PDF and Office files.
  std::size_t replaced = 0;   ///< Places that are not of that encoding.
  std::size_t pages = 0;
  std::optional<std::uint64_t> text_size{};  ///< Of its text, in bytes; absent: not read to its end.
  std::size_t masked = 0;                    ///< Secrets in its text.
  std::vector<std::string> targets{};        ///< Of its links to what is beside it, as written, each once; at most 1000.
  bool is_cut = false;                       ///< There is more than could be rendered.
  bool has_secrets_beside = false;           ///< In what of its file is not part of the text.
  bool equals_original = false;  ///< Its text is the file, byte for byte, but for masked secrets and a byte order mark.

  std::optional<failure> problem{};  ///< Why it could not be read.
};

/// The text of a document, whole and masked.
struct prose {
  shared_bytes text{};
  markup::outline outline{};
  std::shared_ptr<const facts> about{};
  std::string digest{};  ///< Of the text.

  [[nodiscard]] std::size_t cost() const noexcept;
};

}  // namespace hondana::docs

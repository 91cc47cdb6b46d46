/// Text that an Office file holds beside the text that it becomes: headers, footers, charts, drawings, masters, comments.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <hondana/error.hpp>

#include "text/rendering/office/office.hpp"

namespace hondana::rendering {

/// All text of parts, in lines: runs of one paragraph stay together. It is looked at for secrets and never shown. Of a part
/// that is rendered otherwise: only what stands in elements that the rendering leaves out.
class beside_events final : public events {
 public:
  enum class where { everywhere, in_what_is_left_out };
  beside_events(where from, text_beside& into) noexcept : from_(from), into_(into) {}

  void begin(const element& what, const attributes& with) override;
  void end(const element& what) override;
  void text(std::string_view piece) override;
  [[nodiscard]] bool has_enough() const override { return into_.is_cut(); }

 private:
  const where from_;
  text_beside& into_;
  std::size_t depth_ = 0;  // in what is left out
  bool in_run_ = false;
  bool has_text_ = false;  // since an element began or ended
};

/// Reads it of a file, and of the workbooks within it. Errors: as `package::read`.
[[nodiscard]] result<void> collect_beside(format what, const office_file& from, findings_of_office& found);

}  // namespace hondana::rendering

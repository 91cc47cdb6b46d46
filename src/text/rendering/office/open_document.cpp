/// OpenDocument: styles, then the content.
#include "text/rendering/office/office.hpp"
#include "text/rendering/office/open_content.hpp"
#include "text/rendering/office/open_styles.hpp"

namespace hondana::rendering {
namespace {

class styles_part final : public events {
 public:
  explicit styles_part(open_styles& into) noexcept : into_(into) {}
  void begin(const element& what, const attributes& with) override { into_.begin(what, with); }
  void end(const element&) override {}
  void text(std::string_view) override {}

 private:
  open_styles& into_;
};

}  // namespace

result<void> render_open_document(format what, package& from, text_output& to, findings_of_office& found) {
  open_styles styles(found);
  styles_part first(styles);
  auto read = from.read([&](const std::string& name) -> events* { return name == "styles.xml" ? &first : nullptr; });
  if (!read) return read;
  open_content content(what, styles, to, found);
  read = from.read([&](const std::string& name) -> events* { return name == "content.xml" ? &content : nullptr; });
  if (!read) return read;
  if (!content.has_body())
    return fail(errc::invalid_argument, "the file does not contain OpenDocument content of that kind; check its format");
  to.blocks(content.notes().so_far());
  found.is_cut = found.is_cut || content.notes().is_cut();
  return {};
}

}  // namespace hondana::rendering

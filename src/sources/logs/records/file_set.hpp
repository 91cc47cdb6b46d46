/// The files that a log is kept in.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/error.hpp>

#include "os/disk/handle.hpp"
#include "os/disk/own_files.hpp"
#include "os/disk/stamp.hpp"
#include "sources/logs/records/file_names.hpp"

namespace re2 {
class RE2;
}

namespace hondana::records {

struct listed_file {
  std::string name;
  file_rank rank{};
  disk::stamp facts{};
};

struct listed_set {
  std::shared_ptr<const disk::handle> folder;
  std::vector<listed_file> files{};  ///< The oldest first.
  std::vector<std::string> remarks{};
  disk::own_files own{};  ///< Of them none is listed.
};

/// Where they are.
struct set_place {
  std::string folder;  ///< Absolute.
  std::string live;    ///< A name in it.
  std::shared_ptr<const re2::RE2> pattern{};
  std::size_t most = 1000;
  std::vector<std::string> kept_back{};  ///< Files that the server keeps for itself: absolute, links resolved.
};

/// Lists them as they were together at one moment. Of a file that stands there twice, such as while it is compressed, one is
/// taken: the one that is not compressed. The order is that of numbers or dates in names, where all have the same kind of them,
/// and else of their times. What is kept back is as if it were not there, under any name. Errors: resource_not_found when there
/// is none, access_denied, source_unavailable.
[[nodiscard]] result<listed_set> list_files(const set_place& where);

/// Opens one that was listed; that is the same file still, else content_changed. Errors: access_denied, resource_not_found.
[[nodiscard]] result<disk::handle> open_listed(const listed_set& in, const listed_file& which);

}  // namespace hondana::records

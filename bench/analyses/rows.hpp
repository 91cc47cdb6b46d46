/// A million analyses in a file, sooner than by a million claims.
#pragma once

#include <cstddef>
#include <string>

namespace analyses_bench {

/// Writes numbers `from` to `to` into the tables of the store at `path`, which may be open, in one transaction. Throws.
void write_rows(const std::string& path, std::size_t from, std::size_t to);

}  // namespace analyses_bench

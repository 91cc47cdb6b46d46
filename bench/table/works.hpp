/// The parts of the table; each measures and reports.
#pragma once

#include "../figures/report.hpp"
#include "setting.hpp"

namespace table_bench {

void run_over_http(const setting& at, bench::report& to);
void run_over_stdio(const setting& at, bench::report& to);
void run_memory(const setting& at, bench::report& to);
void run_start(const setting& at, bench::report& to);

}  // namespace table_bench

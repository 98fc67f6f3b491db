#pragma once

#include "table.h"

namespace redoubt::bench {

// Each topic is one file that adds its lines. To add a topic: its file, one line here, one line in
// main.cc.
void vector_math(Table& table);
void kl(Table& table);
void chi2_and_tv(Table& table);
void mixing(Table& table);
void accuracy(Table& table);
void rcvi(Table& table);
void gradient(Table& table);
void frontier(Table& table);
void certificate(Table& table);
void scale(Table& table);
void building(Table& table);
void base_case(Table& table);
void peers(Table& table);
void states(Table& table);
void factors(Table& table);
void abstraction(Table& table);
void doors(Table& table);  // models that come from elsewhere
// Takes minutes and decides nothing from day to day: only by its name, bench --filter slabs.
void slabs(Table& table);

}  // namespace redoubt::bench

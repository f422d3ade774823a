#pragma once

#include <vector>

namespace crisp::ops {

struct Offset {
  int dy, dx;
};

// The 8 neighbours at each distance, row by row.
template <typename Distances>
std::vector<Offset> neighbours(const Distances& distances) {
  std::vector<Offset> offsets;
  for (const int d : distances)
    for (const int dy : {-d, 0, d})
      for (const int dx : {-d, 0, d})
        if (dy != 0 || dx != 0) offsets.push_back({dy, dx});
  return offsets;
}

}  // namespace crisp::ops

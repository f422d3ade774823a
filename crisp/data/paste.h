#pragma once

#include "crisp/data/augment.h"

namespace crisp::data {

struct Box {
  int left = 0, top = 0, width = 0, height = 0;
};

// Where a piece of another crop goes: each of its sides has 30% to 70% of the crop's.
Box random_piece(int width, int height, Rng& rng);

// The pixels of `from` in the box, laid over the same pixels of `onto`, which has the same size (CutMix, Yun et al.,
// 2019): things then stand where nothing around them tells what they are. Of an example: its photo, labels, uncertainty
// and padding.
void paste(const image::Mask& from, const Box& box, image::Mask& onto);
void paste(const Example& from, const Box& box, Example& onto);

}  // namespace crisp::data

#pragma once

#include "crisp/flow/seeds.h"
#include "crisp/flow/train_classifier.h"
#include "crisp/flow/train_student.h"
#include "crisp/recipe/recipe.h"

namespace crisp::flow {

// What a recipe leaves to the data and the machine it is used on.
struct Circumstances {
  int64_t photos = 0;      // learned from
  int typical_side = 320;  // of photos, their long side
  bool gpu = false;
};

// The same recipe with nothing left open: passes over the photos, crops, input scale, precision.
recipe::Recipe settled(recipe::Recipe recipe, const Circumstances& there);

// What the recipe says of each stage, into its options; what is none of the recipe's (data, folders, threads, random
// seed) is left alone. `recipe` is settled.
void take(const recipe::Recipe& recipe, ClassifierOptions& options);
void take(const recipe::Recipe& recipe, SeedsOptions& options);
void take(const recipe::Recipe& recipe, StudentOptions& options);

}  // namespace crisp::flow

#pragma once

#include <string>

#include "crisp/base/classes.h"
#include "crisp/report/html.h"
#include "crisp/report/showcase.h"

namespace crisp::report {

// A picture that the page carries inside. Photos as JPEG, drawings as PNG.
Html photo_picture(const image::Image& image, const std::string& alt);
Html drawn_picture(const image::Image& image, const std::string& alt);

// Where the prediction is wrong, on the photo in grey (on plain grey without one): objects missed, background
// taken for an object, one class taken for another, pixels that are not scored.
image::Image error_picture(const Example& example);
Html error_legend();

// Photo, truth, prediction, error and uncertainty side by side, as far as they are known, with the classes'
// colours. `ignore` is the truth's label that is not scored.
Html example_card(const Example& example, const ClassNames& names);

}  // namespace crisp::report

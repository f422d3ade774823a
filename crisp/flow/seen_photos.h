#pragma once

#include <string>
#include <vector>

#include "crisp/data/dataset.h"

// Which photos a network has learned from, in any way, labels or none: a score on them is no score.
namespace crisp::flow {

// Photos by their ids, and how they were learned from, in words.
struct SeenPhotos {
  std::vector<std::string> ids;
  std::string how;
};

// What is known of a model or encoder file or a run folder: the list in its run folder (photos.txt); for shipped files,
// and for the frozen encoder that a model names, the card in weights/cards.json.
std::vector<SeenPhotos> photos_seen_by(const Path& file_or_run);

// Keeps in a run folder what its model will have seen: `samples`, and what the weights it starts from have.
void keep_photos_seen(const Path& run, const std::vector<data::Sample>& samples, const Path& init);

// A sentence for every reason why these photos are not new to the model.
std::vector<std::string> seen_before(const Path& file_or_run, const std::vector<std::string>& ids);

}  // namespace crisp::flow

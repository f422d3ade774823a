#pragma once

#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <vector>

#include "crisp/base/error.h"
#include "crisp/base/thread_pool.h"
#include "crisp/image/image.h"

namespace crisp::infer {

struct Photo {
  size_t index = 0;
  image::Image image;
};

struct StreamOptions {
  int workers = 2;
  int64_t batch = 1;           // photos of one size at once in the network
  std::function<bool()> stop;  // when it says so, no further photo is begun
};

// What happens to each photo. The first and the third run on worker threads, the others on the calling thread.
template <typename Result, typename Finished>
struct PhotoStages {
  std::function<image::Image(size_t index)> read;  // throws Error for a photo that cannot be read
  std::function<std::vector<Result>(const std::vector<Photo>& group)> network;
  std::function<Finished(const Photo& photo, Result& result)> finish;
  std::function<void(Finished done)> done;  // in the photos' order
  std::function<void(size_t index, const std::string& problem)> unreadable;
};

// Photos 0 .. count-1 through decoding, network and finishing, which overlap, with a bounded number under way, so
// memory does not grow with the number of photos. Neighbours of one size go through the network together.
template <typename Result, typename Finished>
void stream_photos(size_t count, const StreamOptions& options, const PhotoStages<Result, Finished>& stages) {
  struct Read {
    Photo photo;
    std::string problem;
  };
  const size_t window = static_cast<size_t>(2 * options.workers) + static_cast<size_t>(options.batch);
  std::deque<std::future<Read>> reading;
  std::deque<std::future<Finished>> finishing;
  std::vector<Photo> group;
  ThreadPool pool(options.workers);  // last: its threads end before what they work on

  const auto finish_one = [&] {
    Finished finished = finishing.front().get();
    finishing.pop_front();
    stages.done(std::move(finished));
  };
  const auto flush = [&] {
    if (group.empty()) return;
    std::vector<Result> results = stages.network(group);
    for (size_t i = 0; i < group.size(); ++i) {
      auto job = std::make_shared<std::pair<Photo, Result>>(std::move(group[i]), std::move(results[i]));
      finishing.push_back(pool.submit([&stages, job] { return stages.finish(job->first, job->second); }));
    }
    group.clear();
    while (finishing.size() > window) finish_one();
  };
  size_t next = 0, end = count;
  while (next < end || !reading.empty()) {
    if (options.stop && options.stop()) end = next;
    while (next < end && reading.size() < window) {
      const size_t index = next++;
      reading.push_back(pool.submit([&stages, index]() -> Read {
        try {
          return {{index, stages.read(index)}, ""};
        } catch (const Error& error) {
          return {{index, {}}, error.what()};
        }
      }));
    }
    if (reading.empty()) break;  // stopped before the first
    Read item = reading.front().get();
    reading.pop_front();
    if (!item.problem.empty()) {
      stages.unreadable(item.photo.index, item.problem);
      continue;
    }
    const bool same_size = group.empty() || (group[0].image.width == item.photo.image.width &&
                                             group[0].image.height == item.photo.image.height);
    if (!same_size) flush();
    group.push_back(std::move(item.photo));
    if (static_cast<int64_t>(group.size()) == options.batch) flush();
  }
  flush();
  while (!finishing.empty()) finish_one();
}

}  // namespace crisp::infer

#include "crisp/train/classify_task.h"

#include <deque>
#include <future>

#include "crisp/base/error.h"
#include "crisp/base/log.h"
#include "crisp/base/text.h"
#include "crisp/base/thread_pool.h"
#include "crisp/image/decode.h"
#include "crisp/infer/predictor.h"
#include "crisp/metric/average_precision.h"
#include "crisp/train/batch.h"
#include "crisp/train/mosaic.h"

namespace crisp::train {
namespace {

void freeze_norms(torch::nn::Module& network) {
  for (const auto& part : network.modules()) {
    if (part->as<torch::nn::LayerNorm>() != nullptr) freeze(*part);
  }
}

}  // namespace

ClassifyTask::ClassifyTask(model::CamClassifier network, std::vector<data::Sample> train, std::vector<data::Sample> val,
                           const ClassifyOptions& options, torch::Device device, std::shared_ptr<feature::Store> store)
    : network_(std::move(network)),
      train_(std::move(train)),
      val_(std::move(val)),
      options_(options),
      device_(device),
      store_(std::move(store)),
      loader_(train_.size(), [this](size_t index, Rng& rng) { return make_example(index, rng); },
              {.batch = options.batch, .workers = options.workers, .seed = options.seed, .shuffle = true}) {
  data::check(options_.augment);
  if (network_->config.encoder.vit && !store_) {
    throw Error("a tag classifier on {} learns from its features", network_->config.encoder.arch);
  }
  if (options_.mosaic > 0 && store_) throw UsageError("--mosaic: features are of whole photos; leave it at 0");
  if (options_.augment.crop == 0 && options_.batch > 1 && !store_) {
    throw UsageError("--crop 0: photos of many sizes do not fit into one batch; choose a crop or --batch 1");
  }
  if (options_.mosaic > 0 && (options_.augment.crop % 32 != 0 || options_.batch % 4 != 0)) {
    throw UsageError(
        "--mosaic {} with --crop {} and --batch {}: tiles meet between cells, so the crop must be a "
        "multiple of 32, and four stand in a picture, so the batch must be a multiple of 4",
        options_.mosaic, options_.augment.crop, options_.batch);
  }
  if (options_.freeze_norms) freeze_norms(*network_);
  if (options_.encoder_rate == 0) freeze(*network_->encoder);
  network_->to(device_);
}

data::Example ClassifyTask::make_example(size_t index, Rng& rng) const {
  const data::Sample& sample = train_[index];
  data::Example example;
  example.id = sample.id;
  example.tags = sample.tags;
  if (store_) {
    example.tokens = store_->of({sample.image, false});
    return example;
  }
  example.image = image::read_image(sample.image);
  return data::augment(std::move(example), options_.augment, rng);
}

std::vector<ParameterGroup> ClassifyTask::groups() {
  return {group_of("encoder", *network_->encoder, "encoder.", options_.encoder_rate, options_.weight_decay),
          group_of("classifier", *network_->classifier, "classifier.", options_.head_rate, options_.weight_decay)};
}

torch::Tensor ClassifyTask::maps(const torch::Tensor& images) {
  if (options_.encoder_rate == 0) network_->encoder->eval();  // as it will be used: nothing dropped
  return network_->maps(images);
}

Losses ClassifyTask::losses(const std::vector<data::Example>& batch, const Moment&) {
  const torch::Tensor known = tag_matrix(batch, network_->config.classes.size()).to(device_);
  if (store_) {
    return {torch::binary_cross_entropy_with_logits(network_->forward({}, {}, tokens_of(batch, device_)), known), {}};
  }
  torch::Tensor photo = maps_of(batch, &data::Example::padding, device_).unsqueeze(1).eq(0);
  const torch::Tensor images = model::pad_to_smallest(images_of(batch, device_));
  photo = torch::constant_pad_nd(photo, {0, images.size(3) - photo.size(3), 0, images.size(2) - photo.size(2)});
  const bool mosaic = options_.mosaic > 0 && torch::rand({1}).item<double>() < options_.mosaic && batch.size() % 4 == 0;
  const torch::Tensor scores = mosaic ? from_mosaics(maps(to_mosaics(images))) : maps(images);
  const torch::Tensor logits = network_->pool(scores, photo);
  return {torch::binary_cross_entropy_with_logits(logits, known), {}};
}

Numbers ClassifyTask::validate(const Moment&) {
  if (val_.empty()) return {};
  const size_t classes = network_->config.classes.size();
  std::vector<std::vector<float>> scores;
  std::vector<std::vector<uint8_t>> truth;
  ThreadPool pool(options_.workers);
  std::deque<std::future<image::Image>> reading;
  size_t next = 0, unreadable = 0;
  for (const data::Sample& sample : val_) {
    while (!store_ && next < val_.size() && reading.size() < static_cast<size_t>(4 * options_.workers)) {
      reading.push_back(pool.submit([this, index = next] { return image::read_image(val_[index].image); }));
      ++next;
    }
    try {
      torch::Tensor logits;
      if (store_) {
        logits = network_->forward({}, {}, store_->tokens({sample.image}).to(device_));
      } else {
        std::future<image::Image> photo = std::move(reading.front());
        reading.pop_front();
        const torch::Tensor input = infer::to_batch({photo.get()}, device_, torch::kFloat);
        logits = network_->forward(model::pad_to_smallest(input));
      }
      logits = logits.to(torch::kCPU);
      const float* value = logits.const_data_ptr<float>();
      scores.emplace_back(value, value + classes - 1);
    } catch (const Error&) {
      ++unreadable;
      continue;
    }
    std::vector<uint8_t> tags(classes - 1);
    for (const int tag : sample.tags) tags[static_cast<size_t>(tag) - 1] = 1;
    truth.push_back(std::move(tags));
  }
  if (unreadable > 0) log_warning("validation: {} photo(s) could not be read", unreadable);
  const metric::MeanAveragePrecision result = metric::mean_average_precision(scores, truth);
  return {{"map", 100 * result.value}, {"classes", static_cast<double>(result.classes)}};
}

}  // namespace crisp::train

#include "crisp/train/trainer.h"

#include <cmath>

#include "crisp/base/error.h"
#include "crisp/base/log.h"
#include "crisp/base/memory.h"
#include "crisp/base/random.h"
#include "crisp/base/text.h"
#include "crisp/tensor/cuda.h"
#include "crisp/tensor/device.h"

namespace crisp::train {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int64_t kBadInARow = 3;
constexpr size_t kReadEvery = 20;  // steps between waits for a GPU, to read losses
constexpr double kFirstScale = 65536;
constexpr int64_t kScaleGrowth = 1000;  // good steps before the scale of an fp16 loss doubles

// What the GPU cannot hold becomes an Error with sizes that it may.
template <typename Work>
auto within_memory(const Work& work, const std::function<std::string()>& advice) {
  try {
    return work();
  } catch (const c10::OutOfMemoryError&) {
    throw Error("the GPU's memory is full: {}; the last checkpoint is good, and --resume goes on with it", advice());
  }
}

// Half the memory of the network's maps, in two ways.
std::string smaller_batch(size_t count, int crop, int64_t accumulate) {
  const int smaller = std::max(32, static_cast<int>(crop * 0.7071) / 32 * 32);
  const std::string less = fmt::format("--crop {} needs about half, --amp bf16 less too", smaller);
  if (count < 2) return fmt::format("it does not hold one crop of {}x{}; {}", crop, crop, less);
  return fmt::format(
      "it does not hold {} crops of {}x{}; try --batch {} --accumulate {}, which makes the same steps; {}", count, crop,
      crop, count / 2, 2 * accumulate, less);
}

std::string memory_text(torch::Device device) {
  const double mb = device.is_cuda() ? tensor::peak_device_memory_mb(device) : resident_memory_mb();
  return format_bytes(static_cast<uint64_t>(mb * 1e6));
}

}  // namespace

void check(const TrainerOptions& options) {
  if (options.epochs < 1) throw UsageError("--epochs {}: at least one", options.epochs);
  if (options.accumulate < 1) throw UsageError("--accumulate {}: at least one", options.accumulate);
  if (!(options.clip >= 0)) throw UsageError("--clip {}: it is not negative", options.clip);
  if (!(options.ema_decay >= 0 && options.ema_decay < 1)) {
    throw UsageError("--ema-decay {}: it lies between 0 and 1", options.ema_decay);
  }
  tensor::parse_dtype(options.amp);
  check(options.schedule);
}

Trainer::Trainer(Task& task, const TrainerOptions& options, torch::Device device, Path run)
    : task_(task),
      options_((check(options), options)),  // before anything is divided by them
      device_(device),
      amp_(tensor::parse_dtype(options.amp)),
      folder_(std::move(run)),
      steps_per_epoch_(std::max<int64_t>(1, task.loader().batches_per_epoch() / options.accumulate)),
      steps_(steps_per_epoch_ * options.epochs),
      optimizer_(task.groups()),
      checkpoints_(folder_ / "checkpoints"),
      log_(folder_ / "log.jsonl") {
  if (task_.teacher() != nullptr) {
    ema_ = std::make_unique<Ema>(task_.network(), *task_.teacher(), options_.ema_decay);
    ema_->copy();
  }
  const auto scalar = torch::TensorOptions(device_).dtype(torch::kFloat);
  skip_ = torch::zeros({}, scalar);
  if (amp_ == torch::kHalf) {
    scale_ = torch::full({}, kFirstScale, scalar);
    good_steps_ = torch::zeros({}, scalar.dtype(torch::kInt));
  }
  for (const torch::Tensor& buffer : task_.network().buffers()) {
    statistics_.push_back(buffer);
    statistics_before_.push_back(torch::empty_like(buffer));
  }
}

double Trainer::seconds() const {
  return seconds_before_ + std::chrono::duration<double>(Clock::now() - start_).count();
}

Moment Trainer::now() const { return {step_, steps_, step_ / steps_per_epoch_}; }

bool Trainer::run(const std::function<bool()>& stop) {
  start_ = Clock::now();
  events_ = std::make_unique<report::EventWriter>(folder_ / "events", step_ + 1);
  progress_ = std::make_unique<Progress>(task_.name(), steps_ - step_, "steps");
  while (step_ < steps_) {
    prepare();
    torch::manual_seed(derive_seed(options_.seed, static_cast<uint64_t>(step_)));
    const Losses losses = forward_and_backward();
    const torch::Tensor norm = update(losses.total);
    note(losses, norm);
    ++step_;
    if (step_ % steps_per_epoch_ == 0) finish_epoch();
    if (step_ < steps_ && stop()) {
      save();
      progress_->finish();
      return false;
    }
  }
  progress_->finish();
  const double spent = std::chrono::duration<double>(Clock::now() - start_).count();
  log_info("{}: {:.1f}% of the last {} went by waiting for photos", task_.name(), 100 * waited_ / std::max(1e-9, spent),
           format_duration(spent));
  task_.save(folder_ / "model.safetensors");
  return true;
}

void Trainer::prepare() {
  const Numbers numbers = within_memory([&] { return task_.prepare(now()); },
                                        [] { return std::string("try --infer-batch 1 for relabelling"); });
  if (numbers.empty()) return;
  read_notes();  // of the steps before
  log_numbers(step_ + 1, "relabel", numbers);
}

Losses Trainer::forward_and_backward() {
  task_.network().train();
  optimizer_.zero_grad();
  images_.clear();
  if (!statistics_.empty()) at::_foreach_copy_(statistics_before_, statistics_);
  Losses sum;
  for (int64_t i = 0; i < options_.accumulate; ++i) {
    const Clock::time_point asked = Clock::now();
    const std::vector<data::Example> batch = task_.loader().next();
    waited_ += std::chrono::duration<double>(Clock::now() - asked).count();
    for (const data::Example& example : batch) images_.push_back(example.id);
    const auto learn = [&] {
      Losses losses;
      {
        const tensor::Autocast mixed(device_, amp_);
        losses = task_.losses(batch, now());
      }
      torch::Tensor loss = options_.accumulate > 1 ? losses.total / options_.accumulate : losses.total;
      if (scale_.defined()) loss = loss * scale_;
      loss.backward();
      return losses;
    };
    Losses losses =
        within_memory(learn, [&] { return smaller_batch(batch.size(), batch[0].image.width, options_.accumulate); });
    losses.total = losses.total.detach();
    if (i == 0) {
      sum = std::move(losses);
      continue;
    }
    sum.total += losses.total;
    for (size_t k = 0; k < sum.parts.size(); ++k) sum.parts[k].second = sum.parts[k].second + losses.parts[k].second;
  }
  if (options_.accumulate > 1) {
    sum.total /= options_.accumulate;
    for (auto& part : sum.parts) part.second = part.second / options_.accumulate;
  }
  return sum;
}

torch::Tensor Trainer::update(const torch::Tensor& loss) {
  const torch::NoGradGuard no_grad;
  const torch::Tensor norm = optimizer_.clip(options_.clip, scale_.defined() ? scale_.reciprocal() : torch::Tensor());
  skip_ = torch::isfinite(norm).logical_and(torch::isfinite(loss)).logical_not().to(torch::kFloat);
  if (scale_.defined()) at::_amp_update_scale_(scale_, good_steps_, skip_, 2.0, 0.5, kScaleGrowth);
  optimizer_.step(rate_factor(options_.schedule, now(), steps_per_epoch_), skip_);
  guard_statistics();
  if (ema_) ema_->update(step_ + 1, skip_);
  return norm;
}

// A batch that made the loss infinite has been through the batch norms: their statistics go back too.
void Trainer::guard_statistics() {
  for (size_t i = 0; i < statistics_.size(); ++i) {
    statistics_[i].copy_(torch::where(skip_ > 0, statistics_before_[i], statistics_[i]));
  }
}

void Trainer::note(const Losses& losses, const torch::Tensor& norm) {
  std::vector<torch::Tensor> numbers = {losses.total.to(torch::kFloat)};
  std::vector<std::string> names = {"loss"};
  for (const auto& [name, value] : losses.parts) {
    names.push_back(name);
    numbers.push_back(value.detach().to(torch::kFloat));
  }
  names.emplace_back("gradient_norm");
  numbers.push_back(norm.to(torch::kFloat));
  numbers.push_back(skip_);
  images_done_ += static_cast<int64_t>(images_.size());
  pending_.push_back({step_, torch::stack(numbers), std::move(names), std::move(images_),
                      rate_factor(options_.schedule, now(), steps_per_epoch_)});
  images_ = {};
  if (device_.is_cpu() || pending_.size() >= kReadEvery) read_notes();
}

void Trainer::read_notes() {
  for (const Pending& item : pending_) {
    const torch::Tensor values = item.numbers.to(torch::kCPU);
    const float* value = values.const_data_ptr<float>();
    const size_t count = item.names.size();
    const bool bad = value[count] > 0;
    const double seconds = std::chrono::duration<double>(Clock::now() - start_).count();
    const double speed = static_cast<double>(images_done_) / std::max(1e-9, seconds);
    report::LogRecord record{item.step + 1,
                             {{"epoch", static_cast<double>(item.step) / static_cast<double>(steps_per_epoch_)},
                              {"rate", item.rate},
                              {"images_per_s", speed},
                              {"seconds", seconds_before_ + seconds}}};
    report::Scalars scalars = {{"rate", item.rate}, {"images_per_s", speed}};
    std::vector<std::string> words;
    for (size_t i = 0; i < count; ++i) {
      record.fields.emplace_back(item.names[i], static_cast<double>(value[i]));
      scalars.emplace_back("train/" + item.names[i], value[i]);
      if (i + 1 < count) words.push_back(fmt::format("{} {:.4g}", item.names[i], value[i]));
    }
    if (bad) record.fields.emplace_back("skipped", int64_t{1});
    log_.append(record);
    events_->scalars(item.step + 1, scalars);
    progress_->advance(1, fmt::format("epoch {}/{} {} {:.1f} images/s {}", item.step / steps_per_epoch_ + 1,
                                      options_.epochs, join(words, " "), speed, memory_text(device_)));
    bad_in_a_row_ = bad ? bad_in_a_row_ + 1 : 0;
    if (!bad) continue;
    ++skipped_;
    const std::string story = fmt::format("step {}: loss or gradients are not finite ({}); images: {}", item.step + 1,
                                          join(words, ", "), join_some(item.images));
    // A scaled loss overflows now and then by design, while the scale is being found.
    if (bad_in_a_row_ < kBadInARow || scale_.defined()) {
      log_warning("{}; the step was skipped", story);
      if (bad_in_a_row_ < 30) continue;
    }
    throw Error(
        "{}\n       {} steps in a row: training has gone wrong. A lower learning rate or --amp f32 may help; "
        "the last checkpoint in {} is good",
        story, bad_in_a_row_, (folder_ / "checkpoints").string());
  }
  pending_.clear();
}

void Trainer::finish_epoch() {
  read_notes();
  const int64_t epoch = step_ / steps_per_epoch_;
  const bool last = step_ == steps_;
  if (options_.validate_every > 0 && (epoch % options_.validate_every == 0 || last)) {
    const torch::NoGradGuard no_grad;
    task_.network().eval();
    validation_ = within_memory([&] { return task_.validate(now()); },
                                [] { return std::string("try --infer-batch 1 for validation"); });
    if (!validation_.empty()) {
      log_info("epoch {}/{}: {}", epoch, options_.epochs, log_numbers(step_, "val", validation_));
    }
  }
  if (last || epoch % std::max<int64_t>(1, options_.checkpoint_every) == 0) save();
}

// In words too.
std::string Trainer::log_numbers(int64_t step, const std::string& what, const Numbers& numbers) {
  report::LogRecord record{step, {{"epoch", static_cast<double>(step_ / steps_per_epoch_)}}};
  report::Scalars scalars;
  std::vector<std::string> words;
  for (const auto& [name, value] : numbers) {
    record.fields.emplace_back(what + "_" + name, value);
    scalars.emplace_back(what + "/" + name, value);
    words.push_back(fmt::format("{} {:.4g}", name, value));
  }
  log_.append(record);
  events_->scalars(step, scalars);
  return join(words, ", ");
}

void Trainer::save() {
  read_notes();
  Checkpoint checkpoint{.step = step_, .tensors = {}, .facts = task_.state(), .file = {}};
  add_with_prefix(checkpoint.tensors, "network.", tensor::state_of(task_.network()));
  if (ema_) add_with_prefix(checkpoint.tensors, "teacher.", tensor::state_of(*task_.teacher()));
  add_with_prefix(checkpoint.tensors, "optimizer.", optimizer_.state());
  if (scale_.defined()) {
    checkpoint.tensors["scaler.scale"] = scale_;
    checkpoint.tensors["scaler.good_steps"] = good_steps_;
  }
  checkpoint.facts["task"] = task_.name();
  checkpoint.facts["steps"] = std::to_string(steps_);
  checkpoint.facts["skipped"] = std::to_string(skipped_);
  checkpoint.facts["seconds"] = fmt::format("{}", seconds());
  checkpoints_.write(checkpoint);
}

void Trainer::resume() {
  const std::optional<Checkpoint> found = checkpoints_.newest();
  if (!found) {
    log_.truncate_after(0);  // of steps that were lost with the process
    return;
  }
  const std::string source = found->file.string();
  const auto fact = [&](const std::string& name) {
    const auto item = found->facts.find(name);
    return item == found->facts.end() ? std::string() : item->second;
  };
  if (fact("task") != task_.name() || fact("steps") != std::to_string(steps_)) {
    throw Error("{}: a checkpoint of another run ({}, {} steps; this one is {}, {} steps)", source, fact("task"),
                fact("steps"), task_.name(), steps_);
  }
  tensor::load_into(task_.network(), with_prefix(found->tensors, "network."), source);
  if (ema_) tensor::load_into(*task_.teacher(), with_prefix(found->tensors, "teacher."), source);
  optimizer_.load(with_prefix(found->tensors, "optimizer."), source);
  if (scale_.defined() && found->tensors.contains("scaler.scale")) {  // else the run was not fp16 so far
    scale_.copy_(found->tensors.at("scaler.scale"));
    good_steps_.copy_(found->tensors.at("scaler.good_steps"));
  }
  task_.restore(found->facts);
  step_ = found->step;
  skipped_ = parse_integer(fact("skipped")).value_or(0);
  seconds_before_ = parse_number(fact("seconds")).value_or(0);
  task_.loader().seek(step_ * options_.accumulate);
  log_.truncate_after(step_);
  log_info("going on from step {} of {} ({})", step_, steps_, source);
}

}  // namespace crisp::train

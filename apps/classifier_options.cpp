#include "apps/classifier_options.h"

#include "apps/training_options.h"

namespace crisp::apps {

void bind_classifier(CLI::App& app, flow::ClassifierOptions& o) {
  bind_tagged_data(app, o);
  app.add_option("--out", o.out, "the run folder")->required();
  app.add_option("--arch", o.arch, "mit_b0 .. mit_b5; vit_s14: DINOv2, used as it is");
  app.add_option("--init", o.init, "encoder weights to start from; none; by default those shipped");
  app.add_option("--pooling", o.pooling,
                 "average, max, top (mean of the best cells), both (of these two) or weighted (by each class's own "
                 "mask)");
  app.add_option("--top-share", o.top_share, "of the cells, for --pooling top")->check(CLI::Range(0.0, 1.0));
  app.add_option("--stride", o.stride, "pixels a cell of the maps: 8 (finer, slower), 16 or 32");
  app.add_option("--drop-path", o.drop_path, "stochastic depth of the last block")->check(CLI::Range(0.0, 0.9));
  app.add_option("--batch", o.task.batch, "photos a batch")->check(CLI::Range(1, 4096));
  app.add_option("--rate", o.task.encoder_rate,
                 "learning rate of the encoder (6e-5 for long runs); 0: it stays as it is");
  app.add_option("--head-rate", o.task.head_rate, "learning rate of the classifier (6e-4 for long runs)");
  app.add_option("--weight-decay", o.task.weight_decay, "of weights, not of norms and biases");
  app.add_option("--mosaic", o.task.mosaic, "share of the steps that show four photos as one, each with its tags")
      ->check(CLI::Range(0.0, 1.0));
  bind_flag(app, "--freeze-norms", o.task.freeze_norms, "layer norms keep their weights");
  bind_features(app, o.features);
  bind_trainer(app, o.trainer);
  bind_augment(app, o.task.augment);
}

void take_arch(CLI::App& app, flow::ClassifierOptions& o) {
  flow::ClassifierOptions wanted = o;
  flow::apply_arch(o.arch, wanted);
  take_unless_given(app, "--pooling", o.pooling, wanted.pooling);
  take_unless_given(app, "--batch", o.task.batch, wanted.task.batch);
  take_unless_given(app, "--head-rate", o.task.head_rate, wanted.task.head_rate);
  take_unless_given(app, "--epochs", o.trainer.epochs, wanted.trainer.epochs);
}

}  // namespace crisp::apps

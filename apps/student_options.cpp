#include "apps/student_options.h"

#include "apps/training_options.h"

namespace crisp::apps {

void bind_student(CLI::App& app, flow::StudentOptions& o) {
  app.add_option("--arch", o.arch, "mit_b0 .. mit_b5; vit_s14: DINOv2, used as it is");
  app.add_option("--init", o.init, "encoder weights to start from; none; by default those shipped");
  app.add_option("--batch", o.task.batch, "crops a batch")->check(CLI::Range(1, 4096));
  app.add_option("--rate", o.task.encoder_rate, "learning rate of the encoder");
  app.add_option("--head-rate", o.task.head_rate, "learning rate of the head");
  app.add_option("--weight-decay", o.task.weight_decay, "of weights, not of norms and biases");
  app.add_option("--ema-decay", o.trainer.ema_decay, "of the teacher");
  app.add_option("--infer-batch", o.task.infer_batch, "photos of one size at once in validation and relabelling");
  app.add_option("--zoom", o.zoom,
                 "photos are enlarged by this, in training and ever after (the model knows): small photos gain")
      ->check(CLI::Range(0.1, 8.0));
  const char* rows = kMethodGroup;
  app.add_option("--width", o.width, "channels of the head; 0: 256 for B0 and B1, 384 above")->group(rows);
  app.add_option("--fine", o.fine, "vit_s14: cells of the decoder's grid along a token's side; costs as its square")
      ->group(rows);
  app.add_option("--hidden", o.hidden, "channels inside the decoder's branches")
      ->check(CLI::Range(1, 4096))
      ->group(rows);
  app.add_option("--dropout", o.dropout, "of whole channels of the fused map")
      ->check(CLI::Range(0.0, 0.9))
      ->group(rows);
  app.add_option("--drop-path", o.drop_path, "stochastic depth of the last block")
      ->check(CLI::Range(0.0, 0.9))
      ->group(rows);
  app.add_option("--temperature", o.temperature, "of the softmax over scales")->check(CLI::PositiveNumber)->group(rows);
  app.add_option("--fusion", o.fusion, "dmf, concat or mean")->group(rows);
  app.add_option("--modulation", o.modulation, "U-DMF: per_scale, literal or off")->group(rows);
  bind_flag(app, "--modulation-minmax", o.modulation_minmax, "U-DMF by uncertainty normalised over the image")
      ->group(rows);
  bind_flag(app, "--boundary-on-e1", o.boundary_on_e1, "boundary head on the finest map instead of the fused one")
      ->group(rows);
  app.add_option("--propagate", o.propagate,
                 "steps by which scores follow the photo's colours, a layer of the network; 0: none")
      ->check(CLI::Range(0, 64))
      ->group(rows);
  const char* losses = "Losses";
  loss::Options& l = o.task.loss;
  app.add_option("--cross-entropy", l.cross_entropy, "weight")->group(losses);
  app.add_option("--dice", l.dice, "weight")->group(losses);
  app.add_option("--heteroscedastic", l.heteroscedastic, "weight")->group(losses);
  app.add_option("--boundary", l.boundary, "weight")->group(losses);
  app.add_option("--surface", l.surface, "weight of the signed-distance term; the paper's is 0.1")->group(losses);
  app.add_option(
         "--edges", l.edges,
         "pixels near an edge of the labels count so many times more in cross-entropy and Dice; 0: as others do")
      ->group(losses);
  app.add_option("--edge-reach", l.edge_reach, "what --edges calls near, in pixels of the crop")->group(losses);
  app.add_option("--weighting-strength", l.weight.strength, "beta: uncertain pixels count exp(-beta U)")->group(losses);
  bind_flag(app, "--weighting-minmax", o.weighting_minmax,
            "U from the least to the most of each image, not by percentiles")
      ->group(losses);
  bind_flag(app, "--label-variance", l.label_variance, "heteroscedastic: the labelled class's variance")->group(losses);
  bind_flag(app, "--discount-boundary", l.discount_boundary, "uncertain pixels count less in the boundary loss too")
      ->group(losses);
  app.add_option("--band", o.task.band_width, "width of the boundary band: 2 or 3")
      ->check(CLI::Range(2, 3))
      ->group(losses);
  const char* phases = "Phases (fractions of training)";
  train::Phases& p = o.task.phases;
  app.add_option("--refiner-attached", p.refiner_attached, "from here gradients pass the refiner's inputs")
      ->group(phases);
  app.add_option("--weighting-from", p.weighting, "from here uncertain pixels count less")->group(phases);
  app.add_option("--modulation-from", p.modulation, "from here uncertainty modulates the fusion")->group(phases);
  app.add_option("--drop-first", p.drop_first, "share of uncertain seed pixels left out, at the start")->group(phases);
  app.add_option("--drop-last", p.drop_last, "the same from --drop-until on")->group(phases);
  app.add_option("--drop-until", p.drop_until, "fraction of training")->group(phases);
  const char* stage_c = "Relabelling";
  train::RelabelOptions& r = o.task.relabel;
  bind_flag(app, "--no-relabel", o.no_relabel, "keep the first seeds to the end")->group(stage_c);
  app.add_option("--relabel-from", r.from, "fraction of training")->group(stage_c);
  app.add_option("--relabel-every", r.every, "fraction of training")->group(stage_c);
  app.add_option("--passes", r.passes, "predictions with dropout that are averaged")->group(stage_c);
  app.add_option("--relabel-scales", r.scales, "the teacher looks at photos at these scales; passes are shared out")
      ->delimiter(',')
      ->group(stage_c);
  bind_flag(app, "--relabel-flip", r.flip, "and at mirrored photos")->group(stage_c);
  app.add_option("--keep-first", r.keep_first, "share of the teacher's labels kept, at first")->group(stage_c);
  app.add_option("--keep-last", r.keep_last, "the same at the end")->group(stage_c);
  app.add_option("--keep-pixels", r.keep_at_least, "of each class, at least")->group(stage_c);
  app.add_option("--found", r.found_at_least, "tags the teacher must find, else relabelling waits")->group(stage_c);
  app.add_option("--relabel-refine", o.relabel_refine,
                 "none as in the paper, crf or par: edges of the teacher's labels")
      ->group(stage_c);
  app.add_option("--trust", r.trust, "in the labels so far, against the teacher: 0 as in the paper, 1 as much as in it")
      ->check(CLI::Range(0.0, 10.0))
      ->group(stage_c);
  bind_flag(app, "--relabel-checked", r.checked,
            "withdraw a round after which the teacher knows tags worse, or agrees less with mirrored photos")
      ->group(stage_c);
  bind_flag(app, "--relabel-all", r.all, "relabel photos too in which the teacher misses a tag")->group(stage_c);
  bind_flag(app, "--image-wide", r.image_wide, "shares over the image, not of each class")->group(stage_c);
  app.add_option("--tau", r.threshold, "above 0: a fixed threshold of uncertainty instead of shares")->group(stage_c);
  app.add_option("--label-side", o.task.label_side, "vit_s14: side of the labels that losses see")->group(losses);
  bind_features(app, o.features);
  bind_trainer(app, o.trainer);
  bind_augment(app, o.task.augment);
}

void bind_student_run(CLI::App& app, flow::StudentOptions& o) {
  bind_tagged_data(app, o);
  app.add_option("--seeds", o.seeds, "the seed folder");
  app.add_option("--labels", o.labels, "seeds; or masks: the fully supervised upper bound");
  app.add_option("--select", o.select, "the model kept: last; or masks: the best mIoU on --val's masks");
  app.add_option("--out", o.out, "the run folder")->required();
  app.add_option("--ablation", o.ablation, "row of the component table: A0 SegFormer head .. A6 all with relabelling")
      ->group(kMethodGroup);
  app.add_option("--uncertainty", o.uncertainty, "row of the uncertainty table: U0 none .. U4 all")
      ->group(kMethodGroup);
}

}  // namespace crisp::apps

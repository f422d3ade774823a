// From tags to seeds through the program: every refinement, imports, the sweep, the sheet.
#include "tests/apps/seeds_fixture.h"

namespace crisp::test {
namespace {

namespace fs = std::filesystem;

// Every label of a seed folder is a tag of its photo, and every photo of the split has a seed of its size.
void expect_seeds_of_tags(const Path& folder, const Path& data) {
  const data::Dataset dataset = data::open_dataset(data);
  for (const data::Sample& sample : dataset.samples("train")) {
    const image::Mask labels = image::read_mask(folder / "labels" / (sample.id + ".png"));
    const image::Mask unsure = image::read_mask(folder / "uncertainty" / (sample.id + ".png"));
    const image::ImageSize size = image::read_size(sample.image);
    ASSERT_EQ(labels.width, size.width);
    ASSERT_EQ(unsure.height, size.height);
    const std::set<int> allowed(sample.tags.begin(), sample.tags.end());
    for (const uint8_t label : labels.labels) ASSERT_TRUE(label == 0 || allowed.contains(label)) << sample.id;
  }
}

TEST_F(Seeds, EveryRefinementFromPhotosToNumbers) {
  std::set<std::string> different;
  for (const std::string refine : {"none", "crf", "par", "affinity,crf"}) {
    const Path out = at(refine);
    const ProgramResult result = seeds(photos(), "--affinity-epochs 1 --refine " + refine, out);
    ASSERT_EQ(result.status, 0) << result.err;
    EXPECT_TRUE(contains(result.out, "26 seeds in " + out.string())) << result.out;
    expect_seeds_of_tags(out, photos());
    const nlohmann::json head = json(out / "seeds.json");
    EXPECT_EQ(head["complete"], true);
    EXPECT_EQ(head["images"], 26);
    EXPECT_EQ(head["options"]["refine"], refine);
    EXPECT_EQ(head["options"].contains("affinity"), refine == "affinity,crf");
    EXPECT_FALSE(fs::exists(out / "cams")) << "nothing of class x height x width size is left";
    different.insert(read_text(out / "labels/scene_00000.png") + read_text(out / "labels/scene_00005.png"));
  }
  EXPECT_EQ(different.size(), 4u);
  EXPECT_EQ(json(at("affinity,crf") / "affinity/run.json")["complete"], true);
  EXPECT_TRUE(fs::exists(at("affinity,crf") / "affinity/model.safetensors"));

  const double score = miou(at("crf"), photos(), at("eval"));
  EXPECT_GT(score, 5);
  EXPECT_LT(score, 90);
  const nlohmann::json numbers = json(at("eval") / "metrics.json");
  EXPECT_EQ(numbers["images"], 26);
  EXPECT_NEAR(numbers["ignored_left_out"]["miou"].get<double>(), score, 1e-9) << "no pixel is ignored here";

  // The affinity network serves again, and the folder remembers how it was made.
  const ProgramResult again =
      seeds(photos(), "--refine affinity --affinity " + quoted(at("affinity,crf") / "affinity"), at("again"));
  EXPECT_EQ(again.status, 0) << again.err;
  EXPECT_FALSE(fs::exists(at("again") / "affinity"));
  const ProgramResult other = seeds(photos(), "--refine none --background 0.3", at("none"));
  EXPECT_EQ(other.status, 1);
  EXPECT_TRUE(contains(other.err, "background \"0.45\" instead of \"0.3\"")) << other.err;
  const ProgramResult done = seeds(photos(), "--refine none", at("none"));
  EXPECT_EQ(done.status, 0);
  EXPECT_TRUE(contains(done.err, "26 of 26 seeds are there already")) << done.err;
}

TEST_F(Seeds, MasksComeInFromElsewhere) {
  const Path masks = at("masks");
  fs::copy(photos() / "masks", masks);
  fs::remove(masks / "scene_00003.png");
  image::write_mask_png(masks / "scene_00004.png", image::Mask(5, 5));
  const std::string base = "seeds-import --data " + quoted(photos()) + " --masks " + quoted(masks) + " --out ";
  const ProgramResult result = run_program(base + quoted(at("seeds")));
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_TRUE(contains(result.err, "scene_00004.png: 5x5, but its photo")) << result.err;
  const nlohmann::json head = json(at("seeds") / "seeds.json");
  EXPECT_EQ(head["images"], 24);
  EXPECT_EQ(head["skipped"].size(), 2u);
  EXPECT_TRUE(contains(head["skipped"]["scene_00003"].get<std::string>(), "no file of that name"));
  const image::Mask truth = image::read_mask(photos() / "masks/scene_00000.png"),
                    seed = image::read_mask(at("seeds") / "labels/scene_00000.png");
  const data::Dataset dataset = data::open_dataset(photos());
  const std::set<int> tags(dataset.all[0].tags.begin(), dataset.all[0].tags.end());
  for (size_t i = 0; i < truth.labels.size(); ++i) {
    const uint8_t label = truth.labels[i];
    ASSERT_EQ(seed.labels[i], label == 0 || tags.contains(label) ? label : 255);
  }
  ASSERT_EQ(run_program(base + quoted(at("refined")) + " --refine crf --crf irn").status, 0);
  EXPECT_NE(read_text(at("refined") / "labels/scene_00000.png"), read_text(at("seeds") / "labels/scene_00000.png"));
  const ProgramResult changed = run_program(base + quoted(at("refined")) + " --refine crf --crf irn --confidence 0.9");
  EXPECT_EQ(changed.status, 1);
  EXPECT_TRUE(contains(changed.err, "confidence 0.7 instead of 0.9")) << changed.err;
  EXPECT_EQ(run_program(base + quoted(at("x")) + " --refine affinity").status, 2);
  EXPECT_EQ(run_program("seeds-import --data " + quoted(photos()) + " --out " + quoted(at("x"))).status, 2);
  make_folder(at("void"));
  const ProgramResult nothing = run_program("seeds-import --data " + quoted(photos()) + " --masks " +
                                            quoted(at("void")) + " --out " + quoted(at("x")));
  EXPECT_EQ(nothing.status, 1);
  EXPECT_TRUE(contains(nothing.err, "no .png file in it")) << nothing.err;
}

TEST_F(Seeds, ActivationMapsComeInFromElsewhere) {
  // A photo of 8 x 6 pixels with the maps of tests/goldens/seed.py for classes 1 and 3.
  const Path data = at("data");
  make_folder(data / "images");
  make_folder(at("cams"));
  for (const char* name : {"a", "b"}) {
    image::write_rgb_png(data / "images" / (std::string(name) + ".png"), image::Image(8, 6));
    fs::copy(golden("goldens/seed/cams_dict.npy"), at("cams") / (std::string(name) + ".npy"));
  }
  write_atomic(data / "classes.txt", "background\none\ntwo\nthree\n");
  write_atomic(data / "tags.txt", "a one three\nb three\n");
  make_folder(data / "splits");
  write_atomic(data / "splits/train.txt", "a\nb\n");
  const ProgramResult result = run_program("seeds-import --data " + quoted(data) + " --cams " + quoted(at("cams")) +
                                           " --out " + quoted(at("seeds")));
  ASSERT_EQ(result.status, 0) << result.err;
  const image::Mask a = image::read_mask(at("seeds") / "labels/a.png"),
                    b = image::read_mask(at("seeds") / "labels/b.png");
  for (int y = 0; y < 6; ++y) {
    for (int x = 0; x < 8; ++x) {
      const int one = (7 * y + 3 * x) % 11, three = (7 * y + 3 * x + 10) % 11;  // tenths, against a background of 4.5
      ASSERT_EQ(a.row(y)[x], one >= 5 && one >= three ? 1 : three >= 5 ? 3 : 0) << y << " " << x;
      ASSERT_EQ(b.row(y)[x], three >= 5 ? 3 : 0) << "one is no tag of this photo";
    }
  }
  const ProgramResult other = run_program("seeds-import --data " + quoted(data) + " --cams " + quoted(at("cams")) +
                                          " --cam-first 2 --out " + quoted(at("shifted")));
  EXPECT_EQ(other.status, 1);
  EXPECT_TRUE(contains(other.err, "--cam-first")) << other.err;
}

TEST_F(Seeds, KeptMapsGiveTheSameSeedsAgain) {
  ASSERT_EQ(seeds(photos(), "--refine none --keep-cams", at("seeds")).status, 0);
  const ProgramResult result = run_program("seeds-import --data " + quoted(photos()) + " --cams " +
                                           quoted(at("seeds") / "cams") + " --out " + quoted(at("again")));
  ASSERT_EQ(result.status, 0) << result.err;
  size_t pixels = 0, differing = 0;
  for (const Path& file : list_files(at("seeds") / "labels", {".png"})) {
    const image::Mask first = image::read_mask(file),
                      second = image::read_mask(at("again") / "labels" / file.filename());
    pixels += first.labels.size();
    for (size_t i = 0; i < first.labels.size(); ++i) differing += first.labels[i] != second.labels[i];
  }
  EXPECT_LT(static_cast<double>(differing), 0.005 * static_cast<double>(pixels)) << "maps are kept in fp16";
}

TEST_F(Seeds, TheSweepPrintsItsCurveSaysSoAndWritesNothing) {
  const auto files = [&] {
    std::set<std::string> all;
    for (const auto& entry : fs::recursive_directory_iterator(photos().parent_path()))
      all.insert(entry.path().string());
    return all;
  };
  const std::set<std::string> before = files();
  const std::string base =
      "seeds --data " + quoted(photos()) + " --classifier " + quoted(run()) + kQuick + "--refine none --sweep";
  const ProgramResult result = run_shell("cd " + quoted(folder_.path()) + " && " + program() + " " + base);
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_TRUE(contains(result.err, "LOOKED AT THE MASKS of 26 photos")) << result.err;
  EXPECT_TRUE(contains(result.err, "Nothing was written")) << result.err;
  EXPECT_EQ(std::count(result.out.begin(), result.out.end(), '\n'), 17);
  EXPECT_EQ(std::count(result.out.begin(), result.out.end(), '<'), 1) << "the best is marked";
  EXPECT_EQ(files(), before);
  EXPECT_TRUE(fs::is_empty(folder_.path()));
  // The curve tells what seeds with that background score.
  ASSERT_EQ(seeds(photos(), "--refine none --background 0.3", at("seeds")).status, 0);
  const size_t row = result.out.find("\n0.3 ");
  ASSERT_NE(row, std::string::npos) << result.out;
  EXPECT_NEAR(std::stod(result.out.substr(row + 5)), miou(at("seeds"), photos(), at("eval")), 0.0051);
  const ProgramResult power = run_program(base + " --background power:4 --sweep-images 5");
  EXPECT_TRUE(contains(power.err, "LOOKED AT THE MASKS of 5 photos")) << power.err;
  EXPECT_TRUE(contains(power.out, "power:24")) << power.out;
  const Path blind = copy_of_photos("blind");
  fs::remove_all(blind / "masks");
  const ProgramResult none =
      run_program("seeds --sweep --data " + quoted(blind) + " --classifier " + quoted(run()) + kQuick);
  EXPECT_EQ(none.status, 1);
  EXPECT_TRUE(contains(none.err, "has a mask to compare with")) << none.err;
}

TEST_F(Seeds, TheSheetShowsWhatThereIs) {
  ASSERT_EQ(seeds(photos(), "--refine none", at("seeds")).status, 0);
  const auto page = [&](const Path& what, const std::string& more) {
    const ProgramResult result =
        run_program("show " + quoted(what) + " --images 3 --out " + quoted(at("pages") / "page.html") + " " + more);
    EXPECT_EQ(result.status, 0) << result.err;
    EXPECT_TRUE(contains(result.out, "3 photos on ")) << result.out;
    return read_text(at("pages") / "page.html");
  };
  const auto count = [](const std::string& text, const std::string& part) {
    int found = 0;
    for (size_t i = text.find(part); i != text.npos; i = text.find(part, i + 1)) ++found;
    return found;
  };
  const std::string full = page(at("seeds"), "");
  for (const char* caption : {"Photo", "Truth", "Activation", "Seed", "Uncertainty"}) {
    EXPECT_EQ(count(full, "<figcaption>" + std::string(caption) + "<"), 3) << caption;
  }
  EXPECT_TRUE(contains(full, "crispformer seeds --data"));
  EXPECT_EQ(count(full, "src=\"http"), 0) << "the page needs nothing from outside";
  EXPECT_EQ(count(page(at("seeds"), "--no-cams"), "<figcaption>Activation<"), 0);
  EXPECT_EQ(count(page(run(), ""), "<figcaption>Activation<"), 3);
  EXPECT_EQ(count(page(photos(), ""), "<figcaption>Truth<"), 3);
  const ProgramResult nowhere = run_program("show " + quoted(at("nowhere")) + " --out " + quoted(at("x.html")));
  EXPECT_EQ(nowhere.status, 1);
  EXPECT_TRUE(contains(nowhere.err, "nowhere: no such folder")) << nowhere.err;
}

}  // namespace
}  // namespace crisp::test

// What users get wrong on the way from tags to seeds, each with its message.
#include <algorithm>

#include "tests/apps/seeds_fixture.h"

namespace crisp::test {
namespace {

namespace fs = std::filesystem;

class BadInput : public Seeds {
 protected:
  ProgramResult classify(const Path& data, const std::string& more = "") const {
    return run_program("classify --epochs 1 --val none --data " + quoted(data) + kTrain + more + " --out " +
                       quoted(at("run")));
  }
  // tags.txt with every line changed by `change` (name, tags).
  static void change_tags(const Path& data,
                          const std::function<std::string(const std::string&, const std::string&)>& change) {
    const std::string before = read_text(data / "tags.txt");
    std::string after;
    size_t begin = 0;
    while (begin < before.size()) {
      const size_t end = before.find('\n', begin), space = std::min(before.find(' ', begin), end);
      after +=
          change(before.substr(begin, space - begin), space == end ? "" : before.substr(space + 1, end - space - 1));
      begin = end + 1;
    }
    write_atomic(data / "tags.txt", after);
  }
};

TEST_F(BadInput, NoTagsAtAll) {
  const Path data = copy_of_photos("data");
  fs::remove(data / "tags.txt");
  const ProgramResult learned = classify(data), made = seeds(data, "", at("seeds"));
  for (const ProgramResult& result : {learned, made}) {
    EXPECT_EQ(result.status, 1);
    EXPECT_TRUE(contains(result.err, "no image of split 'train' has tags")) << result.err;
    EXPECT_TRUE(contains(result.err, "tags.txt")) << result.err;
  }
  EXPECT_FALSE(fs::exists(at("run"))) << "nothing is left behind";
  EXPECT_FALSE(fs::exists(at("seeds")));
  change_tags(copy_of_photos("nothing"),
              [](const std::string& name, const std::string&) { return name + " background\n"; });
  const ProgramResult nothing = classify(at("nothing"));
  EXPECT_EQ(nothing.status, 1);
  EXPECT_TRUE(contains(nothing.err, "there is nothing to learn")) << nothing.err;
}

TEST_F(BadInput, AClassNobodyTagsAndOneThatAllHave) {
  const Path data = copy_of_photos("data");
  change_tags(data, [](const std::string& name, const std::string&) {
    return name + (name.back() < '5' ? " wheel chair\n" : " wheel\n");
  });
  const ProgramResult result = classify(data);
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_TRUE(contains(result.err, "never tagged, so never learned: kite")) << result.err;
  EXPECT_TRUE(contains(result.err, "nearly every photo is tagged with wheel")) << result.err;
}

TEST_F(BadInput, APhotoWithEveryClass) {
  const Path data = copy_of_photos("data");
  change_tags(data, [](const std::string& name, const std::string& tags) {
    return name + " " + (name == "scene_00001" ? "wheel chair kite" : tags) + "\n";
  });
  EXPECT_EQ(classify(data).status, 0);
  const ProgramResult made = seeds(data, "--refine crf", at("seeds"));
  EXPECT_EQ(made.status, 0) << made.err;
  EXPECT_EQ(json(at("seeds") / "seeds.json")["images"], 26);
}

TEST_F(BadInput, TagsWithoutPhotosAndPhotosWithoutTags) {
  const Path data = copy_of_photos("data");
  change_tags(data, [](const std::string& name, const std::string& tags) {
    return name == "scene_00002" ? "" : name == "scene_00003" ? name + "\n" : name + " " + tags + "\n";
  });
  write_atomic(data / "tags.txt", read_text(data / "tags.txt") + "ghost wheel\n");
  const ProgramResult learned = classify(data);
  EXPECT_EQ(learned.status, 0) << learned.err;
  EXPECT_TRUE(contains(learned.err, "1 tags for images that are not there: ghost")) << learned.err;
  EXPECT_TRUE(contains(learned.err, "2 photo(s) of split train have no tags and are left out")) << learned.err;
  const ProgramResult made = seeds(data, "--refine none", at("skip"));
  EXPECT_EQ(made.status, 0) << made.err;
  EXPECT_TRUE(contains(made.out, "24 seeds in ")) << made.out;
  EXPECT_TRUE(contains(made.out, "2 photo(s) without tags left out")) << made.out;
  EXPECT_EQ(json(at("skip") / "seeds.json")["untagged"], 2);
  EXPECT_FALSE(fs::exists(at("skip") / "labels/scene_00002.png"));
  const ProgramResult all = seeds(data, "--refine none --untagged background", at("all"));
  EXPECT_EQ(all.status, 0) << all.err;
  EXPECT_TRUE(contains(all.out, "26 seeds in ")) << all.out;
  for (const uint8_t label : image::read_mask(at("all") / "labels/scene_00002.png").labels) ASSERT_EQ(label, 0);
  EXPECT_EQ(seeds(data, "--untagged guess", at("x")).status, 2);
  const ProgramResult unknown =
      (change_tags(data, [](const std::string& name, const std::string&) { return name + " wheeel\n"; }),
       classify(data));
  EXPECT_EQ(unknown.status, 1);
  EXPECT_TRUE(contains(unknown.err, "wheeel")) << unknown.err;
}

TEST_F(BadInput, AnotherClassList) {
  const Path data = copy_of_photos("data");
  write_atomic(data / "classes.txt", "background\nwheel\nchair\nkite\nboat\n");
  const ProgramResult more = seeds(data, "", at("seeds"));
  EXPECT_EQ(more.status, 1);
  EXPECT_TRUE(contains(more.err, "4 classes (background, wheel, chair, kite)")) << more.err;
  EXPECT_TRUE(contains(more.err, "5 (")) << more.err;
  write_atomic(data / "classes.txt", "background\nchair\nwheel\nkite\n");
  const ProgramResult order = seeds(data, "", at("seeds"));
  EXPECT_EQ(order.status, 1);
  EXPECT_TRUE(contains(order.err, "'wheel' is 1 for the model and 2")) << order.err;
  EXPECT_FALSE(fs::exists(at("seeds")));
}

TEST_F(BadInput, TinyAndHugePhotos) {
  const Path data = at("data");
  make_folder(data / "images");
  const auto add = [&](const std::string& name, int width, int height) {
    image::Image photo(width, height);
    for (size_t i = 0; i < photo.rgb.size(); ++i) photo.rgb[i] = static_cast<uint8_t>((i * 2654435761u) >> 24);
    image::write_jpeg(data / "images" / (name + ".jpg"), photo);
  };
  add("thirty", 30, 30);
  add("dot", 1, 1);
  add("long", 8000, 100);
  add("plain", 70, 50);
  write_atomic(data / "classes.txt", "background\nwheel\nchair\nkite\n");
  write_atomic(data / "tags.txt", "thirty wheel\ndot chair\nlong wheel kite\nplain chair kite\n");
  make_folder(data / "splits");
  write_atomic(data / "splits/train.txt", "thirty\ndot\nlong\nplain\n");
  write_atomic(data / "splits/val.txt", "thirty\nlong\n");
  write_atomic(data / "splits/small.txt", "thirty\ndot\nplain\n");
  const ProgramResult learned =
      run_program("classify --epochs 1 --data " + quoted(data) +
                  " --arch mit_b0 --crop 64 --batch 4 --threads 2 --pooling max --out " + quoted(at("run")));
  EXPECT_EQ(learned.status, 0) << learned.err;
  const ProgramResult whole = run_program("classify --epochs 1 --val none --split small --data " + quoted(data) +
                                          " --arch mit_b0 --crop 0 --batch 1 --threads 2 --out " + quoted(at("whole")));
  EXPECT_EQ(whole.status, 0) << whole.err;
  const ProgramResult made = seeds(data, "--max-side 256 --affinity-epochs 1 --refine affinity,par,crf", at("seeds"));
  ASSERT_EQ(made.status, 0) << made.err;
  EXPECT_EQ(json(at("seeds") / "seeds.json")["images"], 4);
  const image::Mask labels = image::read_mask(at("seeds") / "labels/long.png");
  EXPECT_EQ(labels.width, 8000);
  EXPECT_EQ(labels.height, 100);
  EXPECT_EQ(image::read_mask(at("seeds") / "uncertainty/thirty.png").width, 30);
  const ProgramResult shown = run_program("show " + quoted(at("seeds")) + " --out " + quoted(at("page.html")));
  EXPECT_EQ(shown.status, 0) << shown.err;
  EXPECT_TRUE(contains(shown.out, "4 photos on ")) << shown.out << shown.err;
}

TEST_F(BadInput, MistakesLeaveNoRunBehind) {
  for (const auto& [option, message] : std::vector<std::pair<std::string, std::string>>{
           {"--accumulate 0", "--accumulate 0: at least one"},
           {"--clip -1", "--clip -1"},
           {"--decay step", "--decay step: it is one of constant, linear, poly, cosine"},
           {"--pooling mean", "--pooling mean"},
           {"--init nowhere.safetensors", "nowhere.safetensors"},
           {"--split test", "test"},
           {"--val test", "test"},
           {"--scale-low 3", "--scale"},
           {"--tags nowhere.npy", "nowhere.npy"}}) {
    const ProgramResult result =
        run_program("classify --data " + quoted(photos()) + kTrain + option + " --out " + quoted(at("run")));
    EXPECT_TRUE(result.status == 1 || result.status == 2) << option << ": " << result.status;
    EXPECT_TRUE(result.err.find("error: ") != std::string::npos) << result.err;
    EXPECT_TRUE(contains(result.err, message)) << option << ": " << result.err;
    EXPECT_FALSE(fs::exists(at("run") / "run.json")) << option;
  }
  const ProgramResult student = run_program("seeds --data " + quoted(photos()) +
                                            " --classifier weights/mit_b0.safetensors --out " + quoted(at("x")));
  EXPECT_EQ(student.status, 1);
  EXPECT_TRUE(contains(student.err, "this is no tag classifier")) << student.err;
  for (const char* option : {"--refine crf,glue", "--background 2", "--crf unknown", "--scales 0", "--max-side 5"}) {
    const ProgramResult result = seeds(photos(), option, at("x"));
    EXPECT_EQ(result.status, 2) << option << ": " << result.err;
    EXPECT_FALSE(fs::exists(at("x"))) << option;
  }
}

TEST_F(BadInput, TagsOfThePublicCode) {
  // The golden names photos that are not here: no photo of the split has tags then.
  const ProgramResult foreign = classify(photos(), "--tags tests/goldens/seed/tags.npy");
  EXPECT_EQ(foreign.status, 1);
  EXPECT_TRUE(contains(foreign.err, "has tags")) << foreign.err;
}

}  // namespace
}  // namespace crisp::test

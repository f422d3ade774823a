#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "crisp/base/classes.h"
#include "crisp/base/files.h"
#include "crisp/base/folder_lock.h"
#include "crisp/image/image.h"

namespace crisp::data {

// What training learns from: one label a pixel, and how unsure it is (0 sure, 255 not at all).
struct Seed {
  image::Mask labels, uncertainty;
};

// The head of a seed folder, its seeds.json.
struct SeedFacts {
  std::string made_by;  // the command
  std::string data;     // the data set
  std::string split;
  ClassNames classes;
  std::string options = "{}";  // JSON object: every parameter that decides the labels
  // Filled when the folder is complete.
  bool complete = false;
  int64_t images = 0;
  std::vector<int64_t> class_images, class_pixels;  // of each class
  int64_t ignored_pixels = 0;
  int64_t untagged = 0;                        // photos left out because nobody said what they show
  std::map<std::string, std::string> skipped;  // id -> reason
};

bool is_seed_folder(const Path& folder);

// A finished (or growing) seed folder (docs/formats.md): seeds.json, labels/ID.png, uncertainty/ID.png.
class SeedFolder {
 public:
  // An incomplete folder is an error that says how to go on, unless `may_be_incomplete`.
  explicit SeedFolder(Path folder, bool may_be_incomplete = false);

  const Path& path() const { return folder_; }
  const SeedFacts& facts() const { return facts_; }
  bool has(const std::string& id) const;
  Path label_file(const std::string& id) const;
  Path uncertainty_file(const std::string& id) const;

  // Errors name the file. A missing uncertainty map counts as sure everywhere; a label outside the classes is an
  // error. Safe from several threads.
  Seed read(const std::string& id) const;

 private:
  Path folder_;
  SeedFacts facts_;
};

// Makes a seed folder. What is there already, made with the same facts, stays and is not made again; other facts are
// an error. Files appear whole, the label last, so that a label means a finished seed. Safe from several threads.
class SeedWriter {
 public:
  SeedWriter(Path folder, SeedFacts facts);

  bool has(const std::string& id) const { return folder_.has(id); }
  void write(const std::string& id, const Seed& seed);
  void skip(const std::string& id, const std::string& reason);
  void count_untagged(int64_t count) { facts_.untagged = count; }

  // Counts all labels of `ids` and marks the folder as complete.
  const SeedFacts& finish(const std::vector<std::string>& ids, int threads);

 private:
  SeedFacts facts_;
  FolderLock lock_;
  SeedFolder folder_;
  std::mutex mutex_;
};

}  // namespace crisp::data

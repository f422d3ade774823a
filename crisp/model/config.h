#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace crisp::model {

// How a frozen ViT is looked at and with (vit_scales.h).
struct VitView {
  std::vector<int64_t> blocks{10, 11, 12};  // whose tokens are the second to the fourth scale
  int64_t side = 448;                       // pixels: photos are brought to this square
  int64_t patch = 14;                       // pixels a token's side
  int64_t fine = 2;                         // cells of the finest map along a token's side
  int64_t outline = 4;                      // the same where scores follow the photo (propagation.h)
  int64_t detail = 64;  // channels of the finest map, learned from the photo itself; 0: there is none
};

// The shape of a Mix Transformer encoder (SegFormer, Xie et al. 2021), or a frozen ViT as four scales.
struct EncoderConfig {
  std::string arch = "mit_b0";
  std::array<int64_t, 4> dims{};
  std::array<int64_t, 4> depths{};
  std::array<int64_t, 4> heads{1, 2, 5, 8};
  std::array<int64_t, 4> reductions{8, 4, 2, 1};
  std::array<int64_t, 4> strides{4, 2, 2, 2};  // the CAM classifier sets the last to 1
  int64_t mlp_ratio = 4;
  double drop_path = 0.1;        // stochastic depth of the last block, rising linearly from 0
  double layer_norm_eps = 1e-5;  // 1e-6 for checkpoints of the original code
  std::optional<VitView> vit;    // then of the fields above only `arch` and `dims` count
};

// "mit_b0" .. "mit_b5", "vit_s14" ..; an unknown name is an error that lists these.
EncoderConfig encoder_config(const std::string& arch);
// The same of a ViT that is looked at in another way.
EncoderConfig encoder_config(const std::string& arch, const VitView& view);
const std::vector<std::string>& known_archs();

enum class HeadKind { kSegformer, kCrispformer };

// How the four projected scales become one map. DMF learns weights of the scales, pixel by pixel.
enum class Fusion { kDmf, kConcat, kMean };

// U-DMF. `literal` is the paper's formula, which a softmax cancels; `per_scale` learns one alpha a scale.
enum class Modulation { kOff, kLiteral, kPerScale };

// What the refiner and the modulation take for U: the variance head, the entropy of Z, or zeros (rows U2+, U1, U0).
enum class UncertaintyInput { kVariance, kEntropy, kNone };

// Everything that decides which tensors a head has and what it computes.
struct HeadConfig {
  HeadKind kind = HeadKind::kCrispformer;
  int64_t width = 256;
  int64_t hidden = 64;
  int64_t classes = 21;
  double dropout = 0.1;
  double zoom = 1;   // photos are enlarged by this before the encoder sees them; the network was trained so
  int64_t side = 0;  // typical long side of the photos it learned from; 0: not known. Much larger ones are shrunk
  std::vector<double> offsets;  // added to the final scores, one a class; none: nothing is (train/class_match.h)
  // CrispFormer only.
  Fusion fusion = Fusion::kDmf;
  bool variance = true;
  bool refine = true;
  bool boundary = true;
  bool boundary_on_e1 = false;
  int64_t propagate = 0;  // steps by which scores follow the photo (propagation.h)
  Modulation modulation = Modulation::kPerScale;
  bool modulation_minmax = false;  // U~ by per-image min-max instead of U/(1+U)
  double temperature = 1.0;        // of the softmax over scales
  UncertaintyInput uncertainty = UncertaintyInput::kVariance;
};

// Rows (or columns) of Z* for so many rows of the network's input.
int64_t output_cells(const EncoderConfig& encoder, const HeadConfig& head, int64_t pixels);

int64_t default_width(const std::string& arch);  // 256 for B0 and B1, 384 above, 128 on a ViT

// Rows of the paper's component table: A0 plain SegFormer head, A1 + DMF, A2 + variance head, A3 + UGR,
// A4 + boundary, A5 + U-DMF, A6 the same network (relabelling is training's).
HeadConfig ablation_row(const std::string& row, int64_t width, int64_t classes);

std::string name_of(HeadKind kind);  // "segformer", "crispformer": the words of --head
HeadKind parse_head(const std::string& name);

// HeadConfig as the JSON text kept in a model file, and back; `source` is the file's name. Unknown keys and values are
// errors.
std::string to_json_text(const HeadConfig& head);
void read_json_text(const std::string& text, const std::string& source, HeadConfig& head);

}  // namespace crisp::model

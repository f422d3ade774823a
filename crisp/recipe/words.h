#pragma once

#include <span>
#include <utility>

// The choices that are not numbers, and the words by which files and people name them.
namespace crisp::recipe {

template <typename Enum>
using Word = std::pair<Enum, const char*>;

// The words of an enum, in the order they are shown. One specialisation an enum; anything else is not a choice.
template <typename Enum>
struct Words;

enum class Pooling { kAverage, kMax, kTop, kBoth, kWeighted };
enum class Precision { kF32, kBf16, kFp16, kAuto };
enum class Decay { kConstant, kLinear, kPoly, kCosine };
enum class Refinement { kCrf, kPar, kAffinity };
enum class CrfPreset { kPsa, kIrn, kAfa, kToco, kBeco };
enum class WalkOn { kMaps, kPosterior };
enum class Untagged { kSkip, kBackground };
enum class AffinityTrain { kHead, kAll };
enum class Row { kA0, kA1, kA2, kA3, kA4, kA5, kA6 };
enum class Sources { kU0, kU1, kU2, kU3, kU4 };
enum class Fusion { kDmf, kConcat, kMean };
enum class Modulation { kPerScale, kLiteral, kOff };
enum class Range { kPercentiles, kMinMax };
enum class Start { kShipped, kClassifier };

#define CRISP_WORDS(Enum, ...)                                \
  template <>                                                 \
  struct Words<Enum> {                                        \
    static constexpr Word<Enum> list[] = __VA_ARGS__;         \
    static std::span<const Word<Enum>> all() { return list; } \
  }

CRISP_WORDS(Pooling, {{Pooling::kAverage, "average"},
                      {Pooling::kMax, "max"},
                      {Pooling::kTop, "top"},
                      {Pooling::kBoth, "both"},
                      {Pooling::kWeighted, "weighted"}});
CRISP_WORDS(Precision, {{Precision::kAuto, "auto"},
                        {Precision::kF32, "f32"},
                        {Precision::kBf16, "bf16"},
                        {Precision::kFp16, "fp16"}});
CRISP_WORDS(Decay, {{Decay::kConstant, "constant"},
                    {Decay::kLinear, "linear"},
                    {Decay::kPoly, "poly"},
                    {Decay::kCosine, "cosine"}});
CRISP_WORDS(Refinement, {{Refinement::kCrf, "crf"}, {Refinement::kPar, "par"}, {Refinement::kAffinity, "affinity"}});
CRISP_WORDS(CrfPreset, {{CrfPreset::kPsa, "psa"},
                        {CrfPreset::kIrn, "irn"},
                        {CrfPreset::kAfa, "afa"},
                        {CrfPreset::kToco, "toco"},
                        {CrfPreset::kBeco, "beco"}});
CRISP_WORDS(WalkOn, {{WalkOn::kMaps, "maps"}, {WalkOn::kPosterior, "posterior"}});
CRISP_WORDS(Untagged, {{Untagged::kSkip, "skip"}, {Untagged::kBackground, "background"}});
CRISP_WORDS(AffinityTrain, {{AffinityTrain::kHead, "head"}, {AffinityTrain::kAll, "all"}});
CRISP_WORDS(Row, {{Row::kA0, "A0"},
                  {Row::kA1, "A1"},
                  {Row::kA2, "A2"},
                  {Row::kA3, "A3"},
                  {Row::kA4, "A4"},
                  {Row::kA5, "A5"},
                  {Row::kA6, "A6"}});
CRISP_WORDS(
    Sources,
    {{Sources::kU0, "U0"}, {Sources::kU1, "U1"}, {Sources::kU2, "U2"}, {Sources::kU3, "U3"}, {Sources::kU4, "U4"}});
CRISP_WORDS(Fusion, {{Fusion::kDmf, "dmf"}, {Fusion::kConcat, "concat"}, {Fusion::kMean, "mean"}});
CRISP_WORDS(Modulation,
            {{Modulation::kPerScale, "per_scale"}, {Modulation::kLiteral, "literal"}, {Modulation::kOff, "off"}});
CRISP_WORDS(Range, {{Range::kPercentiles, "percentiles"}, {Range::kMinMax, "minmax"}});
CRISP_WORDS(Start, {{Start::kShipped, "shipped"}, {Start::kClassifier, "classifier"}});

#undef CRISP_WORDS

}  // namespace crisp::recipe

#include "crisp/model/encoder.h"

#include "crisp/model/mit.h"
#include "crisp/model/vit_scales.h"

namespace crisp::model {

std::shared_ptr<EncoderImpl> make_encoder(const EncoderConfig& config) {
  if (config.vit) return std::make_shared<VitScalesImpl>(config);
  return std::make_shared<MitImpl>(config);
}

}  // namespace crisp::model

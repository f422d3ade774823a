#include "crisp/tensor/torch.h"
namespace crisp::tensor {}

#include "crisp/tensor/device.h"

#include <gtest/gtest.h>

#include "crisp/base/error.h"
#include "tests/tensor/fixtures.h"

namespace crisp::tensor {
namespace {

using test::error_of;
using test::mentions;

TEST(Device, CpuAndAuto) {
  EXPECT_EQ(device_name(parse_device("cpu")), "cpu");
  EXPECT_EQ(parse_device("auto").is_cuda(), torch::cuda::device_count() > 0);
}

TEST(Device, WrongNamesAreUsageErrors) {
  for (const char* text : {"", "gpu", "CPU", "cuda:", "cuda:x", "cuda:-1", "cuda0", "cuda:99999999999999999999"}) {
    EXPECT_THROW(parse_device(text), UsageError) << text;
  }
  EXPECT_TRUE(mentions(error_of([] { parse_device("gpu"); }), "give auto, cpu, cuda or cuda:N"));
}

TEST(Device, CudaThatIsNotThere) {
  if (torch::cuda::device_count() > 0) {
    EXPECT_EQ(device_name(parse_device("cuda")), "cuda:0");
    EXPECT_TRUE(mentions(error_of([] { parse_device("cuda:1000"); }), "the last is cuda:"));
  } else {
    EXPECT_THROW(parse_device("cuda"), UsageError);
    EXPECT_TRUE(mentions(error_of([] { parse_device("cuda:3"); }), "use cpu"));
  }
}

TEST(Dtype, NamesThereAndBack) {
  for (const char* name : {"f32", "fp16", "bf16"}) EXPECT_EQ(dtype_name(parse_dtype(name)), name);
  EXPECT_THROW(parse_dtype("int8"), UsageError);
  EXPECT_EQ(dtype_name(torch::kInt64), "i64");
}

}  // namespace
}  // namespace crisp::tensor

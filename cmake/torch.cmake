# LibTorch from the PyPI wheel, as one imported target `crisp_torch`.
# find_package(Torch) wants a full CUDA toolkit even for a CPU program; the few lines below do not.
# The wheel is looked for in CRISP_TORCH_DIR (option or environment: the folder .../site-packages/torch),
# then where `make setup` puts it, then in the python3 on PATH.

set(CRISP_TORCH_DIR "$ENV{CRISP_TORCH_DIR}" CACHE PATH "folder of an installed torch (.../site-packages/torch)")
set(CRISP_DEPS_DIR "$ENV{CRISP_DEPS_DIR}" CACHE PATH "where `make setup` puts things; empty: .deps")
set(torch_dir "${CRISP_TORCH_DIR}")
if(NOT torch_dir)
  set(deps_dir "${CRISP_DEPS_DIR}")
  if(NOT deps_dir)
    set(deps_dir "${CMAKE_CURRENT_SOURCE_DIR}/.deps")
  endif()
  file(GLOB torch_dir "${deps_dir}/torch/lib/python3*/site-packages/torch")
endif()
if(NOT torch_dir)
  execute_process(COMMAND python3 -c "import importlib.util as u; print(u.find_spec('torch').submodule_search_locations[0])"
                  OUTPUT_VARIABLE torch_dir OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
if(NOT EXISTS "${torch_dir}/include/torch/csrc/api/include/torch/torch.h")
  message(FATAL_ERROR "LibTorch not found (looked in '${torch_dir}'). Run `make setup`, "
                      "or point CRISP_TORCH_DIR at an installed torch (.../site-packages/torch).")
endif()

file(STRINGS "${torch_dir}/version.py" torch_version_line REGEX "^__version__")
string(REGEX REPLACE ".*'(.*)'.*" "\\1" CRISP_TORCH_VERSION "${torch_version_line}")
message(STATUS "LibTorch ${CRISP_TORCH_VERSION} in ${torch_dir}")

# libtorch_cpu.so itself needs libcudart and libcupti, which live in their own wheels beside it.
file(GLOB wheel_cuda_dirs "${torch_dir}/../nvidia/*/lib")

add_library(crisp_torch INTERFACE)
# Searched after the system's headers: the wheel carries an fmt of another version, without its library.
target_compile_options(crisp_torch INTERFACE
  "SHELL:-idirafter ${torch_dir}/include" "SHELL:-idirafter ${torch_dir}/include/torch/csrc/api/include")
# at::parallel_for is an OpenMP loop in a header: without this it compiles, and runs on one core. At run time the
# wheel's own libgomp is found first, so there is one pool of threads.
target_compile_options(crisp_torch INTERFACE -fopenmp)
target_link_options(crisp_torch INTERFACE -fopenmp)
target_link_directories(crisp_torch INTERFACE "${torch_dir}/lib")
target_link_libraries(crisp_torch INTERFACE "${torch_dir}/lib/libtorch_cpu.so" "${torch_dir}/lib/libc10.so")
if(CRISP_CUDA)
  find_package(CUDAToolkit REQUIRED)
  target_compile_definitions(crisp_torch INTERFACE CRISP_CUDA)
  target_link_libraries(crisp_torch INTERFACE CUDA::cudart)
  # Nothing refers to the CUDA library by symbol: its operators register themselves when it is loaded.
  target_link_libraries(crisp_torch INTERFACE -Wl,--no-as-needed
    "${torch_dir}/lib/libtorch_cuda.so" "${torch_dir}/lib/libc10_cuda.so" -Wl,--as-needed)
endif()
foreach(dir "${torch_dir}/lib" ${wheel_cuda_dirs})
  target_link_options(crisp_torch INTERFACE "-Wl,-rpath,${dir}" "-Wl,-rpath-link,${dir}")
endforeach()

#include "kernels.cuh"

// Tensor cores before Ampere's do not have it.
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
KERNELS(bf16)
#endif

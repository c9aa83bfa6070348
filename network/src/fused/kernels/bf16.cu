#include "kernels.cuh"

// Tensor cores before Ampere do not support bf16.
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
KERNELS(bf16)
#endif

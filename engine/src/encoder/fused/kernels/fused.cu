// All kernels, in every precision that the device has.
#include "attention.cu"
#include "rows.cu"

#define KERNELS(T)                                                                                \
    ATTENTION(T)                                                                                  \
    GELU(T)                                                                                       \
    ADD_NORM(T, 1)                                                                                \
    ADD_NORM(T, 2)                                                                                \
    ADD_NORM(T, 4)                                                                                \
    ADD_NORM(T, 8)

KERNELS(float)
KERNELS(f16)
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
KERNELS(bf16)
#endif

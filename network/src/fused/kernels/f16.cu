#include "kernels.cuh"

KERNELS(f16)

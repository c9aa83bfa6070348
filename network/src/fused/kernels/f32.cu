#include "kernels.cuh"
#include "sums.cuh"

KERNELS(float)

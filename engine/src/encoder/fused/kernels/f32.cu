#include "kernels.cuh"

KERNELS(float)

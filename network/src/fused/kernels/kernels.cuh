// All kernels in one precision. Each precision is a separate module: the driver compiles a module
// at its first use, and a run uses only one.
#pragma once

#include "attention.cuh"
#include "rows.cuh"

#define KERNELS(T)                                                                                \
    ATTENTION(T)                                                                                  \
    EMBED(T)                                                                                      \
    GELU(T)                                                                                       \
    ADD_NORM(T, 1)                                                                                \
    ADD_NORM(T, 2)                                                                                \
    ADD_NORM(T, 4)                                                                                \
    ADD_NORM(T, 8)

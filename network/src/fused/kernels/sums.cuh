// Feature sums and their activations: the sparse encoder's first layer.
#pragma once

#include "common.cuh"

// Adds four neighbouring values atomically, because other blocks add to the same ones.
__device__ inline void add_shared(float *to, const Four<float> &four) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    const float *x = four.values;
    atomicAdd((float4 *)to, make_float4(x[0], x[1], x[2], x[3]));
#else
    for (int j = 0; j < 4; j++) atomicAdd(to + j, four.values[j]);
#endif
}

// The rows in this block's bag: from the end of the previous bag to the end of this one.
struct Bag {
    unsigned first, end;

    __device__ explicit Bag(const unsigned *ends)
        : first(blockIdx.x == 0 ? 0 : ends[blockIdx.x - 1]), end(ends[blockIdx.x]) {}
};

extern "C" __global__ void activated_sums_float(const float *table, const float *bias,
                                                const unsigned *rows, const unsigned *ends,
                                                float *out, int width) {
    Bag bag(ends);
    for (int column = threadIdx.x * 4; column < width; column += blockDim.x * 4) {
        Four<float> sum = *(const Four<float> *)(bias + column);
#pragma unroll 8
        for (unsigned i = bag.first; i < bag.end; i++) {
            Four<float> row = *(const Four<float> *)(table + (long)rows[i] * width + column);
            for (int j = 0; j < 4; j++) sum.values[j] += row.values[j];
        }
        for (int j = 0; j < 4; j++) {
            float clipped = fminf(fmaxf(sum.values[j], 0.0f), 1.0f);
            sum.values[j] = clipped * clipped;
        }
        *(Four<float> *)(out + (long)blockIdx.x * width + column) = sum;
    }
}

// d clamp(x, 0, 1)^2 / dx is 2x inside the interval and 0 outside; inside, x is the square root of
// the activation. The gradients are added to `table_slopes` and `bias_slopes`.
extern "C" __global__ void activated_sums_back_float(const float *activations,
                                                     const float *gradient, const unsigned *rows,
                                                     const unsigned *ends, float *table_slopes,
                                                     float *bias_slopes, int width) {
    Bag bag(ends);
    for (int column = threadIdx.x * 4; column < width; column += blockDim.x * 4) {
        long place = (long)blockIdx.x * width + column;
        Four<float> active = *(const Four<float> *)(activations + place);
        Four<float> slope = *(const Four<float> *)(gradient + place);
        bool any = false;
        for (int j = 0; j < 4; j++) {
            float a = active.values[j];
            slope.values[j] *= a < 1.0f ? 2.0f * sqrtf(a) : 0.0f;
            any = any || slope.values[j] != 0.0f;
        }
        if (!any) continue;
        add_shared(bias_slopes + column, slope);
        for (unsigned i = bag.first; i < bag.end; i++)
            add_shared(table_slopes + (long)rows[i] * width + column, slope);
    }
}

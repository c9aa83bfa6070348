// Common parts of the kernels: numbers of three precisions, dropout, sums over a warp, and small
// matrix products.
#pragma once

#ifndef EMULATED
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>
#endif

using bf16 = __nv_bfloat16;
using f16 = __half;

constexpr int WARP = 32;
constexpr unsigned ALL_LANES = 0xffffffffu;
// Rows and columns of the matrices that a warp multiplies at a time.
constexpr int TILE = 16;

__device__ inline float to_float(float x) { return x; }
__device__ inline float to_float(f16 x) { return __half2float(x); }
__device__ inline float to_float(bf16 x) { return __bfloat162float(x); }

__device__ inline void set(float &to, float x) { to = x; }
__device__ inline void set(f16 &to, float x) { to = __float2half(x); }
__device__ inline void set(bf16 &to, float x) { to = __float2bfloat16(x); }

// Neighbouring values that are loaded and stored together.
template <typename T, int N> struct alignas(N * sizeof(T)) Pack {
    T values[N];
};
template <typename T> using Four = Pack<T, 4>;

// Dropout as in operations.rs: the same bits from the same seeds and indices.
struct Mask {
    unsigned threshold;
    float scale;
    unsigned seed0, seed1;

    __device__ static unsigned scramble(unsigned bits) {
        bits = (bits ^ (bits >> 16)) * 0x7feb352du;
        bits = (bits ^ (bits >> 15)) * 0x846ca68bu;
        return bits ^ (bits >> 16);
    }

    __device__ float factor(unsigned place) const {
        if (threshold == 0) return scale;
        return scramble(scramble(place + seed0) ^ seed1) < threshold ? 0.0f : scale;
    }
};

__device__ inline float warp_sum(float x) {
    for (int apart = WARP / 2; apart > 0; apart /= 2) x += __shfl_xor_sync(ALL_LANES, x, apart);
    return x;
}

// The layout of a matrix in memory.
struct ByRow {
    using layout = nvcuda::wmma::row_major;
    __device__ static int place(int row, int column, int stride) { return row * stride + column; }
};
struct ByColumn {
    using layout = nvcuda::wmma::col_major;
    __device__ static int place(int row, int column, int stride) { return column * stride + row; }
};

// One warp's product of a (16 x depth) and b (depth x 16) in f32, stored by rows. Operands and
// result are in shared memory. The caller synchronises the lanes before and after.
template <typename A, typename B, typename T>
__device__ inline void multiply(const T *a, int a_stride, const T *b, int b_stride, int depth,
                                float *out, int out_stride) {
    using namespace nvcuda;
    wmma::fragment<wmma::accumulator, TILE, TILE, TILE, float> sum;
    wmma::fill_fragment(sum, 0.0f);
    for (int k = 0; k < depth; k += TILE) {
        wmma::fragment<wmma::matrix_a, TILE, TILE, TILE, T, typename A::layout> left;
        wmma::fragment<wmma::matrix_b, TILE, TILE, TILE, T, typename B::layout> right;
        wmma::load_matrix_sync(left, a + A::place(0, k, a_stride), a_stride);
        wmma::load_matrix_sync(right, b + B::place(k, 0, b_stride), b_stride);
        wmma::mma_sync(sum, left, right, sum);
    }
    wmma::store_matrix_sync(out, sum, out_stride, wmma::mem_row_major);
}

// Tensor cores would round 32-bit operands, so these are multiplied without them.
template <typename A, typename B>
__device__ inline void multiply(const float *a, int a_stride, const float *b, int b_stride,
                                int depth, float *out, int out_stride) {
    for (int cell = threadIdx.x % WARP; cell < TILE * TILE; cell += WARP) {
        int row = cell / TILE, column = cell % TILE;
        float sum = 0.0f;
        for (int k = 0; k < depth; k++)
            sum += a[A::place(row, k, a_stride)] * b[B::place(k, column, b_stride)];
        out[row * out_stride + column] = sum;
    }
}

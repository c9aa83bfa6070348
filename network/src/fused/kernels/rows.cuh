// Table lookup, bias + GELU, and residual + layer norm.
#pragma once

#include "common.cuh"

// LAYER_NORM_EPSILON of fused/layer_norm.rs.
constexpr float EPSILON = 1e-5f;

template <typename T>
__device__ void embed(const unsigned char *ids, const T *table, const T *places, T *out, int fours,
                      unsigned length, unsigned width) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < fours; i += gridDim.x * blockDim.x) {
        unsigned row = i / (width / 4), column = i % (width / 4) * 4;
        Four<T> four = *(const Four<T> *)(table + ids[row] * width + column);
        Four<T> added = *(const Four<T> *)(places + row % length * width + column);
        for (int j = 0; j < 4; j++)
            set(four.values[j], to_float(four.values[j]) + to_float(added.values[j]));
        ((Four<T> *)out)[i] = four;
    }
}

// Φ(x), the cumulative standard normal distribution.
__device__ inline float below(float x) { return 0.5f * (1.0f + erff(x * 0.70710678f)); }

template <typename T>
__device__ void gelu(const T *x, const T *bias, T *out, int fours, unsigned width, Mask mask) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < fours; i += gridDim.x * blockDim.x) {
        unsigned place = 4u * i;
        Four<T> four = ((const Four<T> *)x)[i], added = *(const Four<T> *)(bias + place % width);
        for (int j = 0; j < 4; j++) {
            float y = to_float(four.values[j]) + to_float(added.values[j]);
            set(four.values[j], y * below(y) * mask.factor(place + j));
        }
        ((Four<T> *)out)[i] = four;
    }
}

template <typename T>
__device__ void gelu_back(const T *x, const T *bias, const T *gradient, T *slopes, int fours,
                          int width, Mask mask) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < fours; i += gridDim.x * blockDim.x) {
        unsigned place = 4u * i;
        Four<T> four = ((const Four<T> *)x)[i], added = *(const Four<T> *)(bias + place % width);
        Four<T> slope = ((const Four<T> *)gradient)[i];
        for (int j = 0; j < 4; j++) {
            float y = to_float(four.values[j]) + to_float(added.values[j]);
            float density = 0.39894228f * expf(-0.5f * y * y);
            float along = (below(y) + y * density) * mask.factor(place + j);
            set(slope.values[j], to_float(slope.values[j]) * along);
        }
        ((Four<T> *)slopes)[i] = slope;
    }
}

// A row of x + mask(branch + bias) in the registers of a warp. Each lane holds `CHUNKS` groups of
// four neighbouring values, 128 columns apart.
template <typename T, int CHUNKS> struct Row {
    float values[CHUNKS][4];
    float mean, scale;

    __device__ static int column(int chunk) { return (chunk * WARP + threadIdx.x % WARP) * 4; }

    __device__ Row(const T *x, const T *branch, const T *bias, int row, int width, Mask mask) {
        float sum = 0.0f, squares = 0.0f;
        for (int c = 0; c < CHUNKS; c++) {
            bool inside = column(c) < width;
            long place = (long)row * width + column(c);
            Four<T> a, b, added;
            if (inside) {
                a = *(const Four<T> *)(x + place);
                b = *(const Four<T> *)(branch + place);
                added = *(const Four<T> *)(bias + column(c));
            }
            for (int j = 0; j < 4; j++) {
                values[c][j] = 0.0f;
                if (inside) {
                    float dropped = to_float(b.values[j]) + to_float(added.values[j]);
                    values[c][j] = to_float(a.values[j]) + dropped * mask.factor(place + j);
                }
                sum += values[c][j];
            }
        }
        mean = warp_sum(sum) / width;
        for (int c = 0; c < CHUNKS; c++)
            for (int j = 0; j < 4; j++)
                if (column(c) < width) squares += (values[c][j] - mean) * (values[c][j] - mean);
        scale = rsqrtf(warp_sum(squares) / width + EPSILON);
    }

    __device__ float normed(int chunk, int j) const { return (values[chunk][j] - mean) * scale; }
};

template <typename T, int CHUNKS>
__device__ void add_norm(const T *x, const T *branch, const T *bias, const T *weight,
                         const T *shift, T *out, int rows, int width, Mask mask) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / WARP;
    if (row >= rows) return;
    Row<T, CHUNKS> sum(x, branch, bias, row, width, mask);
    for (int c = 0; c < CHUNKS; c++) {
        int column = sum.column(c);
        if (column >= width) continue;
        Four<T> w = *(const Four<T> *)(weight + column), s = *(const Four<T> *)(shift + column), o;
        for (int j = 0; j < 4; j++)
            set(o.values[j], sum.normed(c, j) * to_float(w.values[j]) + to_float(s.values[j]));
        *(Four<T> *)(out + (long)row * width + column) = o;
    }
}

// Every warp processes a share of the rows, and writes its sums of the parameters' gradients
// (weight, then shift) to its row of `parts` (warps, 2 * width).
template <typename T, int CHUNKS>
__device__ void add_norm_back(const T *x, const T *branch, const T *bias, const T *weight,
                              const T *gradient, T *x_slopes, T *branch_slopes, float *parts,
                              int rows, int width, Mask mask) {
    int warp = (blockIdx.x * blockDim.x + threadIdx.x) / WARP;
    int warps = gridDim.x * blockDim.x / WARP;
    float weight_slopes[CHUNKS][4] = {}, shift_slopes[CHUNKS][4] = {};
    for (int row = warp; row < rows; row += warps) {
        Row<T, CHUNKS> sum(x, branch, bias, row, width, mask);
        float slopes[CHUNKS][4], total = 0.0f, along = 0.0f;
        for (int c = 0; c < CHUNKS; c++) {
            int column = sum.column(c);
            bool inside = column < width;
            Four<T> g, w;
            if (inside) {
                g = *(const Four<T> *)(gradient + (long)row * width + column);
                w = *(const Four<T> *)(weight + column);
            }
            for (int j = 0; j < 4; j++) {
                slopes[c][j] = 0.0f;
                if (!inside) continue;
                float slope = to_float(g.values[j]), normed = sum.normed(c, j);
                weight_slopes[c][j] += slope * normed;
                shift_slopes[c][j] += slope;
                slopes[c][j] = slope * to_float(w.values[j]);
                total += slopes[c][j];
                along += slopes[c][j] * normed;
            }
        }
        total = warp_sum(total) / width;
        along = warp_sum(along) / width;
        for (int c = 0; c < CHUNKS; c++) {
            int column = sum.column(c);
            if (column >= width) continue;
            long place = (long)row * width + column;
            Four<T> to_x, to_branch;
            for (int j = 0; j < 4; j++) {
                float slope = sum.scale * (slopes[c][j] - total - sum.normed(c, j) * along);
                set(to_x.values[j], slope);
                set(to_branch.values[j], slope * mask.factor(place + j));
            }
            *(Four<T> *)(x_slopes + place) = to_x;
            *(Four<T> *)(branch_slopes + place) = to_branch;
        }
    }
    for (int c = 0; c < CHUNKS; c++)
        for (int j = 0; j < 4; j++)
            if (Row<T, CHUNKS>::column(c) < width) {
                float *part = parts + (long)warp * 2 * width + Row<T, CHUNKS>::column(c) + j;
                part[0] = weight_slopes[c][j];
                part[width] = shift_slopes[c][j];
            }
}

#define EMBED(T)                                                                                  \
    extern "C" __global__ void embed_##T(const unsigned char *ids, const T *table,                \
                                         const T *places, T *out, int fours, int length,          \
                                         int width) {                                             \
        embed(ids, table, places, out, fours, length, width);                                     \
    }

#define GELU(T)                                                                                   \
    extern "C" __global__ void gelu_##T(const T *x, const T *bias, T *out, int fours, int width,  \
                                        Mask mask) {                                              \
        gelu(x, bias, out, fours, width, mask);                                                   \
    }                                                                                             \
    extern "C" __global__ void gelu_back_##T(const T *x, const T *bias, const T *gradient,        \
                                             T *slopes, int fours, int width, Mask mask) {        \
        gelu_back(x, bias, gradient, slopes, fours, width, mask);                                 \
    }

#define ADD_NORM(T, CHUNKS)                                                                       \
    extern "C" __global__ void add_norm_##CHUNKS##_##T(                                           \
        const T *x, const T *branch, const T *bias, const T *weight, const T *shift, T *out,      \
        int rows, int width, Mask mask) {                                                         \
        add_norm<T, CHUNKS>(x, branch, bias, weight, shift, out, rows, width, mask);              \
    }                                                                                             \
    extern "C" __global__ void add_norm_back_##CHUNKS##_##T(                                      \
        const T *x, const T *branch, const T *bias, const T *weight, const T *gradient,           \
        T *x_slopes, T *branch_slopes, float *parts, int rows, int width, Mask mask) {            \
        add_norm_back<T, CHUNKS>(x, branch, bias, weight, gradient, x_slopes, branch_slopes,      \
                                 parts, rows, width, mask);                                       \
    }

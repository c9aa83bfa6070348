// Attention over short sequences. A block holds one head of one sample in shared memory; each of
// its warps processes sixteen rows of the attention weights, and each lane half a row.
#pragma once

#include "common.cuh"

// Number of columns of a row of weights that a lane holds; two lanes hold up to 80.
constexpr int HELD = 40;

template <typename T> struct Attention {
    const T *packed; // (batch, length, 3 * heads * head)
    const T *bias;   // (3 * heads * head)
    int length, heads, head;
    Mask mask;

    // Number of values that a thread moves at a time.
    static constexpr int PACKED = 16 / sizeof(T);

    // Row stride of a matrix of one head, padded so that neighbouring rows use different memory
    // banks.
    __device__ int stride() const { return head + PACKED; }
    __device__ int padded() const { return (length + TILE - 1) / TILE * TILE; }
    __device__ int hidden() const { return heads * head; }

    // Copies this block's rows of `from`, which has `width` columns, to `to`, starting at column
    // `column`.
    __device__ void load(T *to, const T *from, int width, int column, const T *bias) const {
        using Packed = Pack<T, PACKED>;
        int packs = head / PACKED;
        for (int i = threadIdx.x; i < padded() * packs; i += blockDim.x) {
            int row = i / packs, first = i % packs * PACKED;
            Packed pack;
            for (int j = 0; j < PACKED; j++) set(pack.values[j], 0.0f);
            if (row < length) {
                long place = ((long)blockIdx.y * length + row) * width + column + first;
                pack = *(const Packed *)(from + place);
                if (bias) {
                    Packed added = *(const Packed *)(bias + column + first);
                    for (int j = 0; j < PACKED; j++)
                        set(pack.values[j], to_float(pack.values[j]) + to_float(added.values[j]));
                }
            }
            *(Packed *)(to + row * stride() + first) = pack;
        }
    }

    // Loads queries (part 0), keys (part 1) or values (part 2).
    __device__ void load_part(T *to, int part) const {
        load(to, packed, 3 * hidden(), part * hidden() + blockIdx.x * head, bias);
    }

    // The row of a tile of which a lane holds half, and the first column of that half.
    __device__ static int lane_row() { return threadIdx.x % TILE; }
    __device__ int lane_column() const { return threadIdx.x % WARP / TILE * (padded() / 2); }
    __device__ bool holds(int i) const { return i < padded() / 2; }

    // Reads a lane's part of a tile of rows.
    __device__ void take(const float *rows, int stride, float (&values)[HELD]) const {
        const float *from = rows + lane_row() * stride + lane_column();
        for (int i = 0; i < HELD; i += 4) {
            if (!holds(i)) break;
            Four<float> four = *(const Four<float> *)(from + i);
            for (int j = 0; j < 4; j++) values[i + j] = four.values[j];
        }
    }

    // Writes a lane's part of a tile of rows.
    __device__ void put(T *rows, int stride, const float (&values)[HELD]) const {
        T *to = rows + lane_row() * stride + lane_column();
        for (int i = 0; i < HELD; i += 4) {
            if (!holds(i)) break;
            Four<T> four;
            for (int j = 0; j < 4; j++) set(four.values[j], values[i + j]);
            *(Four<T> *)(to + i) = four;
        }
    }

    // Converts a lane's scores to weights: the softmax of its row, which it shares with another
    // lane.
    __device__ void softmax(float (&values)[HELD]) const {
        float scale = rsqrtf((float)head), largest = -INFINITY, sum = 0.0f;
        for (int i = 0; i < HELD; i++)
            if (holds(i) && lane_column() + i < length) largest = fmaxf(largest, values[i]);
        largest = fmaxf(largest, __shfl_xor_sync(ALL_LANES, largest, TILE));
        for (int i = 0; i < HELD; i++) {
            bool inside = holds(i) && lane_column() + i < length;
            values[i] = inside ? __expf((values[i] - largest) * scale) : 0.0f;
            sum += values[i];
        }
        sum += __shfl_xor_sync(ALL_LANES, sum, TILE);
        for (int i = 0; i < HELD; i++) values[i] *= 1.0f / sum;
    }

    // Dropout factor of weight `i` of a lane, in the tile of rows that starts at `row`.
    __device__ float factor(int row, int i) const {
        unsigned sample = blockIdx.y * heads + blockIdx.x;
        unsigned first = (sample * length + row + lane_row()) * length;
        return mask.factor(first + lane_column() + i);
    }

    // Writes a tile of rows, from `row` on, to `to`, which has `width` columns, starting at column
    // `column`.
    __device__ void store(T *to, int width, int row, int column, const float *tile) const {
        for (int i = threadIdx.x % WARP; i < TILE * TILE / 4; i += WARP) {
            int below = i / (TILE / 4), first = i % (TILE / 4) * 4;
            if (row + below >= length) continue;
            Four<T> four;
            for (int j = 0; j < 4; j++) set(four.values[j], tile[below * TILE + first + j]);
            long place = ((long)blockIdx.y * length + row + below) * width + column + first;
            *(Four<T> *)(to + place) = four;
        }
    }
};

template <typename T> __device__ void forward(Attention<T> a, T *mixed) {
    extern __shared__ __align__(128) unsigned char memory[];
    int stride = a.stride(), padded = a.padded();
    T *q = (T *)memory, *k = q + padded * stride, *v = k + padded * stride;
    a.load_part(q, 0);
    a.load_part(k, 1);
    a.load_part(v, 2);
    __syncthreads();

    // From here on the warps work independently.
    int warp = threadIdx.x / WARP, row = warp * TILE, wide = padded + 4;
    float *scores = (float *)(v + padded * stride) + warp * TILE * (wide + TILE);
    float *tile = scores + TILE * wide;
    for (int column = 0; column < padded; column += TILE)
        multiply<ByRow, ByColumn>(q + row * stride, stride, k + column * stride, stride, a.head,
                                  scores + column, wide);
    __syncwarp();
    // The weights overwrite the scores.
    float values[HELD];
    a.take(scores, wide, values);
    a.softmax(values);
    for (int i = 0; i < HELD; i++) values[i] *= a.factor(row, i);
    __syncwarp();
    T *weights = (T *)scores;
    int weights_stride = wide * (int)(sizeof(float) / sizeof(T));
    a.put(weights, weights_stride, values);
    __syncwarp();
    for (int column = 0; column < a.head; column += TILE) {
        multiply<ByRow, ByRow>(weights, weights_stride, v + column, stride, padded, tile, TILE);
        __syncwarp();
        a.store(mixed, a.hidden(), row, blockIdx.x * a.head + column, tile);
        __syncwarp();
    }
}

// With P the softmax, M the mask's factors and dO the gradient: dV = (P M)' dO; dP = M (dO V');
// dS = P (dP - rowsum(P dP)) / sqrt(head); dQ = dS K; dK = dS' Q.
template <typename T> __device__ void backward(Attention<T> a, const T *gradient, T *slopes) {
    extern __shared__ __align__(128) unsigned char memory[];
    int stride = a.stride(), padded = a.padded();
    int warp = threadIdx.x / WARP, row = warp * TILE, wide = padded + 4, thick = padded + 8;
    T *q = (T *)memory, *k = q + padded * stride, *v = k + padded * stride;
    T *g = v + padded * stride;
    T *weights = g + padded * stride, *score_slopes = weights + padded * thick;
    float *scores = (float *)(score_slopes + padded * thick) + warp * TILE * (wide + TILE);
    float *tile = scores + TILE * wide;
    a.load_part(q, 0);
    a.load_part(k, 1);
    a.load_part(v, 2);
    a.load(g, gradient, a.hidden(), blockIdx.x * a.head, nullptr);
    __syncthreads();

    for (int column = 0; column < padded; column += TILE)
        multiply<ByRow, ByColumn>(q + row * stride, stride, k + column * stride, stride, a.head,
                                  scores + column, wide);
    __syncwarp();
    float weight[HELD], slope[HELD];
    a.take(scores, wide, weight);
    a.softmax(weight);
    __syncwarp();
    for (int column = 0; column < padded; column += TILE)
        multiply<ByRow, ByColumn>(g + row * stride, stride, v + column * stride, stride, a.head,
                                  scores + column, wide);
    __syncwarp();
    a.take(scores, wide, slope);
    float mean = 0.0f, scale = rsqrtf((float)a.head);
    for (int i = 0; i < HELD; i++) {
        if (!a.holds(i)) break;
        slope[i] *= a.factor(row, i);
        mean += weight[i] * slope[i];
    }
    mean += __shfl_xor_sync(ALL_LANES, mean, TILE);
    for (int i = 0; i < HELD; i++) {
        if (!a.holds(i)) break;
        slope[i] = weight[i] * (slope[i] - mean) * scale;
        weight[i] *= a.factor(row, i);
    }
    a.put(score_slopes + row * thick, thick, slope);
    a.put(weights + row * thick, thick, weight);
    __syncthreads();

    for (int column = 0; column < a.head; column += TILE) {
        int first = blockIdx.x * a.head + column;
        auto store = [&](int part) {
            __syncwarp();
            a.store(slopes, 3 * a.hidden(), row, part * a.hidden() + first, tile);
            __syncwarp();
        };
        multiply<ByRow, ByRow>(score_slopes + row * thick, thick, k + column, stride, padded, tile,
                               TILE);
        store(0);
        multiply<ByColumn, ByRow>(score_slopes + row, thick, q + column, stride, padded, tile,
                                  TILE);
        store(1);
        multiply<ByColumn, ByRow>(weights + row, thick, g + column, stride, padded, tile, TILE);
        store(2);
    }
}

#define ATTENTION(T)                                                                              \
    extern "C" __global__ void attention_##T(const T *packed, const T *bias, T *mixed, int length, \
                                             int heads, int head, Mask mask) {                    \
        forward(Attention<T>{packed, bias, length, heads, head, mask}, mixed);                    \
    }                                                                                             \
    extern "C" __global__ void attention_back_##T(const T *packed, const T *bias,                 \
                                                  const T *gradient, T *slopes, int length,       \
                                                  int heads, int head, Mask mask) {               \
        backward(Attention<T>{packed, bias, length, heads, head, mask}, gradient, slopes);        \
    }
